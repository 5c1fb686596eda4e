/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the library is, and when to look for it again. Probes are set on files, not on processes:
 * a file that the target would load is probed before it does, so that no call is missed; one that
 * is found only in its maps, a moment after it was loaded. A program that another one turns into is
 * seen by its file, as late.
 */
#include "probe/cuda/cuda.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "probe/cuda/cuda_close.h"
#include "probe/cuda/cuda_object.h"
#include "probe/machine/environment.h"

#define LIBRARY	     "libcuda.so"
#define LIBRARY_FILE "libcuda.so.1"

#define FILES	      8
#define PROCESSES     256
#define SCAN_FIRST_NS 250000000LL
#define SCAN_LAST_NS  8000000000LL

struct seen_process {
	pid_t pid;
	dev_t dev; /* of its program */
	ino_t ino;
	bool has_library; /* mapped */
	bool has_iteration;
};

struct probed_file {
	dev_t dev;
	ino_t ino;
	bool calls; /* probed for CUDA calls, else for iterations */
};

struct cuda_probe {
	struct cuda_probe_options options;
	struct tracer *tracer;
	struct session *session;
	struct cuda_object object;
	struct probed_file files[FILES];
	int nfiles;
	struct seen_process seen[PROCESSES];
	int nseen;
	int64_t next_scan_ns, scan_every_ns;
	bool mapped;	/* some process of the target has the library */
	bool iterating; /* what --iter names is probed */
	bool failed;
	char library_reason[CUDA_REASON], iter_reason[CUDA_REASON];
	struct cuda_totals totals;
};

static void close_record(void *ctx, uint32_t slot, struct thread_account *account);

struct cuda_probe *cuda_probe_new(const struct cuda_probe_options *options, struct tracer *tracer,
				  struct accounts *accounts, struct session *session)
{
	struct cuda_probe *probe = calloc(1, sizeof(*probe));

	if (!probe || accounts_on_close(accounts, close_record, probe)) {
		free(probe);
		return NULL;
	}
	probe->options = *options;
	probe->tracer = tracer;
	probe->session = session;
	probe->scan_every_ns = SCAN_FIRST_NS;
	session->cuda.mode = options->mode;
	return probe;
}

void cuda_probe_free(struct cuda_probe *probe)
{
	if (!probe)
		return;
	cuda_object_close(&probe->object);
	free(probe);
}

static bool wants_library(const struct cuda_probe *probe)
{
	return probe->options.mode != CUDA_MODE_OFF;
}

static bool wants_iteration(const struct cuda_probe *probe)
{
	return probe->options.iter.given;
}

static bool is_probed(const struct cuda_probe *probe, const struct target_file *file, bool calls)
{
	for (int i = 0; i < probe->nfiles; i++) {
		const struct probed_file *f = &probe->files[i];

		if (f->dev == file->dev && f->ino == file->ino && f->calls == calls)
			return true;
	}
	return false;
}

/* Loaded only once there is something to probe: most of its memory is the records. */
static int load(struct cuda_probe *probe, char reason[CUDA_REASON])
{
	int err;

	if (probe->object.skeleton)
		return 0;
	if (probe->failed)
		return -EINVAL;
	err = cuda_object_open(&probe->object, probe->tracer, wants_iteration(probe), reason);
	if (!err) {
		if (probe->session->start_ns)
			probe->object.window->begin_ns = (__u64)probe->session->start_ns;
		err = tracer_add_object(probe->tracer, probe->object.object, probe->object.window);
	}
	probe->failed = err;
	return err;
}

static void note_library(struct cuda_probe *probe, const struct target_file *file, int64_t now_ns)
{
	struct cuda_summary *summary = &probe->session->cuda;
	int64_t begin_ns = probe->session->start_ns;

	if (summary->libraries++)
		return;
	text_copy(summary->library, sizeof(summary->library), file->path);
	summary->attached_ns = begin_ns && now_ns > begin_ns ? now_ns - begin_ns : 0;
}

static int probe_file(struct cuda_probe *probe, const struct target_file *file, bool calls,
		      char reason[CUDA_REASON])
{
	int err;

	if (is_probed(probe, file, calls))
		return 0;
	if (probe->nfiles == FILES) {
		snprintf(reason, CUDA_REASON, "more than %d different files", FILES);
		return -ENOSPC;
	}
	err = load(probe, reason);
	if (err)
		return err;
	if (calls)
		err = cuda_object_attach_calls(&probe->object, file, probe->options.mode, reason);
	else
		err = cuda_object_attach_iteration(&probe->object, file, &probe->options.iter,
						   reason);
	if (err < 0)
		return err;
	probe->files[probe->nfiles++] =
		(struct probed_file){.dev = file->dev, .ino = file->ino, .calls = calls};
	return 0;
}

