/* SPDX-License-Identifier: GPL-2.0-only */
/* Rings of perf records: reading, merging, losses. The records are written here as the kernel does. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "probe/rungs/perf_merge.h"

#define RING 16384

/* Ids and offsets as on a kernel that has shifted them all. */
static struct event_formats formats = {
	.of =
		{
			[EVENT_SWITCH] = {.id = 301,
					  .size = 64,
					  .offset = {28, 36, 56, 12},
					  .field_size = {4, 8, 4, 16}},
			[EVENT_WAKING] = {.id = 302, .size = 32, .offset = {28}, .field_size = {4}},
			[EVENT_WAKEUP] = {.id = 303, .size = 32, .offset = {28}, .field_size = {4}},
			[EVENT_WAKEUP_NEW] = {.id = -1},
			[EVENT_NEWTASK] = {.id = -1},
			[EVENT_EXEC] = {.id = -1},
			[EVENT_EXIT] =
				{.id = 305, .size = 20, .offset = {16, 12}, .field_size = {4, 4}},
			[EVENT_IRQ_ENTRY] = {.id = -1},
			[EVENT_IRQ_EXIT] = {.id = -1},
			[EVENT_SOFTIRQ_ENTRY] = {.id = -1},
			[EVENT_SOFTIRQ_EXIT] = {.id = -1},
			[EVENT_TIMER_ENTRY] = {.id = -1},
			[EVENT_TIMER_EXIT] = {.id = -1},
		},
};

struct ring {
	char data[RING];
	char scratch[PERF_RECORD_MAX];
	uint64_t head, tail;
	struct event_source source;
};

static void set_up(struct ring *ring, int cpu, uint64_t start)
{
	memset(ring, 0, sizeof(*ring));
	ring->head = ring->tail = start;
	ring->source.cpu = (__u16)cpu;
	ring->source.ring = (struct perf_ring){
		.data = ring->data, .size = RING, .position = start, .scratch = ring->scratch};
}

static void put_bytes(struct ring *ring, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ring->data[(ring->head++) & (RING - 1)] = ((const char *)bytes)[i];
}

static void put_sample(struct ring *ring, uint64_t time_ns, const uint64_t *chain, uint64_t nchain,
		       const void *raw, uint32_t size)
{
	uint32_t padded = (size + 4 + 7) / 8 * 8 - 4;
	struct perf_event_header header = {
		.type = PERF_RECORD_SAMPLE,
		.size = (uint16_t)(8 + 8 + (chain ? 8 + 8 * nchain : 0) + 4 + padded)};
	char zeroes[8] = {0};

	put_bytes(ring, &header, 8);
	put_bytes(ring, &time_ns, 8);
	if (chain) {
		put_bytes(ring, &nchain, 8);
		put_bytes(ring, chain, 8 * nchain);
	}
	put_bytes(ring, &padded, 4);
	put_bytes(ring, raw, size);
	put_bytes(ring, zeroes, padded - size);
}

static void start_raw(char raw[80], uint16_t type, uint8_t flags, uint32_t current)
{
	memset(raw, 0, 80);
	memcpy(raw, &type, 2);
	raw[2] = (char)flags;
	memcpy(raw + 4, &current, 4);
}

static void put_switch(struct ring *ring, uint64_t time_ns, uint32_t prev, uint64_t state,
		       uint32_t next)
{
	char raw[80];

	start_raw(raw, 301, 0, prev);
	memcpy(raw + 12, "worker", 6);
	memcpy(raw + 28, &prev, 4);
	memcpy(raw + 36, &state, 8);
	memcpy(raw + 56, &next, 4);
	put_sample(ring, time_ns, NULL, 0, raw, 64);
}

static void put_waking(struct ring *ring, uint64_t time_ns, uint32_t tid, uint32_t current,
		       uint8_t flags)
{
	char raw[80];

	start_raw(raw, 302, flags, current);
	memcpy(raw + 28, &tid, 4);
	put_sample(ring, time_ns, NULL, 0, raw, 32);
}

static void put_lost(struct ring *ring, uint64_t count)
{
	struct perf_event_header header = {.type = PERF_RECORD_LOST, .size = 24};
	uint64_t id = 77;

	put_bytes(ring, &header, 8);
	put_bytes(ring, &id, 8);
	put_bytes(ring, &count, 8);
}

static struct ring a, b;
static struct event_source *sources[] = {&a.source, &b.source};
static struct event_merge merge;

static int set_up_two(void **state)
{
	(void)state;
	/* so that the first record already wraps around */
	set_up(&a, 0, 3 * RING - 24);
	set_up(&b, 5, 40);
	merge = (struct event_merge){.formats = &formats, .sources = sources, .n = 2};
	return 0;
}

static void set_heads(void)
{
	merge_set_head(&a.source, a.head);
	merge_set_head(&b.source, b.head);
}

