/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/rung.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/tracefs.h"
#include "probe/tracer.h"

int rung_from_name(const char *name, enum rung *rung)
{
	static const char *const names[] = {"auto", "btf", "raw", "tracepoint", "perf", "proc"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i])) {
			*rung = (enum rung)i;
			return 0;
		}
	}
	return -EINVAL;
}

int rung_size_maps(struct bpf_object *object, const struct rung_settings *settings)
{
	const struct {
		const char *name;
		__u32 entries;
	} sizes[] = {
		{"tid_slots", (settings->pid_max + TT_TIDS_PER_LINE - 1) / TT_TIDS_PER_LINE},
		{"threads", settings->slots},
		{"free_slots", settings->slots},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, sizes[i].name);
		int err = map ? bpf_map__set_max_entries(map, sizes[i].entries) : -ENOENT;

		if (err)
			return err;
	}
	return 0;
}

static const char *const interrupt_programs[] = {
	"irq_handler_entry", "irq_handler_exit",     "softirq_entry",
	"softirq_exit",	     "hrtimer_expire_entry", "hrtimer_expire_exit",
};

#define INTERRUPT_PROGRAMS (sizeof(interrupt_programs) / sizeof(interrupt_programs[0]))

static bool has_interrupt_events(void)
{
	static const char *const events[] = {"irq/irq_handler_entry", "irq/softirq_entry",
					     "timer/hrtimer_expire_entry"};
	struct tracefs tracefs;
	bool found = true;

	if (tracefs_open(&tracefs))
		return true; /* not known: the load tells */
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		found = found && tracefs_event_id(&tracefs, events[i]) >= 0;
	tracefs_close(&tracefs);
	return found;
}

bool rung_choose_interrupts(struct bpf_object *object, bool wanted)
{
	if (wanted && has_interrupt_events())
		return true;
	for (size_t i = 0; i < INTERRUPT_PROGRAMS; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(object, interrupt_programs[i]);

		if (program)
			bpf_program__set_autoload(program, false);
	}
	return false;
}

bool rung_choose_timeline(struct bpf_object *object, __u32 bytes)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "timeline");

	if (bytes && map && libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) == 1 &&
	    !bpf_map__set_max_entries(map, bytes))
		return true;
	if (map)
		bpf_map__set_autocreate(map, false);
	return false;
}

void rung_raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void rung_explain_load(int err, char reason[RUNG_REASON_LEN])
{
	struct rlimit limit;
	const char *why;

	switch (err) {
	case -EACCES:
		if (!geteuid()) {
			why = "the kernel's verifier refused the programs, or a security module "
			      "forbids them; -v shows its log";
			break;
		}
		/* fall through */
	case -EPERM:
		if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY &&
		    !geteuid()) {
			why = "the kernel refuses bpf(2): a container's filter or lockdown; or, "
			      "below Linux 5.11, RLIMIT_MEMLOCK is too small and may not be "
			      "raised (ulimit -l unlimited, CAP_SYS_RESOURCE)";
			break;
		}
		why = "the kernel refuses bpf(2): run as root (sudo), or with CAP_BPF and "
		      "CAP_PERFMON; "
		      "under kernel lockdown BPF tracing is off";
		break;
	case -ENOSYS:
		why = "this kernel has no bpf(2) (CONFIG_BPF_SYSCALL)";
		break;
	case -EINVAL:
		why = "the kernel rejects tracing programs: CONFIG_BPF_EVENTS is missing (stock "
		      "JetPack 5), or the verifier refused; -v shows its log";
		break;
	case -EBADF:
	case -EBADFD:
		why = "needs BPF programs: the rung in use has none";
		break;
	case -ENOMEM:
		why = "no memory for the maps: raise RLIMIT_MEMLOCK (ulimit -l unlimited), needed "
		      "below Linux 5.11";
		break;
	default:
		snprintf(reason, RUNG_REASON_LEN, "loading failed: %s; -v shows the log",
			 strerror(-err));
		return;
	}
	snprintf(reason, RUNG_REASON_LEN, "%s", why);
}