static void try_library(struct cuda_probe *probe, const struct target_file *file, int64_t now_ns)
{
	bool known = is_probed(probe, file, true);

	if (!probe_file(probe, file, true, probe->library_reason) && !known) {
		note_library(probe, file, now_ns);
		msg_debug("GPU calls: probes on %s", file->path);
	}
	close(file->fd);
}

static void look_for_library(struct cuda_probe *probe, struct seen_process *process, bool first,
			     int64_t now_ns)
{
	struct target_file file;

	if (!target_open_mapped(process->pid, LIBRARY, &file)) {
		process->has_library = probe->mapped = true;
		try_library(probe, &file, now_ns);
	} else if (first && !target_open_library(process->pid, LIBRARY_FILE, &file)) {
		try_library(probe, &file, now_ns);
		/* not what the target has: no failure */
		probe->library_reason[0] = '\0';
	}
}

static int open_iteration_file(const struct iter_spec *spec, pid_t pid, struct target_file *file)
{
	char path[40];

	if (*spec->library == '/')
		return target_open_path(pid, spec->library, file);
	if (*spec->library)
		return target_open_mapped(pid, spec->library, file);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return target_open_file(path, path, file);
}

static void note_iteration(struct cuda_probe *probe, int64_t now_ns)
{
	struct iterations *iterations = &probe->session->cuda.iterations;
	int64_t begin_ns = probe->session->start_ns;

	if (!probe->iterating)
		iterations->attached_ns = begin_ns && now_ns > begin_ns ? now_ns - begin_ns : 0;
	probe->iterating = true;
}

/* Until it is released the command's process runs our own program. */
static bool is_held(const struct cuda_probe *probe, const struct seen_process *process)
{
	struct stat own;

	return probe->options.held_command && !probe->session->start_ns &&
	       !stat("/proc/self/exe", &own) && own.st_dev == process->dev &&
	       own.st_ino == process->ino;
}

/* What the command's process will be, so that not even the first call is missed. */
static void look_into_command(struct cuda_probe *probe, int64_t now_ns)
{
	const struct iter_spec *spec = &probe->options.iter;
	const char *name = probe->options.held_command;
	struct target_file file;

	if (*spec->library == '/' || (*spec->library && !target_path_fits(name, spec->library)) ||
	    target_open_command(name, &file))
		return;
	if (!probe_file(probe, &file, false, probe->iter_reason))
		note_iteration(probe, now_ns);
	/* it may be a script, or start another */
	probe->iter_reason[0] = '\0';
	close(file.fd);
}

static void look_for_iteration(struct cuda_probe *probe, struct seen_process *process,
			       int64_t now_ns)
{
	struct target_file file;

	if ((!*probe->options.iter.library && is_held(probe, process)) ||
	    open_iteration_file(&probe->options.iter, process->pid, &file))
		return;
	if (!probe_file(probe, &file, false, probe->iter_reason)) {
		process->has_iteration = true;
		note_iteration(probe, now_ns);
	}
	close(file.fd);
}

static void look_into(struct cuda_probe *probe, struct seen_process *process, bool first,
		      int64_t now_ns)
{
	if (wants_library(probe) && !process->has_library)
		look_for_library(probe, process, first, now_ns);
	if (wants_iteration(probe) && !process->has_iteration)
		look_for_iteration(probe, process, now_ns);
}

/* False too when it cannot be told, as of one that has ended. */
static bool has_new_program(struct seen_process *process)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", process->pid);
	if (stat(path, &st) || (st.st_dev == process->dev && st.st_ino == process->ino))
		return false;
	*process = (struct seen_process){.pid = process->pid, .dev = st.st_dev, .ino = st.st_ino};
	return true;
}

struct scan {
	struct cuda_probe *probe;
	int64_t now_ns;
	bool due;
	bool found_new;
};

static struct seen_process *find_process(struct cuda_probe *probe, pid_t pid)
{
	for (int i = 0; i < probe->nseen; i++) {
		if (probe->seen[i].pid == pid)
			return &probe->seen[i];
	}
	return NULL;
}

