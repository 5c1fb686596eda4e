/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/cuda/cuda_iter_spec.h"

#include <errno.h>
#include <string.h>

/* The text up to `end` into a field that must take all of it; false when empty or too long. */
static bool take(char *field, size_t size, const char *text, const char *end)
{
	size_t len = (size_t)(end - text);

	if (!len || len >= size)
		return false;
	memcpy(field, text, len);
	field[len] = '\0';
	return true;
}

int iter_spec_parse(const char *text, struct iter_spec *spec)
{
	/* a path may hold an @, and so may a versioned symbol */
	const char *at = strrchr(text, '@'), *end = at ? at : strchr(text, '\0'), *colon;

	*spec = (struct iter_spec){.given = true};
	if (at && !take(spec->library, sizeof(spec->library), at + 1, strchr(at, '\0')))
		return -EINVAL;
	if (!strncmp(text, "usdt:", 5)) {
		spec->usdt = true;
		text += 5;
		colon = memchr(text, ':', (size_t)(end - text));
		if (!colon || !take(spec->provider, sizeof(spec->provider), text, colon))
			return -EINVAL;
		text = colon + 1;
	}
	return take(spec->symbol, sizeof(spec->symbol), text, end) ? 0 : -EINVAL;
}
