/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/status.h"

#include <string.h>

#include "base/msg.h"
#include "base/text.h"

static const struct named_sampled *hottest(const struct tegra_summary *tegra)
{
	const struct named_sampled *found = NULL;

	for (int i = 0; i < tegra->temps; i++) {
		if (!found || tegra->temps_c[i].value.last > found->value.last)
			found = &tegra->temps_c[i];
	}
	return found;
}

void status_show(int64_t elapsed_ns, int threads, const struct tegra_summary *tegra)
{
	char line[256] = "", elapsed[32];

	text_duration(elapsed, sizeof(elapsed), elapsed_ns);
	text_appendf(line, sizeof(line), "%s  %d threads", elapsed, threads);
	if (tegra) {
		const struct named_sampled *hot = hottest(tegra);

		if (tegra->gpu_busy.n)
			text_appendf(line, sizeof(line), "  GPU %.0f %%",
				     100 * tegra->gpu_busy.last);
		if (tegra->emc_busy.n)
			text_appendf(line, sizeof(line), "  EMC %.0f %%",
				     100 * tegra->emc_busy.last);
		if (hot)
			text_appendf(line, sizeof(line), "  %s %.0f C", hot->name, hot->value.last);
	}
	text_appendf(line, sizeof(line), "  Ctrl-C ends it with the report");
	msg_status(line);
}

void status_clear(void)
{
	msg_status("");
}
