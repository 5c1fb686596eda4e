/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "cli/live.h"
#include "cli/option_value.h"
#include "cli/probes.h"
#include "cli/version.h"
#include "cli/workload_options.h"

const char *argp_program_version = "tegratrace " TEGRATRACE_VERSION;

static const char doc[] =
	"Says what limits an inference process on a Jetson: by how much, how sure that is, and "
	"what "
	"to do.\n"
	"\n"
	"  sudo tegratrace -p PID -d 30      attach to a running process for 30 s\n"
	"  sudo tegratrace -- ./infer ARGS   start a command and trace it to its end\n"
	"  sudo tegratrace run -- ./infer    the same as one job: clocks, warm-up, repeats, files\n"
	"  tegratrace report RUN.ttr         a recording (-o RUN.ttr) again, in every form\n"
	"  tegratrace diagnose LOG           a verdict from a tegrastats log, no root\n"
	"  tegratrace roofline --help        the ceilings of a module, and a point below them\n"
	"  tegratrace doctor                 what this kernel and board can measure\n"
	"\v"
	"Exit status: 0, or the started command's own (128 + signal when it was killed); 1 the run "
	"or "
	"its output failed, 2 usage, 3 not permitted, 4 no such target, 5 this kernel cannot; "
	"before a "
	"command could run: 125, 126 not executable, 127 not found.";

static const char args_doc[] =
	"-p PID[,PID...]\n-n NAME\n--container ID\n--cgroup PATH\n--unit "
	"NAME\n-- COMMAND [ARG...]\nrun -- COMMAND [ARG...]\nreport RECORDING\ndiagnose "
	"LOG...\nroofline --module NAME ...\n"
	"doctor [--json]";

enum {
	KEY_NO_FOLLOW = 1000,
	KEY_RUNG,
	KEY_BTF,
	KEY_TEGRASTATS,
	KEY_TEGRA_LOG,
	KEY_INTERVAL,
	KEY_GPU_HZ,
	KEY_JSON_SCHEMA,
	KEY_EXPLAIN,
	KEY_SLOTS,
	KEY_WITHOUT,
	KEY_USER_STACKS,
	KEY_LIVE,
	KEY_CUDA,
	KEY_ITER,
	KEY_TIMELINE,
	KEY_CONTAINER,
	KEY_CGROUP,
	KEY_UNIT,
	KEY_DELAY,
};

/* Recordings hold TIMELINE_LIMIT events of a kind, and none is smaller than an interval. */
#define TIMELINE_MB	    ((long)(TIMELINE_LIMIT * sizeof(struct timeline_slice) / 1000000))
#define TIMELINE_MB_DEFAULT 128L

static const struct argp_child children[] = {
	{&outputs_argp, 0, NULL, 3}, {&workload_argp, 0, NULL, 5}, {0}};

static const struct argp_option target_entries[] = {
	{NULL, 0, NULL, 0, "Target:", 1},
	{"pid", 'p', "PID[,PID...]", 0, "Trace these processes", 0},
	{"name", 'n', "NAME", 0, "Trace every process of that name", 0},
	{"container", KEY_CONTAINER, "ID", 0,
	 "Trace every process of that container: its id or the beginning of one", 0},
	{"cgroup", KEY_CGROUP, "PATH", 0, "Trace every process of that cgroup and those below it",
	 0},
	{"unit", KEY_UNIT, "NAME", 0, "Trace every process of that systemd service or scope", 0},
	{0},
};

