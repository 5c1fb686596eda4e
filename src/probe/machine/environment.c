/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/machine/environment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe/procfs.h"
#include "base/text_file.h"
#include "probe/tracefs.h"

static void say(struct finding *finding, bool ok, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct finding *finding, bool ok, const char *format, ...)
{
	va_list args;

	finding->ok = ok;
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
}

static long read_setting(const char *path)
{
	FILE *file = fopen(path, "re");
	long value = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

static void check_root(struct finding *f)
{
	f->what = "root";
	say(f, geteuid() == 0, geteuid() ? "not root: tracing needs it, run with sudo" : "yes");
}

static void check_type_data(struct finding *f)
{
	f->what = "kernel type data (BTF)";
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		say(f, false,
		    "no /sys/kernel/btf/vmlinux, as on every stock Jetson: the tracepoint rung "
		    "works without, but sees no system calls; a BTF file can stand in (--btf)");
	else
		say(f, true, "/sys/kernel/btf/vmlinux");
}

static void check_tracefs(struct finding *f)
{
	struct tracefs tracefs;
	int err = tracefs_open(&tracefs);

	f->what = "tracefs";
	say(f, !err, "%s", tracefs.where);
	tracefs_close(&tracefs);
}

static void check_memlock(struct finding *f)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	f->what = "RLIMIT_MEMLOCK";
	if (!setrlimit(RLIMIT_MEMLOCK, &limit)) {
		say(f, true, "unlimited");
		return;
	}
	getrlimit(RLIMIT_MEMLOCK, &limit);
	say(f, false,
	    "stays at %llu KiB (raising it: %s): matters only below Linux 5.11, where maps count "
	    "against it",
	    (unsigned long long)limit.rlim_cur / 1024, strerror(errno));
}

static void check_symbols(struct finding *f)
{
	long restrict_level = read_setting("/proc/sys/kernel/kptr_restrict");

	f->what = "kernel symbols";
	if (restrict_level < 1 || (restrict_level == 1 && !geteuid()))
		say(f, true, "readable");
	else
		say(f, false,
		    "kptr_restrict is %ld: kernel addresses have no names; accounting needs them "
		    "only to tell frozen threads on the rungs tracepoint and perf (sysctl "
		    "kernel.kptr_restrict=1 shows them to root)",
		    restrict_level);
}

static void check_schedstat(struct finding *f)
{
	uint64_t oncpu_ns, runq_ns, slices;
	int err = procfs_schedstat(getpid(), getpid(), &oncpu_ns, &runq_ns, &slices);

	f->what = "schedstat";
	say(f, !err,
	    err ? "the kernel keeps no per-thread books (CONFIG_SCHED_INFO): nothing to "
		  "compare the accounts with"
		: "/proc/PID/task/TID/schedstat");
}

static void check_stalls(struct finding *f)
{
	char text[128];
	ssize_t n = text_file_read(text, sizeof(text), "/proc/pressure/memory");

	f->what = "pressure stall information";
	say(f, n > 0,
	    n > 0 ? "/proc/pressure"
		  : "none (CONFIG_PSI, or booted without psi=1), as on every stock Jetson: "
		    "swap-in, "
		    "reclaim and major faults stand for it");
}

static void check_uprobes(struct finding *f)
{
	f->what = "uprobes";
	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK))
		say(f, false,
		    "this kernel has none (CONFIG_UPROBE_EVENTS): a thread that spins for the GPU "
		    "looks busy");
	else
		say(f, true, "calls of the CUDA driver library can be probed");
}

static void check_pid_namespace(struct finding *f)
{
	uint64_t inode;

	f->what = "PID namespace";
	if (procfs_ns_pid_inode(0, &inode) || inode == PROCFS_INIT_PID_NS)
		say(f, true, "the host's");
	else
		say(f, false,
		    "not the host's: start the container with --pid=host, or run on the host");
}

int environment_check(struct finding findings[FINDINGS])
{
	int n = 0;

	check_root(&findings[n++]);
	check_pid_namespace(&findings[n++]);
	check_type_data(&findings[n++]);
	check_tracefs(&findings[n++]);
	check_memlock(&findings[n++]);
	check_symbols(&findings[n++]);
	check_schedstat(&findings[n++]);
	check_stalls(&findings[n++]);
	check_uprobes(&findings[n++]);
	return n;
}

void capability_add(struct capability *capability, const char *what, const char *why)
{
	struct missing_capability *m;

	if (capability->nmissing >= SESSION_MISSING)
		return;
	m = &capability->missing[capability->nmissing++];
	snprintf(m->what, sizeof(m->what), "%s", what);
	snprintf(m->why, sizeof(m->why), "%s", why);
}

void environment_report(struct capability *capability)
{
	struct finding findings[FINDINGS];
	int n = environment_check(findings);

	for (int i = 0; i < n; i++) {
		if (!findings[i].ok)
			capability_add(capability, findings[i].what, findings[i].text);
	}
}
