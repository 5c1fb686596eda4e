/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/wording.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/path_verdict.h"
#include "diagnose/rules.h"

#define PCT(share) (100 * (share))

void verdict_doubt(struct verdict *v, double limit, const char *raise)
{
	if (v->confidence <= limit)
		return;
	v->confidence = limit;
	text_copy(v->raise, sizeof(v->raise), raise);
}

void verdict_evidence(struct verdict *v, const char *source, const char *format, ...)
{
	struct evidence *e;
	va_list args;

	if (v->nevidence == VERDICT_EVIDENCE)
		return;
	e = &v->evidence[v->nevidence++];
	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	snprintf(e->source, sizeof(e->source), "%s", source);
}

void verdict_step(struct verdict *v, const char *format, ...)
{
	va_list args;

	if (v->nsteps == VERDICT_STEPS)
		return;
	va_start(args, format);
	vsnprintf(v->next_steps[v->nsteps++], sizeof(v->next_steps[0]), format, args);
	va_end(args);
}

void wording_thread(char *dst, size_t size, const struct thread_account *thread)
{
	char name[41]; /* cut between characters, and short beside the tid */

	if (!thread->tid) {
		text_sanitize(name, sizeof(name), thread->group,
			      strnlen(thread->group, sizeof(thread->group)));
		snprintf(dst, size, "%s (%u ended)", *name ? name : "threads", thread->folded);
		return;
	}
	text_sanitize(name, sizeof(name), thread->comm,
		      strnlen(thread->comm, sizeof(thread->comm)));
	/* a thread that ended before anybody could ask its name has none */
	snprintf(dst, size, "%s/%d", *name ? name : "thread", thread->tid);
}

const char *wording_raise_insufficient(const struct facts *facts, bool gpu_known)
{
	if (facts->window_s < 1)
		return "a longer window (-d 30)";
	if (isnan(facts->activity) || facts->activity < 0.05)
		return "a window in which the target does its work";
	if (!gpu_known)
		return "GPU samples: tegrastats on PATH (as root), or --tegra-log";
	return "a thread that is seen to wait for the GPU: CUDA calls are not seen here";
}

const char *wording_dram_unknown(const struct facts *facts)
{
	return isnan(facts->emc_busy) ? ", compute or DRAM is not known (no EMC load)" : "";
}

static void insufficient_headline(const struct facts *facts, struct verdict *v)
{
	char gpu[64] = "the GPU is unknown";

	if (!isnan(facts->gpu_busy))
		snprintf(gpu, sizeof(gpu), "the GPU is busy %.0f %%", PCT(facts->gpu_busy));
	if (!facts->critical)
		text_copy(v->headline, sizeof(v->headline), "no thread was seen in the window");
	else if (facts->window_s < 1)
		snprintf(v->headline, sizeof(v->headline),
			 "the window of %.2f s is too short to judge", facts->window_s);
	else if (!v->rules[RULE_ACTIVE].fired)
		snprintf(v->headline, sizeof(v->headline), "the target was idle in this window; %s",
			 gpu);
	else
		snprintf(v->headline, sizeof(v->headline),
			 "the threads sleep most of the time (busiest on-CPU %.0f %%) and %s",
			 PCT(facts->critical_oncpu), gpu);
}

/* Without the GPU's load: that it is the limit shows in the thread that waits for it. */
static void waiting_headline(const struct facts *facts, struct verdict *v)
{
	char who[64];

	wording_thread(who, sizeof(who), facts->path.feeder);
	snprintf(v->headline, sizeof(v->headline),
		 "%s waits or spins for the GPU %.0f %% of the time: the GPU is the limit, compute "
		 "or memory bandwidth is not known (no GPU load)",
		 who, PCT(facts->path.parts[PATH_GPU].share));
}

