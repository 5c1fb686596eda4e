/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Written-out events of the block layer against accounts worked by hand. The window begins at
 * 1000 ns; the submitter is thread 77 in slot 5, or nobody traced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/types.h>
#include <stdbool.h>
#include <string.h>

#include "block.h"

#define BEGIN 1000
#define DEV   0x10300000u
#define SLOT  5
#define TID   77
#define KEPT  16

static struct {
	struct tt_block_key key;
	struct tt_block_request request;
	bool used;
} kept[KEPT];

static struct tt_block_row rows[TT_BLOCK_OPS][2];
static struct tt_block_io slot_io[SLOT + 1];
static struct tt_block_losses losses;

/* What the timeline is told of requests. */
static struct told {
	__u64 requests, bytes, device_ns, queued, queue_ns;
} told[TT_BLOCK_OPS][2];

static void tell(const struct tt_block_event *e, const struct tt_block_request *r, __u64 now,
		 __u64 begin);

#define TT_KEEP_REQUEST tell

static struct tt_block_request *block_find(const struct tt_block_key *key)
{
	for (int i = 0; i < KEPT; i++) {
		if (kept[i].used && !memcmp(&kept[i].key, key, sizeof(*key)))
			return &kept[i].request;
	}
	return NULL;
}

static void block_put(const struct tt_block_key *key, const struct tt_block_request *request)
{
	struct tt_block_request *there = block_find(key), copy = *request;

	for (int i = 0; i < KEPT && !there; i++) {
		if (kept[i].used)
			continue;
		kept[i].used = true;
		kept[i].key = *key;
		there = &kept[i].request;
	}
	assert_non_null(there);
	*there = copy;
}

static void block_drop(const struct tt_block_key *key)
{
	for (int i = 0; i < KEPT; i++) {
		if (kept[i].used && !memcmp(&kept[i].key, key, sizeof(*key))) {
			/* what the kernel's map hands out again at once */
			memset(&kept[i], 0xee, sizeof(kept[i]));
			kept[i].used = false;
		}
	}
}

static struct tt_block_row *block_row(__u32 dev, __u32 op, bool target)
{
	assert_int_equal(dev, DEV);
	assert_in_range(op, 0, TT_BLOCK_OPS - 1);
	return &rows[op][target];
}

static struct tt_block_io *block_io(__u32 slot)
{
	assert_in_range(slot, 1, SLOT);
	return &slot_io[slot];
}

static struct tt_block_losses *block_losses(void)
{
	return &losses;
}

#include "block_state.h"

static void tell(const struct tt_block_event *e, const struct tt_block_request *r, __u64 now,
		 __u64 begin)
{
	struct told *t = &told[e->op][r->slot != 0];

	assert_true(!r->slot || r->tgid == TID + 1000);
	t->requests++;
	t->bytes += r->bytes;
	t->device_ns += tt_block_since(r->t_issue_ns, now);
	if (!tt_block_queued_inside(r, begin))
		return;
	t->queued++;
	t->queue_ns += tt_block_since(r->t_queue_ns, r->t_issue_ns);
}

static int clear(void **state)
{
	(void)state;
	memset(kept, 0, sizeof(kept));
	memset(rows, 0, sizeof(rows));
	memset(slot_io, 0, sizeof(slot_io));
	memset(&losses, 0, sizeof(losses));
	memset(told, 0, sizeof(told));
	return 0;
}

static struct tt_block_event event(const char *rwbs, __u64 sector, __u32 bytes)
{
	struct tt_block_event e = {.dev = DEV, .sector = sector, .bytes = bytes};

	tt_block_decode(&e, rwbs[0], rwbs[0] ? rwbs[1] : 0);
	return e;
}

/* The submitter is traced. */
static void queue(__u64 now, const char *rwbs, __u64 sector, __u32 bytes)
{
	struct tt_block_event e = event(rwbs, sector, bytes);

	tt_block_queued(&e, now, SLOT, TID, TID + 1000);
}

static void queue_other(__u64 now, const char *rwbs, __u64 sector, __u32 bytes)
{
	struct tt_block_event e = event(rwbs, sector, bytes);

	tt_block_queued(&e, now, 0, 300, 300);
}

