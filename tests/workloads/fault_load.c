/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page faults by number: three threads, each touches so many pages of one kind of memory, once.
 *
 *   anon=1009    pages of anonymous memory
 *   copied=499   pages of a cached private file mapping, written: each is copied, none read in around
 *   cold=211     pages of a file that is not in the page cache, read in no order
 *   file=PATH    of the files: PATH.copied and PATH.cold, deleted once open
 *   swapped=0    pages of anonymous memory, put into the swap before the load
 *   rounds=0     then the anonymous memory is given back and touched again so many times
 */
#include "workload.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

static size_t page, anon_pages, copied_pages, cold_pages, swapped_pages;
static int rounds;
static volatile char *anon, *copied, *cold, *swapped;
static volatile char sink;

static void touch(struct wl_thread *t, volatile char *memory, size_t pages, bool write)
{
	struct rusage before, after;

	getrusage(RUSAGE_THREAD, &before);
	for (size_t i = 0; i < pages; i++) {
		if (write)
			memory[i * page] = 1;
		else
			sink = memory[i * page];
	}
	getrusage(RUSAGE_THREAD, &after);
	t->val[0] += pages;
	t->val[1] += (uint64_t)(after.ru_minflt - before.ru_minflt);
	t->val[2] += (uint64_t)(after.ru_majflt - before.ru_majflt);
}

static void touch_anon(struct wl_thread *t)
{
	touch(t, anon, anon_pages, true);
	for (int i = 0; i < rounds && !wl_stopped(); i++) {
		madvise((void *)anon, anon_pages * page, MADV_DONTNEED);
		touch(t, anon, anon_pages, true);
	}
}

static void touch_copied(struct wl_thread *t)
{
	touch(t, copied, copied_pages, true);
}

static void touch_cold(struct wl_thread *t)
{
	touch(t, cold, cold_pages, false);
}

static void touch_swapped(struct wl_thread *t)
{
	touch(t, swapped, swapped_pages, false);
}

static volatile char *map(size_t pages, int prot, int fd, off_t offset)
{
	int flags = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0);
	char *memory = mmap(NULL, (pages ? pages : 1) * page, prot, flags, fd, offset);

	if (memory == MAP_FAILED)
		wl_die(WL_FAIL, "mmap: %s", strerror(errno));
	/* One fault a page: no huge pages, no reading around. */
	madvise(memory, (pages ? pages : 1) * page, fd < 0 ? MADV_NOHUGEPAGE : MADV_RANDOM);
	return memory;
}

/* Cached or not; each a file of its own, for the cache may hold pages of both as one. */
static int make_file(const char *path, const char *suffix, size_t pages, bool cached)
{
	char *text = malloc(page), name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || !text)
		wl_die(WL_FAIL, "%s: %s", name, strerror(errno));
	memset(text, 'x', page);
	for (size_t i = 0; i < pages; i++)
		if (write(fd, text, page) != (ssize_t)page)
			wl_die(WL_FAIL, "%s: %s", name, strerror(errno));
	fsync(fd);
	if (!cached)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	unlink(name);
	free(text);
	return fd;
}

static void add(wl_fn *fn, const char *name)
{
	static const char *const vals[] = {"pages", "minor", "major", NULL};

	wl_add(fn, "%s", name)->val_names = vals;
}

static void truth(struct wl_json *j)
{
	wl_u64(j, "page_bytes", page);
}

int main(int argc, char **argv)
{
	const char *path;

	wl_init("fault_load", argc, argv, 3);
	page = (size_t)sysconf(_SC_PAGESIZE);
	anon_pages = (size_t)wl_arg_int("anon", 1009, 0, 1 << 20);
	copied_pages = (size_t)wl_arg_int("copied", 499, 0, 1 << 20);
	cold_pages = (size_t)wl_arg_int("cold", 211, 0, 1 << 20);
	swapped_pages = (size_t)wl_arg_int("swapped", 0, 0, 1 << 20);
	rounds = (int)wl_arg_int("rounds", 0, 0, 1 << 20);
	path = wl_arg_str("file", "fault_load.data");
	wl_args_done();
	anon = map(anon_pages, PROT_READ | PROT_WRITE, -1, 0);
	copied = map(copied_pages, PROT_READ | PROT_WRITE,
		     make_file(path, ".copied", copied_pages, true), 0);
	cold = map(cold_pages, PROT_READ, make_file(path, ".cold", cold_pages, false), 0);
	swapped = map(swapped_pages, PROT_READ | PROT_WRITE, -1, 0);
	for (size_t i = 0; i < swapped_pages; i++)
		swapped[i * page] = (char)i;
	if (swapped_pages)
		madvise((void *)swapped, swapped_pages * page, MADV_PAGEOUT);
	add(touch_anon, "anon");
	add(touch_copied, "copied");
	add(touch_cold, "cold");
	add(touch_swapped, "swapped");
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
