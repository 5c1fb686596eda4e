/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evidence -> class and name. Stacks of x86-64 are those that Linux 6.18 shows in /proc/PID/stack for a
 * program that sleeps so; those of arm64, nvgpu, host1x and nvidia.ko are after the sources of L4T.
 */
#include <linux/futex.h>
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "abi.h"
#include "base/text.h"
#include "probe/waits/wait_rules.h"

#define UNSEEN WAIT_SYSCALL_UNKNOWN
#define FAULT  WAIT_SYSCALL_NONE

struct row {
	int syscall;
	unsigned int flags;
	const char *file;
	const char *stack; /* innermost first, blanks between */
	enum waker_kind kind;
	const char *waker;
	enum wait_class class;
	const char *site; /* NULL: not looked at */
};

#define MAX_FRAMES 48

/* Splits a copy of @stack; its frames stay valid until the next call */
static int split(const char *stack, const char **frames)
{
	static char text[2048];
	int n = 0;

	text_copy(text, sizeof(text), stack);
	for (char *p = strtok(text, " "); p && n < MAX_FRAMES; p = strtok(NULL, " "))
		frames[n++] = p;
	return n;
}

static struct wait_judgement judge(const struct row *row, const struct wait_waker *via,
				   bool via_disk)
{
	const char *frames[MAX_FRAMES];
	struct wait_evidence evidence = {
		.site = {row->syscall, row->flags, row->file, frames, 0},
		.waker = {row->kind, row->waker},
		.via_disk = via_disk,
	};
	struct wait_judgement judgement;

	if (row->stack)
		evidence.site.nframes = split(row->stack, frames);
	if (via)
		evidence.via = *via;
	wait_judge(&evidence, &judgement);
	return judgement;
}

static void check_row(const struct row *row, int line)
{
	struct wait_judgement judgement = judge(row, NULL, false);

	if (judgement.class != row->class)
		fail_msg("row %d (syscall %d, %s, %s): %s, not %s", line, row->syscall,
			 row->file ? row->file : "no file", row->stack ? row->stack : "no stack",
			 wait_class_name(judgement.class), wait_class_name(row->class));
	if (row->site && strcmp(judgement.site, row->site))
		fail_msg("row %d (%s): site '%s', not '%s'", line, row->stack ? row->stack : "",
			 judgement.site, row->site);
	assert_false(judgement.inherited);
}

#define CHECK(rows)                                                   \
	for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) \
	check_row(&(rows)[i], (int)i)

/* clang-format off */
#define X86_ENTRY " do_syscall_64 entry_SYSCALL_64_after_hwframe"
#define ARM_ENTRY " invoke_syscall el0_svc_common.constprop.0 do_el0_svc el0_svc el0t_64_sync_handler el0t_64_sync"
#define X86_FAULT " handle_mm_fault exc_page_fault asm_exc_page_fault"
#define ARM_FAULT " handle_mm_fault do_page_fault do_translation_fault do_mem_abort el0_da el0t_64_sync_handler el0t_64_sync"

static void test_gpu_of_every_release(void **state)
{
	static const struct row rows[] = {
		/* L4T 32: threaded syncpoint interrupt, worker for the non-stall one */
		{SYS_ioctl, 0, "/dev/nvhost-ctrl", NULL, WAKER_KERNEL, "irq/71-host_syn", WAIT_GPU, "ioctl /dev/nvhost-ctrl"},
		{SYS_ppoll, 0, NULL, NULL, WAKER_KERNEL, "mc_nonstall", WAIT_GPU, "ppoll"},
		{SYS_ppoll, 0, NULL, NULL, WAKER_KERNEL, "irq/75-gk20a_st", WAIT_GPU, "ppoll"},
		{UNSEEN, 0, NULL, "schedule_timeout nvhost_syncpt_wait_timeout nvhost_ioctl_ctrl_syncpt_waitex do_vfs_ioctl SyS_ioctl el0_svc_naked",
		 WAKER_KERNEL, "irq/71-host_syn", WAIT_GPU, "nvhost_syncpt_wait_timeout"},
		/* L4T 35: both interrupts threaded */
		{UNSEEN, 0, NULL, "__switch_to __schedule schedule schedule_timeout gk20a_channel_wait gk20a_channel_ioctl __arm64_sys_ioctl" ARM_ENTRY,
		 WAKER_KERNEL, "irq/235-gk20a_n", WAIT_GPU, "gk20a_channel_wait"},
		{SYS_ppoll, 0, "anon_inode:nvgpu-event2-fd0", NULL, WAKER_NONE, NULL, WAIT_GPU, "ppoll nvgpu-event2-fd0"},
		{SYS_epoll_pwait, 0, "anon_inode:[eventpoll]", NULL, WAKER_KERNEL, "irq/128-host_sy", WAIT_GPU, "epoll_pwait"},
		{SYS_ppoll, 0, "anon_inode:nvhost-event-poll-fd", NULL, WAKER_TIMER, NULL, WAIT_GPU, NULL},
		/* L4T 36 and 39 on Orin: the syncpoint wakes in hard interrupt context */
		{UNSEEN, 0, NULL, "schedule_timeout dma_fence_default_wait dma_fence_wait_timeout host1x_syncpt_wait_ts tegra_drm_ioctl_syncpoint_wait drm_ioctl_kernel drm_ioctl __arm64_sys_ioctl" ARM_ENTRY,
		 WAKER_IRQ, "host1x_syncpt", WAIT_GPU, "dma_fence_default_wait"},
		{SYS_ioctl, 0, "/dev/dri/renderD128", NULL, WAKER_IRQ, "host1x_syncpt", WAIT_GPU, "ioctl /dev/dri/renderD128"},
		{SYS_ppoll, 0, NULL, "poll_schedule_timeout.constprop.0 do_sys_poll __arm64_sys_ppoll" ARM_ENTRY, WAKER_IRQ, "host1x_syncpt", WAIT_GPU, "ppoll"},
		{SYS_ioctl, 0, "/dev/nvgpu/igpu0/channel", NULL, WAKER_THREAD, "cuda-EvtHandlr", WAIT_GPU, NULL},
		{SYS_ppoll, 0, "anon_inode:sync_file", NULL, WAKER_NONE, NULL, WAIT_GPU, NULL},
		{SYS_ioctl, 0, "/dev/nvhost-vic", NULL, WAKER_NONE, NULL, WAIT_GPU, NULL},
		/* Thor and discrete: nvidia.ko */
		{SYS_ppoll, 0, NULL, NULL, WAKER_IRQ, "nvidia", WAIT_GPU, "ppoll"},
		{SYS_ppoll, 0, NULL, NULL, WAKER_KERNEL, "irq/311-nvidia", WAIT_GPU, "ppoll"},
		{SYS_ppoll, 0, NULL, NULL, WAKER_KERNEL, "irq/31-s-nvidia", WAIT_GPU, NULL},
		{SYS_ppoll, 0, "/dev/nvidia0", NULL, WAKER_KERNEL, "nvidia", WAIT_GPU, "ppoll /dev/nvidia0"},
		{UNSEEN, 0, NULL, "schedule schedule_timeout __down_common __down down os_acquire_semaphore _nv013153rm rm_ioctl nvidia_unlocked_ioctl __arm64_sys_ioctl" ARM_ENTRY,
		 WAKER_THREAD, "infer", WAIT_GPU, "os_acquire_semaphore"},
		{UNSEEN, 0, NULL, NULL, WAKER_KERNEL, "UVM GPU1 BH", WAIT_GPU, ""},
		/* Inside a CUDA synchronisation, whatever it sleeps on */
		{SYS_futex, TT_SITE_GPU_CALL, NULL, NULL, WAKER_THREAD, "cuda-EvtHandlr", WAIT_GPU, "futex"},
		{UNSEEN, TT_SITE_GPU_CALL, NULL, NULL, WAKER_NONE, NULL, WAIT_GPU, "CUDA call"},
	};

	(void)state;
	CHECK(rows);
}

