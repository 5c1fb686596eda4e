/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "tegra/reader.h"
#include "tegra/sysfs.h"
#include "tegra/summary.h"

#define STOP_WAIT_MS 300
/* 256 KiB, far above any tegrastats, so that a flood cannot hold the run up. */
#define READS_AT_ONCE 32
/* A line this many intervals late, and at least this long, means that nothing comes any more. */
#define SILENT_INTERVALS 5
#define SILENT_MIN_NS	 2000000000LL
/* No tegrastats prints faster than this; closer records were written earlier. */
#define BURST_MS 1.0

struct tegra_source {
	int fd;
	pid_t child;			    /* 0 = nothing spawned */
	struct sysfs *sysfs;		    /* read instead of any text; NULL */
	int64_t next_ns;		    /* when to read it again */
	int64_t gpu_period_ns, next_gpu_ns; /* 0 = with the rest */
	bool plain_file;		    /* grows, or does not; never at its end */
	bool ended;
	int stdin_flags; /* to restore; -1 = not ours to restore */
	int exit_status; /* of the child, once reaped; -1 before */
	int interval_ms;
	char name[128];
	int64_t now_ns; /* of the read under way */
	int64_t first_ns, last_ns;
	int64_t rejected_before;
	struct tegra_summary older; /* what came before the window */
	struct tegra_summary current;
	tegra_sample_fn on_sample;
	void *sample_ctx;
	struct sampled gpu_readings; /* between two samples */
	struct tegra_reader reader;
};

static bool on_path(const char *program)
{
	const char *path = getenv("PATH");
	char file[4096];

	while (path && *path) {
		size_t len = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, program);
		if (len && !access(file, X_OK))
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

static void run_command(const char *command, int out)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	/* Its own group, so that Ctrl-C reaches us alone; and it never outlives us. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

static int spawn(struct tegra_source *source, const char *command)
{
	char line[4096];
	const char *shown;
	/* No shell stays in between, unless the command line needs one. */
	bool simple = !strpbrk(command, ";&|=");
	int ends[2], len;

	/* A bare program takes our interval; a command line is the user's own. */
	if (strchr(command, ' '))
		len = snprintf(line, sizeof(line), "%s%s", simple ? "exec " : "", command);
	else
		len = snprintf(line, sizeof(line), "exec %s --interval %d", command,
			       source->interval_ms);
	if (len >= (int)sizeof(line))
		return -E2BIG;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	source->child = fork();
	if (source->child < 0) {
		close(ends[0]);
		close(ends[1]);
		source->child = 0;
		return -errno;
	}
	if (!source->child)
		run_command(line, ends[1]);
	setpgid(source->child, source->child);
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	source->fd = ends[0];
	shown = strncmp(line, "exec ", 5) ? line : line + 5;
	text_sanitize(source->name, sizeof(source->name), shown, strlen(shown));
	return 0;
}

/* The board's own files, where there is no tegrastats. Returns 0 when there is nothing to read. */
static int open_sysfs(struct tegra_source *source)
{
	source->sysfs = sysfs_open();
	if (!source->sysfs)
		return -ENOMEM;
	if (!sysfs_usable(source->sysfs)) {
		sysfs_close(source->sysfs);
		source->sysfs = NULL;
		return -ENODEV;
	}
	snprintf(source->name, sizeof(source->name), "sysfs every %d ms", source->interval_ms);
	return 0;
}

static void read_gpu_load(struct tegra_source *source, int64_t now_ns)
{
	int32_t permille;

	if (!source->gpu_period_ns || now_ns < source->next_gpu_ns)
		return;
	source->next_gpu_ns = now_ns + source->gpu_period_ns;
	permille = sysfs_gpu_load(source->sysfs);
	if (permille == TEGRA_UNKNOWN)
		return;
	sampled_add(&source->current.gpu_busy, permille / 1000.0);
	sampled_add(&source->gpu_readings, permille / 10.0);
}

static void give_sample(struct tegra_source *source, const struct tegra_sample *sample,
			const char *text, size_t len)
{
	if (source->on_sample)
		source->on_sample(source->sample_ctx, sample, text, len, source->now_ns);
}

static void read_sysfs(struct tegra_source *source, int64_t now_ns)
{
	struct tegra_sample sample;

	read_gpu_load(source, now_ns);
	if (now_ns < source->next_ns)
		return;
	source->next_ns = now_ns + source->interval_ms * 1000000LL;
	sysfs_sample(source->sysfs, &sample);
	if (source->gpu_period_ns)
		sample.gr3d_pct = TEGRA_UNKNOWN; /* it has its own readings */
	tegra_summary_add(&source->current, &sample);
	if (source->current.samples == 1)
		source->first_ns = now_ns;
	source->last_ns = now_ns;
	if (source->gpu_readings.n)
		sample.gr3d_pct = (int32_t)(source->gpu_readings.mean + 0.5);
	sampled_init(&source->gpu_readings);
	give_sample(source, &sample, NULL, 0);
}

