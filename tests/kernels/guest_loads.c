/* SPDX-License-Identifier: GPL-2.0-only */
/* The reports of guest_check's loads beside their truths: CPU, sleep, faults, switches, births, calls. */
#include "guest.h"

/*
 * Looser than on real hardware: the host may take an emulated CPU away between the kernel's own
 * reading of the clock and the event, and that time then counts on one side only. Left alone they
 * agree to 0.05 %.
 */
#define ONCPU_TOLERANCE	  0.03
#define RUNQ_TOLERANCE	  0.05
#define UNKNOWN_TOLERANCE 0.03
#define EVENT_NS	  20000
/* The kernel adds up interrupts by ticks, and those that a thread of its own serves are among them. */
#define INTERRUPTS_TOLERANCE 0.25

/* what a report must have, whatever was traced */

static bool identity_holds(const struct run *run)
{
	static const char *const parts[] = {"oncpu_ns",	 "runq_wake_ns", "runq_preempt_ns",
					    "offcpu_ns", "stopped_ns",	 "unknown_ns"};
	int64_t wrong = number(run->report, "losses.identity_violations");
	size_t i;
	json_t *row;

	json_array_foreach(run->rows, i, row)
	{
		int64_t sum = 0;

		for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
			sum += number(row, parts[p]);
		wrong += sum != number(row, "wall_ns") || number(row, "identity_error_ns");
	}
	if (wrong || !json_array_size(run->rows))
		verdict(false, "%" PRId64 " identity violations in %zu rows", wrong,
			json_array_size(run->rows));
	return !wrong && json_array_size(run->rows);
}

static bool on_rung(const struct run *run)
{
	const json_t *capability = json_object_get(run->report, "capability");
	bool same = !strcmp(text(capability, "rung"), run->rung);

	if (!same)
		verdict(false, "rung %s, not %s", text(capability, "rung"), run->rung);
	return same;
}

static bool polls(const struct run *run)
{
	return !strcmp(run->rung, "proc");
}

static int64_t runq(const json_t *row)
{
	return number(row, "runq_wake_ns") + number(row, "runq_preempt_ns");
}

static int64_t gaps(const struct run *run)
{
	return number(run->report, "losses.gaps_switch_out") +
	       number(run->report, "losses.gaps_switch_in");
}

static double off_by(int64_t ours, int64_t theirs)
{
	return theirs ? (double)(ours - theirs) / (double)theirs : ours != 0;
}

/* the loads */

/*
 * Unknown within the load. While a CPU that came back was not read anything may have happened, to threads
 * that slept all along too; "return" has that before its load begins.
 */
static int64_t unknown_ns(const struct run *run, const json_t *row)
{
	int64_t all = number(row, "unknown_ns");
	int64_t outside = number(row, "wall_ns") - number(run->truth, "duration_ns");

	if (strncmp(check_name, "return", strlen("return")))
		return all;
	return all > outside ? all - outside : 0;
}

struct agreement {
	const struct run *run;
	double worst[2]; /* on-CPU, run queue */
	double more;	 /* tolerance */
	bool ok;
};

/*
 * Unknown time is one or the other: it may be missing in either. `whole`: their books are open from
 * begin to end; a thread's own are not, as it opens and closes them when it gets to run.
 */
static void agree(struct agreement *with, int side, const json_t *row, int64_t theirs, bool whole)
{
	int64_t ours = side ? runq(row) : number(row, "oncpu_ns");
	double tolerance = (side ? RUNQ_TOLERANCE : ONCPU_TOLERANCE) + with->more;
	double limit = tolerance * (double)theirs + (double)unknown_ns(with->run, row) +
		       EVENT_NS * (double)number(row, "runq.count");
	double difference = (double)(ours - theirs);

	with->ok &= theirs > 0 && -difference <= limit && (!whole || difference <= limit);
	with->worst[side] = further(with->worst[side], off_by(ours, theirs));
}

/*
 * The probes on perf events load and count. Few samples are no failure: the timer of an emulated CPU
 * that its host took away fires once for all that it missed.
 */
