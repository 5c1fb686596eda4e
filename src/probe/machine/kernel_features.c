/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/kernel_features.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "probe/procfs.h"
#include "base/text_file.h"
#include "session/session.h"

/* include/uapi/linux/capability.h; the last two are of 5.8 */
#define CAPABILITY_SYS_PTRACE 19
#define CAPABILITY_SYS_ADMIN  21
#define CAPABILITY_PERFMON    38
#define CAPABILITY_BPF	      39

const struct tracepoint_set tracepoint_sets[] = {
	{"scheduler tracepoints",
	 "no accounting",
	 {"sched/sched_switch", "sched/sched_waking", "sched/sched_wakeup",
	  "sched/sched_wakeup_new", "sched/sched_process_exec", "sched/sched_process_exit",
	  "task/task_newtask"},
	 NULL},
	{"interrupt tracepoints",
	 "wakeups by interrupts are charged to the task that they interrupt",
	 {"irq/irq_handler_entry", "irq/irq_handler_exit", "irq/softirq_entry", "irq/softirq_exit"},
	 NULL},
	{"timer tracepoints",
	 "wakeups by timers are charged to the task that they interrupt",
	 {"timer/hrtimer_expire_entry", "timer/hrtimer_expire_exit"},
	 NULL},
	{"freezer tracepoint",
	 "paused threads with short sleeps count as asleep on rung tracepoint",
	 {"cgroup/cgroup_freeze"},
	 NULL},
	{"block tracepoints",
	 "no latencies of disks",
	 {"block/block_getrq", "block/block_rq_issue", "block/block_rq_complete",
	  "block/block_rq_requeue", "block/block_bio_frontmerge", "block/block_rq_merge"},
	 "block/block_rq_merge"},
};

const size_t tracepoint_set_count = sizeof(tracepoint_sets) / sizeof(tracepoint_sets[0]);

void tracepoint_set_check(const struct tracepoint_set *set, const struct tracefs *tracefs,
			  bool there[TRACEPOINTS_MAX], struct finding *finding)
{
	char missing[128] = "";
	int n = 0;

	finding->what = set->what;
	finding->ok = tracefs->fd >= 0;
	for (; n < TRACEPOINTS_MAX && set->events[n]; n++) {
		const char *event = set->events[n];

		there[n] = tracefs->fd >= 0 && tracefs_event_id(tracefs, event) >= 0;
		if (there[n] || (set->optional && !strcmp(set->optional, event)))
			continue;
		finding->ok = false;
		text_appendf(missing, sizeof(missing), "%s%s", *missing ? ", " : "",
			     strchr(event, '/') + 1);
	}
	if (tracefs->fd < 0)
		snprintf(finding->text, sizeof(finding->text), "cannot tell without tracefs");
	else if (finding->ok)
		snprintf(finding->text, sizeof(finding->text), "all %d", n);
	else
		snprintf(finding->text, sizeof(finding->text), "missing: %.110s: %s", missing,
			 set->loses);
}

static int64_t setting(const char *path)
{
	char text[32];

	return text_file_read(text, sizeof(text), "%s", path) > 0 ? text_number(text)
								  : UNKNOWN_COUNT;
}

/* As the sampler and the fault counters do: of every task on one CPU. Returns 0 or -errno. */
static int try_event(uint64_t config)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void check_perf(struct finding *f)
{
	static const uint64_t events[] = {PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_PAGE_FAULTS_MIN,
					  PERF_COUNT_SW_PAGE_FAULTS_MAJ};
	int64_t paranoid = setting("/proc/sys/kernel/perf_event_paranoid");
	char level[32] = "unknown";
	int err = 0;

	f->what = "perf events";
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !err; i++)
		err = try_event(events[i]);
	f->ok = !err;
	if (paranoid != UNKNOWN_COUNT)
		snprintf(level, sizeof(level), "%lld", (long long)paranoid);
	if (!err)
		snprintf(f->text, sizeof(f->text),
			 "cpu-clock, page faults; perf_event_paranoid is %s", level);
	else if (err == -EACCES || err == -EPERM)
		snprintf(f->text, sizeof(f->text),
			 "refused: perf_event_paranoid is %s, or a container's seccomp filter",
			 level);
	else
		snprintf(f->text, sizeof(f->text), "perf_event_open: %s", strerror(-err));
}

