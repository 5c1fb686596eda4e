/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that wait for a disk, a page or a call each, from a file that has no name:
 *
 *   direct-read   O_DIRECT reads                  cold-read   buffered reads of what is not cached
 *   cold-mmap     touches a mapping of such       sync-write  writes and fsync()
 *   loader        O_DIRECT reads and hands each to consumer, which waits for loader, and so for the
 *                 disk by one hop
 *   swap-in       touches its own memory that was swapped out (swap=file or zram)
 *
 *   count=41        calls a thread
 *   reads=50 writes=30   a second, of all threads together: a limit of the cgroup, which makes the
 *                   waits long; 0: no limit
 *   swap=none       none, file or zram: swap of its own, for the length of the run
 *   dir=/var/tmp    where the file is; it must be on a disk
 *
 * Of swap on zram nothing is waited for: the CPU unpacks the page. So there only faults are counted.
 */
#include "waits.h"
#include "confine.h"

#define SWAP_BYTES (64ULL << 20)

/* Parts of the file, a page apart in time and far apart in place. */
enum { PART_DIRECT, PART_COLD, PART_MAP, PART_LOADER, PARTS };

static int file_fd = -1, direct_fd = -1, sync_fd = -1;
static size_t page, stride;
static uint64_t part_bytes;
static char *mapped, *swapped;
static unsigned int out_at_start;
static bool throttled, swapping;
static char throttle_why[256], swap_why[256];

static struct handover loaded = {.taker = "consumer",
				 .giver = "loader",
				 .kind = {"disk", "thread", "loader"},
				 .take = futex_take};

static void need(bool ok, const char *what)
{
	if (!ok)
		wl_die(WL_FAIL, "%s: %s", what, strerror(errno));
}

static off_t place(int part, unsigned int i)
{
	return (off_t)(part * part_bytes + i * stride);
}

/* the threads */

static void direct_read(struct wl_thread *t)
{
	char *buf = aligned_alloc(page, page);
	struct wait_clock c;
	unsigned int i;

	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		c = wait_read();
		need(pread(direct_fd, buf, page, place(PART_DIRECT, i)) == (ssize_t)page, t->name);
		wait_end(t, 0, c);
	}
	free(buf);
}

static void cold_read(struct wl_thread *t)
{
	struct wait_clock c;
	unsigned int i;
	char byte;

	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		c = wait_read();
		need(pread(file_fd, &byte, 1, place(PART_COLD, i)) == 1, t->name);
		wait_end(t, 0, c);
	}
}

static void cold_mmap(struct wl_thread *t)
{
	struct wait_clock c;
	unsigned int i;

	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		c = wait_read();
		(void)*(volatile char *)(mapped + i * stride);
		wait_end(t, 0, c);
	}
}

static void sync_write(struct wl_thread *t)
{
	struct wait_clock c;
	unsigned int i;

	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		need(pwrite(sync_fd, &i, sizeof(i), (off_t)(i * page)) == sizeof(i), t->name);
		c = wait_read();
		need(!fsync(sync_fd), t->name);
		wait_end(t, 0, c);
	}
}

static void loader(struct wl_thread *t)
{
	char *buf = aligned_alloc(page, page);
	struct wait_clock c;
	unsigned int i;

	for (i = 0; i < wait_count; i++) {
		c = wait_read();
		if (!wl_stopped()) {
			need(pread(direct_fd, buf, page, place(PART_LOADER, i)) == (ssize_t)page,
			     t->name);
			wait_end(t, 0, c);
		}
		futex_give(&loaded);
	}
	free(buf);
}

static void swap_in(struct wl_thread *t)
{
	struct wait_clock c;
	unsigned int i;

	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		c = wait_read();
		swapped[i * stride]++;
		wait_end(t, 0, c);
	}
}

/* setting up */

static void make_file(const char *dir)
{
	uint64_t bytes;

	page = (size_t)sysconf(_SC_PAGESIZE);
	/* Beyond what a read may bring along. */
	stride = 17 * page;
	part_bytes = wait_count * stride;
	bytes = PARTS * part_bytes;
	file_fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	need(file_fd >= 0, dir);
	need(confine_fill(file_fd, bytes) && !fsync(file_fd), dir);
}