static const struct argp_option entries[] = {
	{NULL, 0, NULL, 0, "Target:", 1},
	{"no-follow", KEY_NO_FOLLOW, NULL, 0,
	 "Only the named processes and their threads, not their children", 0},
	{"duration", 'd', "SECONDS", 0,
	 "Stop after that time (default: target's end or Ctrl-C), and a command with all that "
	 "descends from it",
	 0},
	{"delay", KEY_DELAY, "SECONDS", 0,
	 "Begin that much later: loading and warming up are left out", 0},
	{NULL, 0, NULL, 0, "GPU samples:", 2},
	{"tegrastats", KEY_TEGRASTATS, "CMD", 0,
	 "Run CMD for tegrastats lines (default: tegrastats, when it is on PATH)", 0},
	{"tegra-log", KEY_TEGRA_LOG, "FILE", 0, "Read the lines from a log, a FIFO or - instead",
	 0},
	{"interval", KEY_INTERVAL, "MS", 0, "Interval given to tegrastats (default 100)", 0},
	{"gpu-hz", KEY_GPU_HZ, "HZ", 0,
	 "Without tegrastats: read the GPU load this often, up to 1000 (default: with the rest)",
	 0},
	{"cuda", KEY_CUDA, "WHAT", 0,
	 "Calls of the CUDA driver library: off, sync (waits; the default) or all (launches and "
	 "copies too, about 2 us each)",
	 0},
	{"iter", KEY_ITER, "SYMBOL[@LIB]", 0,
	 "Each call of that function of the program, or of a library, is one iteration; also "
	 "usdt:PROVIDER:NAME[@LIB] (default: from the rhythm of the waits)",
	 0},
	{NULL, 0, NULL, 0, "Output:", 3},
	{"output", 'o', "FILE", 0,
	 "Record the run in FILE, which 'tegratrace report FILE' shows again in every form", 0},
	{"json-schema", KEY_JSON_SCHEMA, NULL, 0, "Print the JSON Schema of that object and exit",
	 0},
	{"live", KEY_LIVE, "ADDR:PORT", OPTION_ARG_OPTIONAL,
	 "Curves in a browser while the run goes on, at an address that is printed (default "
	 "127.0.0.1)",
	 0},
	{"verbose", 'v', NULL, 0, "All threads, the identity, what is missing, own overhead", 0},
	{"explain", KEY_EXPLAIN, NULL, 0, "The rules that fired and those that nearly did", 0},
	{"quiet", 'q', NULL, 0, "No status line and no notes", 0},
	{NULL, 0, NULL, 0, "Tracing:", 4},
	{"rung", KEY_RUNG, "RUNG", 0,
	 "auto, btf, raw, tracepoint, perf or proc (default auto: the first that works here)", 0},
	{"btf", KEY_BTF, "FILE", 0,
	 "Type data of this kernel, where it has none of its own: made from its headers by "
	 "tegratrace-make-btf",
	 0},
	{"max-threads", KEY_SLOTS, "N", 0, "Threads traced at once (default 16383)", 0},
	{"user-stacks", KEY_USER_STACKS, NULL, 0,
	 "Whole user stacks of waits and samples (code built with frame pointers)", 0},
	{"timeline", KEY_TIMELINE, "MB", OPTION_ARG_OPTIONAL,
	 "Keep every interval of every thread, block request, fault and probed CUDA call, in at "
	 "most "
	 "MB of memory (default 128): for recordings and traces",
	 0},
	{"without", KEY_WITHOUT, "PROBE[,PROBE...]", 0,
	 "Leave these out: block, faults, samples, cuda, irq, stacks, system", 0},
	{0},
};

static int64_t parse_seconds(struct argp_state *state, const char *what, const char *text)
{
	return (int64_t)(option_above_0(state, what, "seconds", text, 1e7) * 1e9);
}

static unsigned int parse_without(struct argp_state *state, const char *list)
{
	char bad[TEXT_SANITIZED_SIZE(32)];
	unsigned int set = 0;

	if (probes_parse(list, &set, bad, sizeof(bad)))
		argp_error(state, "--without takes %s, separated by commas, not '%s'",
			   probes_names(), bad);
	return set;
}

static enum cuda_mode parse_cuda_mode(struct argp_state *state, const char *text)
{
	for (int mode = CUDA_MODE_OFF; mode <= CUDA_MODE_ALL; mode++) {
		if (!strcmp(text, cuda_mode_name(mode)))
			return mode;
	}
	argp_error(state, "--cuda is off, sync or all, not '%s'", text);
	return CUDA_MODE_OFF;
}