static void test_names_alike_but_not_gpu(void **state)
{
	static const struct row rows[] = {
		{SYS_read, 0, "/dev/nvme0n1", NULL, WAKER_NONE, NULL, WAIT_DISK, "read /dev/nvme0n1"},
		{SYS_ioctl, 0, "/dev/nvhost-vi0", NULL, WAKER_NONE, NULL, WAIT_DEVICE, NULL},
		{SYS_ioctl, 0, "/dev/nvhost-isp", NULL, WAKER_NONE, NULL, WAIT_DEVICE, NULL},
		{SYS_ppoll, 0, NULL, NULL, WAKER_PROCESS, "nvidia-smi", WAIT_PROCESS, NULL},
		{SYS_ppoll, 0, NULL, NULL, WAKER_THREAD, "gk20a_stall", WAIT_THREAD, NULL},
		{SYS_read, 0, "/home/u/dev/nvidia0", NULL, WAKER_NONE, NULL, WAIT_DISK, NULL},
		{SYS_read, 0, "/data/gk20a", NULL, WAKER_NONE, NULL, WAIT_DISK, NULL},
		/* A lock of the driver is contended by threads, not held by the GPU */
		{SYS_ioctl, 0, "/dev/nvhost-gpu", "__mutex_lock.constprop.0 nvgpu_mutex_acquire gk20a_channel_ioctl", WAKER_THREAD, "t", WAIT_LOCK, "ioctl /dev/nvhost-gpu mutex"},
	};

	(void)state;
	CHECK(rows);
}