static void test_switch_is_decoded_across_the_end_of_the_ring(void **state)
{
	const struct trace_event *event;

	(void)state;
	put_switch(&a, 1000, 4711, 0x101, 815);
	set_heads();
	event = merge_next(&merge, UINT64_MAX);
	assert_non_null(event);
	assert_int_equal(event->kind, EVENT_SWITCH);
	assert_int_equal(event->time_ns, 1000);
	assert_int_equal(event->cpu, 0);
	assert_int_equal(event->tid, 4711);
	assert_int_equal(event->next, 815);
	assert_int_equal(event->state, 0x101);
	assert_string_equal(event->comm, "worker");
	assert_null(merge_next(&merge, UINT64_MAX));
	assert_int_equal(a.source.ring.position, a.head);
	assert_int_equal(merge.damaged, 0);
}

static void test_waker_and_its_context_are_decoded(void **state)
{
	const struct trace_event *event;

	(void)state;
	put_waking(&b, 7, 4711, 99, EVENT_IN_IRQ | 0x01);
	set_heads();
	event = merge_next(&merge, UINT64_MAX);
	assert_int_equal(event->kind, EVENT_WAKING);
	assert_int_equal(event->cpu, 5);
	assert_int_equal(event->tid, 4711);
	assert_int_equal(event->current, 99);
	assert_true(event->flags & EVENT_IN_IRQ);
}

static void test_name_at_a_place_in_the_record(void **state)
{
	const struct trace_event *event;
	uint32_t place = 7u << 16 | 20, tid = 12;
	char raw[80];

	(void)state;
	start_raw(raw, 305, 0, 12);
	memcpy(raw + 12, &place, 4);
	memcpy(raw + 16, &tid, 4);
	memcpy(raw + 20, "leaves", 7);
	put_sample(&a, 1, NULL, 0, raw, 27);
	set_heads();
	event = merge_next(&merge, UINT64_MAX);
	assert_int_equal(event->kind, EVENT_EXIT);
	assert_string_equal(event->comm, "leaves");
}

static void test_name_outside_of_the_record_is_empty(void **state)
{
	const struct trace_event *event;
	uint32_t place = 16u << 16 | 60000;
	char raw[80];

	(void)state;
	start_raw(raw, 305, 0, 12);
	memcpy(raw + 12, &place, 4);
	put_sample(&a, 1, NULL, 0, raw, 20);
	set_heads();
	event = merge_next(&merge, UINT64_MAX);
	assert_int_equal(event->kind, EVENT_EXIT);
	assert_string_equal(event->comm, "");
}

static void test_events_of_all_cpus_come_in_the_order_of_time(void **state)
{
	static const uint64_t expected[] = {10, 20, 25, 30, 31, 40};
	const struct trace_event *event;

	(void)state;
	put_waking(&a, 10, 1, 2, 0);
	put_waking(&a, 30, 1, 2, 0);
	put_waking(&a, 40, 1, 2, 0);
	put_waking(&b, 20, 1, 2, 0);
	put_waking(&b, 25, 1, 2, 0);
	put_waking(&b, 31, 1, 2, 0);
	set_heads();
	for (size_t i = 0; i < 6; i++) {
		event = merge_next(&merge, UINT64_MAX);
		assert_non_null(event);
		assert_int_equal(event->time_ns, expected[i]);
	}
	assert_null(merge_next(&merge, UINT64_MAX));
	assert_int_equal(merge.events, 6);
}

static void test_events_after_the_horizon_wait(void **state)
{
	(void)state;
	put_waking(&a, 10, 1, 2, 0);
	put_waking(&a, 30, 1, 2, 0);
	set_heads();
	assert_int_equal(merge_next(&merge, 20)->time_ns, 10);
	assert_null(merge_next(&merge, 20));
	/* what another CPU wrote meanwhile is older and comes first */
	put_waking(&b, 25, 1, 2, 0);
	set_heads();
	assert_int_equal(merge_next(&merge, 50)->time_ns, 25);
	assert_int_equal(merge_next(&merge, 50)->time_ns, 30);
}

static void test_lost_lies_between_the_records_around_it(void **state)
{
	const struct trace_event *event;

	(void)state;
	put_waking(&a, 10, 1, 2, 0);
	put_lost(&a, 1234);
	put_waking(&a, 90, 1, 2, 0);
	put_waking(&b, 50, 1, 2, 0);
	set_heads();
	assert_int_equal(merge_next(&merge, UINT64_MAX)->time_ns, 10);
	event = merge_next(&merge, UINT64_MAX);
	assert_int_equal(event->kind, EVENT_LOST);
	assert_int_equal(event->time_ns, 10);
	assert_int_equal(event->until_ns, 90);
	assert_int_equal(event->tid, 1234);
	/* the event of another CPU in the middle of the loss comes after it is known */
	assert_int_equal(merge_next(&merge, UINT64_MAX)->time_ns, 50);
	assert_int_equal(merge_next(&merge, UINT64_MAX)->time_ns, 90);
}

