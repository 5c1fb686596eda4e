/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads wait for, beside what the workloads measured themselves, and the requests of a disk
 * beside the kernel's own books of it (Documentation/block/stat.rst), which lie where the report does.
 */
#include "guest.h"

#include <unistd.h>

/* Of a thread's time under load, beyond what the load is unsure of itself; on real hardware 3 %. */
#define WAIT_TOLERANCE 0.05
/*
 * From the kernel's reading of its clock at a switch to the event of it. Emulated x86 CPUs take turns, so
 * what lies between is long there: up to 95 us a sleep.
 */
#ifdef __x86_64__
#define SWITCH_NS 100000
#else
#define SWITCH_NS 0
#endif
#define DEVICE	  "vda"
#define QUEUED_NS 50000 /* from its allocation, where their time begins, to its queue, emulated */
#define SECTOR	  512
#define BLOCK	  4096 /* of the file system, at least of which is written by a write() */
#define MSEC	  1000000
#define STATS	  17

enum {
	ST_READS,
	ST_READ_SECTORS = 2,
	ST_READ_MS,
	ST_WRITES,
	ST_WRITE_SECTORS = 6,
	ST_FLUSHES = 15
};

/* Without the arguments of system calls the kernel shows nothing that tells these from one another. */
static bool looks_like_thread(const struct run *run, const char *thread)
{
	static const char *const names[] = {"mutex-want", "spin-want", "rw-want", "wr-want"};
	bool named = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		named |= !strcmp(thread, names[i]);
	return named && !has_bpf(run);
}

static int64_t waited(const struct run *run, const json_t *row, const char *thread,
		      const char *class)
{
	const json_t *wait = json_object_get(row, "wait");
	int64_t ns = number(wait, class);

	if (!strcmp(class, "lock") && looks_like_thread(run, thread))
		ns += number(wait, "thread");
	return ns;
}

/* As the load could not read all of the kernel's books at once. */
static int64_t unsure_ns(const struct run *run, const char *thread)
{
	return number(json_object_get(json_object_get(run->truth, "truth"), "unsure_ns"), thread);
}

/*
 * How much the class has too little or too much, as a share of the time under load, beyond what was
 * said to be missed. Before and after the load a thread waits for the main thread.
 */
static double wait_off(const struct run *run, const char *thread, const json_t *kind,
		       const json_t *row, int64_t loaded)
{
	const char *class = text(kind, "class");
	int64_t found = waited(run, row, thread, class), real = number(kind, "off_ns");
	int64_t outside = number(run->report, "window.duration_ns") - loaded;
	int64_t missed = number(row, "unknown_ns") + number(row, "wait.other");
	int64_t unsure = unsure_ns(run, thread);
	bool held = !strcmp(class, "thread") || looks_like_thread(run, thread);

	missed += unsure + SWITCH_NS * number(kind, "sleeps");
	if (found < real)
		return found + missed < real ? (double)(found + missed - real) / (double)loaded : 0;
	if (held)
		unsure += outside;
	return found - unsure > real ? (double)(found - unsure - real) / (double)loaded : 0;
}

static void tell_json(const char *what, const json_t *value)
{
	char *dump = json_dumps(value, JSON_COMPACT);

	printf("NOTE %s %.900s\n", what, dump ? dump : "none");
	free(dump);
}

/* Of a thread that is off: its classes, what it says of itself, and its edges. */
static void tell(const struct run *run, const json_t *row, const json_t *kinds)
{
	const json_t *edges = json_object_get(run->report, "edges");
	const json_t *edge;
	size_t i;

	tell_json("wait", json_object_get(row, "wait"));
	tell_json("in truth", kinds);
	json_array_foreach(edges, i, edge)
	{
		if (number(edge, "waiter") == number(row, "tid"))
			tell_json("edge", edge);
	}
}

