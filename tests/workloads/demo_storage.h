/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the pipeline reads: frames from a file on a slow disk, and a model that is mapped and larger
 * than the memory that the pipeline may have. Both are files without a name.
 */
#ifndef __DEMO_STORAGE_H
#define __DEMO_STORAGE_H

#include "confine.h"

#define STORAGE_FILE_BYTES  (32ULL << 20)
#define STORAGE_MODEL_BYTES (96ULL << 20)
#define STORAGE_MEMORY	    (24ULL << 20)
#define STORAGE_RATE	    211	 /* reads of frames a second */
#define STORAGE_PAGE_RATE   4001 /* pages of the model a second */
#define STORAGE_FAST_READS  499	 /* a frame, where the disk cannot be made slow */

static struct {
	int fd;
	size_t page;
	char *buf, *model;
	uint64_t at;
	bool limited;
} storage = {.fd = -1};

static inline int storage_file(const char *dir, uint64_t bytes)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	storage.page = (size_t)sysconf(_SC_PAGESIZE);
	if (fd < 0 || !confine_fill(fd, bytes) || fsync(fd))
		wl_die(WL_FAIL, "%s: %s", dir, strerror(errno));
	return fd;
}

/* Reads past the page cache. Returns how many a frame has: more where the disk is fast. */
static inline int storage_open_frames(const char *dir, int reads)
{
	int fd = storage_file(dir, STORAGE_FILE_BYTES);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	storage.fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	storage.buf = aligned_alloc(storage.page, storage.page);
	if (storage.fd < 0 || !storage.buf)
		wl_die(WL_FAIL, "%s: O_DIRECT: %s", dir, strerror(errno));
	storage.limited = confine_io(fd, STORAGE_RATE, 0);
	close(fd);
	return storage.limited ? reads : STORAGE_FAST_READS;
}

static inline void storage_read_frame(int reads)
{
	while (reads-- > 0) {
		if (pread(storage.fd, storage.buf, storage.page, (off_t)storage.at) < 0)
			wl_die(WL_FAIL, "read: %s", strerror(errno));
		storage.at = (storage.at + 17 * storage.page) % STORAGE_FILE_BYTES;
	}
}

/* Under the limit before it is written, so that its pages count and the first of them go. */
static inline void storage_open_model(const char *dir)
{
	int fd;

	storage.limited = confine_memory(STORAGE_MEMORY);
	fd = storage_file(dir, STORAGE_MODEL_BYTES);
	storage.model = mmap(NULL, STORAGE_MODEL_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	confine_io(fd, STORAGE_PAGE_RATE, 0);
	if (storage.model == MAP_FAILED || madvise(storage.model, STORAGE_MODEL_BYTES, MADV_RANDOM))
		wl_die(WL_FAIL, "%s: mmap: %s", dir, strerror(errno));
	close(fd);
}

/* One page in another part of it each time; every page comes round, long after it was evicted. */
static inline void storage_touch_model(int pages)
{
	static uint64_t at;

	while (pages-- > 0) {
		(void)*(volatile char *)(storage.model + at);
		at = (at + 4099 * storage.page) % STORAGE_MODEL_BYTES;
	}
}

/* Where memory cannot be limited: takes the pages away all the time. */
static inline void storage_evict(struct wl_thread *t)
{
	(void)t;
	while (!wl_stopped()) {
		madvise(storage.model, STORAGE_MODEL_BYTES, MADV_PAGEOUT);
		wl_pass(5 * WL_MSEC);
	}
}

#endif /* __DEMO_STORAGE_H */
