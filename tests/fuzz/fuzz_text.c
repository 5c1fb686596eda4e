/* SPDX-License-Identifier: GPL-2.0-only */
/* libFuzzer target: any text as a tracefs format file and as a thread name. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/tracefs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracefs_field fields[] = {{.name = "pid"}, {.name = "prev_state"}};
	char *text = malloc(size + 1);
	char safe[64], folded[64];

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	tracefs_parse_format(text, fields, 2);
	text_sanitize(safe, sizeof(safe), text, size);
	text_fold_name(folded, sizeof(folded), text);
	free(text);
	return 0;
}
