/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/proc_books.h"

#include <string.h>

void proc_account_begin(struct proc_account *account, const struct proc_reading *reading,
			uint64_t begin_ns)
{
	memset(account, 0, sizeof(*account));
	account->base = account->last = *reading;
	account->begin_ns = begin_ns;
}

__u32 proc_bucket(char state)
{
	switch (state) {
	case 'S':
	case 'D':
	case 'I':
	case 'P':
		return TT_OFF_OTHER;
	case 'T':
	case 't':
		return TT_STOPPED;
	case 'Z':
	case 'X':
	case 'x':
		return TT_DEAD;
	default:
		return TT_UNKNOWN;
	}
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

uint64_t proc_account_read(struct proc_account *account, struct tt_thread *t,
			   const struct proc_reading *reading, __u32 bucket, uint64_t now_ns)
{
	uint64_t wall_ns = now_ns - account->begin_ns;
	uint64_t charged_ns = account->asleep_ns + account->stopped_ns, slept_ns = 0;
	/* the books at the begin were late too, so the difference may exceed the time */
	uint64_t oncpu_ns =
		at_most(reading->oncpu_ns - account->base.oncpu_ns, wall_ns - charged_ns);
	uint64_t runq_ns =
		at_most(reading->runq_ns - account->base.runq_ns, wall_ns - charged_ns - oncpu_ns);
	uint64_t rest_ns = wall_ns - charged_ns - oncpu_ns - runq_ns;

	if (bucket == TT_OFF_OTHER) {
		slept_ns = rest_ns;
		account->asleep_ns += rest_ns;
		rest_ns = 0;
	} else if (bucket == TT_STOPPED) {
		account->stopped_ns += rest_ns;
		rest_ns = 0;
	}
	if (bucket != TT_UNKNOWN || reading->slices != account->last.slices ||
	    reading->oncpu_ns != account->last.oncpu_ns) {
		account->rest_ns = rest_ns;
	} else if (rest_ns > account->rest_ns + PROC_TICKS_NS) {
		runq_ns += rest_ns - account->rest_ns;
		rest_ns = account->rest_ns;
	}
	account->last = *reading;
	t->ns[TT_ONCPU] = oncpu_ns;
	t->ns[TT_RUNQ_WAKE] = runq_ns;
	t->ns[TT_RUNQ_PREEMPT] = 0;
	t->ns[TT_OFF_OTHER] = account->asleep_ns;
	t->ns[TT_STOPPED] = account->stopped_ns;
	t->ns[TT_UNKNOWN] = rest_ns;
	t->t_last_ns = now_ns;
	t->bucket = bucket == TT_UNKNOWN ? TT_ONCPU : bucket;
	return slept_ns;
}

void proc_account_split(struct tt_thread *t, uint64_t voluntary, uint64_t involuntary)
{
	uint64_t runq_ns = t->ns[TT_RUNQ_WAKE] + t->ns[TT_RUNQ_PREEMPT];

	if (!(voluntary + involuntary))
		return;
	t->ns[TT_RUNQ_PREEMPT] = (uint64_t)((double)runq_ns * (double)involuntary /
					    (double)(voluntary + involuntary));
	if (t->ns[TT_RUNQ_PREEMPT] > runq_ns)
		t->ns[TT_RUNQ_PREEMPT] = runq_ns;
	t->ns[TT_RUNQ_WAKE] = runq_ns - t->ns[TT_RUNQ_PREEMPT];
}
