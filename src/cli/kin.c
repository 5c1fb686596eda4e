/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/kin.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define STEP_NS	 10000000LL
#define SCAN_NS	 100000000LL  /* /proc of a busy machine takes some 10 ms */
#define FORCE_NS 5000000000LL /* after SIGKILL: a process gives its GPU memory back first */

struct kin_member {
	struct target process;
	bool spared, told;
};

struct scan {
	struct kin *kin;
	const struct command *command; /* whose end waitpid() tells; NULL */
};

void kin_open(struct kin *kin)
{
	siginfo_t info;

	*kin = (struct kin){.blind = procfs_self() != getpid()};
	/* exec() keeps children. Whose orphans are whose could not be told: then none are adopted. */
	if (!kin->blind && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && errno == ECHILD)
		kin->adopts = !prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void kin_close(struct kin *kin)
{
	if (kin->adopts)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	free(kin->members);
	*kin = (struct kin){0};
}

void kin_reap(const struct kin *kin, pid_t command, pid_t other)
{
	siginfo_t info = {0};

	while (kin->adopts && !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid && info.si_pid != command && info.si_pid != other) {
		if (waitpid(info.si_pid, NULL, WNOHANG) != info.si_pid)
			return;
		info.si_pid = 0;
	}
}

/* By a pidfd where there are such, else the pid could be another's by now. */
static void tell(const struct target *process, int number)
{
	int fd = syscall(SYS_pidfd_open, process->pid, 0);

	if (target_lives(process) &&
	    (fd < 0 || syscall(SYS_pidfd_send_signal, fd, number, NULL, 0)))
		kill(process->pid, number);
	if (fd >= 0)
		close(fd);
}

static bool is_spared(const struct kin *kin, pid_t pid)
{
	for (int i = 0; i < kin->n; i++) {
		if (kin->members[i].process.pid == pid)
			return kin->members[i].spared;
	}
	return false;
}

static int add_member(void *ctx, const struct target *child, pid_t parent)
{
	struct scan *scan = ctx;
	struct kin *kin = scan->kin;

	if (scan->command && child->pid == scan->command->pid)
		return 0;
	if (kin->n == kin->capacity) {
		int capacity = kin->capacity ? 2 * kin->capacity : 16;
		void *members = realloc(kin->members, (size_t)capacity * sizeof(*kin->members));

		if (!members)
			return -ENOMEM;
		kin->members = members;
		kin->capacity = capacity;
	}
	kin->members[kin->n++] =
		(struct kin_member){.process = *child, .spared = is_spared(kin, parent)};
	return 0;
}

static int add_root(struct target_set *roots, pid_t pid)
{
	struct procfs_stat stat;

	if (procfs_task_stat(pid, PROCFS_PROCESS, &stat))
		return 0;
	return targets_add(roots, &(struct target){.pid = pid, .starttime = stat.starttime_ticks});
}

/* Those not known yet. What it cannot find, for want of memory, goes on unseen. */
static void find(struct kin *kin, const struct command *command)
{
	struct scan scan = {kin, command};
	struct target_set roots = {0};
	int err = 0;

	if (kin->blind)
		return;
	if (kin->adopts)
		err = add_root(&roots, getpid());
	if (!err && command)
		err = add_root(&roots, command->pid);
	for (int i = 0; i < kin->n && !err; i++)
		err = targets_add(&roots, &kin->members[i].process);
	if (!err && roots.n)
		targets_descendants(&roots, add_member, &scan);
	targets_free(&roots);
}

static void drop_ended(struct kin *kin)
{
	int n = 0;

	for (int i = 0; i < kin->n; i++) {
		if (target_lives(&kin->members[i].process))
			kin->members[n++] = kin->members[i];
	}
	kin->n = n;
}

static void list_left(const struct kin *kin, bool spared, pid_t command, struct kin_left *left)
{
	struct target_set set = {0};
	struct procfs_stat stat;

	*left = (struct kin_left){0};
	if (command && !procfs_task_stat(command, PROCFS_PROCESS, &stat)) {
		struct target process = {.pid = command, .starttime = stat.starttime_ticks};

		memcpy(process.comm, stat.comm, sizeof(process.comm));
		targets_add(&set, &process);
	}
	for (int i = 0; i < kin->n; i++) {
		if (kin->members[i].spared == spared)
			targets_add(&set, &kin->members[i].process);
	}
	left->n = set.n;
	targets_list(&set, left->list, sizeof(left->list));
	targets_free(&set);
}

void kin_spare(struct kin *kin, struct kin_left *left)
{
	kin_reap(kin, 0, 0);
	drop_ended(kin);
	find(kin, NULL);
	for (int i = 0; i < kin->n; i++)
		kin->members[i].spared = true;
	list_left(kin, true, 0, left);
}

/* Each once, but all again by SIGKILL. True when one that is to end lives. */
static bool tell_all(struct kin *kin, int number)
{
	bool living = false;

	drop_ended(kin);
	for (int i = 0; i < kin->n; i++) {
		struct kin_member *member = &kin->members[i];

		if (member->spared)
			continue;
		living = true;
		if (!member->told || number == SIGKILL)
			tell(&member->process, number);
		member->told = true;
	}
	return living;
}

/* Until none is left or the time is over. Returns whether the command still is. */
static bool end_by(struct kin *kin, struct command *command, int number, int64_t limit_ns)
{
	const struct timespec step = {0, STEP_NS};
	int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + limit_ns, scan_ns = 0;
	bool running = command && !command_reap(command), living;

	do {
		bool look = clock_ns(CLOCK_MONOTONIC) >= scan_ns;

		/* Without adopting, its children are found while it is there only. */
		if (look) {
			find(kin, running ? command : NULL);
			if (running && (!scan_ns || number == SIGKILL))
				kill(command->pid, number);
			scan_ns = clock_ns(CLOCK_MONOTONIC) + SCAN_NS;
		}
		living = tell_all(kin, number);
		if (!running && !living) {
			if (look)
				break;
			scan_ns = 0;
			continue;
		}
		nanosleep(&step, NULL);
		running = command && !command_reap(command);
		kin_reap(kin, running ? command->pid : 0, 0);
	} while (clock_ns(CLOCK_MONOTONIC) < end_ns);
	return running;
}

void kin_end(struct kin *kin, struct command *command, int64_t grace_ns, bool by_force,
	     struct kin_left *left)
{
	bool running = end_by(kin, command, SIGTERM, grace_ns);

	drop_ended(kin);
	list_left(kin, false, running ? command->pid : 0, left);
	if (!left->n || !by_force)
		return;
	running = end_by(kin, command, SIGKILL, FORCE_NS);
	drop_ended(kin);
	list_left(kin, false, running ? command->pid : 0, left);
}