static error_t parse_output_option(int key, char *arg, struct options *options)
{
	switch (key) {
	case 'o':
		options->recording = arg;
		return 0;
	case KEY_JSON_SCHEMA:
		options->json_schema = true;
		return 0;
	case KEY_LIVE:
		options->live = arg ? arg : LIVE_DEFAULT;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case KEY_EXPLAIN:
		options->explain = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void set_group(struct argp_state *state, struct target_group *group,
		      enum target_group_kind kind, const char *name)
{
	if (group->kind != TARGET_GROUP_NONE && group->kind != kind)
		argp_error(state, "--container, --cgroup and --unit: give one of them");
	*group = (struct target_group){kind, name};
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->outputs;
		state->child_inputs[1] = &options->workload;
		return 0;
	case 'd':
		options->duration_ns = parse_seconds(state, "--duration", arg);
		return 0;
	case KEY_DELAY:
		options->delay_ns = parse_seconds(state, "--delay", arg);
		return 0;
	case KEY_NO_FOLLOW:
		options->follow = false;
		return 0;
	case KEY_TEGRASTATS:
		options->tegrastats = arg;
		return 0;
	case KEY_TEGRA_LOG:
		options->tegra_log = arg;
		return 0;
	case KEY_INTERVAL:
		options->interval_ms = (int)option_whole(state, "--interval", arg, 1, 60000);
		return 0;
	case KEY_GPU_HZ:
		options->gpu_hz = (int)option_whole(state, "--gpu-hz", arg, 1, 1000);
		return 0;
	case KEY_CUDA:
		options->cuda.mode = parse_cuda_mode(state, arg);
		return 0;
	case KEY_ITER:
		if (iter_spec_parse(arg, &options->cuda.iter))
			argp_error(state,
				   "--iter is SYMBOL[@LIB] or usdt:PROVIDER:NAME[@LIB], not '%s'",
				   arg);
		return 0;
	case KEY_RUNG:
		if (rung_from_name(arg, &options->rung))
			argp_error(state,
				   "--rung is auto, btf, raw, tracepoint, perf or proc, not '%s'",
				   arg);
		return 0;
	case KEY_BTF:
		options->btf = arg;
		return 0;
	case KEY_SLOTS:
		options->slots =
			(uint32_t)option_whole(state, "--max-threads", arg, 1, TT_MAX_SLOTS - 1) +
			1;
		return 0;
	case KEY_USER_STACKS:
		options->user_stacks = true;
		return 0;
	case KEY_TIMELINE:
		options->timeline_bytes =
			(size_t)(arg ? option_whole(state, "--timeline", arg, 1, TIMELINE_MB)
				     : TIMELINE_MB_DEFAULT) *
			1000000;
		return 0;
	case KEY_WITHOUT:
		options->without |= parse_without(state, arg);
		return 0;
	}
	return parse_output_option(key, arg, options);
}

const struct argp options_argp = {entries, parse_option, NULL, NULL, children, NULL, NULL};

error_t options_take_word(struct options *options, char *word, struct argp_state *state)
{
	if (options->command)
		return ARGP_ERR_UNKNOWN;
	if (state->quoted) {
		options->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	}
	if (*word && strspn(word, "0123456789") == strlen(word))
		argp_error(state, "unknown word '%s': several processes are -p 1234,%s, or -n NAME",
			   word, word);
	else
		argp_error(state,
			   "unknown word '%s': a command to trace goes behind --, a process "
			   "behind -p or -n",
			   word);
	return EINVAL;
}

static error_t parse_target(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options;
		return 0;
	case 'p':
		options->pids = arg;
		return 0;
	case 'n':
		options->name = arg;
		return 0;
	case KEY_CONTAINER:
		set_group(state, &options->group, TARGET_CONTAINER, arg);
		return 0;
	case KEY_CGROUP:
		set_group(state, &options->group, TARGET_CGROUP, arg);
		return 0;
	case KEY_UNIT:
		set_group(state, &options->group, TARGET_UNIT, arg);
		return 0;
	case ARGP_KEY_ARG:
		return options_take_word(options, arg, state);
	}
	return ARGP_ERR_UNKNOWN;
}

static void check(const struct options *options)
{
	bool group = options->group.kind != TARGET_GROUP_NONE;
	int targets = (options->pids || options->name) + !!options->command + group;

	if (!outputs_check(&options->outputs))
		exit(EXIT_USAGE);
	if (options->btf && access(options->btf, R_OK)) {
		msg_error("--btf %s: cannot read it: %s", options->btf, strerror(errno));
		exit(EXIT_USAGE);
	}

	if (options->json_schema || targets == 1)
		return;
	if (!targets)
		msg_error("nothing to trace: give -p PID, -n NAME, --container ID, --unit NAME or "
			  "-- COMMAND (--help says more)");
	else if (group)
		msg_error("--container, --cgroup and --unit choose all the processes to trace: "
			  "leave -p, -n and a command (--) out, or the group");
	else
		msg_error("either attach (-p, -n) or start a command (--), not both");
	exit(EXIT_USAGE);
}

void options_init(struct options *options)
{
	*options =
		(struct options){.follow = true, .interval_ms = 100, .cuda.mode = CUDA_MODE_SYNC};
	workload_init(&options->workload);
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp_child shared[] = {{&options_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {target_entries, parse_target, args_doc, doc,
					 shared,	 NULL,	       NULL};

	options_init(options);
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, options))
		exit(EXIT_USAGE);
	check(options);
}