static void test_page_faults(void **state)
{
	static const struct row rows[] = {
		{FAULT, TT_SITE_IOWAIT, NULL, NULL, WAKER_IRQ, "nvme0q1", WAIT_FAULT, "page fault"},
		{FAULT, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_FAULT, "page fault"},
		{FAULT, TT_SITE_IOWAIT, NULL, "folio_wait_bit_common filemap_fault __do_fault do_fault __handle_mm_fault" X86_FAULT, WAKER_IRQ, "virtio1-req.0", WAIT_FAULT, "page fault"},
		{UNSEEN, 0, NULL, "folio_wait_bit_common filemap_read_folio filemap_fault __do_fault do_fault __handle_mm_fault" X86_FAULT, WAKER_SOFTIRQ, "BLOCK", WAIT_FAULT, "page fault"},
		{UNSEEN, 0, NULL, "__schedule schedule io_schedule wait_on_page_bit_common __lock_page_killable filemap_fault ext4_filemap_fault __do_fault __handle_mm_fault" ARM_FAULT, WAKER_IRQ, "mmc0", WAIT_FAULT, "page fault"},
		{UNSEEN, 0, NULL, "io_schedule __lock_page_or_retry do_swap_page __handle_mm_fault" ARM_FAULT, WAKER_NONE, NULL, WAIT_FAULT, "page fault"},
		/* The kernel's copy to the caller of read(2) */
		{SYS_read, 0, "/dev/zero", "handle_userfault __handle_mm_fault" X86_FAULT " read_zero vfs_read ksys_read" X86_ENTRY, WAKER_THREAD, "t", WAIT_FAULT, "page fault"},
		{SYS_futex, TT_SITE_IOWAIT, NULL, NULL, WAKER_IRQ, "nvme0q1", WAIT_FAULT, "page fault"},
		{SYS_recvfrom, TT_SITE_IOWAIT, "socket tcp", NULL, WAKER_IRQ, "nvme0q1", WAIT_FAULT, "page fault"},
		/* MAP_POPULATE and mlock fault for the caller */
		{SYS_mlock, TT_SITE_IOWAIT, NULL, NULL, WAKER_IRQ, "nvme0q1", WAIT_FAULT, "page fault"},
		{UNSEEN, 0, NULL, "folio_wait_bit_common filemap_fault handle_mm_fault __get_user_pages populate_vma_page_range __x64_sys_mlock" X86_ENTRY, WAKER_NONE, NULL, WAIT_FAULT, "page fault"},
		/* Memory first has to be made free */
		{UNSEEN, 0, NULL, "schedule_timeout reclaim_throttle shrink_node try_to_free_pages __alloc_pages do_anonymous_page" ARM_FAULT, WAKER_TIMER, NULL, WAIT_FAULT, "page fault reclaim"},
		{UNSEEN, 0, NULL, "schedule_timeout reclaim_throttle shrink_node try_to_free_pages filemap_read vfs_read __arm64_sys_read" ARM_ENTRY, WAKER_KERNEL, "kswapd0", WAIT_FAULT, "read reclaim"},
		/* Not reads: the lock of the address space */
		{UNSEEN, 0, NULL, "rwsem_down_read_slowpath down_read lock_mm_and_find_vma exc_page_fault asm_exc_page_fault", WAKER_THREAD, "t", WAIT_LOCK, "page fault rwsem"},
		{FAULT, 0, NULL, NULL, WAKER_THREAD, "t", WAIT_LOCK, "page fault"},
	};

	(void)state;
	CHECK(rows);
}

static void test_disk(void **state)
{
	static const struct row rows[] = {
		{SYS_pread64, TT_SITE_IOWAIT, "/data/x.bin", NULL, WAKER_IRQ, "nvme0q3", WAIT_DISK, "pread64 /data/x.bin"},
		{SYS_read, TT_SITE_IOWAIT, NULL, NULL, WAKER_NONE, NULL, WAIT_DISK, "read"},
		{SYS_openat, TT_SITE_IOWAIT, NULL, NULL, WAKER_IRQ, "mmc1", WAIT_DISK, "openat"},
		{UNSEEN, 0, NULL, "__iomap_dio_rw iomap_dio_rw ext4_file_read_iter vfs_read __x64_sys_pread64" X86_ENTRY, WAKER_IRQ, "virtio1-req.0", WAIT_DISK, "pread64"},
		{UNSEEN, 0, NULL, "folio_wait_bit_common filemap_get_pages filemap_read vfs_read ksys_read" X86_ENTRY, WAKER_NONE, NULL, WAIT_DISK, "read"},
		{UNSEEN, 0, NULL, "io_schedule", WAKER_NONE, NULL, WAIT_DISK, NULL},
		/* No stack and no type data: only the device's interrupt tells */
		{UNSEEN, 0, NULL, NULL, WAKER_IRQ, "nvme0q1", WAIT_DISK, ""},
		{UNSEEN, 0, NULL, NULL, WAKER_SOFTIRQ, "BLOCK", WAIT_DISK, ""},
		{UNSEEN, 0, NULL, NULL, WAKER_IRQ, "3460000.sdhci", WAIT_DISK, ""},
		{UNSEEN, 0, NULL, NULL, WAKER_KERNEL, "irq/37-nvme0q1", WAIT_DISK, ""},
		{UNSEEN, 0, NULL, NULL, WAKER_IRQ, "tegra-pcie-intr, PCIe PME, nvme0q0", WAIT_DISK, ""},
		/* fsync, woken by anyone */
		{SYS_fsync, 0, "/data/log", NULL, WAKER_KERNEL, "jbd2/nvme0n1p1-", WAIT_DISK, "fsync /data/log"},
		{SYS_fdatasync, 0, NULL, NULL, WAKER_KERNEL, "kworker/u12:2", WAIT_DISK, "fdatasync"},
		{SYS_fsync, 0, NULL, "__mutex_lock.constprop.0 ext4_sync_file do_fsync __x64_sys_fsync" X86_ENTRY, WAKER_THREAD, "t", WAIT_DISK, NULL},
		{UNSEEN, 0, NULL, "submit_bio_wait blkdev_issue_flush ext4_sync_file do_fsync __x64_sys_fsync" X86_ENTRY, WAKER_NONE, NULL, WAIT_DISK, "fsync"},
		{UNSEEN, 0, NULL, "__schedule schedule jbd2_log_wait_commit jbd2_complete_transaction ext4_sync_file vfs_fsync_range do_fsync __arm64_sys_fsync" ARM_ENTRY, WAKER_KERNEL, "jbd2/mmcblk0p1-", WAIT_DISK, "fsync"},
		{UNSEEN, 0, NULL, "wb_wait_for_completion sync_inodes_sb __iterate_supers ksys_sync __do_sys_sync" X86_ENTRY, WAKER_NONE, NULL, WAIT_DISK, "sync"},
		{UNSEEN, 0, NULL, "schedule_timeout io_schedule_timeout balance_dirty_pages balance_dirty_pages_ratelimited_flags generic_perform_write ext4_buffered_write_iter vfs_write ksys_write" X86_ENTRY, WAKER_TIMER, NULL, WAIT_DISK, "write"},
		/* Rings */
		{SYS_io_getevents, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_DISK, "io_getevents"},
		{SYS_io_uring_enter, TT_SITE_IOWAIT, "anon_inode:[io_uring]", NULL, WAKER_IRQ, "nvme0q1", WAIT_DISK, "io_uring_enter io_uring"},
		{SYS_io_uring_enter, TT_SITE_IOWAIT, "anon_inode:[io_uring]", NULL, WAKER_SOFTIRQ, "NET_RX", WAIT_NET, NULL},
		{SYS_io_uring_enter, TT_SITE_IOWAIT, NULL, NULL, WAKER_TIMER, NULL, WAIT_TIMER, NULL},
		{SYS_io_uring_enter, TT_SITE_IOWAIT, NULL, NULL, WAKER_NONE, NULL, WAIT_DISK, NULL},
		{SYS_io_uring_enter, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_EVENT, NULL},
	};

	(void)state;
	CHECK(rows);
}

