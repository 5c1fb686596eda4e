/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts the workload under limits of the kernel, so that its disk is slow, its memory short or its
 * CPU time rationed by construction; and swap of its own. cgroups of version 1 or 2, whichever there
 * are. All of it is machine-wide state, so an orphan undoes it when the workload has ended, even by
 * SIGKILL. A limit that cannot be had is no error: confine.why says the reason.
 *
 * Call all of it before any thread and any other process is started.
 */
#ifndef __CONFINE_H
#define __CONFINE_H

#include "orphan.h"

#include <sys/swap.h>
#include <sys/sysmacros.h>

#define CONFINE_NOTES 8192
/* Before any other swap of the machine, so that the workload's pages go here. */
#define CONFINE_SWAP (SWAP_FLAG_PREFER | 101)

static struct {
	int notes[2]; /* what is to be undone, a line each, to the janitor */
	char why[256];
	char cpu_dir[PATH_MAX], memory_dir[PATH_MAX];
} confine = {.notes = {-1, -1}};

static inline bool __attribute__((format(printf, 1, 2))) confine_failed(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(confine.why, sizeof(confine.why), fmt, ap);
	va_end(ap);
	return false;
}

static inline bool confine_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) >= 0;

	if (!ok)
		confine_failed("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

static inline bool confine_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (n < 0)
		confine_failed("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

/* the janitor */

static inline void confine_undo(const char *what)
{
	int tries;

	switch (what[0]) {
	case 'G': /* busy until the last process in it is quite gone */
		for (tries = 0; tries < 3001 && rmdir(what + 1) && errno == EBUSY; tries++)
			wl_sleep(7 * WL_MSEC);
		break;
	case 'S':
		swapoff(what + 1);
		unlink(what + 1);
		break;
	case 'Z':
		swapoff("/dev/zram0");
		confine_write("/sys/block/zram0/reset", "1");
		break;
	}
}

static inline void confine_janitor(struct orphan *o)
{
	static char todo[CONFINE_NOTES];
	char *line = todo, *next;
	size_t len = 0;
	ssize_t n;

	(void)o;
	close(confine.notes[1]);
	while (len < sizeof(todo) - 1) {
		n = read(confine.notes[0], todo + len, sizeof(todo) - 1 - len);
		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	for (; (next = strchr(line, '\n')); line = next + 1) {
		*next = '\0';
		confine_undo(line);
	}
}

static inline bool confine_start(void)
{
	struct orphan *o;

	if (confine.notes[1] >= 0)
		return true;
	o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (o == MAP_FAILED || pipe2(confine.notes, O_CLOEXEC))
		return confine_failed("janitor: %s", strerror(errno));
	strcpy(o->name, "load-janitor");
	o->fn = confine_janitor;
	wl_signals(SIG_BLOCK);
	orphan_start(o);
	wl_signals(SIG_UNBLOCK);
	return true;
}

/* Noted before it is done: to undo what was never done does no harm. */
static inline bool confine_note(char kind, const char *what)
{
	char line[PATH_MAX + 8];
	int len = snprintf(line, sizeof(line), "%c%s\n", kind, what);

	if (!confine_start())
		return false;
	if (write(confine.notes[1], line, (size_t)len) != len)
		return confine_failed("janitor: %s", strerror(errno));
	return true;
}

/* cgroups */

static inline bool confine_word_in(const char *list, const char *word, const char *separators)
{
	size_t len = strlen(word);

	for (; *list; list += strcspn(list, separators), list += strspn(list, separators))
		if (!strncmp(list, word, len) && strchr(separators, list[len]))
			return true;
	return false;
}

/* The mount point of a controller's hierarchy, version 1 if it has one. */
static inline bool confine_find_mount(const char *controller, char *mount, char *root, bool *v2)
{
	char line[2 * PATH_MAX + 512], at[PATH_MAX], from[PATH_MAX], fs[64], options[512];
	char file[PATH_MAX + 32], have[512];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool found = false;
	const char *tail;

	while (f && fgets(line, sizeof(line), f)) {
		tail = strstr(line, " - ");
		if (!tail || sscanf(tail, " - %63s %*s %511s", fs, options) != 2 ||
		    sscanf(line, "%*s %*s %*s %4095s %4095s", from, at) != 2)
			continue;
		if (!strcmp(fs, "cgroup2") && !found) {
			snprintf(file, sizeof(file), "%s/cgroup.controllers", at);
			if (!confine_read(file, have, sizeof(have)) ||
			    !confine_word_in(have, controller, " \n"))
				continue;
			*v2 = true;
		} else if (!strcmp(fs, "cgroup") && confine_word_in(options, controller, ",")) {
			*v2 = false;
		} else {
			continue;
		}
		found = true;
		strcpy(mount, at);
		strcpy(root, from);
		if (!*v2)
			break;
	}
	if (f)
		fclose(f);
	return found || confine_failed("no cgroup controller %s here", controller);
}

/* Where this process is in the hierarchy of version 1, as seen through its mount. */
static inline void confine_own_v1(const char *controller, const char *root, char *own)
{
	char line[PATH_MAX + 256], list[128];
	FILE *f = fopen("/proc/self/cgroup", "re");
	size_t skip = strcmp(root, "/") ? strlen(root) : 0;
	int at;

	*own = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*d:%127[^:]:%n", list, &at) != 1 ||
		    !confine_word_in(list, controller, ","))
			continue;
		if (!strncmp(line + at, root, skip) && strcmp(line + at + skip, "/"))
			snprintf(own, PATH_MAX, "%s", line + at + skip);
	}
	if (f)
		fclose(f);
}

/*
 * Makes the workload's own cgroup for the controller. Version 1: below the one that it is in.
 * Version 2: below the root, because a cgroup that has processes can give its children no
 * controller.
 */
static inline bool confine_cgroup(const char *controller, char *dir, bool *v2)
{
	char mount[PATH_MAX], root[PATH_MAX], own[PATH_MAX] = "", path[PATH_MAX + 64], add[32];

	if (!confine_find_mount(controller, mount, root, v2))
		return false;
	if (*v2) {
		snprintf(path, sizeof(path), "%s/cgroup.subtree_control", mount);
		snprintf(add, sizeof(add), "+%s", controller);
		if (!confine_write(path, add))
			return false;
	} else {
		confine_own_v1(controller, root, own);
	}
	if (snprintf(dir, PATH_MAX, "%s%s/tegratrace-load-%d", mount, own, (int)getpid()) >=
	    PATH_MAX)
		return confine_failed("%s: too long", mount);
	if (!confine_note('G', dir))
		return false;
	if (mkdir(dir, 0755) && errno != EEXIST)
		return confine_failed("%s: %s", dir, strerror(errno));
	return true;
}

static inline bool confine_set(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return confine_write(path, text);
}

static inline bool confine_enter(const char *dir)
{
	return confine_set(dir, "cgroup.procs", "0");
}

/* "major:minor" of the whole disk that the file is on. */
static inline bool confine_disk(int fd, char *text, size_t size)
{
	char path[96];
	struct stat st;

	if (fstat(fd, &st) || !major(st.st_dev))
		return confine_failed("the file is on no block device");
	snprintf(text, size, "%u:%u", major(st.st_dev), minor(st.st_dev));
	snprintf(path, sizeof(path), "/sys/dev/block/%s/partition", text);
	if (access(path, F_OK))
		return true;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(st.st_dev),
		 minor(st.st_dev));
	if (!confine_read(path, text, size))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/*
 * Reads and writes a second on the disk that holds the open file; 0: as many as it can. With few
 * writes, write only to blocks that the file has already: the journal of the file system, and with
 * it other programs, would wait for the data of new ones.
 */
static inline bool confine_io(int fd, unsigned int reads, unsigned int writes)
{
	static const char *const v1[] = {"blkio.throttle.read_iops_device",
					 "blkio.throttle.write_iops_device"};
	static const char *const v2_keys[] = {"riops", "wiops"};
	const unsigned int rate[] = {reads, writes};
	char dir[PATH_MAX], disk[64], text[96];
	bool v2;
	int i;

	if (!confine_disk(fd, disk, sizeof(disk)))
		return false;
	if (!confine_cgroup("io", dir, &v2) && !confine_cgroup("blkio", dir, &v2))
		return false;
	for (i = 0; i < 2; i++) {
		if (v2)
			snprintf(text, sizeof(text), "%s %s=%u", disk, v2_keys[i], rate[i]);
		else
			snprintf(text, sizeof(text), "%s %u", disk, rate[i]);
		if (rate[i] && !confine_set(dir, v2 ? "io.max" : v1[i], text))
			return false;
	}
	return confine_enter(dir);
}

static inline bool confine_memory(uint64_t bytes)
{
	char *dir = confine.memory_dir, text[32];
	bool v2;

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	return confine_cgroup("memory", dir, &v2) &&
	       confine_set(dir, v2 ? "memory.max" : "memory.limit_in_bytes", text) &&
	       confine_enter(dir);
}

/* Out with as much of the workload's memory as can go, pages that swap has already included. */
static inline bool confine_reclaim(void)
{
	return confine_set(confine.memory_dir, "memory.force_empty", "0") ||
	       confine_set(confine.memory_dir, "memory.reclaim", "1G");
}

/* CPU time of the whole workload in each period. */
static inline bool confine_cpu(uint64_t quota_us, uint64_t period_us)
{
	char *dir = confine.cpu_dir, text[64];
	bool v2;

	if (!confine_cgroup("cpu", dir, &v2))
		return false;
	snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, quota_us, period_us);
	if (v2)
		return confine_set(dir, "cpu.max", text) && confine_enter(dir);
	snprintf(text, sizeof(text), "%" PRIu64, period_us);
	if (!confine_set(dir, "cpu.cfs_period_us", text))
		return false;
	snprintf(text, sizeof(text), "%" PRIu64, quota_us);
	return confine_set(dir, "cpu.cfs_quota_us", text) && confine_enter(dir);
}