/* Threads come in any order; only the first one of a new process counts. */
static void scan_thread(void *ctx, const struct tracer_slots *slots, const struct tt_thread *t)
{
	struct scan *scan = ctx;
	struct cuda_probe *probe = scan->probe;

	(void)slots;
	if (t->bucket == TT_DEAD || find_process(probe, (pid_t)t->tgid))
		return;
	if (probe->nseen == PROCESSES) {
		snprintf(probe->library_reason, sizeof(probe->library_reason),
			 "more than %d processes: not all were looked into", PROCESSES);
		return;
	}
	probe->seen[probe->nseen++] = (struct seen_process){.pid = (pid_t)t->tgid};
	has_new_program(&probe->seen[probe->nseen - 1]);
	look_into(probe, &probe->seen[probe->nseen - 1], true, scan->now_ns);
	scan->found_new = true;
}

static void forget_ended(struct cuda_probe *probe)
{
	char path[32];
	int kept = 0;

	for (int i = 0; i < probe->nseen; i++) {
		snprintf(path, sizeof(path), "/proc/%d", probe->seen[i].pid);
		if (!access(path, F_OK))
			probe->seen[kept++] = probe->seen[i];
	}
	probe->nseen = kept;
}

void cuda_probe_tick(struct cuda_probe *probe, int64_t now_ns)
{
	struct scan scan = {.probe = probe, .now_ns = now_ns, .due = now_ns >= probe->next_scan_ns};

	if (!wants_library(probe) && !wants_iteration(probe))
		return;
	for (int i = 0; i < probe->nseen; i++) {
		bool first = has_new_program(&probe->seen[i]);

		if (first || scan.due)
			look_into(probe, &probe->seen[i], first, now_ns);
		scan.found_new |= first;
	}
	if (scan.due)
		forget_ended(probe);
	tracer_for_each(probe->tracer, scan_thread, &scan);
	if (!scan.due && !scan.found_new)
		return;
	probe->scan_every_ns = scan.found_new ? SCAN_FIRST_NS : 2 * probe->scan_every_ns;
	if (probe->scan_every_ns > SCAN_LAST_NS)
		probe->scan_every_ns = SCAN_LAST_NS;
	probe->next_scan_ns = now_ns + probe->scan_every_ns;
}

void cuda_probe_begin(struct cuda_probe *probe, int64_t now_ns)
{
	if (wants_iteration(probe) && probe->options.held_command)
		look_into_command(probe, now_ns);
	cuda_probe_tick(probe, now_ns);
}

/* By when the thread was last on a CPU, as its account has it where no event told the programs. */
static uint64_t final_oncpu_ns(const struct tt_thread *t, const struct thread_account *account,
			       uint64_t begin_ns, uint64_t end_ns)
{
	if (t->bucket == TT_UNKNOWN && !t->t_last_ns)
		return (uint64_t)account->oncpu_ns;
	return tt_oncpu_at(t, end_ns, begin_ns);
}

static bool has_calls(const struct tt_cuda *cuda)
{
	__u64 calls = cuda->sp;

	for (int i = 0; i < TT_CUDA_KINDS; i++)
		calls += cuda->sum[i].calls;
	return calls;
}

static void cut_call(struct cuda_probe *probe, struct tt_cuda *cuda, const struct tt_thread *t,
		     uint64_t end_ns, uint64_t oncpu_ns)
{
	uint64_t begin_ns = (uint64_t)probe->session->start_ns;
	struct timeline_call event;

	if (!cuda_cut_call(cuda, t, begin_ns, end_ns, oncpu_ns))
		return;
	probe->totals.cut++;
	cuda_cut_event(cuda, t, begin_ns, end_ns, &event);
	if (session_keeps_timeline(probe->session))
		timeline_add_call(&probe->session->timeline, &event);
}

static void keep_polls(struct cuda_probe *probe, const struct tt_cuda *cuda,
		       const struct thread_account *account)
{
	struct timeline_call event;

	if (!cuda->polls)
		return;
	cuda_polls_event(cuda, account, (uint64_t)probe->session->start_ns, &event);
	timeline_add_call(&probe->session->timeline, &event);
}