static void test_futex(void **state)
{
	static const struct row rows[] = {
		{SYS_futex, 0, NULL, NULL, WAKER_THREAD, "preproc-3", WAIT_THREAD, "futex"},
		{SYS_futex, 0, NULL, NULL, WAKER_PROCESS, "server", WAIT_PROCESS, "futex"},
		{SYS_futex, 0, NULL, NULL, WAKER_TIMER, NULL, WAIT_TIMER, "futex"},
		{SYS_futex, 0, NULL, NULL, WAKER_SOFTIRQ, "HRTIMER", WAIT_TIMER, "futex"},
		{SYS_futex, 0, NULL, NULL, WAKER_IRQ, "arch_timer", WAIT_TIMER, "futex"},
		{SYS_futex, TT_SITE_FUTEX_LOCK, NULL, NULL, WAKER_THREAD, "holder", WAIT_LOCK, "futex"},
		{SYS_futex, TT_SITE_FUTEX_LOCK, NULL, NULL, WAKER_NONE, NULL, WAIT_LOCK, "futex"},
		{SYS_futex, 0, NULL, "rt_mutex_schedule futex_lock_pi do_futex __x64_sys_futex" X86_ENTRY, WAKER_THREAD, "t", WAIT_LOCK, "futex"},
		{UNSEEN, 0, NULL, "rt_mutex_schedule futex_lock_pi do_futex __x64_sys_futex" X86_ENTRY, WAKER_THREAD, "t", WAIT_LOCK, "futex"},
		{UNSEEN, 0, NULL, "futex_do_wait __futex_wait futex_wait do_futex __x64_sys_futex" X86_ENTRY, WAKER_THREAD, "t", WAIT_THREAD, "futex"},
		{UNSEEN, 0, NULL, "__switch_to __schedule schedule futex_wait_queue_me futex_wait do_futex __arm64_sys_futex" ARM_ENTRY, WAKER_PROCESS, "p", WAIT_PROCESS, "futex"},
		{UNSEEN, 0, NULL, "futex_wait_multiple __do_sys_futex_waitv" X86_ENTRY, WAKER_TIMER, NULL, WAIT_TIMER, "futex_waitv"},
		/* An idle pool on its condition variable, all through the window: no lock */
		{SYS_futex, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_THREAD, "futex"},
		{UNSEEN, 0, NULL, "futex_do_wait __futex_wait futex_wait do_futex __x64_sys_futex" X86_ENTRY, WAKER_NONE, NULL, WAIT_THREAD, "futex"},
		/* A stack program of ours in front */
		{UNSEEN, 0, NULL, "bpf_prog_6deef7357e7b4530_on_switch bpf_overflow_handler __traceiter_sched_switch trace_call_bpf perf_trace_run_bpf_submit __schedule schedule futex_do_wait __futex_wait __x64_sys_futex" X86_ENTRY,
		 WAKER_THREAD, "t", WAIT_THREAD, "futex"},
	};

	(void)state;
	CHECK(rows);
	assert_int_equal(wait_futex_flags(FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2), TT_SITE_FUTEX_LOCK);
	assert_int_equal(wait_futex_flags(FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0), TT_SITE_FUTEX_LOCK);
	assert_int_equal(wait_futex_flags(FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0), 0);
	assert_int_equal(wait_futex_flags(FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 2), TT_SITE_FUTEX_MAYBE);
}

static void test_kernel_locks(void **state)
{
	static const struct row rows[] = {
		{UNSEEN, 0, NULL, "rwsem_down_write_slowpath down_write_killable vm_mmap_pgoff ksys_mmap_pgoff __x64_sys_mmap" X86_ENTRY, WAKER_THREAD, "t", WAIT_LOCK, "mmap rwsem"},
		{SYS_munmap, 0, NULL, NULL, WAKER_THREAD, "t", WAIT_LOCK, "munmap"},
		{SYS_flock, 0, "/tmp/l", NULL, WAKER_PROCESS, "p", WAIT_LOCK, "flock /tmp/l"},
		{UNSEEN, 0, NULL, "locks_lock_inode_wait __do_sys_flock" X86_ENTRY, WAKER_PROCESS, "p", WAIT_LOCK, "flock"},
		{UNSEEN, 0, NULL, "fcntl_setlk do_fcntl __x64_sys_fcntl" X86_ENTRY, WAKER_NONE, NULL, WAIT_LOCK, "fcntl"},
		{UNSEEN, 0, NULL, "rtlock_slowlock_locked rt_spin_lock eventfd_read vfs_read __arm64_sys_read" ARM_ENTRY, WAKER_THREAD, "t", WAIT_LOCK, "read rt_mutex"},
	};

	(void)state;
	CHECK(rows);
}