/* What the kernel says of the quota so far: periods cut short, and the time of all CPUs together. */
static inline bool confine_throttled(uint64_t *periods, uint64_t *ns)
{
	char path[PATH_MAX + 16], text[1024];
	const char *n, *v1, *v2;

	snprintf(path, sizeof(path), "%s/cpu.stat", confine.cpu_dir);
	if (!confine_read(path, text, sizeof(text)))
		return false;
	n = strstr(text, "nr_throttled ");
	v1 = strstr(text, "throttled_time ");
	v2 = strstr(text, "throttled_usec ");
	if (!n || (!v1 && !v2))
		return confine_failed("%s: no throttled time", path);
	*periods = strtoull(n + 13, NULL, 10);
	*ns = v2 ? strtoull(v2 + 15, NULL, 10) * WL_USEC : strtoull(v1 + 15, NULL, 10);
	return true;
}

/* swap */

/* The header that mkswap writes: version 1, no bad page. */
static inline bool confine_mkswap(int fd, uint64_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t head[3] = {1, (uint32_t)(bytes / page) - 1, 0};
	char *first = calloc(1, page);
	bool ok;

	if (!first)
		return false;
	memcpy(first + 1024, head, sizeof(head));
	memcpy(first + page - 10, "SWAPSPACE2", 10);
	ok = pwrite(fd, first, page, 0) == (ssize_t)page;
	free(first);
	return ok;
}

