/* SPDX-License-Identifier: GPL-2.0-only */
/* Syscalls in which threads sleep, by number and by the kernel's function names. */
#include "probe/waits/wait_tables.h"

#include <string.h>
#include <sys/syscall.h>

/* arm64 has only the newer forms; older headers lack the newest calls. */
#ifndef SYS_poll
#define SYS_poll CALL_ABSENT
#endif
#ifndef SYS_select
#define SYS_select CALL_ABSENT
#endif
#ifndef SYS_epoll_wait
#define SYS_epoll_wait CALL_ABSENT
#endif
#ifndef SYS_pause
#define SYS_pause CALL_ABSENT
#endif
#ifndef SYS_fork
#define SYS_fork CALL_ABSENT
#endif
#ifndef SYS_vfork
#define SYS_vfork CALL_ABSENT
#endif
#ifndef SYS_open
#define SYS_open CALL_ABSENT
#endif
#ifndef SYS_getdents
#define SYS_getdents CALL_ABSENT
#endif
#ifndef SYS_unlink
#define SYS_unlink CALL_ABSENT
#endif
#ifndef SYS_rename
#define SYS_rename CALL_ABSENT
#endif
#ifndef SYS_renameat
#define SYS_renameat CALL_ABSENT
#endif
#ifndef SYS_mkdir
#define SYS_mkdir CALL_ABSENT
#endif
#ifndef SYS_rmdir
#define SYS_rmdir CALL_ABSENT
#endif
#ifndef SYS_stat
#define SYS_stat CALL_ABSENT
#endif
#ifndef SYS_access
#define SYS_access CALL_ABSENT
#endif
#ifndef SYS_readlink
#define SYS_readlink CALL_ABSENT
#endif
#ifndef SYS_newfstatat
#define SYS_newfstatat CALL_ABSENT
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

#define CALL(name, means, class, flags)                \
	{                                              \
		SYS_##name, #name, means, class, flags \
	}