static void test_timers_and_children(void **state)
{
	static const struct row rows[] = {
		{SYS_nanosleep, 0, NULL, NULL, WAKER_TIMER, NULL, WAIT_TIMER, "nanosleep"},
		{SYS_clock_nanosleep, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_TIMER, "clock_nanosleep"},
		/* ended by a signal */
		{SYS_clock_nanosleep, 0, NULL, NULL, WAKER_THREAD, "t", WAIT_TIMER, NULL},
		{UNSEEN, 0, NULL, "hrtimer_nanosleep common_nsleep __x64_sys_clock_nanosleep" X86_ENTRY, WAKER_NONE, NULL, WAIT_TIMER, "clock_nanosleep"},
		{UNSEEN, 0, NULL, "__schedule schedule do_nanosleep hrtimer_nanosleep common_nsleep_timens __arm64_sys_clock_nanosleep" ARM_ENTRY, WAKER_IRQ, "arch_timer", WAIT_TIMER, NULL},
		{SYS_read, 0, "anon_inode:[timerfd]", NULL, WAKER_TIMER, NULL, WAIT_TIMER, "read timerfd"},
		{UNSEEN, 0, NULL, "do_wait_intr_irq timerfd_read_iter vfs_read ksys_read" X86_ENTRY, WAKER_NONE, NULL, WAIT_TIMER, "read timerfd"},
		{SYS_ppoll, 0, NULL, NULL, WAKER_TIMER, NULL, WAIT_TIMER, "ppoll"},
		{SYS_epoll_pwait, 0, NULL, NULL, WAKER_KERNEL, "ktimers/3", WAIT_TIMER, NULL},
		{UNSEEN, 0, NULL, NULL, WAKER_TIMER, NULL, WAIT_TIMER, ""},
		{SYS_wait4, 0, NULL, NULL, WAKER_PROCESS, "child", WAIT_CHILD, "wait4"},
		{UNSEEN, 0, NULL, "do_wait kernel_wait4" X86_ENTRY, WAKER_PROCESS, "child", WAIT_CHILD, "wait4"},
		{UNSEEN, 0, NULL, "do_wait kernel_waitid __do_sys_waitid" X86_ENTRY, WAKER_NONE, NULL, WAIT_CHILD, "waitid"},
		{UNSEEN, 0, NULL, "kernel_clone __do_sys_vfork" X86_ENTRY, WAKER_PROCESS, "child", WAIT_CHILD, "vfork"},
		{UNSEEN, 0, NULL, "wait_for_completion_killable _do_fork sys_clone el0_svc_naked", WAKER_PROCESS, "child", WAIT_CHILD, "clone"},
	};

	(void)state;
	CHECK(rows);
}

static void test_the_waker_decides(void **state)
{
#define POLL	   "poll_schedule_timeout.constprop.0 do_sys_poll __arm64_sys_ppoll" ARM_ENTRY
#define EPOLL	   "do_epoll_wait do_epoll_pwait.part.0 __arm64_sys_epoll_pwait" ARM_ENTRY
	static const struct row rows[] = {
		{UNSEEN, 0, NULL, POLL, WAKER_TIMER, NULL, WAIT_TIMER, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_SOFTIRQ, "NET_RX", WAIT_NET, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_IRQ, "eth0", WAIT_NET, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_KERNEL, "napi/eth0-8193", WAIT_NET, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_IRQ, "2310000.ethernet.vm0", WAIT_NET, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_IRQ, "gk20a_nonstall", WAIT_GPU, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_IRQ, "bc00000.rtcpu", WAIT_DEVICE, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_IRQ, "xhci-hcd:usb1", WAIT_DEVICE, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_THREAD, "t", WAIT_THREAD, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_PROCESS, "Xorg", WAIT_PROCESS, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_NONE, NULL, WAIT_EVENT, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_KERNEL, "kworker/0:1H", WAIT_EVENT, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_IRQ, "strange", WAIT_EVENT, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_IRQ, NULL, WAIT_EVENT, "ppoll"},
		{UNSEEN, 0, NULL, POLL, WAKER_SOFTIRQ, "TASKLET", WAIT_EVENT, "ppoll"},
		{UNSEEN, 0, NULL, EPOLL, WAKER_SOFTIRQ, "NET_RX", WAIT_NET, "epoll_pwait"},
		{UNSEEN, 0, NULL, EPOLL, WAKER_NONE, NULL, WAIT_EVENT, "epoll_pwait"},
		{SYS_epoll_pwait, 0, "anon_inode:[eventpoll]", NULL, WAKER_TIMER, NULL, WAIT_TIMER, "epoll_pwait"},
		{SYS_pselect6, 0, NULL, NULL, WAKER_SOFTIRQ, "NET_RX", WAIT_NET, "pselect6"},
		{UNSEEN, 0, NULL, "poll_schedule_timeout.constprop.0 do_select core_sys_select do_pselect.constprop.0 __x64_sys_pselect6" X86_ENTRY, WAKER_NONE, NULL, WAIT_EVENT, "pselect6"},
		/* The waker alone */
		{UNSEEN, 0, NULL, NULL, WAKER_THREAD, "t", WAIT_THREAD, ""},
		{UNSEEN, 0, NULL, NULL, WAKER_PROCESS, "p", WAIT_PROCESS, ""},
		{UNSEEN, 0, NULL, NULL, WAKER_SOFTIRQ, "NET_RX", WAIT_NET, ""},
	};

	(void)state;
	CHECK(rows);
}

