/* SPDX-License-Identifier: GPL-2.0-only */
/* The sentences about clocks, heat and power of a live run. */
#include "diagnose/wording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/clocks.h"
#include "diagnose/rules.h"

#define PCT(share) (100 * (share))

/* The drivers only number the events; what they mean is known for these. */
static bool oc_meaning_known(const struct session *session)
{
	return !strcmp(session->board.soc, "tegra234") || !strcmp(session->board.soc, "tegra264");
}

static const char *oc_name(const struct session *session, int id)
{
	static const char *const orin[THROTTLE_OC] = {
		"under-voltage of the input (OC1)",
		"average power limit (OC2)",
		"instantaneous over-current (OC3)",
	};
	static const char *const other[THROTTLE_OC] = {
		"over-current event OC1",
		"over-current event OC2",
		"over-current event OC3",
	};

	return oc_meaning_known(session) ? orin[id] : other[id];
}

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* The first of OC1 and OC2 that was counted; -1: neither. */
static int counted_event(const struct session *session)
{
	const int64_t *events = session->throttle.oc_events;

	return events[0] > 0 ? 0 : events[1] > 0 ? 1 : -1;
}

/* Which of the counted events make the class; -1: a measured CPU clock does. */
static int first_event(const struct session *session, const struct verdict *v)
{
	if (v->rules[RULE_UNDER_VOLTAGE].fired)
		return 0;
	if (v->rules[RULE_POWER_LIMIT].fired)
		return 1;
	if (v->rules[RULE_EVENT_CLOCK].fired)
		return counted_event(session);
	return v->rules[RULE_OVER_CURRENT].fired ? 2 : -1;
}

static void power_headline(const struct session *session, const struct facts *facts,
			   struct verdict *v)
{
	int event = first_event(session, v);
	char cost[80] = "";

	if (event < 0) {
		snprintf(v->headline, sizeof(v->headline),
			 "the CPUs run %.0f %% slower than asked for: the firmware holds them back",
			 PCT(facts->cpu_clock_loss));
		return;
	}
	if (v->rules[RULE_EVENT_CLOCK].fired)
		snprintf(cost, sizeof(cost), ", and the loaded GPU runs %.0f %% below its cap",
			 PCT(facts->event_clock_loss));
	else if (event == 2)
		snprintf(cost, sizeof(cost), ", which cost %.0f %% of the time",
			 PCT(facts->oc3_loss));
	snprintf(v->headline, sizeof(v->headline), "%s: %" PRId64 " event%s in %.0f s%s",
		 oc_name(session, event), session->throttle.oc_events[event],
		 plural(session->throttle.oc_events[event]), facts->window_s, cost);
}

static void thermal_headline(const struct session *session, const struct facts *facts,
			     struct verdict *v)
{
	const struct throttle_summary *throttle = &session->throttle;

	if (v->rules[RULE_COOLING].fired)
		snprintf(v->headline, sizeof(v->headline),
			 "%s is at its %.0f C trip and the kernel holds clocks back (%s)",
			 throttle->margin_zone, facts->trip_c, throttle->cooling_name);
	else
		snprintf(v->headline, sizeof(v->headline),
			 "%s is at its %.0f C trip and the loaded GPU runs %.0f %% below its cap",
			 throttle->margin_zone, facts->trip_c, PCT(facts->hot_clock_loss));
}

void wording_board_headline(const struct session *session, const struct facts *facts,
			    struct verdict *v)
{
	const struct board_info *board = &session->board;

	if (v->class == VERDICT_POWER_THROTTLED)
		power_headline(session, facts, v);
	else if (v->class == VERDICT_THERMAL_THROTTLED)
		thermal_headline(session, facts, v);
	else
		snprintf(v->headline, sizeof(v->headline),
			 "the GPU is busy %.0f %% at %.0f MHz%s%s: %.1fx below what it can do%s",
			 PCT(facts->gpu_busy), facts->gpu_mhz, *board->mode ? " in mode " : "",
			 board->mode, facts->clock_headroom, wording_dram_unknown(facts));
}

/* " in mode 15W", or nothing. */
static const char *in_mode(const struct board_info *board, char *dst, size_t size)
{
	snprintf(dst, size, "%s%s", *board->mode ? " in mode " : "", board->mode);
	return dst;
}

