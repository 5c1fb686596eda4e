/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/raw_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* It has neither a name nor a kind, so as a waker it looks like none. */
static bool is_disk(__u32 via)
{
	return via == TT_WAKER(TT_WAKER_DISK, 0);
}

static bool same(const struct raw_wait *a, const struct raw_wait *b, bool folded)
{
	const struct tt_edge_key *x = &a->key, *y = &b->key;

	if (a->site || b->site)
		return false;
	return x->syscall == y->syscall && x->flags == y->flags &&
	       x->kernel_stack == y->kernel_stack && x->user_stack == y->user_stack &&
	       (folded || x->arg == y->arg) && !strcmp(a->file, b->file) &&
	       is_disk(x->via) == is_disk(y->via) && wakers_same(&a->waker, &b->waker, folded) &&
	       wakers_same(&a->via, &b->via, folded);
}

static int room_for_head(struct raw_waits *waits, size_t row)
{
	size_t n = waits->nheads ? waits->nheads : 64;
	int64_t *heads;

	if (row < waits->nheads)
		return 0;
	while (n <= row)
		n *= 2;
	heads = reallocarray(waits->heads, n, sizeof(*heads));
	if (!heads)
		return -ENOMEM;
	for (size_t i = waits->nheads; i < n; i++)
		heads[i] = -1;
	waits->heads = heads;
	waits->nheads = n;
	return 0;
}

static struct raw_wait *new_row(struct raw_waits *waits)
{
	size_t n = waits->n;

	if (n == 0 || (n >= 64 && (n & (n - 1)) == 0)) {
		void *rows = reallocarray(waits->rows, n ? 2 * n : 64, sizeof(*waits->rows));

		if (!rows)
			return NULL;
		waits->rows = rows;
	}
	return &waits->rows[waits->n++];
}

int raw_waits_add(struct raw_waits *waits, const struct raw_wait *wait, bool folded, size_t *place)
{
	struct raw_wait *row;

	if (room_for_head(waits, wait->row))
		return -ENOMEM;
	for (int64_t i = waits->heads[wait->row]; i >= 0; i = row->next) {
		row = &waits->rows[i];
		if (!same(row, wait, folded))
			continue;
		row->ns += wait->ns;
		row->count += wait->count;
		if (wait->max_ns > row->max_ns)
			row->max_ns = wait->max_ns;
		*place = (size_t)(row - waits->rows);
		return 0;
	}
	row = new_row(waits);
	if (!row)
		return -ENOMEM;
	*row = *wait;
	row->next = waits->heads[wait->row];
	waits->heads[wait->row] = row - waits->rows;
	*place = waits->n - 1;
	return 0;
}

void raw_waits_free(struct raw_waits *waits)
{
	for (size_t i = 0; i < waits->n; i++)
		free(waits->rows[i].site);
	free(waits->rows);
	free(waits->heads);
}
