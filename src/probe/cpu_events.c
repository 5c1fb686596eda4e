/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/cpu_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int attach_one(struct cpu_events *events, const struct perf_event_attr *attr,
		      const struct bpf_program *program, int cpu)
{
	struct perf_event_attr copy = *attr;
	int fd = syscall(SYS_perf_event_open, &copy, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return errno == ENODEV ? 0 : -errno;
	link = bpf_program__attach_perf_event(program, fd);
	if (!link) {
		int err = -errno;

		close(fd);
		return err;
	}
	events->links[events->n++] = link;
	return 0;
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
	int cpus = libbpf_num_possible_cpus(), err = 0;

	*events = (struct cpu_events){0};
	if (cpus < 1)
		err = -ENODEV;
	if (!err)
		events->links = calloc(cpus, sizeof(struct bpf_link *));
	if (!err && !events->links)
		err = -ENOMEM;
	for (int cpu = 0; cpu < cpus && !err; cpu++)
		err = attach_one(events, attr, program, cpu);
	if (!err && !events->n)
		err = -ENODEV;
	if (err) {
		explain(err, reason);
		cpu_events_detach(events);
	}
	return err;
}

void cpu_events_detach(struct cpu_events *events)
{
	for (int i = 0; i < events->n; i++)
		bpf_link__destroy(events->links[i]);
	free(events->links);
	*events = (struct cpu_events){0};
}
