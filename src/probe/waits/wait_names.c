/* SPDX-License-Identifier: GPL-2.0-only */
/* What kernel functions, files and wakers tell of a wait, by their names. The first match counts. */
#include "probe/waits/wait_tables.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define N(a)   (sizeof(a) / sizeof((a)[0]))
#define P(...) ((const char *const[]){__VA_ARGS__, NULL})

/* clang-format off */
static const struct name_rule functions[] = {
	/* The scheduler and its hooks, and waits of the kernel that serve every purpose. */
	{P("io_schedule*", "blk_io_schedule*", "schedule*", "__schedule*", "preempt_schedule*",
	   "__cond_resched*", "__switch_to*",
	   "__traceiter_*", "__bpf_trace_*", "bpf_*", "trace_*", "perf_*", "do_wait_intr*",
	   "wait_woken", "poll_schedule_timeout", "wait_for_completion*", "wait_for_common*",
	   "__wait_for_common*", "do_wait_for_common", "__wait_on_bit*", "out_of_line_wait_on_bit*",
	   "bit_wait*", "prepare_to_wait*", "rcuwait_wait_event", "swait_*", "msleep*",
	   "usleep_range*", "rt_mutex_schedule", "__skb_wait_for_more_packets",
	   "__skb_recv_datagram", "skb_recv_datagram", "sock_alloc_send_pskb", "sock_wait_for_wmem",
	   /* Semaphores: as often a signal as a lock (nvidia.ko waits for the GPU on them). */
	   "down", "down_interruptible", "down_killable", "down_timeout", "__down",
	   "__down_common", "__down_interruptible", "__down_killable", "__down_timeout"),
	 MEANS_PASS, WAIT_OTHER, NULL},

	/* Locks inside the kernel, and of files. PREEMPT_RT sleeps on spin locks too. */
	{P("mutex_lock*", "__mutex_lock*", "ww_mutex*", "__ww_mutex*"), MEANS_CLASS, WAIT_LOCK, "mutex"},
	{P("rwsem_down_*", "down_read*", "down_write*", "__down_read*", "__down_write*", "rwbase_*",
	   "percpu_rwsem_wait", "__percpu_down_read",
	   "percpu_down_*"), MEANS_CLASS, WAIT_LOCK, "rwsem"},
	{P("futex_lock_pi*"), MEANS_CLASS, WAIT_LOCK, NULL},
	{P("rt_mutex_*", "__rt_mutex_*", "rtlock_slowlock*", "rt_spin_lock*", "rt_read_lock*",
	   "rt_write_lock*"), MEANS_CLASS, WAIT_LOCK, "rt_mutex"},
	{P("__vma_start_write*", "__vma_enter_locked*", "vma_start_write*"),
	 MEANS_CLASS, WAIT_LOCK, "mapping"},
	{P("locks_lock_inode_wait", "flock_lock_inode_wait", "posix_lock_inode_wait", "fcntl_setlk*",
	   "do_lock_file_wait"), MEANS_CLASS, WAIT_LOCK, NULL},

	/*
	 * GPU and engines: nvgpu (its functions keep the names of the chips), nvhost up to L4T 35,
	 * host1x and its DRM from 36, nvidia.ko on Thor ("_nv012345rm": its closed part), fences.
	 */
	{P("nvgpu_*", "gk20a_*", "gm20b_*", "gp10b_*", "gv11b_*", "ga10b_*", "ga100_*", "vgpu_*",
	   "nvhost_*", "host1x_*", "tegra_drm_*", "nvmap_*", "nvdla_*", "pva_*", "nvidia_*", "nv_*",
	   "_nv*", "os_acquire_*", "rm_*", "uvm_*", "dma_fence_*", "dma_resv_wait*",
	   "reservation_object_wait*", "sync_file_*", "drm_syncobj_*", "drm_gem_*", "drm_sched_*"),
	 MEANS_CLASS, WAIT_GPU, NULL},

	/* Cameras, sound, terminals, buses, the display. */
	{P("vb2_*", "__vb2_*", "v4l2_*", "uvc_*", "media_request_*", "vi_capture_*", "vi_channel_*",
	   "isp_capture_*", "isp_channel_*", "tegra_channel_*", "capture_*", "tegra_ivc_*"),
	 MEANS_CLASS, WAIT_DEVICE, NULL},
	{P("snd_*", "wait_for_avail", "n_tty_*", "tty_*", "uart_*", "evdev_*", "hidraw_*", "i2c_*",
	   "__i2c_*", "spi_*", "__spi_*", "usbdev_*", "usb_*", "iio_*", "lineevent_*", "linereq_*",
	   "drm_atomic_*", "drm_wait_*", "nvkms_*", "rtc_*"), MEANS_CLASS, WAIT_DEVICE, NULL},

	/* The allocator waits until memory is free: the verdict takes it for memory pressure. */
	{P("reclaim_throttle*", "throttle_direct_reclaim", "congestion_wait*", "shrink_*",
	   "try_to_free_*", "do_try_to_free_*", "mem_cgroup_handle_over_high",
	   "__mem_cgroup_handle_over_high"), MEANS_CLASS, WAIT_FAULT, "reclaim"},
	/* Whatever reads behind a fault; userfaultfd's handler is one too. */
	{P("handle_userfault", "do_swap_page", "swap_read*", "swapin_*", "read_swap_cache*",
	   "filemap_fault"), MEANS_CLASS, WAIT_FAULT, NULL},

	/* File systems in user space: the server answers. Before the other file systems. */
	{P("request_wait_answer", "fuse_*", "__fuse_*"), MEANS_WAKER, WAIT_PROCESS, NULL},
	{P("nfs_*", "nfs4_*", "rpc_*", "__rpc_*", "cifs_*", "smb2_*", "p9_*", "v9fs_*", "ceph_*"),
	 MEANS_CLASS, WAIT_NET, NULL},

	/* Block layer, page cache, journals, file systems, throttled writers. */
	{P("folio_wait_*", "wait_on_page_*", "__folio_lock*", "folio_lock*", "__lock_page*",
	   "lock_page*", "__wait_on_buffer", "wait_on_buffer", "__bread*", "__sync_dirty_buffer",
	   "submit_bio_wait", "blk_*", "blkdev_*", "__blkdev_*", "rq_qos_*", "wbt_*", "dm_*",
	   "nvme_*", "mmc_*", "scsi_*", "inode_dio_wait*", "dio_*", "iomap_*", "__iomap_*",
	   "filemap_*", "__filemap_*", "generic_file_*", "balance_dirty_pages*", "sync_inodes_*",
	   "sync_bdevs", "wb_wait_*", "writeback_*", "__writeback_*", "inode_wait_for_writeback",
	   "do_fsync", "vfs_fsync*", "file_write_and_wait_range"), MEANS_CLASS, WAIT_DISK, NULL},
	{P("jbd2_*", "wait_transaction_locked", "start_this_handle", "ext4_*", "xfs_*", "btrfs_*",
	   "f2fs_*", "squashfs_*", "exfat_*", "fat_*", "ubifs_*", "zfs_*"),
	 MEANS_CLASS, WAIT_DISK, NULL},

	/* Meeting places: the waker is at the other end. */
	{P("anon_pipe_*", "pipe_*", "fifo_*", "wait_for_partner"), MEANS_WAKER, WAIT_EVENT, "pipe"},
	{P("eventfd_*"), MEANS_WAKER, WAIT_EVENT, "eventfd"},
	{P("unix_*", "__unix_*"), MEANS_WAKER, WAIT_EVENT, "socket unix"},
	{P("netlink_*"), MEANS_WAKER, WAIT_EVENT, "socket netlink"},
	{P("signalfd_*"), MEANS_WAKER, WAIT_EVENT, "signalfd"},
	{P("inotify_*", "fanotify_*"), MEANS_WAKER, WAIT_EVENT, "inotify"},
	{P("userfaultfd_*"), MEANS_WAKER, WAIT_EVENT, "userfaultfd"},
	{P("timerfd_*"), MEANS_CLASS, WAIT_TIMER, "timerfd"},
	{P("wait_for_vfork_done"), MEANS_CLASS, WAIT_CHILD, NULL},

	{P("tcp_*", "inet_*", "__inet_*", "sk_wait_data", "sk_stream_wait_*", "mptcp_*", "tls_*"),
	 MEANS_WAKER, WAIT_NET, "socket tcp"},
	{P("udp_*", "udpv6_*", "__skb_recv_udp"), MEANS_WAKER, WAIT_NET, "socket udp"},
	{P("raw_recvmsg", "rawv6_recvmsg", "packet_recvmsg", "vsock_*", "virtio_transport_*",
	   "sctp_*", "sock_*", "__sock_*"), MEANS_WAKER, WAIT_NET, "socket"},
};

