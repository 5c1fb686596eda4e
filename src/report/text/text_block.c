/* SPDX-License-Identifier: GPL-2.0-only */
/* Block I/O: a line or two where it matters, the whole table with -v. */
#include "report/text/text_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define TEXT	1024
#define ENTRIES 2

/* Requests of the target under way this share of the window matter. */
#define MATTERS 0.02
/* And of others, which keep the device from the target. */
#define OTHERS_MATTER 0.20

static int64_t under_way_ns(const struct block_row *row)
{
	return row->queue.sum_ns + row->device_lat.sum_ns;
}

static double share(const struct session *session, const struct block_row *row)
{
	return share_of(under_way_ns(row), session_duration_ns(session));
}

/* "12 us/80 us": median and 99th percentile. */
static void append_delay(char *text, const char *name, const struct block_delay *delay)
{
	char p50[32], p99[32];

	if (!delay->count)
		return;
	text_duration(p50, sizeof(p50), block_quantile_ns(delay, 0.50));
	text_duration(p99, sizeof(p99), block_quantile_ns(delay, 0.99));
	text_appendf(text, TEXT, ", %s %s/%s", name, p50, p99);
}

/* Of the requests of a row's kind; 0 for those that carry none, and unknown. */
static int64_t io_bytes(const struct thread_account *thread, enum block_op op)
{
	int64_t bytes = op == BLOCK_READ    ? thread->io_read_bytes
			: op == BLOCK_WRITE ? thread->io_write_bytes
					    : 0;

	return bytes == UNKNOWN_COUNT ? 0 : bytes;
}

/* The thread, or the ended ones of a group, with most of the bytes that the target reads or writes. */
static void append_submitter(char *text, const struct session *session, enum block_op op)
{
	const struct thread_account *most = NULL;
	char name[TEXT_SANITIZED_SIZE(16)], part[32];
	int64_t all = 0;

	for (size_t i = 0; i < session->nthreads; i++) {
		const struct thread_account *thread = &session->threads[i];

		all += io_bytes(thread, op);
		if (!most || io_bytes(thread, op) > io_bytes(most, op))
			most = thread;
	}
	if (!all)
		return;
	text_sanitize(name, sizeof(name), most->comm, strnlen(most->comm, sizeof(most->comm)));
	text_percent_sign(part, sizeof(part), share_of(io_bytes(most, op), all));
	text_appendf(text, TEXT, ", by %s (%s)", most->tid ? name : most->group, part);
}

static void entry(struct lines *lines, const struct session *session, const struct block_row *row,
		  size_t max)
{
	char text[TEXT], mean[32], all[32];

	text_bytes(mean, sizeof(mean), row->count ? row->bytes / row->count : 0);
	text_bytes(all, sizeof(all), row->bytes);
	snprintf(text, sizeof(text), "%s%s %s %" PRId64, row->device,
		 row->target ? "" : ", others:", block_op_name(row->op), row->count);
	if (row->bytes)
		text_appendf(text, sizeof(text), " x %s", mean);
	append_delay(text, "queue", &row->queue);
	append_delay(text, "device", &row->device_lat);
	if (row->target)
		append_submitter(text, session, row->op);
	lines_label(lines, lines->n ? "" : "disk", text, max < 2 ? max : 2);
}

void text_block(struct lines *lines, const struct session *session, size_t max)
{
	struct lines entries = {0};
	int n = 0;

	for (size_t i = 0; i < session->nblock && n < ENTRIES && entries.n < max; i++) {
		const struct block_row *row = &session->block[i];

		if (share(session, row) < (row->target ? MATTERS : OTHERS_MATTER))
			continue;
		entry(&entries, session, row, max - entries.n);
		n++;
	}
	lines_move(lines, &entries);
}

static void append_times(char *row, const struct block_delay *delay)
{
	const int64_t times[] = {
		block_mean_ns(delay),
		block_quantile_ns(delay, 0.50),
		block_quantile_ns(delay, 0.99),
		delay->count ? delay->max_ns : UNKNOWN_NS,
	};
	char time[32];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		text_duration(time, sizeof(time), times[i]);
		text_appendf(row, TEXT, " %9s", times[i] == UNKNOWN_NS ? "-" : time);
	}
}

void text_block_table(struct lines *lines, const struct session *session)
{
	struct lines table = {.wide = true};
	char text[TEXT], bytes[32];

	if (!session->nblock)
		return;
	lines_addf(&table, "requests to block devices: count and bytes at the issue, then mean, "
			   "median, 99th percentile and longest");
	lines_addf(&table, "  %-12s %-7s %-6s %9s %10s %s %s", "device", "op", "by", "requests",
		   "bytes", "  in queue (mean, p50, p99, max)       ",
		   "  in device (mean, p50, p99, max)");
	for (size_t i = 0; i < session->nblock; i++) {
		const struct block_row *row = &session->block[i];

		text_bytes(bytes, sizeof(bytes), row->bytes);
		snprintf(text, sizeof(text), "  %-12s %-7s %-6s %9" PRId64 " %10s", row->device,
			 block_op_name(row->op), row->target ? "target" : "other", row->count,
			 bytes);
		append_times(text, &row->queue);
		append_times(text, &row->device_lat);
		lines_addf(&table, "%s", text);
	}
	lines_move(lines, &table);
}