static void check_perf(const struct run *run)
{
	const json_t *samples = json_object_get(run->report, "samples");
	const json_t *faults = json_object_get(run->report, "faults");
	int64_t seen = 0, expected = 0;
	char own[64];
	size_t i;
	json_t *one;

	/* they need programs in the kernel */
	if (!strcmp(run->rung, "perf"))
		return;
	json_array_foreach(samples, i, one)
	{
		seen += number(one, "samples");
	}
	json_array_foreach(run->rows, i, one)
	{
		expected += number(one, "oncpu_ns") * 99 / 1000000000;
	}
	snprintf(own, sizeof(own), "%s", check_name);
	snprintf(check_name, sizeof(check_name), "%.50s-perf", own);
	verdict(json_is_array(samples) && json_is_object(faults) && seen > expected / 10 &&
			seen <= expected + expected / 5 + 5,
		"%" PRId64 " samples of %" PRId64 ", %" PRId64 " minor faults", seen, expected,
		number(faults, "minor"));
}

static void check_hog(const struct run *run)
{
	static const char *const keys[] = {"schedstat.oncpu_ns", "schedstat.runq_ns"};
	struct agreement window = {.run = run, .ok = true}, itself = window;
	double load_ns = (double)number(run->truth, "duration_ns"), unknown = 0, slept = 0;
	/* Rung proc has its time from the same books, which leave them out. */
	double apart = strcmp(run->rung, "proc") ? (double)interrupts_ns(run, 1) / load_ns : 0;

	window.more = itself.more = apart * INTERRUPTS_TOLERANCE;
	/* A CPU was away between two looks: what sleeps is unknown from the second to its next event. */
	if (!strcmp(check_name, "blink-rings"))
		slept = ((double)number(run->report, "window.duration_ns") - load_ns) / load_ns;
	for (int i = 0; i < 3; i++) {
		char comm[16];
		const json_t *row, *books;
		int64_t interrupts[2];

		snprintf(comm, sizeof(comm), "hog-%d", i);
		row = find(run->rows, "comm", comm);
		books = find(run->books, "name", comm);
		unknown = further(unknown, (double)unknown_ns(run, row) / load_ns);
		/* Ours are on the CPU in interrupts too. */
		interrupts[0] = (int64_t)(apart * (double)number(row, "oncpu_ns"));
		interrupts[1] = 0;
		for (int side = 0; side < 2; side++) {
			agree(&window, side, row, number(row, keys[side]) + interrupts[side], true);
			agree(&itself, side, row, grew(books, keys[side]) + interrupts[side],
			      false);
		}
	}
	verdict(window.ok && itself.ok && unknown <= UNKNOWN_TOLERANCE + slept,
		"on-CPU %+.2f %%, run queue %+.2f %%; its own books %+.2f %%, %+.2f %%; unknown "
		"%.2f %%, gaps %" PRId64 ", interrupts apart %.2f %%",
		window.worst[0] * 100, window.worst[1] * 100, itself.worst[0] * 100,
		itself.worst[1] * 100, unknown * 100, gaps(run), apart * 100);
	/* On the other rungs there are none of these probes, and the report says null. */
	if (has_bpf(run))
		check_perf(run);
}

/* They sleep in clock_nanosleep() and nowhere else, but for the holds before and after the load. */
static void check_classes(const struct run *run, int64_t timer_ns, int64_t asked_ns)
{
	const json_t *missing =
		json_object_get(json_object_get(run->report, "capability"), "missing");
	/* Where a program may run in the loader's own system call (5.10), so without type data too. */
	bool seen = !has_bpf(run) || !find(missing, "what", "system calls of waits");
	char own[64];

	snprintf(own, sizeof(own), "%s", check_name);
	snprintf(check_name, sizeof(check_name), "%.50s-classes", own);
	verdict(timer_ns >= asked_ns * 9 / 10 && seen,
		"%.1f %% of the sleep has the class of timers%s",
		100 * (double)timer_ns / (double)asked_ns,
		seen ? "" : ", system calls are not seen");
}

