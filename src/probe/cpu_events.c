/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/cpu_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cpu_list.h"
#include "probe/event_clock.h"

#define CPUS "/sys/devices/system/cpu/"

static int attach_one(struct cpu_events *events, int cpu)
{
	struct perf_event_attr copy = events->attr;
	int fd = syscall(SYS_perf_event_open, &copy, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno;
	link = bpf_program__attach_perf_event(events->program, fd);
	if (!link) {
		int err = -errno;

		close(fd);
		return err;
	}
	events->of[cpu] = (struct cpu_event){.link = link, .fd = fd};
	return 0;
}

static void detach_one(struct cpu_event *event)
{
	bpf_link__destroy(event->link);
	*event = (struct cpu_event){0};
}

/* Numbers may have gaps, so the highest counts. */
static int possible_cpus(void)
{
	bool possible[CPU_EVENTS_MAX];
	int n = 0;

	if (!cpu_list_read(CPUS "possible", possible, CPU_EVENTS_MAX))
		return libbpf_num_possible_cpus();
	for (int cpu = 0; cpu < CPU_EVENTS_MAX; cpu++)
		n = possible[cpu] ? cpu + 1 : n;
	return n;
}

static void explain(int err, char reason[CPU_EVENTS_REASON_LEN])
{
	switch (err) {
	case -EACCES:
	case -EPERM:
		snprintf(reason, CPU_EVENTS_REASON_LEN,
			 "the kernel refuses perf events: run as root, or lower "
			 "kernel.perf_event_paranoid; under lockdown there are none");
		break;
	case -ENOSYS:
		snprintf(reason, CPU_EVENTS_REASON_LEN,
			 "this kernel has no perf events (CONFIG_PERF_EVENTS)");
		break;
	case -EMFILE:
		snprintf(reason, CPU_EVENTS_REASON_LEN,
			 "too many open files for an event on every CPU: raise ulimit -n");
		break;
	default:
		snprintf(reason, CPU_EVENTS_REASON_LEN, "perf event: %s", strerror(-err));
	}
}

int cpu_events_attach(struct cpu_events *events, const struct perf_event_attr *attr,
		      const struct bpf_program *program, char reason[CPU_EVENTS_REASON_LEN])
{
	int cpus = possible_cpus(), err = cpus < 1 ? -ENODEV : 0;
	bool any = false;

	*events = (struct cpu_events){.attr = *attr, .program = program};
	events->attr.read_format = EVENT_CLOCK_FORMAT;
	if (!err)
		events->of = calloc(cpus, sizeof(*events->of));
	if (!err && !events->of)
		err = -ENOMEM;
	events->ncpus = err ? 0 : cpus;
	for (int cpu = 0; cpu < events->ncpus && !err; cpu++) {
		err = attach_one(events, cpu);
		any |= events->of[cpu].link != NULL;
	}
	if (!err && !any)
		err = -ENODEV;
	if (err) {
		explain(err, reason);
		cpu_events_detach(events);
	}
	return err;
}

int cpu_events_follow(struct cpu_events *events)
{
	bool online[CPU_EVENTS_MAX];
	int err = 0;

	if (!cpu_list_read(CPUS "online", online, CPU_EVENTS_MAX))
		return 0;
	for (int cpu = 0; cpu < events->ncpus && cpu < CPU_EVENTS_MAX; cpu++) {
		struct cpu_event *event = &events->of[cpu];
		int one = 0;

		if (event->link &&
		    !(online[cpu] && event_clock_runs(event->fd, &event->enabled_ns)))
			detach_one(event);
		if (online[cpu] && !event->link)
			one = attach_one(events, cpu);
		err = one ? one : err;
	}
	return err;
}

void cpu_events_detach(struct cpu_events *events)
{
	for (int cpu = 0; cpu < events->ncpus; cpu++)
		detach_one(&events->of[cpu]);
	free(events->of);
	*events = (struct cpu_events){0};
}
