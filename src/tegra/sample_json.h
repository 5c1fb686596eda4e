/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_TEGRA_SAMPLE_JSON_H
#define TEGRATRACE_TEGRA_SAMPLE_JSON_H

#include <jansson.h>

#include "tegra/line.h"

/*
 * A sample as the JSON object of the sample format: unknown is null, `temps`, `rails` and `engines`
 * are objects by name (a name that comes again is "NAME#2"), fields that only some releases print
 * are there only if the line had them. Bytes of a name that are no UTF-8 become "\xNN". A new
 * reference; NULL without memory. Dump it with JSON_REAL_PRECISION(9): temperatures have at most
 * 9 digits.
 */
json_t *tegra_sample_json(const struct tegra_sample *sample);

#endif