static int open_log(struct tegra_source *source, const char *path)
{
	char shown[100];
	struct stat st;

	if (!strcmp(path, "-"))
		source->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		source->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (source->fd < 0)
		return -errno;
	if (fstat(source->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	source->plain_file = S_ISREG(st.st_mode);
	if (!strcmp(path, "-")) {
		/* The flag belongs to the open file, which the shell may share with us. */
		source->stdin_flags = fcntl(source->fd, F_GETFL);
		fcntl(source->fd, F_SETFL, source->stdin_flags | O_NONBLOCK);
	}
	text_sanitize(shown, sizeof(shown), path, strlen(path));
	snprintf(source->name, sizeof(source->name), "%s",
		 strcmp(path, "-") ? shown : "standard input");
	return 0;
}

int tegra_source_open(const struct tegra_source_options *options, struct tegra_source **out,
		      char *error, size_t error_size)
{
	struct tegra_source *source;
	int err;

	*out = NULL;
	source = calloc(1, sizeof(*source));
	if (!source)
		return -ENOMEM;
	source->fd = -1;
	source->stdin_flags = -1;
	source->exit_status = -1;
	source->interval_ms = options->interval_ms;
	source->gpu_period_ns = options->gpu_hz > 0 ? 1000000000LL / options->gpu_hz : 0;
	tegra_summary_init(&source->older);
	tegra_summary_init(&source->current);
	sampled_init(&source->gpu_readings);
	tegra_reader_init(&source->reader);
	source->reader.live = true;
	if (options->log)
		err = open_log(source, options->log);
	else if (!options->command && !on_path("tegrastats"))
		err = open_sysfs(source);
	else
		err = spawn(source, options->command ? options->command : "tegrastats");
	if (err == -ENODEV && !options->log && !options->command) {
		free(source);
		return 0;
	}
	if (err) {
		char shown[128];
		const char *what = options->log ? options->log : "tegrastats";

		text_sanitize(shown, sizeof(shown), what, strlen(what));
		snprintf(error, error_size, "cannot read tegrastats text from %s: %s", shown,
			 strerror(-err));
		if (source->fd >= 0)
			close(source->fd);
		free(source);
		return err;
	}
	*out = source;
	return 0;
}

int tegra_source_fd(const struct tegra_source *source)
{
	return source && !source->ended && !source->plain_file && !source->sysfs ? source->fd : -1;
}

static bool take_record(const struct tegra_record *record, void *ctx)
{
	struct tegra_source *source = ctx;

	tegra_summary_add(&source->current, record->sample);
	if (source->current.samples == 1)
		source->first_ns = source->now_ns;
	source->last_ns = source->now_ns;
	give_sample(source, record->sample, record->raw, record->raw_len);
	return true;
}

/* A FIFO that no writer has opened yet: once one came and left, poll reports a hangup. */
static bool awaits_writer(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, 0) == 0;
}

void tegra_source_read(struct tegra_source *source, int64_t now_ns)
{
	char bytes[8192];
	int left = source && source->plain_file ? INT_MAX : READS_AT_ONCE;
	ssize_t n;

	if (!source || source->ended)
		return;
	source->now_ns = now_ns;
	if (source->sysfs) {
		read_sysfs(source, now_ns);
		return;
	}
	while ((n = read(source->fd, bytes, sizeof(bytes))) > 0) {
		tegra_reader_push(&source->reader, bytes, n, take_record, source);
		if (!--left)
			return; /* more may be there: poll says so */
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (source->plain_file && n == 0)
		return; /* it may still grow */
	if (n == 0 && awaits_writer(source->fd))
		return;
	tegra_reader_finish(&source->reader, take_record, source);
	source->ended = true;
}

bool tegra_source_ended(const struct tegra_source *source)
{
	return source->ended;
}

int64_t tegra_source_next_ns(const struct tegra_source *source)
{
	if (!source || !source->sysfs)
		return INT64_MAX;
	if (source->gpu_period_ns && source->next_gpu_ns < source->next_ns)
		return source->next_gpu_ns;
	return source->next_ns;
}

void tegra_source_begin(struct tegra_source *source, int64_t now_ns)
{
	if (!source)
		return;
	tegra_source_read(source, now_ns);
	source->older = source->current;
	source->rejected_before = (int64_t)source->reader.stats.rejected;
	tegra_summary_init(&source->current);
}

void tegra_source_on_sample(struct tegra_source *source, tegra_sample_fn fn, void *ctx)
{
	if (!source)
		return;
	source->on_sample = fn;
	source->sample_ctx = ctx;
}

const struct tegra_summary *tegra_source_latest(const struct tegra_source *source)
{
	return source && source->current.samples ? &source->current : NULL;
}

pid_t tegra_source_child(const struct tegra_source *source)
{
	return source ? source->child : 0;
}

static bool has_ended(pid_t child)
{
	siginfo_t info = {0};

	return !waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == child;
}

/* What it started and left behind goes too; until it is reaped its group keeps its number. */
static int reap(pid_t child)
{
	int status = 0;

	kill(-child, SIGKILL);
	waitpid(child, &status, 0);
	return status;
}

static void stop_child(struct tegra_source *source)
{
	const struct timespec step = {0, 5000000};

	if (!source->child)
		return;
	kill(-source->child, SIGTERM);
	for (int waited = 0; waited < STOP_WAIT_MS && !has_ended(source->child); waited += 5)
		nanosleep(&step, NULL);
	reap(source->child);
}

/* The one thing worth knowing of a tegrastats that ended early. */
static void reap_ended(struct tegra_source *source)
{
	int status;

	if (source->child && source->ended && has_ended(source->child)) {
		status = reap(source->child);
		source->child = 0;
		source->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
}

static void judge_empty(const struct tegra_source *source, struct tegra_summary *out)
{
	if (source->older.samples) {
		out->state = TEGRA_RECORDED;
		snprintf(out->note, sizeof(out->note),
			 "%lld samples, all written before this run began: not of this window",
			 (long long)source->older.samples);
	} else if (source->reader.stats.rejected) {
		out->state = TEGRA_GARBAGE;
		snprintf(out->note, sizeof(out->note),
			 "%llu lines, none of them a tegrastats record",
			 (unsigned long long)source->reader.stats.rejected);
	} else if (source->ended) {
		out->state = TEGRA_DIED;
		snprintf(out->note, sizeof(out->note),
			 source->exit_status == 127 ? "there is no such command"
						    : "it ended without printing a sample");
	} else {
		out->state = TEGRA_SILENT;
		snprintf(out->note, sizeof(out->note), "it printed nothing");
	}
}

static void judge(const struct tegra_source *source, int64_t now_ns, struct tegra_summary *out)
{
	int64_t late_ns = (int64_t)source->interval_ms * 1000000 * SILENT_INTERVALS;
	char since[32];

	if (!source->current.samples) {
		judge_empty(source, out);
		return;
	}
	text_duration(since, sizeof(since), now_ns - source->last_ns);
	out->state = TEGRA_LIVE;
	if (out->samples > 1)
		out->interval_ms = (double)(source->last_ns - source->first_ns) /
				   (double)(out->samples - 1) / 1e6;
	if (out->interval_ms < BURST_MS && source->ended) {
		out->state = TEGRA_RECORDED;
		snprintf(out->note, sizeof(out->note),
			 "its lines came at once: a recording, not of this window");
	} else if (source->ended) {
		out->state = TEGRA_DIED;
		snprintf(out->note, sizeof(out->note), "it ended %s before the window did", since);
	} else if (now_ns - source->last_ns > (late_ns > SILENT_MIN_NS ? late_ns : SILENT_MIN_NS)) {
		out->state = TEGRA_SILENT;
		snprintf(out->note, sizeof(out->note), "no line in the last %s", since);
	}
}

/* What reading so often has cost. */
static void note_cost(const struct tegra_source *source, struct tegra_summary *out)
{
	struct sysfs_cost cost;

	if (!source->sysfs || !source->gpu_period_ns || *out->note)
		return;
	cost = sysfs_gpu_cost(source->sysfs);
	if (cost.calls)
		snprintf(out->note, sizeof(out->note),
			 "GPU load read %llu times, %.1f us each, at most %.0f us",
			 (unsigned long long)cost.calls,
			 (double)cost.total_ns / (double)cost.calls / 1e3,
			 (double)cost.max_ns / 1e3);
}

void tegra_source_close(struct tegra_source *source, int64_t now_ns, struct tegra_summary *out)
{
	if (!source) {
		tegra_summary_init(out);
		return;
	}
	tegra_source_read(source, now_ns);
	reap_ended(source);
	*out = source->current.samples ? source->current : source->older;
	judge(source, now_ns, out);
	note_cost(source, out);
	snprintf(out->source, sizeof(out->source), "%s", source->name);
	out->rejected = (int64_t)source->reader.stats.rejected;
	if (out->state != TEGRA_RECORDED)
		out->rejected -= source->rejected_before;
	if (out->state == TEGRA_GARBAGE)
		out->rejected = (int64_t)source->reader.stats.rejected;
	sysfs_close(source->sysfs);
	if (source->stdin_flags >= 0)
		fcntl(source->fd, F_SETFL, source->stdin_flags);
	if (source->fd >= 0)
		close(source->fd);
	stop_child(source);
	free(source);
}