static void test_full_ring_counts_as_lost_before_the_kernel_says_so(void **state)
{
	const struct trace_event *event;
	uint64_t last = 0;

	(void)state;
	while (a.head - a.tail < RING - 200)
		put_waking(&a, ++last, 1, 2, 0);
	put_waking(&b, last + 5, 1, 2, 0);
	set_heads();
	for (uint64_t i = 1; i <= last; i++)
		assert_int_equal(merge_next(&merge, UINT64_MAX)->time_ns, i);
	event = merge_next(&merge, UINT64_MAX);
	assert_int_equal(event->kind, EVENT_LOST);
	assert_int_equal(event->time_ns, last);
	assert_int_equal(event->until_ns, MERGE_UNTIL_READ);
	assert_int_equal(merge_next(&merge, UINT64_MAX)->time_ns, last + 5);
	assert_null(merge_next(&merge, UINT64_MAX));
}

static void test_roomy_ring_has_lost_nothing(void **state)
{
	uint64_t last = 0;

	(void)state;
	while (a.head - a.tail < RING / 2)
		put_waking(&a, ++last, 1, 2, 0);
	set_heads();
	for (uint64_t i = 1; i <= last; i++)
		assert_int_equal(merge_next(&merge, UINT64_MAX)->kind, EVENT_WAKING);
	assert_null(merge_next(&merge, UINT64_MAX));
}

static void test_callchain_gives_the_kernels_part(void **state)
{
	const uint64_t chain[] = {PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020,
				  PERF_CONTEXT_USER, 0x401000};
	const struct trace_event *event;
	char raw[80];
	uint32_t prev = 4711;

	(void)state;
	a.source.stacks = true;
	start_raw(raw, 301, 0, prev);
	memcpy(raw + 28, &prev, 4);
	put_sample(&a, 5, chain, 5, raw, 64);
	set_heads();
	event = merge_next(&merge, UINT64_MAX);
	assert_int_equal(event->kind, EVENT_STACK);
	assert_int_equal(event->tid, 4711);
	assert_int_equal(event->nframes, 2);
	assert_int_equal(event->frames[0], 0xffffffff81000010);
	assert_int_equal(event->frames[1], 0xffffffff81000020);
}

static void test_lost_callchains_lose_no_time(void **state)
{
	(void)state;
	a.source.stacks = true;
	put_lost(&a, 3);
	set_heads();
	assert_null(merge_next(&merge, UINT64_MAX));
	assert_int_equal(merge.stacks_lost, 3);
}

static void test_foreign_and_short_records_are_left_out(void **state)
{
	struct perf_event_header other = {.type = PERF_RECORD_COMM, .size = 16};
	char raw[80];

	(void)state;
	put_bytes(&b, &other, 8);
	put_bytes(&b, "12345678", 8);
	start_raw(raw, 999, 0, 1);
	put_sample(&b, 1, NULL, 0, raw, 64);
	start_raw(raw, 301, 0, 1);
	put_sample(&b, 2, NULL, 0, raw, 20);
	put_waking(&b, 3, 1, 2, 0);
	set_heads();
	assert_int_equal(merge_next(&merge, UINT64_MAX)->time_ns, 3);
	assert_int_equal(merge.damaged, 2);
}

static void test_header_that_cannot_be_ends_in_a_loss(void **state)
{
	struct perf_event_header broken = {.type = PERF_RECORD_SAMPLE, .size = 60000};

	(void)state;
	put_waking(&b, 3, 1, 2, 0);
	put_bytes(&b, &broken, 8);
	set_heads();
	assert_int_equal(merge_next(&merge, UINT64_MAX)->time_ns, 3);
	assert_int_equal(merge_next(&merge, UINT64_MAX)->kind, EVENT_LOST);
	assert_int_equal(b.source.ring.position, b.head);
	assert_int_equal(merge.damaged, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_switch_is_decoded_across_the_end_of_the_ring,
				       set_up_two),
		cmocka_unit_test_setup(test_waker_and_its_context_are_decoded, set_up_two),
		cmocka_unit_test_setup(test_name_at_a_place_in_the_record, set_up_two),
		cmocka_unit_test_setup(test_name_outside_of_the_record_is_empty, set_up_two),
		cmocka_unit_test_setup(test_events_of_all_cpus_come_in_the_order_of_time,
				       set_up_two),
		cmocka_unit_test_setup(test_events_after_the_horizon_wait, set_up_two),
		cmocka_unit_test_setup(test_lost_lies_between_the_records_around_it, set_up_two),
		cmocka_unit_test_setup(test_full_ring_counts_as_lost_before_the_kernel_says_so,
				       set_up_two),
		cmocka_unit_test_setup(test_roomy_ring_has_lost_nothing, set_up_two),
		cmocka_unit_test_setup(test_callchain_gives_the_kernels_part, set_up_two),
		cmocka_unit_test_setup(test_lost_callchains_lose_no_time, set_up_two),
		cmocka_unit_test_setup(test_foreign_and_short_records_are_left_out, set_up_two),
		cmocka_unit_test_setup(test_header_that_cannot_be_ends_in_a_loss, set_up_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