static void headline(const struct session *session, const struct facts *facts, struct verdict *v)
{
	char who[64] = "no thread", gpu[64] = "GPU load unknown";

	if (facts->critical)
		wording_thread(who, sizeof(who), facts->critical);
	if (!isnan(facts->gpu_busy))
		snprintf(gpu, sizeof(gpu), "the GPU is busy %.0f %%", PCT(facts->gpu_busy));
	switch (v->class) {
	case VERDICT_COMPUTE_BOUND:
		if (isnan(facts->gpu_busy) && facts->path.feeder)
			waiting_headline(facts, v);
		else
			snprintf(v->headline, sizeof(v->headline), "%s: it is the limit%s", gpu,
				 wording_dram_unknown(facts));
		break;
	case VERDICT_MEMORY_BANDWIDTH_BOUND:
		snprintf(v->headline, sizeof(v->headline),
			 "%s and DRAM %.0f %%: bandwidth is the limit", gpu, PCT(facts->emc_busy));
		break;
	case VERDICT_CLOCK_CAPPED:
	case VERDICT_POWER_THROTTLED:
	case VERDICT_THERMAL_THROTTLED:
		wording_board_headline(session, facts, v);
		break;
	case VERDICT_CPU_BOUND:
		if (facts->critical_oncpu < 0.5 && facts->target_cpu >= 0.85)
			snprintf(v->headline, sizeof(v->headline),
				 "the target's threads fill all %d CPUs (%.0f %%), %s", facts->cpus,
				 PCT(facts->target_cpu), gpu);
		else
			snprintf(v->headline, sizeof(v->headline),
				 "thread %s is on a CPU %.0f %% of the time, %s", who,
				 PCT(facts->critical_oncpu), gpu);
		break;
	case VERDICT_CPU_STARVED:
		snprintf(v->headline, sizeof(v->headline),
			 "thread %s waits for a CPU %.0f %% of the time, %s", who,
			 PCT(facts->critical_runq), gpu);
		break;
	case VERDICT_NO_GPU_USE:
		snprintf(
			v->headline, sizeof(v->headline),
			"the GPU is busy %.0f %% and no thread waits for it; thread %s is on a CPU "
			"%.0f %% of the time",
			PCT(facts->gpu_busy), who, PCT(facts->critical_oncpu));
		break;
	case VERDICT_BALANCED:
		snprintf(v->headline, sizeof(v->headline),
			 "no single limit: busiest thread %.0f %% on-CPU, %s",
			 PCT(facts->critical_oncpu), gpu);
		break;
	default:
		insufficient_headline(facts, v);
	}
}

static void thread_evidence(const struct facts *facts, struct verdict *v)
{
	const struct thread_account *t = facts->critical;
	int64_t p99_ns;
	char who[64], p99[32], max[32];
	double off;

	if (!t || !(facts->window_s > 0))
		return;
	wording_thread(who, sizeof(who), t);
	off = (double)t->offcpu_ns / 1e9 / facts->window_s;
	verdict_evidence(v, "scheduler",
			 "%s: on-CPU %.1f %%, run queue %.1f %%, asleep %.1f %% of %.1f s", who,
			 PCT(facts->critical_oncpu), PCT(facts->critical_runq), PCT(off),
			 facts->window_s);
	p99_ns = runq_quantile_ns(&t->runq, 0.99);
	if (p99_ns == UNKNOWN_NS || facts->critical_runq < 0.02)
		return;
	text_duration(p99, sizeof(p99), p99_ns);
	text_duration(max, sizeof(max), t->runq.max_ns);
	verdict_evidence(v, "scheduler", "%s: p99 run-queue delay %s, longest %s, %lld times", who,
			 p99, max, (long long)t->runq.count);
}

static void gpu_evidence(const struct session *session, const struct facts *facts,
			 struct verdict *v)
{
	const struct tegra_summary *tegra = &session->tegra;
	const char *source = strncmp(tegra->source, "sysfs", 5) ? "tegrastats" : "sysfs";
	char clock[48] = "";

	if (isnan(facts->gpu_busy))
		return;
	if (tegra->gpu_clock_mhz.n)
		snprintf(clock, sizeof(clock), ", clock %.0f MHz (%.0f-%.0f)",
			 tegra->gpu_clock_mhz.mean, tegra->gpu_clock_mhz.min,
			 tegra->gpu_clock_mhz.max);
	verdict_evidence(v, source,
			 "the GPU (all processes) is busy %.0f +- %.0f %%, %lld samples%s",
			 PCT(facts->gpu_busy), PCT(facts->gpu_busy_error),
			 (long long)tegra->gpu_busy.n, clock);
	if (!isnan(facts->emc_busy))
		verdict_evidence(v, source, "DRAM (EMC) %.0f %% of its present clock%s",
				 PCT(facts->emc_busy),
				 facts->emc_busy >= 0.75 ? ", saturated" : ", not saturated");
}

static void cpu_evidence(const struct facts *facts, struct verdict *v)
{
	if (isnan(facts->system_cpu))
		return;
	verdict_evidence(v, "/proc/stat",
			 "all %d CPUs are busy %.0f %%; the target uses %.0f %% of them",
			 facts->cpus, PCT(facts->system_cpu), PCT(facts->target_cpu));
}

/* A quota that ran out in fewer of its periods is not what starves. */
#define QUOTA_USED_UP 0.1