/* Polling charges a sleep when it sees it: what began or ended between two looks may be missing. */
static void check_sleepers(const struct run *run)
{
	int64_t short_of = 0, timer = 0, all = 0;
	int rows = 0;
	size_t i;
	json_t *books;

	json_array_foreach(run->books, i, books)
	{
		const json_t *row = find(run->rows, "comm", text(books, "name"));
		int64_t asked = number(books, "requested_sleep_ns");

		if (!asked)
			continue;
		rows++;
		all += asked;
		timer += number(row, "wait.timer");
		if (number(row, "offcpu_ns") < asked)
			short_of += asked - number(row, "offcpu_ns");
	}
	verdict(rows == 7 && short_of <= (polls(run) ? all / 20 : 0),
		"%d sleepers, %" PRId64 " ns of sleep not seen", rows, short_of);
	/* Polling has 1 ms a pass for places of sleep, which emulated is less than one takes. */
	if (!polls(run))
		check_classes(run, timer, all);
}

/* Each page once, by the kernel's own count. */
static void check_faults(const struct run *run)
{
	static const char *const names[] = {"anon", "copied"};
	int64_t seen = 0, real = 0, sites = 0;
	size_t n;
	json_t *site;

	for (int i = 0; i < 2; i++) {
		const json_t *row = find(run->rows, "comm", names[i]);

		seen += number(row, "faults.minor");
		real += number(find(run->books, "name", names[i]), "minor");
		json_array_foreach(json_object_get(json_object_get(run->report, "faults"), "sites"),
				   n, site)
		{
			if (number(site, "tid") == number(row, "tid"))
				sites += number(site, "minor");
		}
	}
	verdict(real >= 1508 && seen >= real && seen <= real + 16 && sites == seen,
		"%" PRId64 " minor faults, %" PRId64 " by their sites, %" PRId64
		" by the kernel's count",
		seen, sites, real);
}

static void check_pingpong(const struct run *run)
{
	int64_t counted = 0, kernels = 0, lost = gaps(run);
	size_t i;
	json_t *books;

	json_array_foreach(run->books, i, books)
	{
		const json_t *row = find(run->rows, "comm", text(books, "name"));

		if (!i) /* the main thread */
			continue;
		counted += number(row, "switches.voluntary") + number(row, "switches.involuntary");
		kernels += grew(books, "nvcsw") + grew(books, "nivcsw");
	}
	verdict(kernels > 100 && lost <= kernels / 100 && counted >= kernels - lost &&
			counted <= kernels + 8,
		"%" PRId64 " switches, %" PRId64 " by the kernel's count, gaps %" PRId64
		", without waker %" PRId64,
		counted, kernels, lost, number(run->report, "losses.wakes_without_waker"));
}

static void check_churn(const struct run *run)
{
	int64_t created = number(run->truth, "truth.created");
	int64_t seen = number(run->report, "threads_seen"), folded = 0;
	int64_t lost = number(run->report, "losses.threads_untracked");
	int64_t makers = number(run->truth, "args.makers");
	size_t i;
	json_t *row;

	json_array_foreach(run->rows, i, row)
	{
		if (!strcmp(text(row, "group"), "short"))
			folded += number(row, "folded");
	}
	verdict(created == 503 && seen == created + makers + 1 && folded == created && !lost,
		"%" PRId64 " born, %" PRId64 " seen, %" PRId64 " untracked", created, folded, lost);
}

static void check_exec(const struct run *run)
{
	int64_t pid = number(run->truth, "pid"),
		exec_tid = number(run->truth, "truth.phase1.exec_tid");
	int64_t window = number(run->report, "window.duration_ns");
	int heirs = 0, ended = 0, strays = 0, workers = 0;
	size_t i;
	json_t *row;

	json_array_foreach(run->rows, i, row)
	{
		bool exited = json_is_true(json_object_get(row, "exited"));

		if (number(row, "tid") == pid && exited)
			ended++;
		else if (number(row, "tid") == pid && number(row, "wall_ns") == window)
			heirs++;
		else if (number(row, "tid") == exec_tid)
			strays++;
		else if (!strncmp(text(row, "comm"), exited ? "p1-work" : "p2-work", 7) &&
			 number(row, "oncpu_ns") > 0)
			workers++;
	}
	verdict(heirs == 1 && ended == 1 && !strays && workers == 6,
		"%d heir, %d ended leader, %d strays, %d of 6 workers", heirs, ended, strays,
		workers);
}

