/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/run_series.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/msg.h"
#include "base/text.h"
#include "cli/caller_signals.h"
#include "cli/command.h"
#include "cli/run.h"
#include "session/recording.h"

#define FOREVER	 INT64_MAX
#define GRACE_NS 5000000000LL /* from SIGTERM to SIGKILL */
#define LOOK_NS	 1000000000LL /* in case the end of a child is not told */
#define PATIENCE 3	      /* signals until a measuring child is killed */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void ending_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		if (ending[i] != SIGHUP || !caller_ignores_hangup())
			sigaddset(set, ending[i]);
	}
}

/* The next signal until then, the end of a child included; 0 without one. */
static int next_signal(int64_t until_ns)
{
	int64_t left_ns = until_ns - clock_ns(CLOCK_MONOTONIC);
	struct timespec left = {left_ns / 1000000000LL, left_ns % 1000000000LL};
	sigset_t set;
	int number;

	if (left_ns < 0)
		left = (struct timespec){0, 0};
	ending_set(&set);
	sigaddset(&set, SIGCHLD);
	number = sigtimedwait(&set, NULL, &left);
	return number > 0 ? number : 0;
}

/* Remembers one that asks for the end. */
static bool asks_to_end(struct run_series *series, int number)
{
	if (!number || number == SIGCHLD)
		return false;
	series->signal = number;
	return true;
}

void run_series_block(struct run_series *series)
{
	sigset_t set;

	ending_set(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &series->before);
}

void run_series_unblock(struct run_series *series)
{
	int number;

	while ((number = next_signal(0)))
		asks_to_end(series, number);
	sigprocmask(SIG_SETMASK, &series->before, NULL);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Until it ends by itself; true when the time is over or a signal asks for the end. */
static bool await_command(struct run_series *series, struct command *command, int64_t stop_ns)
{
	for (;;) {
		/* Ctrl-C reaches both: then its children are still to be ended. */
		if (command_reap(command))
			return asks_to_end(series, next_signal(0));
		kin_reap(&series->kin, command->pid, 0);
		if (asks_to_end(series, next_signal(earlier(stop_ns, clock_ns(CLOCK_MONOTONIC) +
									     LOOK_NS))) ||
		    clock_ns(CLOCK_MONOTONIC) >= stop_ns)
			return true;
	}
}

/* Command NULL: only what it left. */
static void end_command(struct run_series *series, struct command *command)
{
	struct kin_left left;

	kin_end(&series->kin, command, GRACE_NS, true, &left);
	if (left.n)
		msg_warn("left running by %s, as it did not end on SIGKILL: PID %s",
			 series->files->options->command[0], left.list);
}

/* One unmeasured run. Returns an exit status; a run that was cut short is none that failed. */
static int warm_up_once(struct run_series *series, int64_t stop_ns)
{
	const struct options *options = series->files->options;
	struct command command;
	struct kin_left left;
	int status, err;

	kin_spare(&series->kin, &left);
	err = command_start(&command, options->command, outputs_own_stdout(&options->outputs));
	if (err) {
		msg_error("cannot start %s: %s", options->command[0], strerror(-err));
		return EXIT_COMMAND_FAILED;
	}
	err = command_release(&command);
	if (err) {
		msg_error("cannot run %s: %s", options->command[0], strerror(-err));
		waitpid(command.pid, NULL, 0);
		return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	}
	if (await_command(series, &command, stop_ns)) {
		end_command(series, &command);
		return EXIT_OK;
	}
	status = command_exit_status(&command);
	if (status && !series->signal)
		msg_error("%s failed in its warm-up with exit status %d: nothing was measured",
			  options->command[0], status);
	return status;
}

int run_series_warm_up(struct run_series *series)
{
	const struct options *options = series->files->options;
	int64_t length_ns = options->duration_ns ? options->delay_ns + options->duration_ns : 0;
	int64_t end_ns =
		series->warmups_ns ? clock_ns(CLOCK_MONOTONIC) + series->warmups_ns : FOREVER;
	int status = EXIT_OK;

	for (int i = 1; !status && !series->signal; i++) {
		int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);

		if (series->warmups_ns ? begin_ns >= end_ns : i > series->warmups)
			break;
		if (series->warmups_ns)
			msg_note("warm-up, run %d", i);
		else
			msg_note("warm-up, run %d of %d", i, series->warmups);
		/* What ends the measured runs ends these. */
		status = warm_up_once(series,
				      earlier(end_ns, length_ns ? begin_ns + length_ns : FOREVER));
	}
	asks_to_end(series, next_signal(0));
	if (!series->signal)
		return status;
	msg_note("ended by signal %d before anything was measured", series->signal);
	return 128 + series->signal;
}