/* They set in_iowait. */
static const char *const io_waits[] = {
	"io_schedule*", "blk_io_schedule*", "bit_wait_io*", NULL,
};

/*
 * What stands between the exception and the wait, on x86 and arm64. In the middle of a system call
 * too: there the kernel copied to or from memory that was not there.
 */
static const char *const fault_entries[] = {
	"asm_exc_page_fault", "exc_page_fault", "async_page_fault", "do_user_addr_fault",
	"do_page_fault", "__do_page_fault", "do_translation_fault", "do_mem_abort", "el0_da",
	"el0_ia", "el1_abort", "el1_da", "handle_mm_fault", "__handle_mm_fault", "faultin_page",
	"fixup_user_fault", "do_swap_page", "filemap_fault", "handle_userfault", NULL,
};

static const char *const plumbing[] = {
	"entry_*", "do_syscall_64", "x64_sys_call", "asm_*", "el0*", "el1*", "invoke_syscall",
	"do_el0_svc*", "ret_*", "syscall_*", "vfs_*", "do_iter_*", "__vfs_*", "new_sync_*",
	"__x64_*", "__arm64_*", "__se_*", "__do_sys_*", "__sys_*", "ksys_*", "sys_*", "SyS_*",
	"do_vfs_ioctl", "[*", "0x*", NULL,
};

