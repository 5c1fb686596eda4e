/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run from start to report. The order matters: the command is forked before the load and held
 * until the window is open, so nothing of it is missed; threads are enumerated before the begin is
 * published and once more after it, so no first event is misread.
 */
#include "cli/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/msg.h"
#include "base/priority.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/follow.h"
#include "cli/kin.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/probes.h"
#include "cli/record.h"
#include "cli/run_probes.h"
#include "cli/run_signals.h"
#include "cli/status.h"
#include "diagnose/verdict.h"
#include "probe/accounts.h"
#include "probe/machine/environment.h"
#include "probe/machine/system.h"
#include "probe/targets/targets.h"
#include "probe/tracer.h"
#include "tegra/board.h"
#include "tegra/board_watch.h"
#include "tegra/source.h"

#define TICK_MS		  250
#define PUBLISH_AHEAD_NS  1000000
#define GRACE_NS	  2000000000LL /* of SIGTERM */
#define GRACE_OF_FORCE_NS 5000000000LL /* until SIGKILL */
#define MAX_POLL	  (SESSION_TARGETS + 2)

struct run {
	const struct options *options;
	struct session session;
	struct target_set targets;
	struct command command;
	struct kin kin; /* of the command */
	struct output output;
	struct record *record;
	struct live *live;
	struct tracer *tracer;
	struct accounts *accounts;
	struct run_probes probes;
	struct tegra_source *source;
	struct follow follow;
	struct status status;
	struct system_watch *watch;
	struct board_watch *board;
	int64_t started_ns;
	bool released; /* the command runs */
	int signal_fd;
	int pidfds[SESSION_TARGETS];
	int npidfds;
};