static void close_record(void *ctx, uint32_t slot, struct thread_account *account)
{
	struct cuda_probe *probe = ctx;
	const struct session *session = probe->session;
	uint64_t begin_ns = (uint64_t)session->start_ns;
	uint64_t end_ns =
		session->end_ns > session->start_ns ? (uint64_t)session->end_ns : UINT64_MAX;
	struct tt_cuda_series series;
	struct tt_thread t;
	struct tt_cuda *c;

	if (!probe->object.records)
		return;
	c = &probe->object.records[slot];
	keep_polls(probe, c, account);
	if (c->sp && !bpf_map_lookup_elem(probe->object.threads_fd, &slot, &t))
		cut_call(probe, c, &t, end_ns, final_oncpu_ns(&t, account, begin_ns, end_ns));
	if (c->series)
		cuda_object_take_series(&probe->object, c->series, &series);
	if (session->cuda.libraries && (probe->mapped || has_calls(c)))
		cuda_fill_account(c, probe->options.mode, account);
	cuda_add_thread(&probe->totals, c, account, c->series ? &series : NULL);
	memset(c, 0, sizeof(*c));
}

static void say_state(struct cuda_probe *probe)
{
	struct cuda_summary *summary = &probe->session->cuda;

	if (summary->state == CUDA_ABSENT)
		snprintf(summary->note, sizeof(summary->note),
			 "no process of the target has " LIBRARY_FILE
			 ": GPU waits are told by kernel waits alone, and a thread that spins for "
			 "the GPU looks busy");
	else if (*probe->library_reason)
		snprintf(summary->note, sizeof(summary->note), "%s", probe->library_reason);
	else if (summary->state == CUDA_ATTACHED && !cuda_any_call(&probe->totals))
		snprintf(summary->note, sizeof(summary->note),
			 "%.60s is loaded, but no probed function of it was called",
			 summary->library);
	if (summary->state != CUDA_ABSENT && summary->state != CUDA_FAILED)
		return;
	capability_add(&probe->session->capability, "GPU calls", summary->note);
}

static void say_late(struct iterations *iterations)
{
	char lost[sizeof(iterations->note)], when[32];

	if (iterations->attached_ns <= 0)
		return;
	text_copy(lost, sizeof(lost), iterations->note);
	text_duration(when, sizeof(when), iterations->attached_ns);
	snprintf(iterations->note, sizeof(iterations->note),
		 "--iter: probed after %s: calls before that are not counted%s%.100s", when,
		 *lost ? "; " : "", lost);
}

static void say_iterations(struct cuda_probe *probe)
{
	struct iterations *iterations = &probe->session->cuda.iterations;

	if (wants_iteration(probe) && probe->iterating)
		say_late(iterations);
	if (!wants_iteration(probe) || probe->iterating)
		return;
	*iterations = (struct iterations){.count = UNKNOWN_COUNT,
					  .mean_ns = UNKNOWN_NS,
					  .p50_ns = UNKNOWN_NS,
					  .p99_ns = UNKNOWN_NS,
					  .attached_ns = UNKNOWN_NS};
	snprintf(iterations->note, sizeof(iterations->note), "--iter: %.110s",
		 *probe->iter_reason ? probe->iter_reason
				     : "no process of the target has that file");
	capability_add(&probe->session->capability, "iterations", iterations->note);
}

static enum cuda_state final_state(const struct cuda_probe *probe)
{
	if (!wants_library(probe))
		return CUDA_OFF;
	if (probe->session->cuda.libraries && (probe->mapped || cuda_any_call(&probe->totals)))
		return CUDA_ATTACHED;
	return probe->mapped ? CUDA_FAILED : CUDA_ABSENT;
}

static void add_cost(struct cuda_probe *probe)
{
	struct session *session = probe->session;
	struct cuda_summary *summary = &session->cuda;
	double calls = 0;

	for (int i = 0; i < TT_CUDA_KINDS; i++)
		calls += (double)probe->totals.sum[i].calls;
	if (!calls)
		return;
	summary->ns_per_call = cuda_object_cost_ns(&probe->object);
	if (isfinite(summary->ns_per_call))
		session->overhead.cpu_share +=
			calls * summary->ns_per_call / (double)session_duration_ns(session);
}

void cuda_probe_end(struct cuda_probe *probe)
{
	struct cuda_summary *summary = &probe->session->cuda;

	summary->state = final_state(probe);
	if (summary->state == CUDA_ATTACHED || probe->iterating)
		cuda_fill_summary(&probe->totals, wants_iteration(probe), summary);
	if (summary->state != CUDA_ATTACHED) {
		summary->library[0] = '\0';
		summary->libraries = 0;
		summary->attached_ns = UNKNOWN_NS;
	}
	session_add_timeline_lost(probe->session, cuda_object_timeline_lost(&probe->object));
	say_state(probe);
	say_iterations(probe);
	add_cost(probe);
}
