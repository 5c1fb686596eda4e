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
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRIES 600 /* of 50 ms */

char check_name[64];

static void pause_ms(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
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

	snprintf(check_name, sizeof(check_name), "%s", args[0]);
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
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t total = 0, one;
	int *fds = calloc((size_t)cpus, sizeof(*fds));

	if (!fds)
		return 1;
	for (long cpu = 0; cpu < cpus; cpu++) {
		fds[cpu] = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, 0UL);
		/* ENODEV: it is offline */
		if (fds[cpu] < 0 && errno != ENODEV) {
			fprintf(stderr, "guest_check: perf event %s: %s\n", id, strerror(errno));
			return 1;
		}
	}
	pause_ms((long)(strtod(seconds, NULL) * 1000));
	for (long cpu = 0; cpu < cpus; cpu++) {
		if (fds[cpu] >= 0 && read(fds[cpu], &one, sizeof(one)) == sizeof(one))
			total += one;
	}
	free(fds);
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
		snprintf(check_name, sizeof(check_name), "%s", argv[2]);
		return check_demo(argv[3], argv[4]);
	}
	if (argc == 6)
		return check_load(what, &argv[2]);
	fprintf(stderr, "guest_check: see the head of its source\n");
	return 2;
}