static void run_child(struct run_series *series, const struct options *options, int told,
		      pid_t parent)
{
	bool measured = false;
	sigset_t quit;
	int status;

	/* The run of a job that was killed ends as with SIGTERM: with its report. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_RUN);
	clocks_leave(series->lock);
	sigemptyset(&quit);
	sigaddset(&quit, SIGQUIT);
	sigprocmask(SIG_UNBLOCK, &quit, NULL);
	status = run_trace(options, &measured);
	if (measured && write(told, "m", 1) != 1)
		status = EXIT_RUN;
	exit(status);
}

/* Its status of waitpid(). Each signal is passed on as SIGTERM, of which a run minds the first only. */
static int await_child(struct run_series *series, pid_t pid)
{
	int status, patience = PATIENCE;

	for (;;) {
		pid_t done = waitpid(pid, &status, WNOHANG);

		if (done == pid)
			return status;
		if (done < 0 && errno != EINTR)
			return -1;
		kin_reap(&series->kin, pid, 0);
		if (asks_to_end(series, next_signal(clock_ns(CLOCK_MONOTONIC) + LOOK_NS)))
			kill(pid, --patience > 0 ? SIGTERM : SIGKILL);
	}
}

static void read_back(const char *path, struct repeat_run *run)
{
	char line[RECORDING_LINE_SIZE];
	struct recording_info info;
	struct session session;
	struct verdict verdict;

	session_init(&session);
	if (recording_read_but_timeline(path, &session, &info, line)) {
		msg_error("%s", line);
	} else if (!info.finished) {
		msg_error("%s is not complete", path);
	} else {
		diagnose(&session, &verdict);
		repeat_run_of(&session, &verdict, run);
	}
	session_free(&session);
}

static int exit_status_of(int status)
{
	if (status < 0)
		return EXIT_RUN;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void say_run(const struct run_series *series, int number)
{
	const struct repeat_run *run = &series->runs[number - 1];
	char time[32];

	if (series->repeat == 1 || run->end == REPEAT_UNREAD)
		return;
	text_duration(time, sizeof(time),
		      isnan(run->value[REPEAT_TIME]) ? UNKNOWN_NS
						     : llround(1e9 * run->value[REPEAT_TIME]));
	msg_note("run %d of %d: %s, %s (%.2f)", number, series->repeat, time,
		 verdict_class_name(run->class), run->confidence);
}

static int measure_once(struct run_series *series, int number)
{
	static struct run_file_names names;
	static struct kin_left left;
	struct options options;
	pid_t parent = getpid(), pid;
	int told[2], ended, status;
	char byte;

	if (!run_files_of(series->files, number, &names, &options))
		return EXIT_USAGE;
	options.no_text = series->repeat > 1;
	options.by_force = true;
	kin_spare(&series->kin, &left);
	if (left.n) {
		options.beside = left.list;
		msg_note("still running beside run %d, started by one before: PID %s", number,
			 left.list);
	}
	if (pipe2(told, O_CLOEXEC | O_NONBLOCK)) {
		msg_error("cannot start a run: %s", strerror(errno));
		return EXIT_RUN;
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		run_child(series, &options, told[1], parent);
	close(told[1]);
	if (pid < 0) {
		msg_error("cannot start a run: %s", strerror(errno));
		status = EXIT_RUN;
	} else {
		ended = await_child(series, pid);
		status = exit_status_of(ended);
		if (ended >= 0 && WIFSIGNALED(ended)) {
			msg_error("measuring run %d was ended by signal %d", number,
				  WTERMSIG(ended));
			end_command(series, NULL);
		}
	}
	if (read(told[0], &byte, 1) == 1) {
		struct repeat_run *run = &series->runs[series->n++];

		run->end = REPEAT_UNREAD;
		run->value[REPEAT_TIME] = NAN;
		read_back(names.recording, run);
		say_run(series, number);
	}
	close(told[0]);
	return status;
}

int run_series_measure(struct run_series *series)
{
	int status = EXIT_OK;

	for (int i = 1; i <= series->repeat && !status && !series->signal; i++)
		status = measure_once(series, i);
	return series->signal && !series->n ? 128 + series->signal : status;
}
