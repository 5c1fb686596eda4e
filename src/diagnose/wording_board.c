/* SPDX-License-Identifier: GPL-2.0-only */
/* The sentences about clocks, heat and power of a live run. */
#include "diagnose/wording.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
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

static int first_event(const struct verdict *v)
{
	if (v->rules[RULE_UNDER_VOLTAGE].fired)
		return 0;
	return v->rules[RULE_POWER_LIMIT].fired ? 1 : 2;
}

void wording_board_headline(const struct session *session, const struct facts *facts,
			    struct verdict *v)
{
	const struct board_info *board = &session->board;
	char *line = v->headline;
	size_t size = sizeof(v->headline);
	int event = first_event(v);

	switch (v->class) {
	case VERDICT_POWER_THROTTLED:
		snprintf(line, size, "%" PRId64 " times %s in %.0f s held the clocks back",
			 session->throttle.oc_events[event], oc_name(session, event),
			 facts->window_s);
		break;
	case VERDICT_THERMAL_THROTTLED:
		snprintf(line, size,
			 "%s is at its %.0f C trip and the kernel holds clocks back (%s)",
			 session->throttle.margin_zone, facts->trip_c,
			 session->throttle.cooling_name);
		break;
	default:
		snprintf(line, size,
			 "the GPU is busy %.0f %% at %.0f MHz%s%s: %.1fx below what it can do",
			 PCT(facts->gpu_busy), facts->gpu_mhz, *board->mode ? " in mode " : "",
			 board->mode, facts->clock_headroom);
	}
}

void wording_board_evidence(const struct session *session, const struct facts *facts,
			    struct verdict *v)
{
	const struct throttle_summary *throttle = &session->throttle;
	const struct board_info *board = &session->board;

	for (int i = 0; i < THROTTLE_OC; i++) {
		if (throttle->oc_events[i] > 0)
			verdict_evidence(v, "soctherm_oc", "%s: %" PRId64 " events",
					 oc_name(session, i), throttle->oc_events[i]);
	}
	if (throttle->cooling_active > 0)
		verdict_evidence(v, "cooling devices", "%d bound to clocks were active (%s)",
				 throttle->cooling_active, throttle->cooling_name);
	if (v->rules[RULE_CLOCK_HEADROOM].fired && !isnan(facts->gpu_mhz)) {
		verdict_evidence(
			v, "devfreq", "GPU at %.0f MHz, largest %.0f MHz, %d of %d SMs active",
			facts->gpu_mhz, fmax(board->gpu.hw_max_mhz, board->largest.gpu_mhz),
			board->gpu.sm_active, board->gpu.sm_total);
	}
}

/* Below this part of its cap a loaded GPU is not held by the mode but by the governor. */
#define AT_CAP 0.97

static void mode_step(const struct session *session, const struct facts *facts, struct verdict *v)
{
	const struct board_gpu *gpu = &session->board.gpu;
	const struct board_mode *next = &session->board.next;
	double gain = next->gpu_mhz / gpu->cap_mhz;

	if (facts->gpu_mhz < AT_CAP * gpu->cap_mhz)
		verdict_step(
			v,
			"sudo jetson_clocks: the mode allows %.0f MHz, the governor does not go "
			"there",
			gpu->cap_mhz);
	if (next->sm > 0 && gpu->sm_active > 0)
		gain *= (double)next->sm / gpu->sm_active;
	if (*next->name && next->id >= 0)
		verdict_step(v, "sudo nvpmodel -m %d (%s): up to %.1fx the GPU of this mode",
			     next->id, next->name, gain);
	else if (!*session->board.largest.name)
		verdict_step(v, "a larger power mode, if there is one (sudo nvpmodel -q)");
}

void wording_board_steps(const struct session *session, const struct facts *facts,
			 struct verdict *v)
{
	switch (v->class) {
	case VERDICT_POWER_THROTTLED:
		if (first_event(v) == 0 && oc_meaning_known(session))
			verdict_step(
				v,
				"the input voltage sags: a stronger supply, a shorter or thicker "
				"cable, not the model");
		else
			verdict_step(
				v,
				"the board draws more than its budget: a smaller power mode that "
				"holds its clock, or a supply and mode that allow more");
		break;
	case VERDICT_THERMAL_THROTTLED:
		verdict_step(
			v, "cool the module: fan profile, heat sink, air; or a smaller power mode "
			   "that holds its clock");
		break;
	default:
		mode_step(session, facts, v);
	}
}