/*
 * A regular file that is slept on without in_iowait waits for its inode's lock or for a server, and
 * so by the waker; memory files (/dev/shm, memfd) have no disk.
 */
static const struct name_rule files[] = {
	/* The camera's own host1x clients, before the engines. */
	{P("/dev/nvhost-vic*"), MEANS_CLASS, WAIT_GPU, NULL},
	{P("/dev/nvhost-vi*", "/dev/nvhost-ctrl-vi*", "/dev/nvhost-isp*", "/dev/nvhost-ctrl-isp*",
	   "/dev/nvhost-nvcsi*", "/dev/nvhost-ctrl-nvcsi*", "/dev/capture-*"),
	 MEANS_CLASS, WAIT_DEVICE, NULL},
	{P("/dev/nvhost*", "/dev/nvgpu*", "/dev/nvmap*", "/dev/host1x*", "/dev/nvidia*",
	   "/dev/nvsched*", "/dev/nvdla*", "/dev/dri/*", "/dev/dma_heap/*", "/dev/sync*",
	   "anon_inode:nvgpu*", "anon_inode:nvhost*", "anon_inode:host1x*", "anon_inode:sync*",
	   "anon_inode:dmabuf*", "/dmabuf*"), MEANS_CLASS, WAIT_GPU, NULL},
	/* Whole disks. "/dev/nvme" is no NVIDIA device. */
	{P("/dev/nvme*", "/dev/mmcblk*", "/dev/sd*", "/dev/vd*", "/dev/dm-*", "/dev/mapper/*",
	   "/dev/loop*", "/dev/md*", "/dev/zram*"), MEANS_WAKER, WAIT_DISK, NULL},
	{P("/dev/shm/*", "/memfd:*", "/dev/zero*", "/dev/null*", "/proc/*", "/sys/*", "/dev/fuse*",
	   "/SYSV*"), MEANS_WAKER, WAIT_OTHER, NULL},
	{P("/dev/*"), MEANS_CLASS, WAIT_DEVICE, NULL},
	{P("/*"), MEANS_WAKER, WAIT_DISK, NULL},
	{P("anon_inode:[timerfd]*", "anon_inode:timerfd"), MEANS_CLASS, WAIT_TIMER, NULL},
	{P("pidfd*", "anon_inode:[pidfd]*"), MEANS_WAKER, WAIT_CHILD, NULL},
	{P("pipe:*", "pipe", "anon_inode:*", "socket unix*", "socket netlink*"),
	 MEANS_WAKER, WAIT_EVENT, NULL},
	{P("socket*"), MEANS_WAKER, WAIT_NET, NULL},
};

