/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/symbols/user_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libiberty/demangle.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/frame.h"
#include "base/text.h"
#include "probe/symbols/symbol_finder.h"

#define MAX_SYMBOLS    (1 << 17)
#define MAX_NAME       4096 /* mangled; a C++ name without its template arguments is far shorter */
#define MAX_FUNCTION   160
#define NOBODY	       65534
#define CHILD_CPU_S    20
#define CHILD_DATA     (4ULL << 30) /* files are mapped privately */
#define CHILD_WALL_MS  30000
#define CHILD_RESTARTS 8 /* times that it may end early */

struct symbol {
	uint64_t offset;
	int object;
	int next; /* in its bucket */
	char *function;
	bool asked;
};

struct user_symbols {
	struct mappings *mappings;
	struct symbol *items;
	int n;
	int *buckets;
	unsigned int nbuckets;
};

struct user_symbols *user_symbols_new(struct mappings *mappings)
{
	struct user_symbols *symbols = calloc(1, sizeof(*symbols));

	if (symbols)
		symbols->mappings = mappings;
	return symbols;
}

void user_symbols_free(struct user_symbols *symbols)
{
	if (!symbols)
		return;
	for (int i = 0; i < symbols->n; i++)
		free(symbols->items[i].function);
	free(symbols->items);
	free(symbols->buckets);
	free(symbols);
}

static int *bucket_of(const struct user_symbols *symbols, int object, uint64_t offset)
{
	uint64_t hash = (offset ^ (uint64_t)object << 48) * 0x9e3779b97f4a7c15ULL;

	return &symbols->buckets[(hash >> 32) & (symbols->nbuckets - 1)];
}

/* A bucket for every item that there is room for. */
static bool grow(struct user_symbols *symbols)
{
	unsigned int room = symbols->nbuckets ? 2 * symbols->nbuckets : 256;
	struct symbol *items = reallocarray(symbols->items, room, sizeof(*items));
	int *buckets;

	if (!items)
		return false;
	symbols->items = items;
	buckets = malloc(room * sizeof(*buckets));
	if (!buckets)
		return false;
	memset(buckets, 0xff, room * sizeof(*buckets));
	free(symbols->buckets);
	symbols->buckets = buckets;
	symbols->nbuckets = room;
	for (int i = 0; i < symbols->n; i++) {
		int *bucket = bucket_of(symbols, items[i].object, items[i].offset);

		items[i].next = *bucket;
		*bucket = i;
	}
	return true;
}

int user_symbols_add(struct user_symbols *symbols, pid_t pid, uint64_t address)
{
	struct mapping_place place = mappings_find(symbols->mappings, pid, address, MAPPING_CODE);
	int *bucket;

	if (place.object < 0)
		return -1;
	if ((unsigned int)symbols->n == symbols->nbuckets && !grow(symbols))
		return -1;
	bucket = bucket_of(symbols, place.object, place.offset);
	for (int i = *bucket; i >= 0; i = symbols->items[i].next) {
		if (symbols->items[i].object == place.object &&
		    symbols->items[i].offset == place.offset)
			return i;
	}
	if (symbols->n == MAX_SYMBOLS)
		return -1;
	symbols->items[symbols->n] =
		(struct symbol){.offset = place.offset, .object = place.object, .next = *bucket};
	return *bucket = symbols->n++;
}

/* In the child. */

struct answer {
	int number;
	unsigned int length; /* of the name behind it */
};

static bool write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return true;
}

static void send_name(void *ctx, int number, const char *name)
{
	char *plain = NULL;
	struct answer answer = {.number = number};

	if (strnlen(name, MAX_NAME) < MAX_NAME)
		plain = cplus_demangle(name, DMGL_AUTO | DMGL_NO_OPTS);
	if (plain)
		name = plain;
	answer.length = (unsigned int)strnlen(name, MAX_NAME);
	if (!write_all(*(int *)ctx, &answer, sizeof(answer)) ||
	    !write_all(*(int *)ctx, name, answer.length))
		_exit(0);
	free(plain);
}

static void limit(int resource, rlim_t value)
{
	struct rlimit old, new = {value, value};

	if (!getrlimit(resource, &old) && old.rlim_max < value)
		new.rlim_cur = new.rlim_max = old.rlim_max;
	setrlimit(resource, &new);
}

/* The files are open; nothing else is needed to read them. */
static void drop_everything(void)
{
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	limit(RLIMIT_CPU, CHILD_CPU_S);
#ifndef __SANITIZE_ADDRESS__ /* whose own memory counts */
	limit(RLIMIT_DATA, CHILD_DATA);
#endif
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!geteuid() && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of user undoes it */
}

