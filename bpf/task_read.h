/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the programs of two rungs read the kernel's structs. Rung btf has typed pointers, which the
 * verifier knows from the kernel's own type data. Rung raw (TT_RAW) runs where the kernel has none:
 * its pointers are numbers, read by a helper at the offsets that a BTF file gave when it was loaded.
 */
#ifndef __TEGRATRACE_TASK_READ_H
#define __TEGRATRACE_TASK_READ_H

#include <bpf/bpf_core_read.h>

#ifdef TT_RAW

#define TT_EVENT(event) SEC("raw_tp/" event)

/* Of the size that the field has in the kernel: 7.x made some of them smaller. */
#define TT_READ(p, field)                                                       \
	({                                                                      \
		__u64 value_ = 0;                                               \
		bpf_probe_read_kernel(&value_, bpf_core_field_size((p)->field), \
				      (const void *)&(p)->field);               \
		(typeof((p)->field))value_;                                     \
	})
#define TT_READ_BITFIELD(p, field) BPF_CORE_READ_BITFIELD_PROBED(p, field)
/* The same for the current task, without a read of its memory. */
#define TT_CURRENT_TID(p) ((__u32)bpf_get_current_pid_tgid())

#else

#define TT_EVENT(event)		   SEC("tp_btf/" event)
#define TT_READ(p, field)	   ((p)->field)
#define TT_READ_BITFIELD(p, field) BPF_CORE_READ_BITFIELD(p, field)
#define TT_CURRENT_TID(p)	   ((p)->pid)

#endif

#endif /* __TEGRATRACE_TASK_READ_H */
