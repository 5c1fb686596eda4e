/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json.h"

#include <sys/wait.h>

#include "report/json/json_values.h"

static json_t *window_json(const struct session *session)
{
	int64_t duration_ns = session_duration_ns(session);
	bool known = duration_ns != UNKNOWN_NS;
	json_t *window = json_object();

	json_put(&window, "start_ns", json_count(known ? session->start_ns : UNKNOWN_NS));
	json_put(&window, "end_ns", json_count(known ? session->end_ns : UNKNOWN_NS));
	json_put(&window, "duration_ns", json_count(duration_ns));
	json_put(&window, "started_unix_ns",
		 session->started_unix_ns > 0 ? json_count(session->started_unix_ns) : json_null());
	return window;
}

static json_t *targets_json(const struct session *session)
{
	json_t *targets = json_array();

	for (int i = 0; i < session->ntargets && i < SESSION_TARGETS; i++) {
		const struct target_info *info = &session->targets[i];
		json_t *target = json_object();

		json_put(&target, "pid", json_integer(info->pid));
		json_put(&target, "comm", json_bytes(info->comm, sizeof(info->comm)));
		json_push(&targets, target);
	}
	return targets;
}

static const char *end_name(enum end_reason reason)
{
	switch (reason) {
	case END_DURATION:
		return "duration";
	case END_INTERRUPT:
		return "interrupt";
	case END_TARGET_EXIT:
		return "target-exit";
	}
	return "duration";
}

static json_t *command_exit_json(int status)
{
	json_t *exited;

	if (status == -1)
		return json_null();
	exited = json_object();
	json_put(&exited, "code",
		 WIFEXITED(status) ? json_integer(WEXITSTATUS(status)) : json_null());
	json_put(&exited, "signal",
		 WIFSIGNALED(status) ? json_integer(WTERMSIG(status)) : json_null());
	return exited;
}

static json_t *host_json(const struct host_info *host)
{
	json_t *object = json_object();

	json_put(&object, "kernel", json_text(host->kernel));
	json_put(&object, "arch", json_text(host->arch));
	json_put(&object, "cpus", host->cpus > 0 ? json_integer(host->cpus) : json_null());
	json_put(&object, "page_bytes",
		 host->page_bytes > 0 ? json_integer(host->page_bytes) : json_null());
	json_put(&object, "module", json_text(host->module));
	json_put(&object, "power_mode", json_text(host->power_mode));
	return object;
}

static json_t *capability_json(const struct capability *capability)
{
	json_t *object = json_object();
	json_t *missing = json_array();

	for (int i = 0; i < capability->nmissing && i < SESSION_MISSING; i++) {
		const struct missing_capability *info = &capability->missing[i];
		json_t *entry = json_object();

		json_put(&entry, "what", json_bytes(info->what, sizeof(info->what)));
		json_put(&entry, "why", json_bytes(info->why, sizeof(info->why)));
		json_push(&missing, entry);
	}
	json_put(&object, "rung", json_text(capability->rung));
	json_put(&object, "missing", missing);
	return object;
}

static json_t *cpus_json(const struct session *session)
{
	json_t *cpus = json_array();

	for (size_t i = 0; i < session->ncpus; i++) {
		const struct cpu_account *account = &session->cpus[i];
		json_t *cpu = json_object();

		json_put(&cpu, "id", json_integer(account->id));
		json_put(&cpu, "online", json_boolean(account->online));
		json_put(&cpu, "busy", json_number(account->busy));
		json_put(&cpu, "irq", json_number(account->irq));
		json_put(&cpu, "steal", json_number(account->steal));
		json_push(&cpus, cpu);
	}
	return cpus;
}

static json_t *evidence_json(const struct verdict *verdict)
{
	json_t *evidence = json_array();

	for (int i = 0; i < verdict->nevidence && i < VERDICT_EVIDENCE; i++) {
		const struct evidence *info = &verdict->evidence[i];
		json_t *entry = json_object();

		json_put(&entry, "text", json_bytes(info->text, sizeof(info->text)));
		json_put(&entry, "source", json_text(info->source));
		json_push(&evidence, entry);
	}
	return evidence;
}