/* One line: the class of every thread's waits, and that hardly any is of none. */
void check_waits(const struct run *run)
{
	json_t *waits = json_object_get(json_object_get(run->truth, "truth"), "waits"), *kinds,
	       *kind;
	const json_t *worst_row = NULL, *worst_kinds = NULL;
	const char *thread, *worst_of = "none";
	int64_t other = 0, asleep = 0, unknown = 0;
	/* The threads take interrupts for sleep where the kernel does not count them as theirs. */
	double unsure = 0, worst = 0,
	       apart = (double)(interrupts_ns(run, 0) + interrupts_ns(run, 1)) /
		       (2 * (double)number(run->truth, "duration_ns"));
	int threads = 0;
	size_t i;

	json_object_foreach(waits, thread, kinds)
	{
		const json_t *row = find(run->rows, "comm", thread);
		const json_t *books = find(run->books, "name", thread);
		int64_t loaded = grew(books, "ns");

		/* One hop to the disk is seen while that is fresh, which emulation stretches. */
		if (!strcmp(thread, "consumer"))
			continue;
		json_array_foreach(kinds, i, kind)
		{
			double off =
				row && loaded > 0 ? wait_off(run, thread, kind, row, loaded) : 1;

			if (further(worst, off) != worst) {
				worst = off;
				worst_of = thread;
				worst_row = row;
				worst_kinds = kinds;
			}
		}
		threads += json_array_size(kinds) > 0;
		unsure = further(unsure,
				 loaded > 0 ? (double)unsure_ns(run, thread) / (double)loaded : 0);
		asleep += number(row, "offcpu_ns");
		other += number(row, "wait.other");
		unknown += number(row, "unknown_ns");
	}
	verdict(threads > 1 && further(WAIT_TOLERANCE + apart, worst) == WAIT_TOLERANCE + apart &&
			other <= asleep / 20 && unknown <= asleep / 20,
		"%d threads, the worst by %+.2f %%: %s; up to %.2f %% unsure; %.2f %% of no class; "
		"interrupts apart %.2f %%",
		threads, worst * 100, worst_of, unsure * 100,
		100 * (double)other / (double)(asleep ? asleep : 1), apart * 100);
	if (further(WAIT_TOLERANCE, worst) != WAIT_TOLERANCE)
		tell(run, worst_row, worst_kinds);
}

/* the disk */

static int64_t requests(const struct run *run, const char *op, const char *key)
{
	const json_t *row;
	int64_t sum = 0;
	size_t i;

	json_array_foreach(json_object_get(run->report, "block"), i, row)
	{
		if (!strcmp(text(row, "device"), DEVICE) && !strcmp(text(row, "op"), op))
			sum += number(row, key);
	}
	return sum;
}

/* Each reads a page at a time, from places far apart: one request a call. */
static const char *thread_off(const struct run *run)
{
	static const char *const readers[] = {"direct-read", "loader", "cold-read", "cold-mmap"};
	int64_t count = number(run->truth, "args.count"), page = sysconf(_SC_PAGESIZE);
	const json_t *writer = find(run->rows, "comm", "sync-write");

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		const json_t *row = find(run->rows, "comm", readers[i]);

		if (number(row, "io.reads") != count ||
		    number(row, "io.read_bytes") != count * page)
			return readers[i];
	}
	return number(writer, "io.write_bytes") < count * BLOCK ? "sync-write" : NULL;
}

static void check_block(const struct run *run)
{
	int64_t before[STATS], after[STATS], books[STATS], ours_ns, theirs_ns;
	const char *wrong = thread_off(run);
	bool equal;

	if (read_numbers(run, "before", before, STATS) != STATS ||
	    read_numbers(run, "after", after, STATS) != STATS) {
		verdict(false, "no books of the disk");
		return;
	}
	for (int i = 0; i < STATS; i++)
		books[i] = after[i] - before[i];
	equal = requests(run, "read", "count") == books[ST_READS] &&
		requests(run, "read", "bytes") == books[ST_READ_SECTORS] * SECTOR &&
		requests(run, "write", "bytes") == books[ST_WRITE_SECTORS] * SECTOR &&
		requests(run, "flush", "count") == books[ST_FLUSHES];
	ours_ns =
		requests(run, "read", "queue.sum_ns") + requests(run, "read", "device_lat.sum_ns");
	theirs_ns = books[ST_READ_MS] * MSEC;
	verdict(equal && !wrong && books[ST_READS] > 0 &&
			(double)(ours_ns + QUEUED_NS * books[ST_READS]) > 0.9 * (double)theirs_ns &&
			(double)ours_ns < 1.1 * (double)theirs_ns + MSEC,
		"%s%s; %" PRId64 " reads, by the books %" PRId64 "; KiB %" PRId64 "+%" PRId64
		", by the books %" PRId64 "+%" PRId64 "; flushes %" PRId64 ", %" PRId64
		"; time %" PRId64 " us, %" PRId64,
		wrong ? wrong : "each thread's own", wrong ? " is off" : "",
		requests(run, "read", "count"), books[ST_READS],
		requests(run, "read", "bytes") / 1024, requests(run, "write", "bytes") / 1024,
		books[ST_READ_SECTORS] / 2, books[ST_WRITE_SECTORS] / 2,
		requests(run, "flush", "count"), books[ST_FLUSHES], ours_ns / 1000,
		theirs_ns / 1000);
}

void check_disk(const struct run *run)
{
	check_waits(run);
	if (!has_bpf(run))
		return;
	snprintf(check_name, sizeof(check_name), "block");
	check_block(run);
}
