/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/run_probes.h"

#include <errno.h>
#include <string.h>

#include "cli/probes.h"
#include "probe/machine/environment.h"

/* False, and said in the report, when --without has it. */
static bool wants(const struct options *options, enum probe probe, const char *what,
		  struct capability *capability)
{
	if (!(options->without & probe))
		return true;
	capability_add(capability, what, "switched off by --without");
	return false;
}

/* The rung that polls looks at them itself. */
static bool sees_no_syscalls(const struct tracer *tracer)
{
	return !tracer_sees_calls(tracer) && !tracer_polls(tracer);
}

int run_probes_open(struct run_probes *probes, const struct options *options, struct tracer *tracer,
		    struct accounts *accounts, struct session *session)
{
	struct cuda_probe_options cuda = options->cuda;
	struct samples_options samples = {.whole_stacks = options->user_stacks};
	struct capability *capability = &session->capability;

	if (options->command && !options->delay_ns)
		cuda.held_command = options->command[0];
	memset(probes, 0, sizeof(*probes));
	probes->mappings = mappings_new();
	probes->symbols = user_symbols_new(probes->mappings);
	probes->waits = waits_new(tracer, accounts, session, probes->symbols);
	if (options->without & PROBE_CUDA)
		cuda.mode = CUDA_MODE_OFF;
	probes->cuda = cuda_probe_new(&cuda, tracer, accounts, session);
	if (!probes->waits || !probes->mappings || !probes->symbols || !probes->cuda)
		return -ENOMEM;
	if (wants(options, PROBE_BLOCK, "block I/O", capability))
		probes->block = block_io_open(tracer, accounts, capability);
	if (wants(options, PROBE_SYSTEM, "pressure and other processes", capability))
		probes->system = system_view_open(tracer, sees_no_syscalls(tracer));
	if (wants(options, PROBE_SAMPLES, "on-CPU samples", capability))
		probes->samples = samples_open(&samples, tracer, accounts, probes->mappings,
					       probes->symbols, capability);
	if (wants(options, PROBE_FAULTS, "page faults by mapping", capability))
		probes->faults = faults_open(tracer, accounts, probes->mappings, session);
	if (options->timeline_bytes)
		probes->timeline = timeline_probe_open(tracer, session, options->timeline_bytes);
	return 0;
}

void run_probes_prepare(struct run_probes *probes, int64_t now_ns)
{
	cuda_probe_begin(probes->cuda, now_ns);
}

void run_probes_begin(struct run_probes *probes, const struct target_set *targets, int64_t begin_ns)
{
	faults_begin(probes->faults, targets, begin_ns);
	system_view_begin(probes->system, begin_ns);
	timeline_probe_begin(probes->timeline, begin_ns);
}

int64_t run_probes_next_ns(const struct run_probes *probes)
{
	int64_t system_ns = system_view_next_ns(probes->system);
	int64_t timeline_ns = timeline_probe_next_ns(probes->timeline);

	return system_ns < timeline_ns ? system_ns : timeline_ns;
}

void run_probes_poll(struct run_probes *probes, int64_t now_ns)
{
	system_view_poll(probes->system, now_ns);
	timeline_probe_poll(probes->timeline, now_ns);
}

void run_probes_tick(struct run_probes *probes, int64_t now_ns)
{
	mappings_tick(probes->mappings);
	samples_tick(probes->samples);
	faults_tick(probes->faults, now_ns);
	cuda_probe_tick(probes->cuda, now_ns);
}

void run_probes_drained(struct run_probes *probes)
{
	waits_drained(probes->waits);
}

void run_probes_end(struct run_probes *probes, int64_t now_ns, struct session *session)
{
	system_view_end(probes->system, now_ns, session);
	mappings_tick(probes->mappings);
	samples_stop(probes->samples);
	faults_stop(probes->faults, session->end_ns);
}

void run_probes_finish(struct run_probes *probes, struct session *session)
{
	user_symbols_resolve(probes->symbols);
	waits_finish(probes->waits, system_view_sites(probes->system));
	block_io_finish(probes->block, session);
	samples_finish(probes->samples, session);
	faults_finish(probes->faults, session);
	cuda_probe_end(probes->cuda);
	timeline_probe_finish(probes->timeline);
}

void run_probes_close(struct run_probes *probes)
{
	waits_free(probes->waits);
	block_io_close(probes->block);
	system_view_free(probes->system);
	samples_close(probes->samples);
	faults_close(probes->faults);
	user_symbols_free(probes->symbols);
	mappings_free(probes->mappings);
	cuda_probe_free(probes->cuda);
	timeline_probe_close(probes->timeline);
}