static void test_pipes_and_sockets(void **state)
{
	static const struct row rows[] = {
		{SYS_read, 0, "pipe:[4711]", NULL, WAKER_THREAD, "t", WAIT_THREAD, "read pipe"},
		{SYS_read, 0, "pipe:[4711]", NULL, WAKER_PROCESS, "p", WAIT_PROCESS, "read pipe"},
		{SYS_read, 0, "pipe:[4711]", NULL, WAKER_NONE, NULL, WAIT_EVENT, "read pipe"},
		{UNSEEN, 0, NULL, "anon_pipe_read vfs_read ksys_read" X86_ENTRY, WAKER_PROCESS, "p", WAIT_PROCESS, "read pipe"},
		{UNSEEN, 0, NULL, "anon_pipe_write vfs_write ksys_write" X86_ENTRY, WAKER_THREAD, "t", WAIT_THREAD, "write pipe"},
		{UNSEEN, 0, NULL, "__schedule schedule pipe_read new_sync_read vfs_read ksys_read __arm64_sys_read" ARM_ENTRY, WAKER_THREAD, "t", WAIT_THREAD, "read pipe"},
		{UNSEEN, 0, NULL, "wait_for_partner fifo_open do_dentry_open vfs_open path_openat do_filp_open do_sys_openat2 __x64_sys_openat" X86_ENTRY, WAKER_PROCESS, "p", WAIT_PROCESS, "openat pipe"},
		{SYS_read, 0, "anon_inode:[eventfd]", NULL, WAKER_THREAD, "t", WAIT_THREAD, "read eventfd"},
		{UNSEEN, 0, NULL, "do_wait_intr_irq eventfd_read vfs_read ksys_read" X86_ENTRY, WAKER_PROCESS, "p", WAIT_PROCESS, "read eventfd"},
		{UNSEEN, 0, NULL, "unix_stream_read_generic unix_stream_recvmsg sock_recvmsg sock_read_iter vfs_read ksys_read" X86_ENTRY, WAKER_PROCESS, "p", WAIT_PROCESS, "read socket unix"},
		{UNSEEN, 0, NULL, "sock_alloc_send_pskb unix_stream_sendmsg sock_write_iter vfs_write ksys_write" X86_ENTRY, WAKER_THREAD, "t", WAIT_THREAD, "write socket unix"},
		{UNSEEN, 0, NULL, "__skb_wait_for_more_packets __skb_recv_datagram skb_recv_datagram unix_accept do_accept __sys_accept4 __x64_sys_accept" X86_ENTRY, WAKER_NONE, NULL, WAIT_EVENT, "accept socket unix"},
		{SYS_recvmsg, 0, "socket unix", NULL, WAKER_NONE, NULL, WAIT_EVENT, "recvmsg socket unix"},
		{SYS_recvfrom, 0, "socket:[99]", NULL, WAKER_PROCESS, "p", WAIT_PROCESS, "recvfrom socket"},
		/* Loopback and remote alike end in NET_RX */
		{SYS_recvfrom, 0, "socket tcp", NULL, WAKER_SOFTIRQ, "NET_RX", WAIT_NET, "recvfrom socket tcp"},
		{SYS_recvfrom, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_NET, "recvfrom"},
		{SYS_read, 0, "socket:[99]", NULL, WAKER_SOFTIRQ, "NET_RX", WAIT_NET, "read socket"},
		{SYS_accept4, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_NET, "accept4"},
		{SYS_connect, 0, NULL, NULL, WAKER_SOFTIRQ, "NET_RX", WAIT_NET, "connect"},
		{UNSEEN, 0, NULL, "wait_woken sk_wait_data tcp_recvmsg_locked tcp_recvmsg sock_recvmsg __sys_recvfrom __x64_sys_recvfrom" X86_ENTRY, WAKER_NONE, NULL, WAIT_NET, "recvfrom socket tcp"},
		{UNSEEN, 0, NULL, "inet_csk_accept inet_accept do_accept __sys_accept4 __x64_sys_accept" X86_ENTRY, WAKER_SOFTIRQ, "NET_RX", WAIT_NET, "accept socket tcp"},
		{UNSEEN, 0, NULL, "__skb_wait_for_more_packets __skb_recv_udp udp_recvmsg sock_recvmsg __sys_recvfrom __x64_sys_recvfrom" X86_ENTRY, WAKER_NONE, NULL, WAIT_NET, "recvfrom socket udp"},
		/* SO_RCVTIMEO ran out */
		{SYS_recvfrom, 0, NULL, NULL, WAKER_SOFTIRQ, "TIMER", WAIT_TIMER, NULL},
		/* File servers */
		{UNSEEN, 0, NULL, "request_wait_answer __fuse_simple_request fuse_read_folio vfs_read ksys_read" X86_ENTRY, WAKER_PROCESS, "sshfs", WAIT_PROCESS, NULL},
		{UNSEEN, 0, NULL, "rpc_wait_bit_killable __rpc_execute nfs4_call_sync_sequence nfs_lookup_revalidate path_openat __x64_sys_openat" X86_ENTRY, WAKER_KERNEL, "kworker/u8:1", WAIT_NET, NULL},
	};

	(void)state;
	CHECK(rows);
}