static int compare_queries(const void *a, const void *b)
{
	const struct symbol_query *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void find_in_object(const struct user_symbols *symbols, int number,
			   struct symbol_query *queries, int out)
{
	const struct mapping_object *object = mappings_object(symbols->mappings, number);
	size_t n = 0;

	for (int i = 0; i < symbols->n; i++) {
		if (symbols->items[i].object == number && !symbols->items[i].asked)
			queries[n++] = (struct symbol_query){symbols->items[i].offset, i};
	}
	qsort(queries, n, sizeof(*queries), compare_queries);
	if (object->kind == MAPPING_ANON)
		symbol_find_perf_map(object->fd, queries, n, send_name, &out);
	else
		symbol_find_elf(object->fd, object->path, queries, n, send_name, &out);
}

/* Each file is announced before it is read, so that the parent knows which one ended the child. */
static void __attribute__((noreturn))
child(const struct user_symbols *symbols, const int *objects, int n, int out)
{
	struct symbol_query *queries = calloc(symbols->n, sizeof(*queries));

	drop_everything();
	for (int i = 0; queries && i < n; i++) {
		struct answer begin = {.number = -1};

		if (!write_all(out, &begin, sizeof(begin)))
			break;
		find_in_object(symbols, objects[i], queries, out);
	}
	_exit(0);
}

/* In the parent: what comes is not trusted more than the files are. */

struct answers {
	int fd;
	int64_t deadline_ms;
	int begun; /* files announced */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static bool read_all(const struct answers *answers, void *data, size_t size)
{
	struct pollfd poll_fd = {.fd = answers->fd, .events = POLLIN};
	char *at = data;

	while (size) {
		int64_t left_ms = answers->deadline_ms - now_ms();
		ssize_t n;

		if (left_ms <= 0)
			return false;
		if (poll(&poll_fd, 1, (int)left_ms) < 0 && errno != EINTR)
			return false;
		if (!poll_fd.revents)
			continue;
		n = read(answers->fd, at, size);
		if (!n || (n < 0 && errno != EINTR))
			return false;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return true;
}

static bool read_answer(struct user_symbols *symbols, struct answers *answers)
{
	char name[MAX_NAME], clean[MAX_FUNCTION];
	struct answer answer;
	struct symbol *symbol;

	if (!read_all(answers, &answer, sizeof(answer)) || answer.length > sizeof(name) ||
	    !read_all(answers, name, answer.length))
		return false;
	if (answer.number < 0) {
		answers->begun++;
		return true;
	}
	if (answer.number >= symbols->n)
		return false;
	symbol = &symbols->items[answer.number];
	text_sanitize(clean, sizeof(clean), name, answer.length);
	free(symbol->function);
	symbol->function = *clean ? strdup(clean) : NULL;
	return true;
}

/* Returns how many of the files are done with: all, or those up to the one that ended the child. */
static int run_child(struct user_symbols *symbols, const int *objects, int n, int64_t deadline_ms)
{
	struct answers answers = {.deadline_ms = deadline_ms};
	int ends[2], status = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return n;
	pid = fork();
	if (!pid)
		child(symbols, objects, n, ends[1]);
	close(ends[1]);
	answers.fd = ends[0];
	while (pid > 0 && read_answer(symbols, &answers))
		;
	close(ends[0]);
	if (pid < 0)
		return n;
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if ((WIFEXITED(status) && !WEXITSTATUS(status)) || now_ms() >= deadline_ms)
		return n;
	return answers.begun < n ? answers.begun : n;
}

static int list_objects(struct user_symbols *symbols, int **list)
{
	int n = 0, highest = -1;
	bool *wanted;

	for (int i = 0; i < symbols->n; i++) {
		if (!symbols->items[i].asked && symbols->items[i].object > highest)
			highest = symbols->items[i].object;
	}
	wanted = calloc(highest + 2, sizeof(bool));
	*list = calloc(highest + 2, sizeof(int));
	for (int i = 0; wanted && *list && i < symbols->n; i++) {
		if (!symbols->items[i].asked)
			wanted[symbols->items[i].object] = true;
	}
	for (int object = 0; wanted && *list && object <= highest; object++) {
		if (wanted[object] && mappings_object(symbols->mappings, object)->fd >= 0)
			(*list)[n++] = object;
	}
	free(wanted);
	return n;
}

void user_symbols_resolve(struct user_symbols *symbols)
{
	int64_t deadline_ms = now_ms() + CHILD_WALL_MS;
	int *objects, n = list_objects(symbols, &objects), from = 0;

	for (int tries = 0; from < n && tries <= CHILD_RESTARTS; tries++)
		from += run_child(symbols, objects + from, n - from, deadline_ms);
	for (int i = 0; i < symbols->n; i++)
		symbols->items[i].asked = true;
	free(objects);
}

static void library_name(char *dst, size_t size, const struct mapping_object *object, bool named)
{
	const char *base = strrchr(object->path, '/');
	size_t length;

	base = base && object->path[0] == '/' ? base + 1 : object->path;
	if (object->kind == MAPPING_ANON && named)
		base = "[jit]";
	length = strlen(base);
	if (length > 10 && !strcmp(base + length - 10, " (deleted)"))
		length -= 10;
	text_sanitize(dst, size, base, length);
}

void user_symbols_get(const struct user_symbols *symbols, int number, struct user_symbol *symbol)
{
	const struct symbol *item;

	*symbol = (struct user_symbol){.library = "[unknown]"};
	if (number < 0 || number >= symbols->n)
		return;
	item = &symbols->items[number];
	symbol->function = item->function;
	library_name(symbol->library, sizeof(symbol->library),
		     mappings_object(symbols->mappings, item->object), item->function);
}

void user_symbols_frame(const struct user_symbols *symbols, int number, char *frame, size_t size)
{
	struct user_symbol symbol;
	char name[80];

	user_symbols_get(symbols, number, &symbol);
	if (symbol.function)
		snprintf(name, sizeof(name), "%s", "");
	else if (symbol.library[0] == '[')
		snprintf(name, sizeof(name), "%s", symbol.library);
	else
		snprintf(name, sizeof(name), "[%s]", symbol.library);
	frame_escape(frame, size, symbol.function ? symbol.function : name);
}
