/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/symbols/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* kallsyms gives starts and no ends. No function is longer: what lies further is in a gap. */
#define MAX_FUNCTION_BYTES (1u << 20)

/* An address asked for, and the best symbol for it so far. */
struct wanted {
	uint64_t address;
	uint64_t start; /* of the symbol; 0 = none */
	uint32_t index; /* of the caller's arrays */
	uint32_t rank;	/* of the symbol among those with the same start */
};

struct search {
	struct wanted *wanted; /* ascending addresses */
	size_t n;
	struct kernel_symbol *symbols;
	/* The other way: */
	const char *const *names;
	struct kernel_code *code;
	bool any_line, any_address;
};

/* One line: "ffffffc008a1b2c0 t gk20a_channel_wait\t[nvgpu]" */
struct line {
	uint64_t address;
	char type;
	const char *name, *module;
	size_t name_length, module_length;
};

static int by_address(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static bool take_hex(const char **text, const char *end, uint64_t *value)
{
	const char *p = *text;

	*value = 0;
	for (; p < end && p - *text <= 16; p++) {
		unsigned int c = (unsigned char)*p, digit;

		if (c - '0' < 10)
			digit = c - '0';
		else if ((c | 0x20) - 'a' < 6)
			digit = (c | 0x20) - 'a' + 10;
		else
			break;
		*value = *value << 4 | digit;
	}
	if (p == *text || p - *text > 16)
		return false;
	*text = p;
	return true;
}

static bool parse_line(const char *text, const char *end, struct line *line)
{
	const char *tab;

	if (!take_hex(&text, end, &line->address) || end - text < 4 || text[0] != ' ' ||
	    text[2] != ' ')
		return false;
	line->type = text[1];
	line->name = text + 3;
	tab = memchr(line->name, '\t', (size_t)(end - line->name));
	line->name_length = (size_t)((tab ? tab : end) - line->name);
	line->module_length = 0;
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
		line->module = tab + 2;
		line->module_length = (size_t)(end - tab - 3);
	}
	return line->name_length > 0;
}

/* Of names for one address: a global one, then the one with fewest underscores in front. */
static uint32_t rank_of(const struct line *line)
{
	size_t underscores = 0;

	while (underscores < line->name_length && line->name[underscores] == '_')
		underscores++;
	return (line->type == 'T' ? 100 : 0) + 99 - (uint32_t)(underscores < 99 ? underscores : 99);
}

static bool is_function(const struct line *line)
{
	return line->type && strchr("tTwW", line->type);
}