static void check_stopped(const struct run *run)
{
	static const char *const names[] = {"stop-run", "stop-nap", "stop-leader", "stop-wait"};
	int64_t least = number(run->truth, "truth.stopped_at_least_ns");
	int64_t most = number(run->truth, "truth.stopped_at_most_ns");
	int64_t slack = least / 20 > 20000000 ? least / 20 : 20000000;
	int64_t low = INT64_MAX, high = 0;

	for (int i = 0; i < 4; i++) {
		const json_t *row = find(run->rows, "comm", names[i]);
		int64_t ns = number(row, "stopped_ns");

		low = ns < low ? ns : low;
		high = ns > high ? ns : high;
	}
	verdict(least > 0 && low >= least - slack && high <= most + slack,
		"%" PRId64 " to %" PRId64 " ms stopped, in truth %" PRId64 " to %" PRId64,
		low / 1000000, high / 1000000, least / 1000000, most / 1000000);
}

/* Argument registers, uprobes and their returns: every call counted, and its time. */
static void check_cuda(const struct run *run)
{
	static const char *const counts[] = {"sync_calls",     "polls",	 "launches",
					     "graph_launches", "copies", "copy_bytes"};
	const json_t *row = find(run->rows, "comm", "infer-0");
	const json_t *books = find(run->books, "name", "infer-0");
	const json_t *cuda = json_object_get(row, "cuda");
	int64_t queued = runq(row), sync = number(cuda, "sync_ns"), most = number(books, "sync_ns");
	int64_t lost = number(run->report, "cuda.lost"),
		nested = number(run->report, "cuda.nested");
	const char *wrong = NULL;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (number(cuda, counts[i]) != number(books, counts[i]))
			wrong = counts[i];
	}
	verdict(!wrong && lost == 3 && nested == 19 && sync <= most &&
			(double)sync > 0.95 * (double)most - (double)queued,
		"%s%s; in waits %+.2f %%, spinning %+.2f %%; lost %" PRId64 ", nested %" PRId64
		", %" PRId64 " ns a call",
		wrong ? wrong : "every call counted", wrong ? " differ" : "",
		off_by(sync, most) * 100,
		off_by(number(cuda, "spin_ns"),
		       number(books, "sync_cpu_ns") + number(books, "poll_cpu_ns")) *
			100,
		lost, nested,
		(int64_t)json_real_value(
			json_object_get(json_object_get(run->report, "cuda"), "ns_per_call")));
}

int check_demo(const char *wanted, const char *path)
{
	const json_t *found = json_object_get(load(path), "verdict");

	verdict(!strcmp(text(found, "class"), wanted), "%s: %s", text(found, "class"),
		text(found, "headline"));
	return 0;
}

int check_load(const char *which, char **args)
{
	static const struct {
		const char *which;
		void (*check)(const struct run *run);
	} checks[] = {
		{"hog", check_hog},	      {"sleepers", check_sleepers},
		{"pingpong", check_pingpong}, {"churn", check_churn},
		{"exec_thread", check_exec},  {"stopped", check_stopped},
		{"libcuda.so.1", check_cuda}, {"fault_load", check_faults},
		{"waits_sync", check_waits},  {"waits_ipc", check_waits},
		{"waits_disk", check_disk},
	};
	struct run run = {.rung = args[1], .report_path = args[2]};

	snprintf(check_name, sizeof(check_name), "%s", args[0]);
	run.report = load(args[2]);
	run.truth = load(args[3]);
	run.rows = json_object_get(run.report, "threads");
	run.books = json_object_get(run.truth, "threads");
	if (!on_rung(&run) || !identity_holds(&run))
		return 0;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (!strcmp(checks[i].which, which)) {
			checks[i].check(&run);
			return 0;
		}
	}
	fprintf(stderr, "guest_check: no load %s\n", which);
	return 2;
}
