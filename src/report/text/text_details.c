/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/text_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#define TEXT	      4096
#define BYTES_PER_CPU 96

static void append_cpu(char *text, size_t size, const struct cpu_account *cpu)
{
	char busy[32], irq[32], steal[32];

	text_appendf(text, size, "%s%d: ", *text ? ", " : "", cpu->id);
	if (!cpu->online) {
		text_appendf(text, size, "off");
		return;
	}
	text_percent_sign(busy, sizeof(busy), cpu->busy);
	text_percent_sign(irq, sizeof(irq), cpu->irq);
	text_percent_sign(steal, sizeof(steal), cpu->steal);
	text_appendf(text, size, "%s", busy);
	/* not measured is said once, by "unknown" for busy */
	if (cpu->irq > 0 && cpu->steal > 0)
		text_appendf(text, size, " (irq %s, steal %s)", irq, steal);
	else if (cpu->irq > 0)
		text_appendf(text, size, " (irq %s)", irq);
	else if (cpu->steal > 0)
		text_appendf(text, size, " (steal %s)", steal);
}

static void cpus(struct lines *lines, const struct session *session)
{
	size_t size = session->ncpus * BYTES_PER_CPU + 1;
	char *text = calloc(1, size);

	if (!text) {
		lines->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < session->ncpus; i++)
		append_cpu(text, size, &session->cpus[i]);
	lines_label(lines, "CPU busy", *text ? text : "unknown", NO_LIMIT);
	free(text);
}

static void sensors(struct lines *lines, const char *label, const struct named_sampled *sensor,
		    int n, double scale, const char *unit)
{
	char text[TEXT] = "";

	for (int i = 0; i < n && i < SESSION_SENSORS; i++) {
		const struct sampled *s = &sensor[i].value;

		text_appendf(text, sizeof(text), "%s%.*s ", *text ? ", " : "", SESSION_NAME_LEN,
			     sensor[i].name);
		if (s->n > 0)
			text_appendf(text, sizeof(text), "%.1f %s (max %.1f)", s->mean * scale,
				     unit, s->max * scale);
		else
			text_appendf(text, sizeof(text), "unknown");
	}
	lines_label(lines, label, *text ? text : "unknown", NO_LIMIT);
}

static void memory(char *text, const char *name, const struct sampled *used, double total)
{
	text_appendf(text, TEXT, ", %s ", name);
	if (used->n > 0)
		text_appendf(text, TEXT, "%.0f (max %.0f)", used->mean, used->max);
	else
		text_appendf(text, TEXT, "unknown");
	if (isfinite(total))
		text_appendf(text, TEXT, " of %.0f MiB", total);
}

static void source(struct lines *lines, const struct tegra_summary *tegra)
{
	char text[TEXT];

	snprintf(text, sizeof(text), "%s: %" PRId64 " samples",
		 *tegra->source ? tegra->source : "no source", tegra->samples);
	if (isfinite(tegra->interval_ms))
		text_appendf(text, sizeof(text), ", one every %.0f ms", tegra->interval_ms);
	text_appendf(text, sizeof(text), ", %" PRId64 " lines not understood", tegra->rejected);
	memory(text, "RAM", &tegra->ram_used_mb, tegra->ram_total_mb);
	memory(text, "swap", &tegra->swap_used_mb, tegra->swap_total_mb);
	lines_label(lines, "samples", text, NO_LIMIT);
}

static void overhead(struct lines *lines, const struct overhead *cost)
{
	char text[TEXT] = "", rss[32], attach[32];

	if (isfinite(cost->ns_per_switch))
		text_appendf(text, sizeof(text), "%.0f ns per context switch", cost->ns_per_switch);
	else
		text_appendf(text, sizeof(text), "time per context switch unknown");
	if (isfinite(cost->cpu_share))
		text_appendf(text, sizeof(text), ", %.2f %% of one CPU", 100 * cost->cpu_share);
	else
		text_appendf(text, sizeof(text), ", CPU share unknown");
	if (cost->events != UNKNOWN_COUNT)
		text_appendf(text, sizeof(text), ", %" PRId64 " %s", cost->events,
			     isfinite(cost->ns_per_switch) ? "program runs" : "events read");
	text_bytes(rss, sizeof(rss), cost->rss_bytes);
	text_appendf(text, sizeof(text), ", peak memory %s", rss);
	if (cost->attach_ns != UNKNOWN_NS) {
		text_duration(attach, sizeof(attach), cost->attach_ns);
		text_appendf(text, sizeof(text), ", attached after %s", attach);
	}
	lines_label(lines, "overhead", text, NO_LIMIT);
}

void text_details(struct lines *lines, const struct session *session)
{
	const struct tegra_summary *tegra = &session->tegra;
	const struct capability *capability = &session->capability;
	char text[TEXT];

	cpus(lines, session);
	text_system_details(lines, session);
	if (tegra->state != TEGRA_NONE) {
		source(lines, tegra);
		sensors(lines, "temp", tegra->temps_c, tegra->temps, 1, "C");
		sensors(lines, "power", tegra->power_mw, tegra->rails, 0.001, "W");
	}
	text_cuda_details(lines, session);
	for (int i = 0; i < capability->nmissing && i < SESSION_MISSING; i++) {
		snprintf(text, sizeof(text), "%s: %s", capability->missing[i].what,
			 capability->missing[i].why);
		lines_label(lines, "missing", text, NO_LIMIT);
	}
	overhead(lines, &session->overhead);
}