static json_t *rules_json(const struct verdict *verdict)
{
	json_t *rules = json_array();

	for (int i = 0; i < verdict->nrules && i < VERDICT_RULES; i++) {
		const struct rule_outcome *outcome = &verdict->rules[i];
		json_t *rule = json_object();

		json_put(&rule, "name", json_text(outcome->name));
		json_put(&rule, "reason", json_text(outcome->reason));
		json_put(&rule, "value", json_number(outcome->value));
		json_put(&rule, "threshold", json_number(outcome->threshold));
		json_put(&rule, "at_least", json_boolean(outcome->at_least));
		json_put(&rule, "fired", json_boolean(outcome->fired));
		json_push(&rules, rule);
	}
	return rules;
}

static json_t *verdict_json(const struct verdict *verdict)
{
	json_t *object = json_object();
	json_t *steps = json_array();
	json_t *contributing = json_array();
	json_t *threads = json_array();

	for (int i = 0; i < verdict->nsteps && i < VERDICT_STEPS; i++)
		json_push(&steps, json_bytes(verdict->next_steps[i], sizeof(*verdict->next_steps)));
	for (int i = 0; i < verdict->ncontributing && i < VERDICT_CLASSES; i++)
		json_push(&contributing, json_string(verdict_class_name(verdict->contributing[i])));
	for (int i = 0; i < verdict->nthreads && i < VERDICT_THREADS; i++)
		json_push(&threads, json_integer(verdict->threads[i]));

	json_put(&object, "class", json_string(verdict_class_name(verdict->class)));
	json_put(&object, "confidence", json_number(verdict->confidence));
	json_put(&object, "raise", json_text(verdict->raise));
	json_put(&object, "headline", json_bytes(verdict->headline, sizeof(verdict->headline)));
	json_put(&object, "evidence", evidence_json(verdict));
	json_put(&object, "share", json_number(verdict->share));
	json_put(&object, "gain_bound", json_number(verdict->gain_bound));
	json_put(&object, "gain_limit", json_text(verdict->gain_limit));
	json_put(&object, "next_steps", steps);
	json_put(&object, "contributing", contributing);
	json_put(&object, "threads", threads);
	json_put(&object, "rules", rules_json(verdict));
	return object;
}

static json_t *notes_json(const struct roofline_notes *notes)
{
	json_t *list = json_array();

	for (int i = 0; i < notes->n && i < ROOFLINE_NOTES; i++)
		json_push(&list, json_bytes(notes->text[i], sizeof(notes->text[i])));
	return list;
}

json_t *json_phases(const struct verdict *verdict)
{
	json_t *phases = json_array();

	for (int i = 0; i < verdict->nphases && i < VERDICT_PHASES; i++) {
		const struct phase_verdict *info = &verdict->phases[i];
		json_t *phase = json_object();

		json_put(&phase, "name", json_string(info->name));
		json_put(&phase, "start_ns", json_count(info->start_ns));
		json_put(&phase, "end_ns", json_count(info->end_ns));
		json_put(&phase, "samples", json_count(info->samples));
		json_put(&phase, "power_mw", json_number(info->power_mw));
		json_put(&phase, "power_raw_mw", json_number(info->power_raw_mw));
		json_put(&phase, "verdict", json_string(verdict_class_name(info->class)));
		json_push(&phases, phase);
	}
	return phases;
}

static json_t *checklist_json(const struct verdict *verdict)
{
	static const char *const results[] = {
		[CHECK_PASS] = "pass",
		[CHECK_FAIL] = "fail",
		[CHECK_UNKNOWN] = "unknown",
	};
	json_t *checks = json_array();

	for (int i = 0; i < verdict->nchecks && i < VERDICT_CHECKS; i++) {
		const struct check *info = &verdict->checks[i];
		json_t *check = json_object();

		json_put(&check, "name", json_string(info->name));
		json_put(&check, "result", json_string(results[info->result]));
		json_put(&check, "text", json_text(info->text));
		json_push(&checks, check);
	}
	return checks;
}