static void test_messages_and_signals(void **state)
{
	static const struct row rows[] = {
		{UNSEEN, 0, NULL, "__do_semtimedop do_semtimedop" X86_ENTRY, WAKER_THREAD, "t", WAIT_THREAD, "semtimedop"},
		{UNSEEN, 0, NULL, "do_msgrcv" X86_ENTRY, WAKER_PROCESS, "p", WAIT_PROCESS, "msgrcv"},
		{UNSEEN, 0, NULL, "wq_sleep do_mq_timedreceive __x64_sys_mq_timedreceive" X86_ENTRY, WAKER_PROCESS, "p", WAIT_PROCESS, "mq_timedreceive"},
		{UNSEEN, 0, NULL, "do_sigtimedwait.isra.0 __x64_sys_rt_sigtimedwait" X86_ENTRY, WAKER_NONE, NULL, WAIT_EVENT, "rt_sigtimedwait"},
		{UNSEEN, 0, NULL, "sigsuspend.isra.0 __x64_sys_rt_sigsuspend" X86_ENTRY, WAKER_TIMER, NULL, WAIT_TIMER, "rt_sigsuspend"},
		{UNSEEN, 0, NULL, "wait_woken inotify_read vfs_read ksys_read" X86_ENTRY, WAKER_PROCESS, "p", WAIT_PROCESS, "read inotify"},
		{UNSEEN, 0, NULL, "signalfd_read_iter vfs_read ksys_read" X86_ENTRY, WAKER_NONE, NULL, WAIT_EVENT, "read signalfd"},
	};

	(void)state;
	CHECK(rows);
}

static void test_devices(void **state)
{
	static const struct row rows[] = {
		{SYS_ioctl, 0, "/dev/video0", NULL, WAKER_KERNEL, "kworker/1:0", WAIT_DEVICE, "ioctl /dev/video0"},
		{SYS_ppoll, 0, "/dev/video0", NULL, WAKER_THREAD, "t", WAIT_DEVICE, "ppoll /dev/video0"},
		{UNSEEN, 0, NULL, "schedule vb2_core_dqbuf vb2_dqbuf v4l_dqbuf __video_do_ioctl video_ioctl2 v4l2_ioctl __arm64_sys_ioctl" ARM_ENTRY, WAKER_NONE, NULL, WAIT_DEVICE, "vb2_core_dqbuf"},
		{UNSEEN, 0, NULL, "wait_for_completion_timeout vi_capture_status vi_channel_ioctl __arm64_sys_ioctl" ARM_ENTRY, WAKER_KERNEL, "kworker/0:2", WAIT_DEVICE, "vi_capture_status"},
		{SYS_ioctl, 0, "/dev/snd/pcmC0D0c", NULL, WAKER_IRQ, "snd_hda_tegra", WAIT_DEVICE, NULL},
		{UNSEEN, 0, NULL, "schedule_timeout wait_for_avail __snd_pcm_lib_xfer snd_pcm_ioctl __arm64_sys_ioctl" ARM_ENTRY, WAKER_NONE, NULL, WAIT_DEVICE, NULL},
		{SYS_read, 0, "/dev/pts/3", NULL, WAKER_KERNEL, "kworker/u8:3", WAIT_DEVICE, "read /dev/pts/3"},
		{UNSEEN, 0, NULL, "wait_woken n_tty_read tty_read vfs_read ksys_read" X86_ENTRY, WAKER_NONE, NULL, WAIT_DEVICE, "n_tty_read"},
		{SYS_read, 0, "/dev/ttyTHS1", NULL, WAKER_NONE, NULL, WAIT_DEVICE, NULL},
	};

	(void)state;
	CHECK(rows);
}

static void test_other_is_named(void **state)
{
	static const struct row rows[] = {
		{UNSEEN, 0, NULL, "__schedule schedule schedule_timeout wait_for_completion synchronize_rcu_expedited foo_release __fput __arm64_sys_close" ARM_ENTRY, WAKER_KERNEL, "rcu_preempt", WAIT_OTHER, "synchronize_rcu_expedited"},
		{UNSEEN, 0, NULL, "schedule_hrtimeout_range_clock usleep_range_state acme_wait.constprop.0 acme_ioctl __arm64_sys_ioctl" ARM_ENTRY, WAKER_NONE, NULL, WAIT_OTHER, "acme_wait"},
		{UNSEEN, 0, NULL, "[unknown] 0xffffffc008000000 vfs_read ksys_read" X86_ENTRY, WAKER_NONE, NULL, WAIT_OTHER, "read"},
		{SYS_ioctl, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_OTHER, "ioctl"},
		{SYS_ioctl, 0, NULL, NULL, WAKER_THREAD, "t", WAIT_THREAD, "ioctl"},
		{UNSEEN, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_OTHER, ""},
		{UNSEEN, 0, NULL, NULL, WAKER_KERNEL, "kworker/0:1", WAIT_OTHER, ""},
		{9999, 0, NULL, NULL, WAKER_NONE, NULL, WAIT_OTHER, ""},
		{SYS_read, 0, "/memfd:x (deleted)", NULL, WAKER_NONE, NULL, WAIT_OTHER, NULL},
	};

	(void)state;
	CHECK(rows);
}
/* clang-format on */

