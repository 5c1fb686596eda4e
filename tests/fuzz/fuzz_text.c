/* SPDX-License-Identifier: GPL-2.0-only */
/* libFuzzer target: any text as a tracefs format file, a thread name, nvpmodel.conf and the clock file. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/tracefs.h"
#include "tegra/board_conf.h"
#include "tegra/clock_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is taken says again what stood there, so nothing in it was passed over. */
static void as_clock_state(const char *text)
{
	struct clock_state state;
	char again[256];

	if (!clock_state_parse(&state, text) &&
	    (clock_state_format(&state, again, sizeof(again)) < 0 || strcmp(again, text)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracefs_field fields[] = {{.name = "pid"}, {.name = "prev_state"}};
	char *text = malloc(size + 1);
	static struct power_conf conf;
	char safe[64], folded[64];

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	tracefs_parse_format(text, fields, 2);
	text_sanitize(safe, sizeof(safe), text, size);
	as_clock_state(text);
	power_conf_parse(&conf, text, size);
	text_fold_name(folded, sizeof(folded), text);
	free(text);
	return 0;
}