static void issue(__u64 now, const char *rwbs, __u64 sector, __u32 bytes)
{
	struct tt_block_event e = event(rwbs, sector, bytes);

	tt_block_issued(&e, now, BEGIN);
}

static void complete(__u64 now, const char *rwbs, __u64 sector, __u32 bytes)
{
	struct tt_block_event e = event(rwbs, sector, bytes);

	tt_block_completed(&e, now, BEGIN);
}

static void requeue(const char *rwbs, __u64 sector, __u32 bytes)
{
	struct tt_block_event e = event(rwbs, sector, bytes);

	tt_block_requeued(&e);
}

static void front_merge(const char *rwbs, __u64 sector, __u32 bytes)
{
	struct tt_block_event e = event(rwbs, sector, bytes);

	tt_block_front_merged(&e);
}

static void merge_away(const char *rwbs, __u64 sector, __u32 bytes)
{
	struct tt_block_event e = event(rwbs, sector, bytes);

	tt_block_merged_away(&e);
}

static void expect_row(int op, bool target, __u64 count, __u64 bytes, __u64 queue_ns,
		       __u64 device_ns, __u64 delays)
{
	const struct tt_block_row *row = &rows[op][target];

	assert_int_equal(row->count, count);
	assert_int_equal(row->bytes, bytes);
	assert_int_equal(row->queue.sum_ns, queue_ns);
	assert_int_equal(row->device.sum_ns, device_ns);
	assert_int_equal(row->device.count, delays);
	/* of a request, all that its row was given */
	assert_int_equal(told[op][target].requests, delays);
	assert_int_equal(told[op][target].device_ns, device_ns);
	assert_int_equal(told[op][target].queued, row->queue.count);
	assert_int_equal(told[op][target].queue_ns, queue_ns);
	if (delays == count)
		assert_int_equal(told[op][target].bytes, bytes);
}

static void expect_nothing_else(__u64 unmatched)
{
	for (int i = 0; i < KEPT; i++)
		assert_false(kept[i].used);
	assert_int_equal(losses.unmatched, unmatched);
	assert_int_equal(losses.dropped, 0);
}

static void expect_untouched(int op, bool target)
{
	static const struct tt_block_row none;

	assert_memory_equal(&rows[op][target], &none, sizeof(none));
}