static void gpu_clock_evidence(const struct session *session, const struct facts *facts,
			       struct verdict *v)
{
	const struct board_info *board = &session->board;
	double now_mhz = session->tegra.gpu_clock_mhz.mean;
	double full_mhz = fmax(board->gpu.hw_max_mhz, board->largest.gpu_mhz);
	char mode[BOARD_NAME_LEN + 16], sm[48] = "";

	in_mode(board, mode, sizeof(mode));
	if (board->gpu.sm_active > 0 && board->gpu.sm_active < board->gpu.sm_total)
		snprintf(sm, sizeof(sm), ", %d of %d SMs active", board->gpu.sm_active,
			 board->gpu.sm_total);
	switch (clocks_gpu(v->rules)) {
	case CLOCK_CAPPED:
		if (v->class == VERDICT_CLOCK_CAPPED || v->class == VERDICT_COMPUTE_BOUND)
			verdict_evidence(v, "devfreq",
					 "GPU at %.0f MHz, its cap%s; the hardware goes to %.0f%s",
					 now_mhz, mode, full_mhz, sm);
		break;
	case CLOCK_FOLLOWS_LOAD:
		verdict_evidence(v, "devfreq",
				 "GPU at %.0f of %.0f MHz at %.0f %% load: the governor follows "
				 "the load, no fault",
				 now_mhz, board->gpu.cap_mhz, PCT(facts->gpu_busy));
		break;
	case CLOCK_NOT_RAISED:
		verdict_evidence(v, "devfreq",
				 "GPU at %.0f MHz at %.0f %% load, %.0f allowed%s%s: not locked",
				 now_mhz, PCT(facts->gpu_busy), board->gpu.cap_mhz, mode, sm);
		break;
	default:
		if (v->class == VERDICT_CLOCK_CAPPED)
			verdict_evidence(v, "devfreq",
					 "GPU at %.0f MHz, the hardware goes to %.0f%s", now_mhz,
					 full_mhz, sm);
		break;
	}
}

static void emc_clock_evidence(const struct session *session, struct verdict *v)
{
	const struct board_info *board = &session->board;
	char mode[BOARD_NAME_LEN + 16];

	in_mode(board, mode, sizeof(mode));
	switch (clocks_emc(v->rules)) {
	case CLOCK_CAPPED:
		verdict_evidence(v, "EMC cap",
				 "DRAM clock capped at %.0f MHz%s, the hardware goes to %.0f",
				 board->emc.cap_mhz, mode, board->emc.hw_max_mhz);
		break;
	case CLOCK_NOT_RAISED:
		verdict_evidence(v, "EMC cap",
				 "DRAM saturated at %.0f MHz, %.0f allowed%s: not locked",
				 session->tegra.emc_clock_mhz.mean, board->emc.cap_mhz, mode);
		break;
	default:
		break;
	}
}

/* Within 5 C of a trip nothing is held back yet: a margin, no more. */
#define SMALL_MARGIN_C 5

static void heat_evidence(const struct session *session, struct verdict *v)
{
	const struct throttle_summary *throttle = &session->throttle;

	if (throttle->cooling_active > 0)
		verdict_evidence(v, "cooling devices", "%d bound to clocks were active (%s)",
				 throttle->cooling_active, throttle->cooling_name);
	if (v->class != VERDICT_THERMAL_THROTTLED && throttle->margin_c < SMALL_MARGIN_C)
		verdict_evidence(v, "thermal zones",
				 "%s came within %.1f C of its %.0f C trip: a small margin",
				 throttle->margin_zone, fmax(throttle->margin_c, 0),
				 throttle->trip_c);
}

static void cpu_clock_evidence(const struct session *session, const struct facts *facts,
			       struct verdict *v)
{
	if (v->rules[RULE_CPU_HELD_BACK].fired)
		verdict_evidence(v, "cpuinfo_cur_freq",
				 "CPU clocks %.0f %% below those asked for, mean of %" PRId64
				 " measurements, worst %s",
				 PCT(facts->cpu_clock_loss), session->throttle.cpu_measurements,
				 session->throttle.cpu_slowest);
}