static void test_one_hop_inherited(void **state)
{
	static const struct wait_waker gpu_irq = {WAKER_IRQ, "host1x_syncpt"};
	static const struct wait_waker gpu_thread = {WAKER_KERNEL, "irq/233-gk20a_s"};
	static const struct wait_waker disk = {WAKER_IRQ, "nvme0q1"};
	static const struct wait_waker timer = {WAKER_TIMER, NULL};
	static const struct wait_waker net = {WAKER_SOFTIRQ, "NET_RX"};
	static const struct row futex = {.syscall = SYS_futex, .kind = WAKER_THREAD};
	static const struct row pipe = {
		.syscall = SYS_read, .file = "pipe:[1]", .kind = WAKER_THREAD};
	static const struct row lock = {
		.syscall = SYS_futex, .flags = TT_SITE_FUTEX_LOCK, .kind = WAKER_THREAD};
	static const struct row sleep = {.syscall = SYS_nanosleep, .kind = WAKER_THREAD};
	static const struct row foreign = {.syscall = SYS_futex, .kind = WAKER_PROCESS};
	static const struct row worker = {
		.syscall = SYS_ppoll, .kind = WAKER_KERNEL, .waker = "kworker/0:1"};
	static const struct {
		const struct row *row;
		const struct wait_waker *via;
		bool via_disk;
		enum wait_class class;
		bool inherited;
	} cases[] = {
		{&futex, &gpu_irq, false, WAIT_GPU, true},
		{&futex, &gpu_thread, false, WAIT_GPU, true},
		{&futex, NULL, true, WAIT_DISK, true},
		{&futex, &disk, false, WAIT_DISK, true},
		{&pipe, &gpu_irq, false, WAIT_GPU, true},
		{&worker, &gpu_irq, false, WAIT_GPU, true},
		/* A producer that sleeps, or serves a socket, is still who is waited for */
		{&futex, &timer, false, WAIT_THREAD, false},
		{&futex, &net, false, WAIT_THREAD, false},
		/* The site can only be for one thing, or the waker is not ours */
		{&lock, &gpu_irq, false, WAIT_LOCK, false},
		{&lock, NULL, true, WAIT_LOCK, false},
		{&sleep, &gpu_irq, false, WAIT_TIMER, false},
		{&foreign, &gpu_irq, false, WAIT_PROCESS, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wait_judgement judgement =
			judge(cases[i].row, cases[i].via, cases[i].via_disk);

		if (judgement.class != cases[i].class || judgement.inherited != cases[i].inherited)
			fail_msg("case %zu: %s%s", i, wait_class_name(judgement.class),
				 judgement.inherited ? " inherited" : "");
	}
}

static void test_hostile_names(void **state)
{
	static const char long_name[] =
		"/data/"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	struct row row = {.syscall = SYS_read, .file = "/tmp/\x1b[2J\n\xff"};
	struct wait_judgement judgement = judge(&row, NULL, false);

	(void)state;
	assert_string_equal(judgement.site, "read /tmp/\\x1b[2J\\x0a\\xff");
	row.file = long_name;
	judgement = judge(&row, NULL, false);
	assert_int_equal(strlen(judgement.site), sizeof(judgement.site) - 1);
	row = (struct row){.syscall = SYS_read, .file = ""};
	assert_int_equal(judge(&row, NULL, false).class, WAIT_OTHER);
	row = (struct row){.syscall = SYS_ppoll, .kind = WAKER_KERNEL, .waker = "irq/"};
	assert_int_equal(judge(&row, NULL, false).class, WAIT_EVENT);
	row = (struct row){.syscall = SYS_ppoll, .kind = WAKER_IRQ, .waker = ",,, ,"};
	assert_int_equal(judge(&row, NULL, false).class, WAIT_EVENT);
}

static void test_what_takes_a_descriptor(void **state)
{
	(void)state;
	assert_true(wait_syscall_takes_fd(SYS_read));
	assert_true(wait_syscall_takes_fd(SYS_ioctl));
	assert_true(wait_syscall_takes_fd(SYS_epoll_pwait));
	assert_true(wait_syscall_takes_fd(SYS_fsync));
	assert_true(wait_syscall_takes_fd(SYS_recvmsg));
	assert_false(wait_syscall_takes_fd(SYS_ppoll));
	assert_false(wait_syscall_takes_fd(SYS_futex));
	assert_false(wait_syscall_takes_fd(SYS_openat)); /* a directory */
	assert_false(wait_syscall_takes_fd(WAIT_SYSCALL_UNKNOWN));
	assert_false(wait_syscall_takes_fd(WAIT_SYSCALL_NONE));
	assert_string_equal(wait_syscall_name(SYS_futex), "futex");
	assert_null(wait_syscall_name(WAIT_SYSCALL_UNKNOWN));
	assert_true(wait_is_gpu_file("/dev/nvgpu/igpu0/tsg"));
	assert_false(wait_is_gpu_file("/dev/nvme0n1"));
	assert_false(wait_is_gpu_file(NULL));
	assert_true(wait_is_gpu_waker(&(struct wait_waker){WAKER_IRQ, "gk20a_stall"}));
	assert_false(wait_is_gpu_waker(&(struct wait_waker){WAKER_THREAD, "gk20a_stall"}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gpu_of_every_release),
		cmocka_unit_test(test_names_alike_but_not_gpu),
		cmocka_unit_test(test_page_faults),
		cmocka_unit_test(test_disk),
		cmocka_unit_test(test_futex),
		cmocka_unit_test(test_kernel_locks),
		cmocka_unit_test(test_timers_and_children),
		cmocka_unit_test(test_the_waker_decides),
		cmocka_unit_test(test_pipes_and_sockets),
		cmocka_unit_test(test_messages_and_signals),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_other_is_named),
		cmocka_unit_test(test_one_hop_inherited),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_what_takes_a_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