/* fnmatch(3) patterns, for interrupts, kernel threads and softirqs. */
struct waker_rule {
	const char *const *patterns;
	enum wait_class class;
};

/*
 * Device tree names lose their address ("3460000.mmc" is "mmc"). A threaded interrupt shows the 15
 * characters of its thread: "irq/128-host_sy".
 */
static const struct waker_rule interrupts[] = {
	{P("gk20a*", "ga10b*", "host_s*", "host1x*", "nvidia*", "nvgpu*", "vic*", "nvenc*", "nvdec*",
	   "nvjpg*", "nvdla*", "dla[0-9]*", "pva*", "ofa*", "tsec*"), WAIT_GPU},
	{P("nvme*", "mmc*", "sdhci*", "ahci*", "ufs*", "virtio[0-9]*-req*", "ata_*", "megasas*",
	   "mpt[0-9]*"), WAIT_DISK},
	{P("eth*", "en[opsxP][0-9]*", "wl[apsx]*", "mgbe*", "eqos*", "ether_qos*", "r816[0-9]*",
	   "rtl8*", "rtw*", "iwlwifi*", "brcm*", "mlx[45]*", "ixgbe*", "i40e*", "ice-*", "can[0-9]*",
	   "mttcan*", "virtio[0-9]*-input*", "virtio[0-9]*-output*", "virtio[0-9]*-[rt]x"), WAIT_NET},
	{P("arch_timer*", "timer*", "tegra_timer*", "hpet*", "rtc[0-9]*", "rtc-*",
	   "tegra_rtc*"), WAIT_TIMER},
	{P("rtcpu*", "tegra-vi*", "vi", "vi[0-9]*", "isp*", "snd_*", "hda*", "adma*", "xhci*", "uart*",
	   "serial*", "ttyS*", "ttyTHS*", "i2c*", "spi*", "tegra_dce*"), WAIT_DEVICE},
};

static const struct waker_rule softirqs[] = {
	{P("NET_RX", "NET_TX"), WAIT_NET},
	{P("BLOCK", "IRQ_POLL"), WAIT_DISK},
	{P("TIMER", "HRTIMER"), WAIT_TIMER},
};