/* First of the wanted at or above @address */
static size_t lower_bound(const struct search *search, uint64_t address)
{
	size_t low = 0, high = search->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->wanted[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * A symbol is kept by the first address above it only; those further up get it when all symbols have
 * been seen, unless a nearer one came.
 */
static void offer(struct search *search, const struct line *line)
{
	size_t i = lower_bound(search, line->address);
	uint32_t rank = rank_of(line);
	struct kernel_symbol *symbol;
	struct wanted *wanted;

	if (i == search->n)
		return;
	wanted = &search->wanted[i];
	if (line->address < wanted->start ||
	    (line->address == wanted->start && rank <= wanted->rank))
		return;
	wanted->start = line->address;
	wanted->rank = rank;
	symbol = &search->symbols[wanted->index];
	text_sanitize(symbol->name, sizeof(symbol->name), line->name, line->name_length);
	text_sanitize(symbol->module, sizeof(symbol->module), line->module, line->module_length);
}

/* Also as the compiler renames one that it has changed; a ".cold" part is not the function. */
static bool is_named(const struct line *line, const char *name)
{
	size_t length = strlen(name), rest = line->name_length - length;
	const char *suffix = line->name + length;

	if (line->name_length < length || memcmp(line->name, name, length))
		return false;
	return !rest || (rest > 6 && !memcmp(suffix, ".isra.", 6)) ||
	       (rest > 11 && !memcmp(suffix, ".constprop.", 11));
}

/* The list is in the order of addresses: the next one above ends a function. */
static void find_names(struct search *search, const struct line *line)
{
	for (size_t i = 0; i < search->n; i++) {
		struct kernel_code *code = &search->code[i];

		if (code->begin && !code->size && line->address > code->begin)
			code->size = line->address - code->begin;
		if (!code->begin && !line->module_length && is_named(line, search->names[i]))
			code->begin = line->address;
	}
}

static void take_line(struct search *search, const char *text, const char *end)
{
	struct line line = {0};

	if (!parse_line(text, end, &line))
		return;
	search->any_line = true;
	if (!line.address)
		return;
	search->any_address = true;
	if (!is_function(&line))
		return;
	if (search->names)
		find_names(search, &line);
	else
		offer(search, &line);
}

static int read_symbols(struct search *search, int fd)
{
	static char buffer[1 << 16];
	size_t length = 0;
	ssize_t n;

	while ((n = read(fd, buffer + length, sizeof(buffer) - length)) != 0) {
		char *start = buffer, *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		length += (size_t)n;
		while ((end = memchr(start, '\n', length - (size_t)(start - buffer)))) {
			take_line(search, start, end);
			start = end + 1;
		}
		length -= (size_t)(start - buffer);
		memmove(buffer, start, length);
		if (length == sizeof(buffer)) /* a line without end */
			length = 0;
	}
	take_line(search, buffer, buffer + length);
	return 0;
}

static void forget(struct kernel_symbol *symbol)
{
	memset(symbol, 0, sizeof(*symbol));
	text_copy(symbol->name, sizeof(symbol->name), "[unknown]");
}

/* The end of the kernel's text has a symbol as well; no function begins there. */
static bool is_end_mark(const char *name)
{
	return !strcmp(name, "_etext") || !strcmp(name, "_einittext") || !strcmp(name, "_end");
}

static void settle(struct search *search)
{
	for (size_t i = 0; i < search->n; i++) {
		struct wanted *wanted = &search->wanted[i];
		struct kernel_symbol *symbol = &search->symbols[wanted->index];

		if (i && search->wanted[i - 1].start > wanted->start) {
			wanted->start = search->wanted[i - 1].start;
			*symbol = search->symbols[search->wanted[i - 1].index];
		}
	}
	for (size_t i = 0; i < search->n; i++) {
		struct wanted *wanted = &search->wanted[i];
		struct kernel_symbol *symbol = &search->symbols[wanted->index];

		if (!wanted->start || is_end_mark(symbol->name) ||
		    wanted->address - wanted->start > MAX_FUNCTION_BYTES)
			forget(symbol);
	}
}

static int read_all(int fd, struct search *search)
{
	int err = read_symbols(search, fd);

	if (!err && !search->any_line)
		return -EBADMSG;
	return !err && !search->any_address ? -EACCES : err;
}

static int resolve_from(int fd, struct search *search)
{
	int err = read_all(fd, search);

	if (err)
		for (size_t i = 0; i < search->n; i++)
			search->wanted[i].start = 0;
	settle(search);
	return err;
}

int kernel_symbols_resolve(const char *path, const uint64_t *addresses, size_t n,
			   struct kernel_symbol *symbols)
{
	struct search search = {.n = n, .symbols = symbols};
	int err, fd;

	for (size_t i = 0; i < n; i++)
		forget(&symbols[i]);
	fd = open(path ? path : "/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	search.wanted = calloc(n ? n : 1, sizeof(*search.wanted));
	if (search.wanted) {
		for (size_t i = 0; i < n; i++) {
			search.wanted[i].address = addresses[i];
			search.wanted[i].index = (uint32_t)i;
		}
		qsort(search.wanted, n, sizeof(*search.wanted), by_address);
		err = resolve_from(fd, &search);
		free(search.wanted);
	} else {
		err = -ENOMEM;
	}
	close(fd);
	return err;
}

int kernel_symbols_find(const char *path, const char *const *names, size_t n,
			struct kernel_code *code)
{
	struct search search = {.n = n, .names = names, .code = code};
	int fd = open(path ? path : "/proc/kallsyms", O_RDONLY | O_CLOEXEC), err;

	memset(code, 0, n * sizeof(*code));
	if (fd < 0)
		return -errno;
	err = read_all(fd, &search);
	close(fd);
	for (size_t i = 0; i < n; i++) {
		if (err || code[i].size > MAX_FUNCTION_BYTES)
			code[i] = (struct kernel_code){0, 0};
	}
	return err;
}