/* A swap file may have no hole. */
static inline bool confine_fill(int fd, uint64_t bytes)
{
	static char zero[1 << 16];
	uint64_t done;

	for (done = 0; done < bytes; done += sizeof(zero))
		if (write(fd, zero, sizeof(zero)) != sizeof(zero))
			return false;
	return true;
}

static inline bool confine_swap_file(const char *folder, uint64_t bytes)
{
	char path[PATH_MAX];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/tegratrace-swap-%d", folder, (int)getpid());
	if (!confine_note('S', path))
		return false;
	fd = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return confine_failed("%s: %s", path, strerror(errno));
	ok = confine_fill(fd, bytes) && confine_mkswap(fd, bytes) && !fsync(fd) &&
	     !swapon(path, CONFINE_SWAP);
	if (!ok)
		confine_failed("swap on %s: %s", path, strerror(errno));
	close(fd);
	return ok;
}

static inline bool confine_swap_zram(uint64_t bytes)
{
	char text[32] = "0";
	bool ok;
	int fd;

	if (!confine_read("/sys/block/zram0/disksize", text, sizeof(text)))
		return false;
	if (strtoull(text, NULL, 10))
		return confine_failed("/dev/zram0 is in use");
	if (!confine_note('Z', ""))
		return false;
	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	if (!confine_write("/sys/block/zram0/disksize", text))
		return false;
	fd = open("/dev/zram0", O_RDWR | O_CLOEXEC);
	ok = fd >= 0 && confine_mkswap(fd, bytes);
	if (fd >= 0)
		close(fd);
	return (ok && !swapon("/dev/zram0", CONFINE_SWAP)) ||
	       confine_failed("swap on /dev/zram0: %s", strerror(errno));
}

#endif /* __CONFINE_H */