/* A quota looks like contention; it is none, and other processes are not to blame. */
static bool quota_step(const struct session *session, struct verdict *v)
{
	const struct cpu_quota *worst = NULL;

	for (int i = 0; i < session->pressure.nquotas; i++) {
		const struct cpu_quota *quota = &session->pressure.quotas[i];

		if (cpu_quota_throttled(quota) >= QUOTA_USED_UP &&
		    (!worst || cpu_quota_throttled(quota) > cpu_quota_throttled(worst)))
			worst = quota;
	}
	if (!worst)
		return false;
	verdict_evidence(v, "cgroup",
			 "its cgroup %.80s allows %.2f CPUs and ran out in %.0f %% of its "
			 "periods",
			 worst->cgroup, worst->cpus, PCT(cpu_quota_throttled(worst)));
	verdict_step(
		v,
		"raise the CPU quota of the cgroup %.80s (cpu.max; docker run --cpus): %.2f CPUs "
		"are too few",
		worst->cgroup, worst->cpus);
	return true;
}

/* A bound below this is none to work for. */
#define GAIN_WORTH 1.05

static void balanced_step(const struct facts *facts, struct verdict *v)
{
	double gain = 1 / fmax(facts->critical_work, facts->gpu_busy);

	if (!v->rules[RULE_TURNS].fired)
		verdict_step(v, "find what the threads wait for: the input rate, the queues "
				"between the stages");
	else if (gain >= GAIN_WORTH)
		verdict_step(v,
			     "CPU and GPU take turns: overlap them (next frame's preprocessing "
			     "while the GPU runs), up to %.1fx",
			     gain);
	else
		verdict_step(v,
			     "see whether the busiest thread computes or spins for the GPU: sudo "
			     "perf top -t %d",
			     facts->critical->tid);
}

static void steps(const struct session *session, const struct facts *facts, struct verdict *v)
{
	char who[64] = "the busiest thread";
	bool others = facts->system_cpu - facts->target_cpu > 0.2;
	const struct path_part *part = path_part_of(v->class, facts);
	const struct thread_account *busy = part && part->top ? part->top : facts->critical;

	if (busy)
		wording_thread(who, sizeof(who), busy);
	switch (v->class) {
	case VERDICT_COMPUTE_BOUND:
		verdict_step(
			v, "shorten the GPU's work: lower precision (FP16/INT8), a smaller model, "
			   "or a "
			   "higher power mode (sudo nvpmodel -q)");
		break;
	case VERDICT_MEMORY_BANDWIDTH_BOUND:
		wording_board_steps(session, v);
		verdict_step(v, "move fewer bytes: quantise, fuse layers, larger batch");
		break;
	case VERDICT_CLOCK_CAPPED:
	case VERDICT_POWER_THROTTLED:
	case VERDICT_THERMAL_THROTTLED:
		wording_board_steps(session, v);
		break;
	case VERDICT_CPU_BOUND:
		verdict_step(
			v,
			"see what %s computes: sudo perf top -t %d; move it to the GPU, VIC or "
			"NVDEC, or split it over threads",
			who, busy ? busy->tid : 0);
		break;
	case VERDICT_CPU_STARVED:
		if (quota_step(session, v))
			break;
		if (others)
			verdict_step(v,
				     "other processes use %.0f %% of the CPUs: stop or pin them "
				     "(taskset), or "
				     "raise the target's priority (nice -n -10)",
				     PCT(facts->system_cpu - facts->target_cpu));
		else
			verdict_step(
				v,
				"the target competes with itself: fewer threads than the %d CPUs, "
				"wider "
				"affinity, or more cores on line (sudo nvpmodel -q)",
				facts->cpus);
		break;
	case VERDICT_NO_GPU_USE:
		verdict_step(
			v,
			"check that the program runs on the GPU at all: the CUDA or TensorRT "
			"back end, the device in its settings, nvidia-smi or tegrastats beside it");
		break;
	case VERDICT_IO_BOUND:
	case VERDICT_MEMORY_PRESSURE:
	case VERDICT_LOCK_BOUND:
	case VERDICT_LAUNCH_BOUND:
	case VERDICT_INPUT_LIMITED:
		break; /* wording_path_steps() */
	case VERDICT_BALANCED:
		balanced_step(facts, v);
		break;
	default:
		verdict_step(v, "repeat with %s", v->raise);
	}
}

void wording_fill(const struct session *session, const struct facts *facts, struct verdict *verdict)
{
	headline(session, facts, verdict);
	wording_path_headline(facts, verdict);
	wording_path_evidence(session, facts, verdict);
	if (!facts->path.feeder)
		thread_evidence(facts, verdict);
	gpu_evidence(session, facts, verdict);
	wording_board_evidence(session, facts, verdict);
	cpu_evidence(facts, verdict);
	wording_path_steps(facts, verdict);
	steps(session, facts, verdict);
	wording_board_events_step(session, verdict);
}