/* A kworker has no class of its own, but shows its work queue's name in some kernels' lists. */
static const struct waker_rule kernel_threads[] = {
	/* R32 hands the non-stall interrupt to a thread; nvidia.ko's bottom halves. */
	{P("mc_nonstall*", "nvgpu_*", "gk20a*", "nvidia*", "nv_queue*", "UVM *", "host1x*"), WAIT_GPU},
	{P("jbd2/*", "kblockd*", "loop[0-9]*", "md[0-9]*_*", "dmcrypt*", "kcryptd*", "kdmflush*",
	   "mmcqd/*", "mmc_complete*", "xfsaild*", "xfs-*", "btrfs-*", "f2fs_*", "nvme-*", "scsi_*",
	   "usb-storage*", "writeback*"), WAIT_DISK},
	{P("kswapd*", "kcompactd*"), WAIT_FAULT},
	{P("napi/*", "rpciod*", "xprtiod*", "nfsiod*", "cifsd*"), WAIT_NET},
	{P("ktimers/*"), WAIT_TIMER},
};
/* clang-format on */

static bool matches(const char *pattern, const char *name)
{
	size_t len;

	if (*pattern != *name)
		return false;
	len = strlen(pattern);
	if (pattern[len - 1] == '*')
		return !strncmp(pattern, name, len - 1);
	return !strncmp(pattern, name, len) && (!name[len] || name[len] == '.');
}

static bool matches_one_of(const char *const *patterns, const char *name)
{
	for (; *patterns; patterns++)
		if (matches(*patterns, name))
			return true;
	return false;
}

static const struct name_rule *find(const struct name_rule *rules, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (matches_one_of(rules[i].patterns, name))
			return &rules[i];
	return NULL;
}

const struct name_rule *function_rule(const char *function)
{
	return find(functions, N(functions), function);
}

const struct name_rule *file_rule(const char *file)
{
	return find(files, N(files), file);
}

bool function_is_io_wait(const char *function)
{
	return matches_one_of(io_waits, function);
}

bool function_is_fault_entry(const char *function)
{
	return matches_one_of(fault_entries, function);
}

bool function_is_plumbing(const char *function)
{
	return matches_one_of(plumbing, function);
}

static enum wait_class find_waker(const struct waker_rule *rules, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		for (const char *const *p = rules[i].patterns; *p; p++)
			if (!fnmatch(*p, name, 0))
				return rules[i].class;
	return WAIT_CLASSES;
}

/* "3460000.mmc" -> "mmc" */
static const char *without_address(const char *name)
{
	size_t digits = strspn(name, "0123456789abcdef");

	return digits >= 4 && name[digits] == '.' ? name + digits + 1 : name;
}

/* Actions that share a line are joined by ", ": the first that tells. */
static enum wait_class interrupt_class(const char *names)
{
	char name[64];

	while (*names) {
		size_t len = strcspn(names, ",");
		enum wait_class class;

		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		class = find_waker(interrupts, N(interrupts), without_address(name));
		if (class != WAIT_CLASSES)
			return class;
		names += len;
		names += strspn(names, ", ");
	}
	return WAIT_CLASSES;
}

/* "irq/37-nvme0q1"; "irq/37-s-nvidia" is the second thread of a line on PREEMPT_RT */
static const char *threaded_interrupt(const char *name)
{
	if (strncmp(name, "irq/", 4))
		return NULL;
	name += 4;
	name += strspn(name, "0123456789");
	if (*name != '-')
		return NULL;
	name++;
	return strncmp(name, "s-", 2) ? name : name + 2;
}

static enum wait_class kernel_thread_class(const char *name)
{
	const char *irq = threaded_interrupt(name);

	if (irq)
		return interrupt_class(irq);
	if (!strncmp(name, "kworker/", 8)) {
		name += strcspn(name, "-+");
		name += strspn(name, "-+");
	}
	return find_waker(kernel_threads, N(kernel_threads), name);
}

enum wait_class waker_class(enum waker_kind kind, const char *name)
{
	if (!name)
		name = "";
	switch (kind) {
	case WAKER_TIMER:
		return WAIT_TIMER;
	case WAKER_IRQ:
		return interrupt_class(name);
	case WAKER_SOFTIRQ:
		return find_waker(softirqs, N(softirqs), name);
	case WAKER_KERNEL:
		return kernel_thread_class(name);
	default:
		return WAIT_CLASSES;
	}
}
