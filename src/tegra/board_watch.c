/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/board_watch.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "tegra/board.h"
#include "tegra/throttle.h"

struct board_watch {
	struct throttle *throttle;
	struct throttle_window window;
};

struct board_watch *board_watch_open(void)
{
	struct board_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->throttle = throttle_open();
	if (!watch->throttle) {
		free(watch);
		return NULL;
	}
	return watch;
}

void board_watch_close(struct board_watch *watch)
{
	if (!watch)
		return;
	throttle_close(watch->throttle);
	free(watch);
}

void board_watch_begin(struct board_watch *watch, int64_t now_ns)
{
	if (watch)
		throttle_begin(watch->throttle, now_ns);
}

void board_watch_poll(struct board_watch *watch, int64_t now_ns)
{
	if (watch)
		throttle_poll(watch->throttle, now_ns);
}

static void fill_counters(const struct throttle_window *window, struct throttle_summary *out)
{
	for (int i = 0; i < THROTTLE_OC; i++) {
		const struct throttle_counter *counter = throttle_counter_of(window, i + 1);

		out->oc_events[i] = counter ? counter->delta : UNKNOWN_COUNT;
	}
}

static void fill_cooling(const struct throttle_window *window, struct throttle_summary *out)
{
	out->cooling_active = window->devices ? throttle_devices_active(window) : -1;
	for (int i = 0; i < window->devices; i++) {
		if (window->device[i].max_seen > 0 && !*out->cooling_name)
			text_copy(out->cooling_name, sizeof(out->cooling_name),
				  window->device[i].type);
	}
}

static void fill_cpus(const struct throttle_window *window, struct throttle_summary *out)
{
	double sum = 0, lowest = INFINITY;

	out->cpu_measurements = 0;
	for (int i = 0; i < window->clocks; i++) {
		const struct throttle_clock *clock = &window->clock[i];
		double share = fmin(clock->measured_ratio_mean, 1);

		if (!clock->measurements)
			continue;
		sum += share * (double)clock->measurements;
		out->cpu_measurements += clock->measurements;
		if (share >= lowest)
			continue;
		lowest = share;
		text_copy(out->cpu_slowest, sizeof(out->cpu_slowest), clock->name);
	}
	if (out->cpu_measurements)
		out->cpu_clock_share = sum / (double)out->cpu_measurements;
}

static void fill_zones(const struct throttle_window *window, struct throttle_summary *out)
{
	for (int i = 0; i < window->zones; i++) {
		const struct throttle_zone *zone = &window->zone[i];
		double margin_c = zone->trip_c - zone->max_c;

		/* Also taken when out->margin_c is still NAN. */
		if (isnan(margin_c) || margin_c >= out->margin_c)
			continue;
		out->margin_c = margin_c;
		out->trip_c = zone->trip_c;
		text_copy(out->margin_zone, sizeof(out->margin_zone), zone->name);
	}
}

void board_watch_end(struct board_watch *watch, int64_t now_ns, struct session *session)
{
	struct throttle_summary *out = &session->throttle;
	struct board_info *board = &session->board;

	if (!watch)
		return;
	throttle_end(watch->throttle, now_ns, &watch->window);
	fill_counters(&watch->window, out);
	fill_cooling(&watch->window, out);
	fill_cpus(&watch->window, out);
	fill_zones(&watch->window, out);
	board_info_read(board);
	text_copy(session->host.module, sizeof(session->host.module),
		  *board->module ? board->module : board->model);
	text_copy(session->host.power_mode, sizeof(session->host.power_mode), board->mode);
}