/* Below the limit, so that its writes are the limited ones; and with all its blocks. */
static void make_sync_file(const char *dir)
{
	sync_fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	need(sync_fd >= 0 && confine_fill(sync_fd, wait_count * page) && !fsync(sync_fd), dir);
}

static void open_cold(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	direct_fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	need(direct_fd >= 0, "O_DIRECT");
	mapped = mmap(NULL, part_bytes, PROT_READ, MAP_SHARED, file_fd, place(PART_MAP, 0));
	need(mapped != MAP_FAILED, "mmap");
	/* One page a read: no read-ahead brings the next ones. */
	need(!madvise(mapped, part_bytes, MADV_RANDOM), "madvise");
	need(!posix_fadvise(file_fd, 0, 0, POSIX_FADV_RANDOM), "posix_fadvise");
	need(!posix_fadvise(file_fd, 0, 0, POSIX_FADV_DONTNEED), "posix_fadvise");
}

static unsigned int swapped_out(void)
{
	unsigned int i, out = 0;
	unsigned char in;

	for (i = 0; i < wait_count; i++)
		out += !mincore(swapped + i * stride, page, &in) && !(in & 1);
	return out;
}

/* Again until it is written, for only then do the pages go; with no memory cgroup they may not. */
static void swap_out(void)
{
	uint64_t deadline = wl_now() + 5 * WL_NSEC;

	swapped =
		mmap(NULL, part_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(swapped != MAP_FAILED, "mmap");
	memset(swapped, 1, part_bytes);
	do {
		need(!madvise(swapped, part_bytes, MADV_PAGEOUT), "madvise");
		wl_sleep(WL_MSEC);
		confine_reclaim();
		out_at_start = swapped_out();
	} while (out_at_start < wait_count && wl_now() < deadline);
}

static void make_swap(const char *how, const char *dir)
{
	if (!strcmp(how, "file"))
		swapping = confine_swap_file(dir, SWAP_BYTES);
	else if (!strcmp(how, "zram"))
		swapping = confine_swap_zram(SWAP_BYTES);
	else if (strcmp(how, "none"))
		wl_die(WL_USAGE, "swap=%s: none, file or zram", how);
	snprintf(swap_why, sizeof(swap_why), "%s", swapping ? "" : confine.why);
	if (!swapping)
		return;
	confine_memory(1ULL << 40);
	swap_out();
}

static void truth(struct wl_json *j)
{
	wl_bool(j, "throttled", throttled);
	wl_str(j, "throttle_why", throttle_why);
	wl_bool(j, "swapping", swapping);
	wl_str(j, "swap_why", swap_why);
	wl_u64(j, "swapped_out_pages", out_at_start);
	wait_json(j);
}

static void add_threads(void)
{
	const struct wait_kind disk = {"disk", NULL, NULL}, fault = {"fault", NULL, NULL};

	wait_add(direct_read, "direct-read", disk);
	wait_add(cold_read, "cold-read", disk);
	wait_add(cold_mmap, "cold-mmap", fault);
	wait_add(sync_write, "sync-write", disk);
	wait_add(loader, "loader", disk);
	handovers = &loaded;
	handover_add(0, false);
	if (swapping)
		wait_add(swap_in, "swap-in", fault);
}

int main(int argc, char **argv)
{
	const char *dir, *swap;
	unsigned int reads, writes;

	wl_init("waits_disk", argc, argv, 3);
	wait_args(41, 100003);
	reads = (unsigned int)wl_arg_int("reads", 50, 0, 1000003);
	writes = (unsigned int)wl_arg_int("writes", 30, 0, 1000003);
	swap = wl_arg_str("swap", "none");
	dir = wl_arg_str("dir", "/var/tmp");
	wl_args_done();
	make_file(dir);
	make_swap(swap, dir);
	throttled = (reads || writes) && confine_io(file_fd, reads, writes);
	snprintf(throttle_why, sizeof(throttle_why), "%s", throttled ? "" : confine.why);
	make_sync_file(dir);
	open_cold();
	add_threads();
	wl_launch();
	wait_load();
	return wl_finish(truth);
}