static const struct call_rule calls[] = {
	/*
	 * A futex only says that a thread of user space is to wake it. A condition variable of an idle
	 * pool looks the same as a mutex, so it is a lock only with proof (TT_SITE_FUTEX_LOCK).
	 */
	CALL(futex, MEANS_WAKER, WAIT_THREAD, 0),
	CALL(futex_waitv, MEANS_WAKER, WAIT_THREAD, 0),
	CALL(futex_wait, MEANS_WAKER, WAIT_THREAD, 0),

	/* The thread asked for the time to pass; a signal that ends it early does not change that. */
	CALL(nanosleep, MEANS_CLASS, WAIT_TIMER, 0),
	CALL(clock_nanosleep, MEANS_CLASS, WAIT_TIMER, 0),

	/* Many descriptors and a timeout: only the waker knows which. */
	CALL(ppoll, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(poll, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(pselect6, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(select, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(epoll_pwait, MEANS_WAKER, WAIT_EVENT, CALL_FD),
	CALL(epoll_pwait2, MEANS_WAKER, WAIT_EVENT, CALL_FD),
	CALL(epoll_wait, MEANS_WAKER, WAIT_EVENT, CALL_FD),

	/* Anything can be behind the descriptor. */
	CALL(read, MEANS_WAKER, WAIT_OTHER, CALL_FD | CALL_IO),
	CALL(readv, MEANS_WAKER, WAIT_OTHER, CALL_FD | CALL_IO),
	CALL(write, MEANS_WAKER, WAIT_OTHER, CALL_FD | CALL_IO),
	CALL(writev, MEANS_WAKER, WAIT_OTHER, CALL_FD | CALL_IO),
	CALL(ioctl, MEANS_WAKER, WAIT_OTHER, CALL_FD | CALL_IO),
	CALL(sendfile, MEANS_WAKER, WAIT_OTHER, CALL_FD | CALL_IO),
	CALL(splice, MEANS_WAKER, WAIT_OTHER, CALL_FD | CALL_IO),
	CALL(tee, MEANS_WAKER, WAIT_OTHER, CALL_FD),
	CALL(vmsplice, MEANS_WAKER, WAIT_OTHER, CALL_FD),
	CALL(copy_file_range, MEANS_WAKER, WAIT_OTHER, CALL_FD | CALL_IO),
	CALL(close, MEANS_WAKER, WAIT_OTHER, CALL_IO),

	/* A position can only be given for something that has one: a file or a block device. */
	CALL(pread64, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(preadv, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(preadv2, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(pwrite64, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(pwritev, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(pwritev2, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(ftruncate, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(fallocate, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(fadvise64, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(readahead, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(getdents64, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	CALL(getdents, MEANS_WAKER, WAIT_DISK, CALL_FD | CALL_IO),
	/* libaio waits for files only. */
	CALL(io_getevents, MEANS_WAKER, WAIT_DISK, CALL_IO),
	CALL(io_pgetevents, MEANS_WAKER, WAIT_DISK, CALL_IO),
	CALL(io_submit, MEANS_WAKER, WAIT_DISK, CALL_IO),
	CALL(io_uring_enter, MEANS_WAKER, WAIT_EVENT, CALL_FD | CALL_IO | CALL_RING),

	/* Woken by jbd2 or a kworker as often as by the device, and still the disk. */
	CALL(fsync, MEANS_CLASS, WAIT_DISK, CALL_FD | CALL_IO | CALL_SYNC),
	CALL(fdatasync, MEANS_CLASS, WAIT_DISK, CALL_FD | CALL_IO | CALL_SYNC),
	CALL(sync_file_range, MEANS_CLASS, WAIT_DISK, CALL_FD | CALL_IO | CALL_SYNC),
	CALL(syncfs, MEANS_CLASS, WAIT_DISK, CALL_FD | CALL_IO | CALL_SYNC),
	CALL(sync, MEANS_CLASS, WAIT_DISK, CALL_IO | CALL_SYNC),
	CALL(msync, MEANS_CLASS, WAIT_DISK, CALL_IO | CALL_SYNC),

	/* Names: a directory block to read, or a FIFO whose other end is to open. */
	CALL(openat, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(open, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(unlinkat, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(unlink, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(renameat2, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(renameat, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(rename, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(mkdirat, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(mkdir, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(rmdir, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(statx, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(newfstatat, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(stat, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(faccessat, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(access, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(readlinkat, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(readlink, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(execve, MEANS_WAKER, WAIT_OTHER, CALL_IO),

	/* Loopback and remote peers wake through NET_RX; a unix socket's peer wakes by itself. */
	CALL(recvfrom, MEANS_WAKER, WAIT_NET, CALL_FD),
	CALL(recvmsg, MEANS_WAKER, WAIT_NET, CALL_FD),
	CALL(recvmmsg, MEANS_WAKER, WAIT_NET, CALL_FD),
	CALL(sendto, MEANS_WAKER, WAIT_NET, CALL_FD),
	CALL(sendmsg, MEANS_WAKER, WAIT_NET, CALL_FD),
	CALL(sendmmsg, MEANS_WAKER, WAIT_NET, CALL_FD),
	CALL(accept, MEANS_WAKER, WAIT_NET, CALL_FD),
	CALL(accept4, MEANS_WAKER, WAIT_NET, CALL_FD),
	CALL(connect, MEANS_WAKER, WAIT_NET, CALL_FD),

	CALL(wait4, MEANS_CLASS, WAIT_CHILD, 0),
	CALL(waitid, MEANS_CLASS, WAIT_CHILD, 0),
	/* CLONE_VFORK: until the child has called exec. */
	CALL(vfork, MEANS_CLASS, WAIT_CHILD, 0),
	CALL(clone, MEANS_CLASS, WAIT_CHILD, 0),
	CALL(clone3, MEANS_CLASS, WAIT_CHILD, 0),
	CALL(fork, MEANS_CLASS, WAIT_CHILD, 0),

	/* File locks: fcntl sleeps for nothing else. */
	CALL(flock, MEANS_CLASS, WAIT_LOCK, CALL_FD),
	CALL(fcntl, MEANS_CLASS, WAIT_LOCK, CALL_FD),
	/* They sleep on the lock of the address space, which a fault in another thread holds. */
	CALL(mmap, MEANS_CLASS, WAIT_LOCK, 0),
	CALL(munmap, MEANS_CLASS, WAIT_LOCK, 0),
	CALL(mremap, MEANS_CLASS, WAIT_LOCK, 0),
	CALL(mprotect, MEANS_CLASS, WAIT_LOCK, 0),
	CALL(madvise, MEANS_CLASS, WAIT_LOCK, 0),
	CALL(brk, MEANS_CLASS, WAIT_LOCK, 0),
	CALL(mlock, MEANS_CLASS, WAIT_LOCK, 0),
	CALL(mlock2, MEANS_CLASS, WAIT_LOCK, 0),
	CALL(mlockall, MEANS_CLASS, WAIT_LOCK, 0),

	/* Another thread or process is to act. */
	CALL(semop, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(semtimedop, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(msgrcv, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(msgsnd, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(mq_timedreceive, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(mq_timedsend, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(rt_sigtimedwait, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(rt_sigsuspend, MEANS_WAKER, WAIT_EVENT, 0),
	CALL(pause, MEANS_WAKER, WAIT_EVENT, 0),

	/* Continues a nanosleep, futex or poll after a stop: the waker tells which. */
	CALL(restart_syscall, MEANS_WAKER, WAIT_OTHER, 0),
	CALL(membarrier, MEANS_WAKER, WAIT_OTHER, 0),
	CALL(exit, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(exit_group, MEANS_WAKER, WAIT_OTHER, CALL_IO),
	CALL(getrandom, MEANS_WAKER, WAIT_OTHER, 0),
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Functions below the entry. The entry itself is often not on the stack: a call in tail position
 * leaves no return address.
 */
static const struct {
	const char *function, *name;
} inner[] = {
	{"futex_wait", "futex"},
	{"__futex_wait", "futex"},
	{"futex_do_wait", "futex"},
	{"futex_wait_queue", "futex"},
	{"futex_wait_queue_me", "futex"},
	{"futex_wait_requeue_pi", "futex"},
	{"futex_lock_pi", "futex"},
	{"do_futex", "futex"},
	{"futex_wait_multiple", "futex_waitv"},
	{"hrtimer_nanosleep", "clock_nanosleep"},
	{"do_nanosleep", "clock_nanosleep"},
	{"common_nsleep", "clock_nanosleep"},
	{"common_nsleep_timens", "clock_nanosleep"},
	{"do_sys_poll", "ppoll"},
	{"do_select", "pselect6"},
	{"core_sys_select", "pselect6"},
	{"do_pselect", "pselect6"},
	{"ep_poll", "epoll_pwait"},
	{"do_epoll_wait", "epoll_pwait"},
	{"do_epoll_pwait", "epoll_pwait"},
	{"vfs_read", "read"},
	{"vfs_readv", "readv"},
	{"do_readv", "readv"},
	{"vfs_write", "write"},
	{"vfs_writev", "writev"},
	{"do_writev", "writev"},
	{"do_vfs_ioctl", "ioctl"},
	{"vfs_ioctl", "ioctl"},
	{"do_sendfile", "sendfile"},
	{"do_splice", "splice"},
	{"do_fsync", "fsync"},
	{"vfs_fsync_range", "fsync"},
	{"do_sys_open", "openat"},
	{"do_sys_openat2", "openat"},
	{"do_wait", "wait4"},
	{"kernel_wait4", "wait4"},
	{"kernel_waitid", "waitid"},
	{"kernel_clone", "clone"},
	{"_do_fork", "clone"}, /* before 5.10 */
	{"do_semtimedop", "semtimedop"},
	{"__do_semtimedop", "semtimedop"},
	{"do_msgrcv", "msgrcv"},
	{"do_msgsnd", "msgsnd"},
	{"do_mq_timedreceive", "mq_timedreceive"},
	{"do_mq_timedsend", "mq_timedsend"},
	{"do_sigtimedwait", "rt_sigtimedwait"},
	{"sigsuspend", "rt_sigsuspend"},
	{"io_cqring_wait", "io_uring_enter"},
	{"read_events", "io_getevents"},
	{"do_io_getevents", "io_getevents"},
	{"do_accept", "accept4"},
	{"do_mmap", "mmap"},
	{"vm_mmap_pgoff", "mmap"},
	{"do_mprotect_pkey", "mprotect"},
	{"do_madvise", "madvise"},
	{"do_exit", "exit"},
};

const struct call_rule *call_rule_of(int nr)
{
	if (nr < 0)
		return NULL;
	for (size_t i = 0; i < N(calls); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

/* @len bytes of @name, up to a compiler's suffix */
static const struct call_rule *rule_named(const char *name, size_t len)
{
	for (size_t i = 0; i < N(calls); i++)
		if (!strncmp(calls[i].name, name, len) && !calls[i].name[len])
			return &calls[i];
	return NULL;
}

/* What follows "__x64_sys_" and the like: the names that kernels since 4.9 give the entry */
static const char *after_entry_prefix(const char *function)
{
	static const char *const prefixes[] = {
		"__x64_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_",
		"__sys_",     "ksys_",	      "SyS_",	   "sys_",
	};

	for (size_t i = 0; i < N(prefixes); i++) {
		size_t len = strlen(prefixes[i]);

		if (!strncmp(function, prefixes[i], len))
			return function + len;
	}
	return NULL;
}

const struct call_rule *call_rule_of_function(const char *function)
{
	size_t len = strcspn(function, ".");
	const char *entry = after_entry_prefix(function);

	if (entry)
		return rule_named(entry, strcspn(entry, "."));
	for (size_t i = 0; i < N(inner); i++)
		if (!strncmp(inner[i].function, function, len) && !inner[i].function[len])
			return rule_named(inner[i].name, strlen(inner[i].name));
	return NULL;
}
