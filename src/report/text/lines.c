/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/lines.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/output.h"

#define ITEM 24

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

static void cut_columns(char *utf8, size_t columns)
{
	size_t dots = columns < 3 ? columns : 3;

	if (text_columns(utf8) > columns)
		strcpy(utf8 + text_prefix_bytes(utf8, columns - dots), &"..."[3 - dots]);
}

void text_cell(char *dst, size_t size, const char *src, int width)
{
	size_t columns = (size_t)abs(width);
	char clean[256], pad[256];
	size_t used;

	text_sanitize(clean, sizeof(clean), src, strlen(src));
	cut_columns(clean, columns);
	used = text_columns(clean);
	snprintf(pad, sizeof(pad), "%*s", used < columns ? (int)(columns - used) : 0, "");
	if (width < 0)
		snprintf(dst, size, "%s%s", pad, clean);
	else
		snprintf(dst, size, "%s%s", clean, pad);
}

void lines_free(struct lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->text[i]);
	free(lines->text);
	*lines = (struct lines){0};
}

/* Takes over the text; NULL is an allocation that failed. */
static void lines_take(struct lines *lines, char *text)
{
	/* full at 0 and at each power of two */
	if (text && !lines->error && (lines->n & (lines->n - 1)) == 0) {
		size_t room = lines->n ? 2 * lines->n : 1;
		char **grown = reallocarray(lines->text, room, sizeof(*grown));

		if (grown)
			lines->text = grown;
		else
			lines->error = -ENOMEM;
	}
	if (!text)
		lines->error = -ENOMEM;
	if (lines->error)
		free(text);
	else
		lines->text[lines->n++] = text;
}

static char *sanitized(const char *text)
{
	size_t len = strlen(text);
	size_t room = TEXT_SANITIZED_SIZE(len);
	char *clean = malloc(room);

	if (clean)
		text_sanitize(clean, room, text, len);
	return clean;
}

void lines_addf(struct lines *lines, const char *fmt, ...)
{
	char *raw, *clean;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&raw, fmt, ap);
	va_end(ap);
	if (len < 0) {
		lines->error = -ENOMEM;
		return;
	}
	clean = sanitized(raw);
	free(raw);
	if (clean && !lines->wide)
		cut_columns(clean, REPORT_COLUMNS);
	for (size_t end = clean ? strlen(clean) : 0; end > 0 && clean[end - 1] == ' '; end--)
		clean[end - 1] = 0;
	lines_take(lines, clean);
}

/* Bytes of the text that go on a line of that width; 0 only for an empty text. */
static size_t break_at(const char *text, size_t width)
{
	size_t all = text_prefix_bytes(text, width);
	size_t end = all;

	if (!text[all])
		return all;
	while (end > 0 && text[end] != ' ')
		end--;
	/* rather behind an item of a list than inside it */
	for (size_t item = end; item > 1 && end - item < ITEM; item--)
		if (text[item] == ' ' && strchr(",;", text[item - 1]))
			return item;
	return end ? end : all;
}

void lines_wrap(struct lines *lines, const char *first, const char *next, const char *text,
		size_t max)
{
	char *clean = sanitized(text);
	const char *rest = clean;

	if (!clean)
		lines->error = -ENOMEM;
	for (size_t n = 1; rest && *rest; n++) {
		const char *prefix = n == 1 ? first : next;
		size_t len = n < max ? break_at(rest, REPORT_COLUMNS - text_columns(prefix))
				     : strlen(rest);

		lines_addf(lines, "%s%.*s", prefix, (int)len, rest);
		rest += len;
		rest += strspn(rest, " ");
	}
	free(clean);
}

void lines_label(struct lines *lines, const char *label, const char *text, size_t max)
{
	char first[64], next[64];

	snprintf(first, sizeof(first), "  %-*s  ", LABEL_COLUMNS - 4, label);
	snprintf(next, sizeof(next), "%*s", LABEL_COLUMNS, "");
	lines_wrap(lines, first, next, text, max);
}

void lines_move(struct lines *to, struct lines *from)
{
	if (from->error)
		to->error = from->error;
	for (size_t i = 0; i < from->n; i++) {
		lines_take(to, from->text[i]);
		from->text[i] = NULL;
	}
	lines_free(from);
}

int lines_write(FILE *out, const struct lines *lines, bool color)
{
	int error = lines->error;

	for (size_t i = 0; i < lines->n && !error; i++) {
		const char *text = lines->text[i];
		size_t bold = i == 0 && color ? lines->bold : 0;
		char *line;
		int len = bold ? asprintf(&line, BOLD "%.*s" PLAIN "%s\n", (int)bold, text,
					  text + bold)
			       : asprintf(&line, "%s\n", text);

		if (len < 0)
			return -ENOMEM;
		error = output_write(out, line, (size_t)len);
		free(line);
	}
	return error ? error : output_finish(out);
}