static void decodes_rwbs(void **state)
{
	static const struct {
		const char *rwbs;
		__u32 op;
		bool preflush;
	} table[] = {
		{"R", TT_BLOCK_READ, false},	 {"RA", TT_BLOCK_READ, false},
		{"RSM", TT_BLOCK_READ, false},	 {"W", TT_BLOCK_WRITE, false},
		{"WFS", TT_BLOCK_WRITE, false},	 {"FWFSM", TT_BLOCK_WRITE, true},
		{"FWS", TT_BLOCK_WRITE, true},	 {"FF", TT_BLOCK_FLUSH, false},
		{"F", TT_BLOCK_FLUSH, false},	 {"FS", TT_BLOCK_FLUSH, false},
		{"D", TT_BLOCK_DISCARD, false},	 {"DE", TT_BLOCK_DISCARD, false},
		{"DS", TT_BLOCK_DISCARD, false}, {"N", TT_BLOCK_OTHER, false},
		{"ZA", TT_BLOCK_OTHER, false},	 {"", TT_BLOCK_OTHER, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct tt_block_event e = event(table[i].rwbs, 1, 512);

		assert_int_equal(e.op, table[i].op);
		assert_int_equal(e.preflush, table[i].preflush);
	}
}

static void queue_and_device_time_are_apart(void **state)
{
	(void)state;
	queue(2000, "R", 64, 4096);
	issue(2030, "R", 64, 4096);
	complete(2730, "R", 64, 4096);
	queue(3000, "WS", 64, 512);
	issue(3700, "WS", 64, 512);
	complete(3711, "WS", 64, 512);
	expect_row(TT_BLOCK_READ, true, 1, 4096, 30, 700, 1);
	expect_row(TT_BLOCK_WRITE, true, 1, 512, 700, 11, 1);
	assert_int_equal(rows[TT_BLOCK_READ][1].queue.hist[0], 1);
	assert_int_equal(rows[TT_BLOCK_READ][1].device.hist[1], 1);
	assert_int_equal(rows[TT_BLOCK_READ][1].device.max_ns, 700);
	assert_int_equal(slot_io[SLOT].reads, 1);
	assert_int_equal(slot_io[SLOT].read_bytes, 4096);
	assert_int_equal(slot_io[SLOT].writes, 1);
	assert_int_equal(slot_io[SLOT].write_bytes, 512);
	assert_int_equal(slot_io[SLOT].queue_ns, 730);
	assert_int_equal(slot_io[SLOT].device_ns, 711);
	expect_nothing_else(0);
}

static void others_stay_apart(void **state)
{
	(void)state;
	queue_other(2000, "W", 8, 4096);
	issue(2001, "W", 8, 4096);
	complete(2004, "W", 8, 4096);
	expect_row(TT_BLOCK_WRITE, false, 1, 4096, 1, 3, 1);
	expect_untouched(TT_BLOCK_WRITE, true);
	assert_int_equal(slot_io[SLOT].writes, 0);
	expect_nothing_else(0);
}

/* Read and write of one sector, and a neighbour, under way at once. */
static void requests_do_not_mix(void **state)
{
	(void)state;
	queue(2000, "R", 8, 4096);
	queue(2000, "W", 8, 512);
	queue(2000, "R", 16, 1024);
	issue(2000, "W", 8, 512);
	issue(2000, "R", 16, 1024);
	issue(2000, "R", 8, 4096);
	complete(2007, "R", 8, 4096);
	complete(2019, "R", 16, 1024);
	complete(2100, "W", 8, 512);
	expect_row(TT_BLOCK_READ, true, 2, 5120, 0, 26, 2);
	expect_row(TT_BLOCK_WRITE, true, 1, 512, 0, 100, 1);
	expect_nothing_else(0);
}

static void parts_make_one_request(void **state)
{
	(void)state;
	queue(2000, "R", 100, 8192);
	issue(2010, "R", 100, 8192);
	complete(2110, "R", 100, 512);
	complete(2210, "R", 101, 3584);
	expect_row(TT_BLOCK_READ, true, 1, 8192, 0, 0, 0);
	complete(2310, "R", 108, 4096);
	expect_row(TT_BLOCK_READ, true, 1, 8192, 10, 300, 1);
	assert_int_equal(slot_io[SLOT].reads, 1);
	assert_int_equal(slot_io[SLOT].device_ns, 300);
	expect_nothing_else(0);
}

/* The rest of a request goes to the device a second time: one request, timed from the first issue. */
static void rest_is_issued_again(void **state)
{
	(void)state;
	queue(2000, "W", 100, 8192);
	issue(2010, "W", 100, 8192);
	complete(2110, "W", 100, 4096);
	requeue("W", 108, 4096);
	issue(2200, "W", 108, 4096);
	complete(2310, "W", 108, 4096);
	expect_row(TT_BLOCK_WRITE, true, 1, 8192, 10, 300, 1);
	assert_int_equal(slot_io[SLOT].writes, 1);
	assert_int_equal(slot_io[SLOT].write_bytes, 8192);
	expect_nothing_else(0);
}

static void requeued_waits_on(void **state)
{
	(void)state;
	queue(2000, "W", 100, 4096);
	issue(2010, "W", 100, 4096);
	requeue("W", 100, 4096);
	issue(2500, "W", 100, 4096);
	complete(2600, "W", 100, 4096);
	expect_row(TT_BLOCK_WRITE, true, 1, 4096, 500, 100, 1);
	expect_nothing_else(0);
}

/* Three bios of 4096 bytes: one in front of, one behind the first; they are that one request. */
static void merged_bios_belong_to_the_request(void **state)
{
	(void)state;
	queue(2000, "R", 108, 4096);
	front_merge("R", 100, 4096);
	issue(2050, "R", 100, 12288);
	complete(2090, "R", 100, 12288);
	expect_row(TT_BLOCK_READ, true, 1, 12288, 50, 40, 1);
	expect_nothing_else(0);
}

static void merged_request_is_gone(void **state)
{
	(void)state;
	queue(2000, "R", 100, 4096);
	queue_other(2020, "R", 108, 4096);
	merge_away("R", 108, 4096);
	issue(2050, "R", 100, 8192);
	complete(2090, "R", 100, 8192);
	expect_row(TT_BLOCK_READ, true, 1, 8192, 50, 40, 1);
	expect_untouched(TT_BLOCK_READ, false);
	expect_nothing_else(0);
}

static void front_merge_into_an_unknown_request(void **state)
{
	(void)state;
	front_merge("R", 100, 4096);
	expect_nothing_else(0);
}

/* As virtio and NVMe show an fsync: an empty write asks, another task issues, sector -1 ends it. */
static void flush_is_the_askers(void **state)
{
	(void)state;
	queue(2000, "FWS", 0, 0);
	issue(2012, "FF", 0, 0);
	complete(2100, "FF", ~0ULL, 0);
	complete(2101, "WS", 0, 0);
	expect_row(TT_BLOCK_FLUSH, true, 1, 0, 12, 88, 1);
	expect_untouched(TT_BLOCK_WRITE, true);
	expect_untouched(TT_BLOCK_WRITE, false);
	assert_int_equal(slot_io[SLOT].writes, 0);
	expect_nothing_else(0);
}

/* The second asker joins a flush not yet issued; the third comes too late and gets the next. */
static void askers_share_a_flush(void **state)
{
	(void)state;
	queue(2000, "FWS", 0, 0);
	queue_other(2005, "FWS", 0, 0);
	issue(2010, "FF", 0, 0);
	queue_other(2020, "FWS", 0, 0);
	complete(2100, "FF", ~0ULL, 0);
	complete(2101, "WS", 0, 0);
	complete(2101, "WS", 0, 0);
	issue(2110, "FF", 0, 0);
	complete(2150, "FF", ~0ULL, 0);
	complete(2151, "WS", 0, 0);
	expect_row(TT_BLOCK_FLUSH, true, 1, 0, 10, 90, 1);
	expect_row(TT_BLOCK_FLUSH, false, 1, 0, 90, 40, 1);
	expect_nothing_else(0);
}

/* One a hardware queue. Which one ends first cannot be told, nor does it change the sums. */
static void flushes_of_two_queues(void **state)
{
	(void)state;
	queue(2000, "FWS", 0, 0);
	issue(2000, "FF", 0, 0);
	queue(2000, "FWS", 0, 0);
	issue(2000, "FF", 0, 0);
	complete(2030, "FF", ~0ULL, 0);
	complete(2100, "FF", ~0ULL, 0);
	expect_row(TT_BLOCK_FLUSH, true, 2, 0, 0, 130, 2);
	expect_nothing_else(0);
}

/* A journal's commit: flush first, then the data; the write is completed once more when all is done. */
static void write_with_a_flush_before(void **state)
{
	(void)state;
	queue(2000, "FWFS", 64, 4096);
	issue(2003, "FF", 0, 0);
	complete(2050, "FF", ~0ULL, 0);
	issue(2060, "WFS", 64, 4096);
	complete(2090, "WFS", 64, 4096);
	complete(2091, "WFS", 64, 0);
	expect_row(TT_BLOCK_FLUSH, true, 1, 0, 3, 47, 1);
	expect_row(TT_BLOCK_WRITE, true, 1, 4096, 60, 30, 1);
	expect_nothing_else(0);
}

static void discard_and_other(void **state)
{
	(void)state;
	queue(2000, "D", 0, 1 << 20);
	issue(2001, "D", 0, 1 << 20);
	complete(2011, "D", 0, 1 << 20);
	queue(2000, "N", 512, 65536);
	issue(2002, "N", 512, 65536);
	complete(2022, "N", 512, 65536);
	/* passed through: no allocation seen, 36 bytes, which are no sector */
	issue(2000, "N", 0, 36);
	complete(2005, "N", 0, 0);
	expect_row(TT_BLOCK_DISCARD, true, 1, 1 << 20, 1, 10, 1);
	expect_row(TT_BLOCK_OTHER, true, 1, 65536, 2, 20, 1);
	expect_row(TT_BLOCK_OTHER, false, 1, 36, 0, 5, 1);
	assert_int_equal(rows[TT_BLOCK_OTHER][0].queue.count, 0);
	assert_int_equal(slot_io[SLOT].reads + slot_io[SLOT].writes, 0);
	expect_nothing_else(0);
}

static void requests_across_the_begin(void **state)
{
	(void)state;
	queue(900, "R", 8, 4096);
	issue(1000, "R", 8, 4096);
	complete(1050, "R", 8, 4096);
	expect_row(TT_BLOCK_READ, true, 1, 4096, 0, 50, 1);
	assert_int_equal(rows[TT_BLOCK_READ][1].queue.count, 0);
	assert_int_equal(slot_io[SLOT].queue_ns, 0);

	queue(900, "R", 16, 4096);
	issue(999, "R", 16, 4096);
	complete(1050, "R", 16, 4096);
	queue(900, "R", 24, 4096);
	issue(950, "R", 24, 4096);
	complete(999, "R", 24, 4096);
	expect_row(TT_BLOCK_READ, true, 1, 4096, 0, 50, 1);
	assert_int_equal(slot_io[SLOT].reads, 1);
	expect_nothing_else(0);
}

static void completion_without_issue_is_counted(void **state)
{
	(void)state;
	complete(999, "R", 8, 4096);
	assert_int_equal(losses.unmatched, 0);
	complete(2000, "R", 8, 4096);
	complete(2000, "FF", ~0ULL, 0);
	complete(2000, "N", 0, 0);
	complete(2000, "W", 0, 0);
	expect_untouched(TT_BLOCK_READ, false);
	expect_nothing_else(2);
}

/* Its completion was missed, and the sector is read again: nothing of the old request goes on. */
static void missed_completion_spoils_nothing(void **state)
{
	(void)state;
	queue(2000, "R", 8, 4096);
	issue(2001, "R", 8, 4096);
	queue(900000, "R", 8, 512);
	issue(900010, "R", 8, 512);
	complete(900030, "R", 8, 512);
	expect_row(TT_BLOCK_READ, true, 2, 4608, 10, 20, 1);
	expect_nothing_else(0);
}

/* The slot has another owner by the time the request of its last one is issued, or completes. */
static void slot_passes_on(void **state)
{
	(void)state;
	queue(2000, "R", 8, 4096);
	issue(2001, "R", 8, 4096);
	queue(2000, "R", 16, 4096);
	memset(&slot_io[SLOT], 0, sizeof(slot_io[SLOT]));
	slot_io[SLOT].tid = TID + 1;
	issue(2002, "R", 16, 4096);
	complete(2100, "R", 8, 4096);
	complete(2100, "R", 16, 4096);
	expect_row(TT_BLOCK_READ, true, 2, 8192, 3, 197, 2);
	assert_int_equal(slot_io[SLOT].reads, 0);
	assert_int_equal(slot_io[SLOT].device_ns, 0);
	expect_nothing_else(0);
}

/* Clocks of two CPUs. */
static void no_time_is_negative(void **state)
{
	(void)state;
	queue(2010, "R", 8, 4096);
	issue(2005, "R", 8, 4096);
	complete(2001, "R", 8, 4096);
	expect_row(TT_BLOCK_READ, true, 1, 4096, 0, 0, 1);
	expect_nothing_else(0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, clear)
	const struct CMUnitTest tests[] = {
		TEST(decodes_rwbs),
		TEST(queue_and_device_time_are_apart),
		TEST(others_stay_apart),
		TEST(requests_do_not_mix),
		TEST(parts_make_one_request),
		TEST(rest_is_issued_again),
		TEST(requeued_waits_on),
		TEST(merged_bios_belong_to_the_request),
		TEST(merged_request_is_gone),
		TEST(front_merge_into_an_unknown_request),
		TEST(flush_is_the_askers),
		TEST(askers_share_a_flush),
		TEST(flushes_of_two_queues),
		TEST(write_with_a_flush_before),
		TEST(discard_and_other),
		TEST(requests_across_the_begin),
		TEST(completion_without_issue_is_counted),
		TEST(missed_completion_spoils_nothing),
		TEST(slot_passes_on),
		TEST(no_time_is_negative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