void wording_board_evidence(const struct session *session, const struct facts *facts,
			    struct verdict *v)
{
	const struct throttle_summary *throttle = &session->throttle;

	for (int i = 0; i < THROTTLE_OC; i++) {
		if (throttle->oc_events[i] > 0)
			verdict_evidence(v, "soctherm_oc", "%s: %" PRId64 " event%s",
					 oc_name(session, i), throttle->oc_events[i],
					 plural(throttle->oc_events[i]));
	}
	cpu_clock_evidence(session, facts, v);
	heat_evidence(session, v);
	gpu_clock_evidence(session, facts, v);
	emc_clock_evidence(session, v);
}

static void mode_step(const struct session *session, struct verdict *v)
{
	const struct board_gpu *gpu = &session->board.gpu;
	const struct board_mode *next = &session->board.next;
	double gain = next->gpu_mhz / gpu->cap_mhz;
	char bound[96] = "";

	if (clocks_gpu(v->rules) == CLOCK_NOT_RAISED)
		verdict_step(
			v,
			"sudo jetson_clocks: the mode allows %.0f MHz, the governor does not go "
			"there",
			gpu->cap_mhz);
	if (next->sm > 0 && gpu->sm_active > 0)
		gain *= (double)next->sm / gpu->sm_active;
	if (v->gain_bound < gain)
		snprintf(bound, sizeof(bound), ", up to %.1fx the work (%s)", v->gain_bound,
			 v->gain_limit);
	if (*next->name && next->id >= 0)
		verdict_step(v, "sudo nvpmodel -m %d (%s): up to %.1fx the GPU of this mode%s",
			     next->id, next->name, gain, bound);
	else if (!*session->board.largest.name)
		verdict_step(v, "a larger power mode, if there is one (sudo nvpmodel -q)");
}

static void emc_step(const struct session *session, struct verdict *v)
{
	const struct board_info *board = &session->board;
	const struct board_mode *mode = clocks_emc_mode(board);
	enum clock_cause cause = clocks_emc(v->rules);

	if (cause == CLOCK_NOT_RAISED)
		verdict_step(v, "sudo jetson_clocks: the mode allows %.0f MHz of DRAM clock",
			     board->emc.cap_mhz);
	if (cause != CLOCK_CAPPED)
		return;
	if (mode && mode->id >= 0)
		verdict_step(v, "sudo nvpmodel -m %d (%s): up to %.1fx the DRAM bandwidth",
			     mode->id, mode->name, mode->emc_mhz / board->emc.cap_mhz);
	else
		verdict_step(v,
			     "a power mode with a higher EMC clock, if there is one (sudo nvpmodel "
			     "-q)");
}

static void power_step(const struct session *session, int event, struct verdict *v)
{
	if (event < 0)
		verdict_step(v, "a supply and cable that hold under load; if the clocks stay low "
				"without load, switch the board off and on: an over-current at "
				"boot can latch them");
	else if (!oc_meaning_known(session))
		verdict_step(v, "a stronger supply, a shorter or thicker cable, or a smaller power "
				"mode: what the event stands for on this board is not known");
	else if (event == 0)
		verdict_step(v, "the input voltage sags: a stronger supply, a shorter or thicker "
				"cable, not the model");
	else
		verdict_step(v, "the board draws more than its budget: a smaller power mode that "
				"holds its clock, or a supply and mode that allow more");
}

void wording_board_steps(const struct session *session, struct verdict *v)
{
	switch (v->class) {
	case VERDICT_POWER_THROTTLED:
		power_step(session, first_event(session, v), v);
		break;
	case VERDICT_THERMAL_THROTTLED:
		verdict_step(
			v, "cool the module: fan profile, heat sink, air; or a smaller power mode "
			   "that holds its clock");
		break;
	case VERDICT_MEMORY_BANDWIDTH_BOUND:
		emc_step(session, v);
		break;
	default:
		mode_step(session, v);
	}
}

void wording_board_events_step(const struct session *session, struct verdict *v)
{
	int event = counted_event(session);

	if (event >= 0 && v->class != VERDICT_POWER_THROTTLED)
		power_step(session, event, v);
}
