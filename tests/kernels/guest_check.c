/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs inside the virtual machine of the kernel matrix, beside a shell that has no JSON.
 *
 *   guest_check pid READY                  the process to trace, from what a workload says when up
 *   guest_check attached PID [polls]       waits until that tegratrace has attached, or only polls
 *   guest_check LOAD NAME RUNG REPORT TRUTH  compares; one line "CHECK NAME-LOAD ok|FAIL detail"
 *   guest_check demo NAME CLASS REPORT     the verdict
 *   guest_check objects                    programs, maps and links in the kernel: "0 0 0"
 *   guest_check settled NAME BEFORE...     waits until the objects are what they were
 *   guest_check programs                   "NOTE program ..." with the sizes of each
 *   guest_check events ID SECONDS          how often a tracepoint fired, as perf counts it
 *   guest_check no-resource COMMAND...     without CAP_SYS_RESOURCE, which may raise limits
 *   guest_check first COMMAND...           ahead of all other load
 *   guest_check nobody COMMAND...          as a user without any right
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <jansson.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Looser than on real hardware: the host may take an emulated CPU away between the kernel's own
 * reading of the clock and the event, and that time then counts on one side only. Left alone they
 * agree to 0.05 %.
 */
#define ONCPU_TOLERANCE	  0.03
#define RUNQ_TOLERANCE	  0.05
#define UNKNOWN_TOLERANCE 0.03
#define EVENT_NS	  20000
#define TRIES		  600 /* of 50 ms */

static char name[64];

static void __attribute__((format(printf, 2, 3))) verdict(bool ok, const char *format, ...)
{
	va_list args;

	printf("CHECK %s %s ", name, ok ? "ok" : "FAIL");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void pause_ms(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
}

/* JSON */

static json_t *load(const char *path)
{
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);

	if (!root) {
		verdict(false, "%s: %s", path, error.text);
		exit(1);
	}
	return root;
}

