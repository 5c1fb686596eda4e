/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs of rung btf for a kernel without type data, from a file. Whether the file is of the
 * running kernel no file can tell for sure, so before anything is traced the programs read this very
 * thread, whose state is known.
 */
#include "probe/rungs/rung.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/procfs.h"
#include "probe/rungs/skeleton.h"
#include "probe/rungs/type_data.h"
#include "raw_abi.h"
#include "sched_raw.skel.h"

/* Each sleeps four times as long: a sleep that is over before it begins is no switch. */
#define SELF_CHECK_TRIES    4
#define SELF_CHECK_SLEEP_NS 500000

static __u64 cpu_time_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (__u64)t.tv_sec * 1000000000 + (__u64)t.tv_nsec;
}

/* What the programs may read is between these, taken before and after. */
struct bounds {
	__u64 slept_at_ns; /* CPU time when it last went to sleep */
	__u64 begin_ns, end_ns;
	__u32 flags;
	bool fair; /* the scheduler keeps the begin of a slice for these policies only */
};

/* The name of a field that does not read as it must; NULL when all do. */
static const char *wrong_field(const struct tt_self *self, const struct bounds *bounds)
{
	if (self->pid != self->true_pid)
		return "pid";
	if (self->tgid != self->true_tgid)
		return "tgid";
	if (memcmp(self->comm, self->true_comm, sizeof(self->comm)) != 0)
		return "comm";
	if (self->state)
		return "state";
	if (self->flags != bounds->flags)
		return "flags";
	if (self->on_cpu != 1)
		return "on_cpu";
	if (self->on_rq != 1)
		return "on_rq";
	if (self->jobctl)
		return "jobctl";
	if (self->in_iowait)
		return "in_iowait";
	if (self->wake_cpu != self->true_cpu)
		return "wake_cpu";
	if (self->sum_exec_ns < bounds->begin_ns || self->sum_exec_ns > bounds->end_ns)
		return "se.sum_exec_runtime";
	if (bounds->fair && (self->prev_sum_exec_ns < bounds->slept_at_ns ||
			     self->prev_sum_exec_ns > self->sum_exec_ns))
		return "se.prev_sum_exec_runtime";
	return self->regs_offset ? NULL : "stack, or pt_regs";
}

/*
 * Onto one CPU and then another, so that the field that has the CPU is set anew. The kernel may refuse
 * (a cpuset that changes): then what stands there is compared.
 */
static void move_about(const cpu_set_t *allowed)
{
	cpu_set_t one;
	int moves = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && moves < 2; cpu++) {
		if (!CPU_ISSET(cpu, allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		moves++;
	}
}

/* Returns 0 when `self` is filled. */
static int look_at_self(int program_fd, long sleep_ns, struct bounds *bounds)
{
	const struct timespec moment = {.tv_nsec = sleep_ns};
	struct bpf_test_run_opts run = {.sz = sizeof(run)};
	struct procfs_stat stat;
	int err, policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	bounds->fair = policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
	err = procfs_task_stat(procfs_self(), gettid(), &stat);
	if (err)
		return err;
	bounds->flags = stat.flags;
	bounds->slept_at_ns = cpu_time_ns();
	nanosleep(&moment, NULL);
	bounds->begin_ns = cpu_time_ns();
	err = bpf_prog_test_run_opts(program_fd, &run);
	bounds->end_ns = cpu_time_ns();
	return err < 0 ? err : 0;
}

struct self_check {
	struct sched_raw *skel;
	int err;
	const char *wrong;
};

/* In a thread of its own: its tid is not its tgid, and where it may run is nobody else's affair. */
static void *check_in_thread(void *ctx)
{
	struct self_check *check = ctx;
	int fd = bpf_program__fd(check->skel->progs.self_check);
	struct bounds bounds = {0};
	cpu_set_t allowed;
	bool moves = !sched_getaffinity(0, sizeof(allowed), &allowed);

	for (int i = 0; i < SELF_CHECK_TRIES && !check->err; i++) {
		if (moves)
			move_about(&allowed);
		check->err = look_at_self(fd, SELF_CHECK_SLEEP_NS << 2 * i, &bounds);
		check->wrong = wrong_field(&check->skel->bss->self, &bounds);
		if (!check->wrong)
			break;
	}
	return NULL;
}

static int self_check(struct sched_raw *skel, char reason[RUNG_REASON_LEN])
{
	struct self_check check = {.skel = skel};
	pthread_t thread;
	int err = -pthread_create(&thread, NULL, check_in_thread, &check);

	if (!err) {
		pthread_join(thread, NULL);
		err = check.err;
	}
	if (err) {
		snprintf(reason, RUNG_REASON_LEN,
			 "cannot check that the BTF file is of this kernel (BPF_PROG_TEST_RUN, "
			 "Linux "
			 "5.10): %s",
			 strerror(-err));
		return err;
	}
	if (!check.wrong)
		return 0;
	snprintf(
		reason, RUNG_REASON_LEN,
		"the BTF file is not of the kernel that runs: task_struct.%s is not where it says; "
		"make one from this kernel's own headers",
		check.wrong);
	return -EINVAL;
}

static int open_and_load(struct sched_raw *skel, const struct rung_settings *settings,
			 struct rung_objects *objects, char reason[RUNG_REASON_LEN])
{
	int err;

	SKELETON_CHOOSE(skel, settings, objects);
	err = rung_size_maps(skel->obj, settings);
	if (!err)
		err = sched_raw__load(skel);
	if (err) {
		rung_explain_load(err, reason);
		return err;
	}
	return self_check(skel, reason);
}

static int raw_load(const struct rung_settings *settings, struct rung_objects *objects,
		    char reason[RUNG_REASON_LEN])
{
	const char *path = settings->btf ? settings->btf : KERNEL_TYPE_DATA;
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = path);
	struct sched_raw *skel;
	int err;

	if (!settings->btf && access(path, R_OK)) {
		snprintf(reason, RUNG_REASON_LEN,
			 "needs a BTF file (--btf FILE): tegratrace-make-btf makes one from this "
			 "kernel's headers");
		return -ENOENT;
	}
	err = type_data_check(path, reason, RUNG_REASON_LEN);
	if (err)
		return err;
	skel = sched_raw__open_opts(&options);
	if (!skel) {
		err = -errno;
		rung_explain_load(err, reason);
		return err;
	}
	err = open_and_load(skel, settings, objects, reason);
	if (err) {
		sched_raw__destroy(skel);
		return err;
	}
	SKELETON_KEEP(skel, objects);
	objects->calls = true;
	return 0;
}

static int raw_attach(struct rung_objects *objects, char reason[RUNG_REASON_LEN])
{
	int err = sched_raw__attach(objects->skeleton);

	if (err)
		snprintf(reason, RUNG_REASON_LEN,
			 "cannot attach to the raw scheduler tracepoints: %s", strerror(-err));
	return err;
}

static void raw_detach(struct rung_objects *objects)
{
	sched_raw__detach(objects->skeleton);
}

static void raw_destroy(struct rung_objects *objects)
{
	sched_raw__destroy(objects->skeleton);
}

const struct rung_ops rung_raw = {
	.name = "raw",
	.load = raw_load,
	.attach = raw_attach,
	.detach = raw_detach,
	.destroy = raw_destroy,
};
