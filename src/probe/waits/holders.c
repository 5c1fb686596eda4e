/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/holders.h"

#include <errno.h>
#include <stdlib.h>

#include "probe/waits/blame.h"
#include "probe/map_table.h"

struct holders {
	struct tracer *tracer;
	const struct session *session;
	struct blame *blame;
	struct map_table table;
	bool read;
	int error;
};

static bool is_target(void *ctx, pid_t pid)
{
	const struct holders *holders = ctx;
	const struct session *session = holders->session;

	if (tracer_traces(holders->tracer, pid))
		return true;
	for (size_t i = 0; i < session->nthreads; i++) {
		if (session->threads[i].pid == pid)
			return true;
	}
	return false;
}

struct holders *holders_new(struct tracer *tracer, const struct session *session)
{
	struct holders *holders = calloc(1, sizeof(*holders));

	if (!holders)
		return NULL;
	holders->tracer = tracer;
	holders->session = session;
	holders->blame = blame_new(is_target, holders);
	if (!holders->blame) {
		free(holders);
		return NULL;
	}
	return holders;
}

void holders_free(struct holders *holders)
{
	if (!holders)
		return;
	map_table_free(&holders->table);
	blame_free(holders->blame);
	free(holders);
}

static void note_error(struct holders *holders, int err)
{
	if (err && !holders->error)
		holders->error = err;
}

static void take_slot(struct holders *holders, const struct kept_account *kept, uint32_t slot)
{
	const struct thread_account *row = &holders->session->threads[kept->row];
	const struct tt_holder_key *keys = holders->table.keys;
	const struct tt_holder *values = holders->table.values;

	for (size_t i = 0; i < holders->table.n; i++) {
		if (keys[i].slot != slot)
			continue;
		note_error(holders, blame_add(holders->blame, row->pid, row->tid, row->group,
					      (pid_t)keys[i].tid, values[i].comm,
					      (int64_t)values[i].ns, values[i].count));
		/* The next thread in this slot must not find it. */
		if (kept->record->bucket == TT_DEAD)
			tracer_delete_row(holders->tracer, TRACER_HOLDERS, &keys[i]);
	}
}

void holders_take(struct holders *holders, const struct kept_account *kept)
{
	if (!holders->read)
		note_error(holders,
			   tracer_read_table(holders->tracer, TRACER_HOLDERS, &holders->table));
	holders->read = true;
	if (kept->slots->predecessor)
		take_slot(holders, kept, kept->slots->predecessor);
	take_slot(holders, kept, kept->slots->slot);
}

void holders_drained(struct holders *holders)
{
	map_table_free(&holders->table);
	holders->read = false;
}

int holders_finish(struct holders *holders, struct session *session)
{
	note_error(holders, blame_finish(holders->blame, session));
	return holders->error;
}