static json_t *losses_json(const struct session_losses *losses)
{
	json_t *object = json_object();

	json_put(&object, "threads_untracked", json_count(losses->threads_untracked));
	json_put(&object, "gaps_switch_out", json_count(losses->gaps_switch_out));
	json_put(&object, "gaps_switch_in", json_count(losses->gaps_switch_in));
	json_put(&object, "wakes_without_waker", json_count(losses->wakes_without_waker));
	json_put(&object, "edges_dropped", json_count(losses->edges_dropped));
	json_put(&object, "stacks_dropped", json_count(losses->stacks_dropped));
	json_put(&object, "holders_dropped", json_count(losses->holders_dropped));
	json_put(&object, "timeline_lost", json_count(losses->timeline_lost));
	json_put(&object, "events_lost", json_count(losses->events_lost));
	json_put(&object, "samples_dropped", json_count(losses->samples_dropped));
	json_put(&object, "faults_dropped", json_count(losses->faults_dropped));
	json_put(&object, "clamped", json_count(losses->clamped));
	json_put(&object, "block_unmatched", json_count(losses->block_unmatched));
	json_put(&object, "block_unfinished", json_count(losses->block_unfinished));
	json_put(&object, "block_dropped", json_count(losses->block_dropped));
	json_put(&object, "tegra_rejected", json_count(losses->tegra_rejected));
	json_put(&object, "identity_violations", json_count(losses->identity_violations));
	return object;
}

static json_t *overhead_json(const struct overhead *overhead)
{
	json_t *object = json_object();

	json_put(&object, "events", json_count(overhead->events));
	json_put(&object, "ns_per_switch", json_number(overhead->ns_per_switch));
	json_put(&object, "cpu_share", json_number(overhead->cpu_share));
	json_put(&object, "rss_bytes", json_count(overhead->rss_bytes));
	json_put(&object, "attach_ns", json_count(overhead->attach_ns));
	return object;
}

json_t *report_json(const struct session *session, const struct verdict *verdict)
{
	bool traced = session_duration_ns(session) != UNKNOWN_NS;
	json_t *report = json_object();

	json_put(&report, "schema", json_string("tegratrace/1"));
	json_put(&report, "window", window_json(session));
	json_put(&report, "ended_by",
		 traced ? json_string(end_name(session->ended_by)) : json_null());
	json_put(&report, "command_exit", command_exit_json(session->command_status));
	json_put(&report, "targets", targets_json(session));
	json_put(&report, "targets_seen", json_integer(session->ntargets));
	json_put(&report, "threads_seen", traced ? json_count(session->threads_seen) : json_null());
	json_put(&report, "host", host_json(&session->host));
	json_put(&report, "capability", capability_json(&session->capability));
	json_put(&report, "verdict", verdict_json(verdict));
	json_put(&report, "threads", json_threads(session));
	json_put(&report, "edges", traced ? json_edges(session) : json_null());
	json_put(&report, "stacks", traced ? json_stacks(session) : json_null());
	json_put(&report, "waits", traced ? json_wait_coverage(session) : json_null());
	json_put(&report, "block", session->block_known ? json_block(session) : json_null());
	json_put(&report, "samples", json_oncpu(session));
	json_put(&report, "faults", json_faults(session));
	json_put(&report, "cpus", cpus_json(session));
	json_put(&report, "cpu_holders", json_cpu_holders(session));
	json_put(&report, "top_processes", json_top_processes(session));
	json_put(&report, "pressure", json_pressure(session));
	json_put(&report, "tegra", json_tegra(session));
	json_put(&report, "cuda", traced ? json_cuda(&session->cuda) : json_null());
	json_put(&report, "roofline",
		 verdict->has_roofline
			 ? roofline_json(&verdict->roofline_input, &verdict->roofline_point)
			 : json_null());
	json_put(&report, "roofline_notes", notes_json(&verdict->roofline_notes));
	json_put(&report, "phases", json_phases(verdict));
	json_put(&report, "checklist", checklist_json(verdict));
	json_put(&report, "losses", losses_json(&session->losses));
	json_put(&report, "overhead", overhead_json(&session->overhead));
	return report;
}

int report_json_write(FILE *out, const struct session *session, const struct verdict *verdict)
{
	return json_write_line(out, report_json(session, verdict));
}