static void sleep_until(int64_t until_ns)
{
	struct timespec ts = {until_ns / 1000000000LL, until_ns % 1000000000LL};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void print_note(void *ctx, const char *line)
{
	(void)ctx;
	msg_note("%s", line);
}

static int start_command(struct run *run)
{
	char pid_text[16], line[TARGETS_LINE_SIZE];
	int err;

	kin_open(&run->kin);
	err = command_start(&run->command, run->options->command, output_owns_stdout(&run->output));
	if (err) {
		msg_error("cannot start %s: %s", run->options->command[0], strerror(-err));
		return EXIT_COMMAND_FAILED;
	}
	snprintf(pid_text, sizeof(pid_text), "%d", run->command.pid);
	err = targets_add_pids(&run->targets, pid_text, line, sizeof(line));
	if (err) {
		msg_error("%s", line);
		return EXIT_COMMAND_FAILED;
	}
	return EXIT_OK;
}

static bool is_blank(const char *text)
{
	return !text || !text[strspn(text, " \t\n")];
}

static int find_targets(struct run *run)
{
	char line[TARGETS_LINE_SIZE];
	int err = targets_check_own_namespace(line, sizeof(line));

	run->targets.note = print_note;
	if (!err && run->options->command)
		return start_command(run);
	if (!err && run->options->pids)
		err = targets_add_pids(&run->targets, run->options->pids, line, sizeof(line));
	if (!err && run->options->group.kind != TARGET_GROUP_NONE)
		err = targets_add_group(&run->targets, &run->options->group, line, sizeof(line));
	if (!err && run->options->name)
		err = targets_add_name(&run->targets, run->options->name, line, sizeof(line));
	if (err) {
		msg_error("%s", line);
		/* An empty list is what a pidof that found nothing gives. */
		return err == -EINVAL && (!is_blank(run->options->pids) ||
					  run->options->group.kind != TARGET_GROUP_NONE)
			       ? EXIT_USAGE
			       : EXIT_NO_TARGET;
	}
	return EXIT_OK;
}

/* Until its exec it had the name of this program. It may have ended by now, but is not reaped. */
static void name_command(struct run *run)
{
	struct target_info *info = &run->session.targets[0];
	struct procfs_stat stat;

	if (!procfs_task_stat(run->command.pid, PROCFS_PROCESS, &stat))
		memcpy(info->comm, stat.comm, sizeof(info->comm) - 1);
}

static void record_targets(struct run *run)
{
	struct session *session = &run->session;

	session->ntargets = run->targets.n;
	for (int i = 0; i < run->targets.n && i < SESSION_TARGETS; i++) {
		struct target_info *info = &session->targets[i];
		int fd;

		info->pid = run->targets.items[i].pid;
		memcpy(info->comm, run->targets.items[i].comm, sizeof(info->comm) - 1);
		if (run->command.pid)
			continue; /* its end comes with SIGCHLD */
		fd = syscall(SYS_pidfd_open, info->pid, 0);
		if (fd >= 0)
			run->pidfds[run->npidfds++] = fd;
	}
	if (run->released)
		name_command(run);
}

static int release_command(struct run *run)
{
	int err;

	if (!run->command.pid || run->released)
		return EXIT_OK;
	run->released = true;
	err = command_release(&run->command);
	if (!err) {
		name_command(run);
		return EXIT_OK;
	}
	msg_error("cannot run %s: %s", run->options->command[0], strerror(-err));
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

static bool targets_gone(struct run *run)
{
	if (run->command.pid)
		return command_reap(&run->command);
	for (int i = 0; i < run->targets.n; i++) {
		if (target_lives(&run->targets.items[i]))
			return false;
	}
	return true;
}

/* True when a signal asks for the end. */
static bool read_signals(struct run *run)
{
	bool end = run_signals_read(run->signal_fd);

	kin_reap(&run->kin, run->command.pid, tegra_source_child(run->source));
	return end;
}

static int until_ms(int64_t when_ns)
{
	int64_t left_ns = when_ns - clock_ns(CLOCK_MONOTONIC);

	return left_ns <= 0 ? 0 : (int)((left_ns + 999999) / 1000000);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* A command has run then, and its own failure is what it passes on. */
static int ended_unmeasured(const struct run *run)
{
	int status = run->released ? command_exit_status(&run->command) : EXIT_NO_TARGET;

	return status ? status : EXIT_RUN;
}

/* Before anything is attached, so that what is not measured is not slowed down. */
static int pass_delay(struct run *run)
{
	int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + run->options->delay_ns;
	int status;

	if (!run->options->delay_ns)
		return EXIT_OK;
	status = release_command(run);
	while (!status && clock_ns(CLOCK_MONOTONIC) < until_ns) {
		struct pollfd signals = {.fd = run->signal_fd, .events = POLLIN};

		poll(&signals, 1,
		     until_ms(earlier(until_ns, clock_ns(CLOCK_MONOTONIC) + TICK_MS * 1000000LL)));
		if (read_signals(run)) {
			msg_error("interrupted before the window began: nothing was measured");
			return EXIT_RUN;
		}
		if (targets_gone(run)) {
			msg_error(
				"the target ended within the delay of %.1f s: nothing was measured",
				(double)run->options->delay_ns / 1e9);
			return ended_unmeasured(run);
		}
	}
	run->started_ns = clock_ns(CLOCK_MONOTONIC);
	return status;
}

static int open_tracer(struct run *run)
{
	struct tracer_options options = {
		.rung = run->options->rung,
		.btf = run->options->btf,
		.follow_children = run->options->follow,
		.slots = run->options->slots,
		.interrupts = !(run->options->without & PROBE_IRQ),
		.kernel_stacks = !(run->options->without & PROBE_STACKS),
		.user_stacks = run->options->user_stacks,
		.timeline_bytes = run->options->timeline_bytes ? TIMELINE_RING_BYTES : 0,
	};
	char reason[256] = "";
	int err = tracer_open(&options, &run->tracer, &run->session.capability, reason,
			      sizeof(reason));

	if (!err) {
		if (tracer_polls(run->tracer) && options.rung == RUNG_AUTO)
			msg_note("%s: polling /proc instead, which misses short-lived threads and "
				 "who waits for whom",
				 geteuid() ? "not root, so nothing can be traced (run it with sudo)"
					   : "nothing can be traced on this kernel (-v says why)");
		return EXIT_OK;
	}
	msg_error("cannot trace on this kernel: %s", *reason ? reason : strerror(-err));
	if (err == -EPERM)
		return EXIT_PERMISSION;
	return EXIT_UNSUPPORTED;
}

static void add_beside(struct run *run)
{
	char why[TARGETS_LINE_SIZE];

	snprintf(why, sizeof(why), "started by a run before and still running: PID %s",
		 run->options->beside);
	capability_add(&run->session.capability, "undisturbed run", why);
}

static int open_source(struct run *run)
{
	struct tegra_source_options options = {
		.command = run->options->tegrastats,
		.log = run->options->tegra_log,
		.interval_ms = run->options->interval_ms,
		.gpu_hz = run->options->gpu_hz,
	};
	char line[256];

	if (tegra_source_open(&options, &run->source, line, sizeof(line))) {
		msg_error("%s", line);
		return EXIT_USAGE;
	}
	if (!run->source)
		capability_add(
			&run->session.capability, "GPU samples",
			"no tegrastats on PATH and not a Jetson's sysfs: give --tegrastats CMD "
			"or --tegra-log FILE");
	return EXIT_OK;
}

static int open_all(struct run *run)
{
	int status;

	status = output_open(&run->output, &run->options->outputs);
	if (status)
		return status;
	if (run->options->recording &&
	    output_shares_file(&run->output, "-o", run->options->recording))
		return EXIT_USAGE;
	status = record_open(&run->record, run->options->recording);
	if (status)
		return status;
	run->signal_fd = run_signals_open();
	if (run->signal_fd < 0)
		return EXIT_RUN;
	status = live_open(&run->live, run->options->live);
	if (status)
		return status;
	status = find_targets(run);
	if (status)
		return status;
	status = pass_delay(run);
	if (status)
		return status;
	record_targets(run);
	status = open_tracer(run);
	if (status)
		return status;
	environment_report(&run->session.capability);
	if (run->options->beside)
		add_beside(run);
	status = open_source(run);
	if (status)
		return status;
	run->accounts = accounts_new(run->tracer, &run->session);
	run->watch = system_watch_new();
	run->board = board_watch_open();
	if (!run->accounts || !run->watch || !run->board ||
	    run_probes_open(&run->probes, run->options, run->tracer, run->accounts,
			    &run->session) ||
	    follow_open(&run->follow, run->tracer, &run->session, run->probes.waits, run->source,
			run->record)) {
		msg_error("out of memory");
		return EXIT_RUN;
	}
	return EXIT_OK;
}

static int begin_window(struct run *run)
{
	struct session *session = &run->session;
	struct timespec wall;
	int seeded = accounts_seed(run->accounts, &run->targets, run->options->follow);

	if (seeded < 0)
		msg_warn("not every thread is traced: %s", strerror(-seeded));
	if (seeded == 0) {
		msg_error("process %d ended before it could be traced", run->targets.items[0].pid);
		return targets_gone(run) ? ended_unmeasured(run) : EXIT_NO_TARGET;
	}
	if (record_begin(run->record))
		return EXIT_USAGE;
	follow_prepare(&run->follow);
	run_probes_prepare(&run->probes, clock_ns(CLOCK_MONOTONIC));
	accounts_take_baseline(run->accounts);
	session->start_ns = clock_ns(CLOCK_MONOTONIC) + PUBLISH_AHEAD_NS;
	tracer_publish_begin(run->tracer, session->start_ns);
	accounts_seed(run->accounts, &run->targets, run->options->follow);
	sleep_until(session->start_ns);
	clock_gettime(CLOCK_REALTIME, &wall);
	session->overhead.attach_ns = session->start_ns - run->started_ns;
	session->started_unix_ns = wall.tv_sec * 1000000000LL + wall.tv_nsec;
	accounts_begin(run->accounts, session->start_ns);
	tegra_source_begin(run->source, clock_ns(CLOCK_MONOTONIC));
	follow_begin(&run->follow, session->start_ns);
	board_watch_begin(run->board, clock_ns(CLOCK_MONOTONIC));
	system_watch_begin(run->watch, run->tracer, clock_ns(CLOCK_MONOTONIC));
	run_probes_begin(&run->probes, &run->targets, session->start_ns);
	live_begin(run->live, session);
	return EXIT_OK;
}

static int fill_poll(const struct run *run, struct pollfd polls[MAX_POLL])
{
	int n = 0;

	polls[n++] = (struct pollfd){.fd = run->signal_fd, .events = POLLIN};
	polls[n++] = (struct pollfd){.fd = tegra_source_fd(run->source), .events = POLLIN};
	for (int i = 0; i < run->npidfds; i++)
		polls[n++] = (struct pollfd){.fd = run->pidfds[i], .events = POLLIN};
	return n;
}

/* A pidfd stays readable once its process has ended; looked at once is enough. */
static void drop_ended(struct run *run, const struct pollfd *polls)
{
	for (int i = 0; i < run->npidfds; i++) {
		if (polls[2 + i].revents && run->pidfds[i] >= 0) {
			close(run->pidfds[i]);
			run->pidfds[i] = -1;
		}
	}
}

/*
 * What the programs have gathered. While a map is read or written the kernel runs no program of a
 * tracepoint, a perf event or a uprobe on that CPU (bpf_disable_instrumentation()), and with CONFIG_PREEMPT
 * since 5.11 the reader may be preempted meanwhile: it must not be, for milliseconds of events.
 */
static void take_out(struct run *run, int64_t now_ns)
{
	struct priority before;

	accounts_adopt(run->accounts, now_ns); /* reads /proc, for milliseconds: not above others */
	priority_raise(&before);
	run_probes_tick(&run->probes, now_ns);
	follow_tick(&run->follow, now_ns);
	accounts_drain(run->accounts);
	run_probes_drained(&run->probes);
	follow_drained(&run->follow, now_ns);
	priority_restore(&before);
	follow_record(&run->follow, now_ns);
}

static enum end_reason watch_targets(struct run *run)
{
	const struct session *session = &run->session;
	int64_t tick_ns = clock_ns(CLOCK_MONOTONIC);
	int64_t stop_ns = run->options->duration_ns ? session->start_ns + run->options->duration_ns
						    : INT64_MAX;

	for (;;) {
		struct pollfd polls[MAX_POLL];
		int n = fill_poll(run, polls);
		int64_t next_ns = tick_ns + TICK_MS * 1000000LL;

		int64_t wake_ns = earlier(tegra_source_next_ns(run->source),
					  run_probes_next_ns(&run->probes));

		poll(polls, n, until_ms(earlier(wake_ns, earlier(next_ns, stop_ns))));
		tegra_source_read(run->source, clock_ns(CLOCK_MONOTONIC));
		run_probes_poll(&run->probes, clock_ns(CLOCK_MONOTONIC));
		if (read_signals(run))
			return END_INTERRUPT;
		drop_ended(run, polls);
		if (targets_gone(run))
			return END_TARGET_EXIT;
		if (clock_ns(CLOCK_MONOTONIC) >= stop_ns)
			return END_DURATION;
		if (clock_ns(CLOCK_MONOTONIC) < next_ns)
			continue;
		tick_ns = clock_ns(CLOCK_MONOTONIC);
		take_out(run, tick_ns);
		live_tick(run->live, session, tick_ns);
		system_watch_tick(run->watch, run->tracer, tick_ns);
		board_watch_poll(run->board, tick_ns);
		status_take(&run->status, tick_ns - session->start_ns,
			    accounts_living(run->accounts), tegra_source_latest(run->source),
			    &session->host_series);
		status_show(&run->status);
	}
}

static void end_window(struct run *run)
{
	struct session *session = &run->session;

	session->end_ns = clock_ns(CLOCK_MONOTONIC) + PUBLISH_AHEAD_NS;
	tracer_publish_end(run->tracer, session->end_ns);
	sleep_until(session->end_ns + PUBLISH_AHEAD_NS / 10);
	status_clear();
	system_watch_end(run->watch, run->tracer, session->end_ns, session);
	follow_last(&run->follow, session->end_ns);
	tracer_settle(run->tracer, session->end_ns);
	/* Now: what it prints while the rest is read is not of the window. */
	tegra_source_close(run->source, session->end_ns, &session->tegra);
	run->source = NULL;
	follow_end(&run->follow);
	board_watch_end(run->board, session->end_ns, session);
	run_probes_end(&run->probes, clock_ns(CLOCK_MONOTONIC), session);
	accounts_finish(run->accounts, session->end_ns);
	run_probes_finish(&run->probes, session);
	session->losses.tegra_rejected = session->tegra.rejected;
	session->command_status = run->command.status;
}

/* A run that ended on its own time or by a signal takes its command along, as perf stat does. */
static void stop_command(struct run *run)
{
	bool by_force = run->options->by_force;
	struct tegra_summary unused;
	struct kin_left left;

	if (!run->command.pid)
		return;
	/* Else our own tegrastats were one of its kin. */
	if (run->source)
		tegra_source_close(run->source, clock_ns(CLOCK_MONOTONIC), &unused);
	run->source = NULL;
	kin_end(&run->kin, &run->command, by_force ? GRACE_OF_FORCE_NS : GRACE_NS, by_force, &left);
	if (left.n)
		msg_warn("left running by %s, as it did not end on %s: PID %s",
			 run->options->command[0], by_force ? "SIGKILL" : "SIGTERM", left.list);
}

/* The threshold above which the measurement disturbs what it measures. */
#define OVERHEAD_WARN 0.02
/* In a shorter window the fixed cost of its begin and end is most of it. */
#define OVERHEAD_WINDOW_NS 1000000000LL

static int report(struct run *run)
{
	struct verdict verdict;
	int recorded, status;

	if (run->session.overhead.cpu_share > OVERHEAD_WARN &&
	    session_duration_ns(&run->session) >= OVERHEAD_WINDOW_NS)
		msg_warn("tracing took %.1f %% of one CPU: -v shows what it is made of",
			 100 * run->session.overhead.cpu_share);
	recorded = record_finish(run->record, &run->session);
	diagnose(&run->session, &verdict);
	status = run->options->no_text
			 ? output_write_forms(&run->output, &run->session, &verdict)
			 : output_write_all(&run->output, &run->session, &verdict,
					    run->options->verbose, run->options->explain);
	live_end(run->live, &run->session, &verdict);
	if (status || recorded)
		return status ? status : recorded;
	if (run->session.ended_by == END_TARGET_EXIT)
		return command_exit_status(&run->command);
	return EXIT_OK;
}

static void close_all(struct run *run)
{
	struct tegra_summary unused;

	if (run->source)
		tegra_source_close(run->source, clock_ns(CLOCK_MONOTONIC), &unused);
	command_abandon(&run->command);
	kin_close(&run->kin);
	live_close(run->live);
	follow_close(&run->follow);
	accounts_free(run->accounts);
	tracer_close(run->tracer);
	run_probes_close(&run->probes);
	system_watch_free(run->watch);
	board_watch_close(run->board);
	targets_free(&run->targets);
	output_close(&run->output);
	record_close(run->record);
	for (int i = 0; i < run->npidfds; i++) {
		if (run->pidfds[i] >= 0)
			close(run->pidfds[i]);
	}
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	session_free(&run->session);
}

int run_trace(const struct options *options, bool *measured)
{
	struct run run = {
		.options = options, .signal_fd = -1, .started_ns = clock_ns(CLOCK_MONOTONIC)};
	int status;

	run.command.release_fd = -1;
	run.command.status = -1;
	session_init(&run.session);
	board_read(&run.session.host);
	run.session.workload = options->workload;
	status = open_all(&run);
	if (!status)
		status = begin_window(&run);
	if (!status)
		status = release_command(&run);
	*measured = !status;
	if (!status) {
		run.session.ended_by = watch_targets(&run);
		end_window(&run);
		if (run.session.ended_by != END_TARGET_EXIT)
			stop_command(&run);
		status = report(&run);
	} else {
		if (run.released && !run.command.ended)
			stop_command(&run);
		if (options->command && !run.released && status < EXIT_COMMAND_FAILED &&
		    status != EXIT_PERMISSION)
			status = EXIT_COMMAND_FAILED;
	}
	close_all(&run);
	return status;
}
