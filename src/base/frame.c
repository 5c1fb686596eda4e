/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/frame.h"

#include <string.h>

#include "base/text.h"

size_t frame_escape(char *dst, size_t size, const char *name)
{
	size_t length = text_sanitize(dst, size, *name ? name : "?", *name ? strlen(name) : 1);

	for (char *c = dst; *c; c++) {
		if (*c == ';')
			*c = ':';
		else if (*c == ' ')
			*c = '_';
	}
	return length;
}
