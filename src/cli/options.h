/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line, and nothing else parses it. */
#ifndef TEGRATRACE_OPTIONS_H
#define TEGRATRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/outputs.h"
#include "probe/cuda/cuda.h"
#include "probe/targets/target_groups.h"
#include "probe/tracer.h"

/* Exit statuses, documented in the README. A started command's own status is passed through. */
enum exit_status {
	EXIT_OK = 0,
	EXIT_RUN = 1,		   /* the run or its output failed */
	EXIT_USAGE = 2,		   /* the command line */
	EXIT_PERMISSION = 3,	   /* not root, or the kernel refuses */
	EXIT_NO_TARGET = 4,	   /* the process cannot be traced */
	EXIT_UNSUPPORTED = 5,	   /* no rung works on this kernel */
	EXIT_COMMAND_FAILED = 125, /* tegratrace itself failed before the command ran */
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
};

struct options {
	const char *pids;	   /* -p; NULL */
	const char *name;	   /* -n; NULL */
	struct target_group group; /* --container, --cgroup, --unit */
	char **command;		   /* after --, NULL-terminated; NULL */
	bool follow;
	int64_t delay_ns;    /* from the target's beginning to the window's; 0 = at once */
	int64_t duration_ns; /* 0 = until the target ends or Ctrl-C */
	enum rung rung;
	const char *btf; /* NULL */
	uint32_t slots;
	unsigned int without; /* enum probe, or-ed */
	const char *tegrastats;
	const char *tegra_log;
	int interval_ms;
	int gpu_hz;
	struct cuda_probe_options cuda;
	struct outputs_wanted outputs;
	const char *recording; /* NULL */
	const char *live;      /* NULL; where to serve the page */
	bool json_schema;
	bool user_stacks;
	size_t timeline_bytes; /* 0 = no timeline */
	struct workload workload;
	bool verbose;
	bool explain;
	bool quiet;
	bool no_text;	    /* the report for people is printed by somebody else */
	bool by_force;	    /* a command that is ended and does not mind SIGTERM gets SIGKILL */
	const char *beside; /* what a run before left running; NULL */
};

void options_init(struct options *options);

/*
 * An argp child: what all live runs take, but for the choice of the target. Its input is a struct
 * options that options_init() has set up.
 */
extern const struct argp options_argp;

/* A word that is no option: the command behind --, with its arguments. */
error_t options_take_word(struct options *options, char *word, struct argp_state *state);

/* Exits itself on --help, --version and on a bad command line (EXIT_USAGE). */
void options_parse(struct options *options, int argc, char **argv);

#endif