static void check_jit(const struct kernel_config *config, struct finding *f)
{
	int64_t enabled = setting("/proc/sys/net/core/bpf_jit_enable");

	/* the file is seen in the first network namespace only */
	if (enabled == UNKNOWN_COUNT && kernel_config_get(config, "BPF_JIT") == CONFIG_VALUE_OFF)
		enabled = 0;
	f->what = "BPF JIT";
	f->ok = enabled != 0;
	snprintf(f->text, sizeof(f->text), "%s",
		 enabled > 0 ? "on"
		 : !enabled  ? "off: programs are interpreted and cost several times as much"
			     : "not shown in this network namespace");
}

static void check_lockdown(struct finding *f)
{
	char text[64];
	ssize_t n = text_file_read(text, sizeof(text), "/sys/kernel/security/lockdown");

	f->what = "kernel lockdown";
	f->ok = n <= 0 || !strstr(text, "[confidentiality]");
	snprintf(f->text, sizeof(f->text), "%s",
		 n <= 0	 ? "none"
		 : f->ok ? "does not forbid tracing"
			 : "confidentiality: BPF programs may not read kernel memory");
}

static void check_delay_accounting(const struct kernel_config *config, struct finding *f)
{
	int on = procfs_delayacct();

	/* before 5.14 there is no switch: it is on where it is built */
	if (on == -ENOENT && kernel_config_get(config, "TASK_DELAY_ACCT") == CONFIG_VALUE_ON)
		on = 1;
	f->what = "delay accounting";
	f->ok = on == 1;
	snprintf(f->text, sizeof(f->text), "%s",
		 on == 1 ? "on"
			 : "off (sysctl kernel.task_delayacct): no book of the kernel's own on "
			   "block-I/O waits to compare with");
}

/* Not a lack: what a reader who compares the two must know. Of every stock Jetson, see update_rq_clock_task(). */
static void check_interrupt_time(const struct kernel_config *config, struct finding *f)
{
	static const char *const texts[] = {
		[CONFIG_VALUE_UNKNOWN] = "not known whether a thread's books leave it out "
					 "(CONFIG_IRQ_TIME_ACCOUNTING)",
		[CONFIG_VALUE_OFF] = "part of a thread's time, here and in schedstat",
		[CONFIG_VALUE_MODULE] = "",
		[CONFIG_VALUE_ON] =
			"kept apart (CONFIG_IRQ_TIME_ACCOUNTING): schedstat, top and ps leave "
			"it out of a thread's CPU time, on-CPU time here has it",
	};

	f->what = "interrupt time";
	f->ok = true;
	snprintf(f->text, sizeof(f->text), "%s",
		 texts[kernel_config_get(config, "IRQ_TIME_ACCOUNTING")]);
}

static void check_capabilities(struct finding *f)
{
	static const struct {
		int bit;
		const char *name;
	} wanted[] = {{CAPABILITY_BPF, "CAP_BPF"},
		      {CAPABILITY_PERFMON, "CAP_PERFMON"},
		      {CAPABILITY_SYS_PTRACE, "CAP_SYS_PTRACE"}};
	char text[4096], missing[64] = "";
	unsigned long long set = 0;
	const char *line = NULL;

	if (text_file_read(text, sizeof(text), "/proc/self/status") > 0)
		line = strstr(text, "\nCapEff:");
	if (line)
		set = strtoull(line + strlen("\nCapEff:"), NULL, 16);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		bool by_admin = wanted[i].bit != CAPABILITY_SYS_PTRACE &&
				(set & 1ULL << CAPABILITY_SYS_ADMIN);

		if (!by_admin && !(set & 1ULL << wanted[i].bit))
			text_appendf(missing, sizeof(missing), " %s", wanted[i].name);
	}
	f->what = "capabilities";
	f->ok = !*missing;
	snprintf(f->text, sizeof(f->text), "%s%s%s",
		 f->ok ? "all that tracing needs" : "missing:", missing,
		 f->ok ? "" : " (or CAP_SYS_ADMIN)");
}

int kernel_features_check(const struct kernel_config *config,
			  struct finding findings[KERNEL_FEATURES])
{
	int n = 0;

	check_capabilities(&findings[n++]);
	check_perf(&findings[n++]);
	check_jit(config, &findings[n++]);
	check_lockdown(&findings[n++]);
	check_delay_accounting(config, &findings[n++]);
	check_interrupt_time(config, &findings[n++]);
	return n;
}
