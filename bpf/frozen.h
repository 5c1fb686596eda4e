/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that a freezer holds (cgroup.freeze, the v1 freezer, suspend) goes out in state S or D like
 * any sleeper; without its task_struct only its kernel stack tells: it called schedule() right from
 * one of the freezers' functions. Deeper below get_signal() a thread sleeps for other reasons, as it ends.
 */
#ifndef __TEGRATRACE_FROZEN_H
#define __TEGRATRACE_FROZEN_H

#include <stdbool.h>

#include "abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* What a tracer puts between its hook and schedule(). */
#define TT_FREEZER_DEPTH 10

/* Return addresses in [begin, begin + size]; size 0 = not known, or not in this kernel. */
struct tt_code {
	__u64 begin;
	__u64 size;
};

enum tt_freezer_function {
	TT_FREEZER_V2,	   /* do_freezer_trap(), since 5.2; often inlined into the next */
	TT_FREEZER_SIGNAL, /* get_signal() */
	TT_FREEZER_V1,	   /* __refrigerator(): of the v1 freezer and of suspend */
	TT_FREEZER_SCHEDULE,
	TT_FREEZER_FUNCTIONS,
};

struct tt_freezer {
	struct tt_code code[TT_FREEZER_FUNCTIONS];
	/*
	 * The v1 freezer's own task state (6.1, f5d39b020809) is in no record until 6.13 shows it as D
	 * (f718faf3940e): a thread in it goes out as one that is running.
	 */
	__u32 untold;
};

/* After a cgroup began to freeze its threads get there within so long; most of them at once. */
#define TT_FREEZING_NS 1000000000ULL

static __always_inline bool tt_in_code(const volatile struct tt_code *code, __u64 address)
{
	return address - code->begin - 1 < code->size;
}

static __always_inline bool tt_stack_is_frozen(const struct tt_stack *stack,
					       const volatile struct tt_freezer *freezer)
{
	for (__u32 i = 0; i < TT_FREEZER_DEPTH; i++) {
		__u64 caller = stack->frame[i + 1];

		if (tt_in_code(&freezer->code[TT_FREEZER_SCHEDULE], stack->frame[i]))
			return tt_in_code(&freezer->code[TT_FREEZER_V2], caller) ||
			       tt_in_code(&freezer->code[TT_FREEZER_SIGNAL], caller) ||
			       tt_in_code(&freezer->code[TT_FREEZER_V1], caller);
	}
	return false;
}

#endif /* __TEGRATRACE_FROZEN_H */