/* "a.b.c"; 0 where there is none */
static int64_t number(const json_t *object, const char *path)
{
	char part[64];

	while (*path) {
		size_t len = strcspn(path, ".");

		snprintf(part, sizeof(part), "%.*s", (int)len, path);
		object = json_object_get(object, part);
		path += len + (path[len] == '.');
	}
	return json_integer_value(object);
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static const json_t *find(const json_t *list, const char *key, const char *value)
{
	size_t i;
	json_t *one;

	json_array_foreach(list, i, one)
	{
		if (!strcmp(text(one, key), value))
			return one;
	}
	return NULL;
}

/* what a report must have, whatever was traced */

struct run {
	const json_t *report, *truth;
	const json_t *rows, *books;
	const char *rung;
};

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

static bool has_bpf(const struct run *run)
{
	return strcmp(run->rung, "perf") && strcmp(run->rung, "proc");
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

static int64_t grew(const json_t *thread, const char *key)
{
	char begin[64], end[64];

	snprintf(begin, sizeof(begin), "begin.%s", key);
	snprintf(end, sizeof(end), "end.%s", key);
	return number(thread, end) - number(thread, begin);
}

static double off_by(int64_t ours, int64_t theirs)
{
	return theirs ? (double)(ours - theirs) / (double)theirs : ours != 0;
}

/* the loads */

static double further(double a, double b)
{
	return (b < 0 ? -b : b) > (a < 0 ? -a : a) ? b : a;
}

struct agreement {
	double worst[2]; /* on-CPU, run queue */
	bool ok;
};

/*
 * Unknown time is one or the other: it may be missing in either. `whole`: their books are open from
 * begin to end; a thread's own are not, as it opens and closes them when it gets to run.
 */
static void agree(struct agreement *with, int side, const json_t *row, int64_t theirs, bool whole)
{
	int64_t ours = side ? runq(row) : number(row, "oncpu_ns");
	double tolerance = side ? RUNQ_TOLERANCE : ONCPU_TOLERANCE;
	double limit = tolerance * (double)theirs + (double)number(row, "unknown_ns") +
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
	snprintf(own, sizeof(own), "%s", name);
	snprintf(name, sizeof(name), "%.50s-perf", own);
	verdict(json_is_array(samples) && json_is_object(faults) && seen > expected / 10 &&
			seen <= expected + expected / 5 + 5,
		"%" PRId64 " samples of %" PRId64 ", %" PRId64 " minor faults", seen, expected,
		number(faults, "minor"));
}

static void check_hog(const struct run *run)
{
	static const char *const keys[] = {"schedstat.oncpu_ns", "schedstat.runq_ns"};
	struct agreement window = {.ok = true}, itself = {.ok = true};
	double load_ns = (double)number(run->truth, "duration_ns"), unknown = 0;

	for (int i = 0; i < 3; i++) {
		char comm[16];
		const json_t *row, *books;

		snprintf(comm, sizeof(comm), "hog-%d", i);
		row = find(run->rows, "comm", comm);
		books = find(run->books, "name", comm);
		unknown = further(unknown, (double)number(row, "unknown_ns") / load_ns);
		for (int side = 0; side < 2; side++) {
			agree(&window, side, row, number(row, keys[side]), true);
			agree(&itself, side, row, grew(books, keys[side]), false);
		}
	}
	verdict(window.ok && itself.ok && unknown <= UNKNOWN_TOLERANCE,
		"on-CPU %+.2f %%, run queue %+.2f %%; its own books %+.2f %%, %+.2f %%; unknown "
		"%.2f %%, gaps %" PRId64,
		window.worst[0] * 100, window.worst[1] * 100, itself.worst[0] * 100,
		itself.worst[1] * 100, unknown * 100, gaps(run));
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

	snprintf(own, sizeof(own), "%s", name);
	snprintf(name, sizeof(name), "%.50s-classes", own);
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
	verdict(kernels > 100 && counted >= kernels - lost && counted <= kernels + 8,
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

static int check_demo(const char *wanted, const char *path)
{
	const json_t *found = json_object_get(load(path), "verdict");

	verdict(!strcmp(text(found, "class"), wanted), "%s: %s", text(found, "class"),
		text(found, "headline"));
	return 0;
}

static int check_load(const char *which, char **args)
{
	static const struct {
		const char *which;
		void (*check)(const struct run *run);
	} checks[] = {
		{"hog", check_hog},	      {"sleepers", check_sleepers},
		{"pingpong", check_pingpong}, {"churn", check_churn},
		{"exec_thread", check_exec},  {"stopped", check_stopped},
		{"libcuda.so.1", check_cuda}, {"fault_load", check_faults},
	};
	struct run run = {.rung = args[1]};

	snprintf(name, sizeof(name), "%s", args[0]);
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

/* the kernel's BPF objects */

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int count_objects(int command)
{
	union bpf_attr attr = {0};
	int n = 0;

	while (!bpf(command, &attr)) {
		attr.start_id = attr.next_id;
		n++;
	}
	return n;
}

static void all_objects(char *line, size_t size)
{
	/* There are links since 5.7, but what the classic tracepoints have are links since 5.15. */
	snprintf(line, size, "%d %d %d", count_objects(BPF_PROG_GET_NEXT_ID),
		 count_objects(BPF_MAP_GET_NEXT_ID), count_objects(BPF_LINK_GET_NEXT_ID));
}

/* The kernel frees them some time after their last user. */
static int settled(char **args)
{
	char now[64] = "", before[64];

	snprintf(name, sizeof(name), "%s", args[0]);
	snprintf(before, sizeof(before), "%s", args[1]);
	for (int i = 0; i < TRIES / 6; i++) {
		all_objects(now, sizeof(now));
		if (!strcmp(now, before))
			break;
		pause_ms(50);
	}
	verdict(!strcmp(now, before), "programs, maps, links: before %s, after %s", before, now);
	return 0;
}

static int show_programs(void)
{
	union bpf_attr attr = {0};

	while (!bpf(BPF_PROG_GET_NEXT_ID, &attr)) {
		__u32 id = attr.next_id;
		struct bpf_prog_info info = {0};
		union bpf_attr of = {.prog_id = id};
		int fd = bpf(BPF_PROG_GET_FD_BY_ID, &of);

		memset(&of, 0, sizeof(of));
		of.info.bpf_fd = (__u32)fd;
		of.info.info_len = sizeof(info);
		of.info.info = (__u64)(uintptr_t)&info;
		if (fd >= 0 && !bpf(BPF_OBJ_GET_INFO_BY_FD, &of) &&
		    (info.type == BPF_PROG_TYPE_TRACING || info.type == BPF_PROG_TYPE_TRACEPOINT ||
		     info.type == BPF_PROG_TYPE_RAW_TRACEPOINT))
			printf("NOTE program %s type %u xlated %u jited %u verified %u\n",
			       info.name, info.type, info.xlated_prog_len, info.jited_prog_len,
			       info.verified_insns);
		if (fd >= 0)
			close(fd);
		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
	}
	return 0;
}

/* a tegratrace that is up: it holds perf events or links, and waits for something to happen */

static bool holds_events(const char *pid)
{
	char path[64], link[512];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		found = strstr(link, "perf_event") || strstr(link, "bpf_link") ||
			strstr(link, "bpf-link");
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Not by /proc/PID/wchan, which x86 kernels do not fill before 5.16. */
static bool waits_in_poll(const char *pid)
{
	char path[64], line[256] = "";
	long number;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/syscall", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	if (read(fd, line, sizeof(line) - 1) < 0)
		line[0] = '\0';
	close(fd);
	if (sscanf(line, "%ld", &number) != 1)
		return false;
#ifdef SYS_poll
	if (number == SYS_poll)
		return true;
#endif
	return number == SYS_ppoll;
}

static int wait_attached(const char *pid, bool only_polls)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s", pid);
	for (int i = 0; i < TRIES && !access(path, F_OK); i++) {
		if ((only_polls || holds_events(pid)) && waits_in_poll(pid)) {
			pause_ms(100);
			return 0;
		}
		pause_ms(50);
	}
	return 1;
}

/* another user of the same tracepoints */

static int count_events(const char *id, const char *seconds)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = strtoull(id, NULL, 10),
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t total = 0, one;
	int fds[64];

	for (long cpu = 0; cpu < cpus && cpu < 64; cpu++) {
		fds[cpu] = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, 0UL);
		if (fds[cpu] < 0) {
			fprintf(stderr, "guest_check: perf event %s: %s\n", id, strerror(errno));
			return 1;
		}
	}
	pause_ms((long)(strtod(seconds, NULL) * 1000));
	for (long cpu = 0; cpu < cpus && cpu < 64; cpu++) {
		if (read(fds[cpu], &one, sizeof(one)) == sizeof(one))
			total += one;
	}
	printf("%" PRIu64 "\n", total);
	return 0;
}

static int show_pid(const char *path)
{
	const json_t *ready = load(path);
	int64_t child = number(ready, "tids.stop-leader");

	printf("%" PRId64 "\n", child ? child : number(ready, "pid"));
	return 0;
}

static int without_resource(char **command)
{
	if (prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0)) {
		perror("guest_check: CAP_SYS_RESOURCE");
		return 125;
	}
	execv(command[0], command);
	perror(command[0]);
	return 127;
}

static int ahead(char **command)
{
	if (setpriority(PRIO_PROCESS, 0, -20))
		perror("guest_check: priority");
	execv(command[0], command);
	perror(command[0]);
	return 127;
}

static int nobody(char **command)
{
	if (setgroups(0, NULL) || setgid(65534) || setuid(65534)) {
		perror("guest_check: nobody");
		return 125;
	}
	execv(command[0], command);
	perror(command[0]);
	return 127;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "pid") && argc == 3)
		return show_pid(argv[2]);
	if (!strcmp(what, "attached") && (argc == 3 || argc == 4))
		return wait_attached(argv[2], argc == 4 && !strcmp(argv[3], "polls"));
	if (!strcmp(what, "objects")) {
		all_objects(line, sizeof(line));
		puts(line);
		return 0;
	}
	if (!strcmp(what, "settled") && argc == 4)
		return settled(&argv[2]);
	if (!strcmp(what, "programs"))
		return show_programs();
	if (!strcmp(what, "events") && argc == 4)
		return count_events(argv[2], argv[3]);
	if (!strcmp(what, "no-resource") && argc > 2)
		return without_resource(&argv[2]);
	if (!strcmp(what, "first") && argc > 2)
		return ahead(&argv[2]);
	if (!strcmp(what, "nobody") && argc > 2)
		return nobody(&argv[2]);
	if (!strcmp(what, "demo") && argc == 5) {
		snprintf(name, sizeof(name), "%s", argv[2]);
		return check_demo(argv[3], argv[4]);
	}
	if (argc == 6)
		return check_load(what, &argv[2]);
	fprintf(stderr, "guest_check: see the head of its source\n");
	return 2;
}
