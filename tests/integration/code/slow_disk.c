/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded: a disk that takes SLOW_DISK_MS for each sync. SLOW_DISK_LOG gets a line for each sync,
 * write and cut: when (ns, CLOCK_MONOTONIC), what, by the main thread or another, at a raised priority
 * or not, length of a cut, file.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static void note(const char *what, int fd, long long len)
{
	char link[64], path[256], line[512];
	long tid = syscall(SYS_gettid);
	int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, to, n;
	int raised = policy != SCHED_OTHER || getpriority(PRIO_PROCESS, (id_t)tid) == -20;
	struct timespec now;
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, path, sizeof(path) - 1);
	path[size < 0 ? 0 : size] = 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	n = snprintf(line, sizeof(line), "%lld %s %s %s %lld %s\n",
		     now.tv_sec * 1000000000LL + now.tv_nsec, what,
		     tid == getpid() ? "main" : "other", raised ? "raised" : "ordinary", len, path);
	to = open(getenv("SLOW_DISK_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (to < 0 || write(to, line, (size_t)n) != n)
		abort();
	close(to);
}

static void wait_for_disk(void)
{
	long ms = atol(getenv("SLOW_DISK_MS"));
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

#define NEXT(next, name)                                            \
	do {                                                        \
		if (!(next))                                        \
			*(void **)&(next) = dlsym(RTLD_NEXT, name); \
	} while (0)

static int sync_file(int fd, const char *name)
{
	int (*next)(int) = NULL;

	NEXT(next, name);
	note("sync", fd, 0);
	wait_for_disk();
	return next(fd);
}

int fsync(int fd)
{
	return sync_file(fd, "fsync");
}

int fdatasync(int fd)
{
	return sync_file(fd, "fdatasync");
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
	static ssize_t (*next)(int, const void *, size_t, off64_t);

	NEXT(next, "pwrite64");
	note("write", fd, 0);
	return next(fd, bytes, size, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	return pwrite64(fd, bytes, size, at);
}

int ftruncate64(int fd, off64_t size)
{
	static int (*next)(int, off64_t);

	NEXT(next, "ftruncate64");
	note("cut", fd, size);
	return next(fd, size);
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}
