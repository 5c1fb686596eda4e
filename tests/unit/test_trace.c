/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of a trace in their order, from rows in any order; and what a damaged file may hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/trace.h"

#define PID 7

static struct session *make(void)
{
	struct session *session = malloc(sizeof(*session));

	assert_non_null(session);
	session_init(session);
	session->start_ns = 1000000;
	session->end_ns = 2000000;
	return session;
}

static void add_thread(struct session *session, pid_t tid, const char *comm)
{
	struct thread_account *account = session_add_thread(session);

	account->pid = PID;
	account->tid = tid;
	strcpy(account->comm, comm);
}

static void drop(struct session *session)
{
	session_free(session);
	free(session);
}

struct wanted {
	int64_t t_ns;
	enum trace_kind kind;
	uint32_t track, row;
};

static void expect(const struct session *session, const struct wanted *wanted, size_t n)
{
	struct trace_event event;
	struct trace trace;

	assert_int_equal(trace_make(&trace, session), 0);
	for (size_t i = 0; i < n; i++) {
		assert_true(trace_next(&trace, &event));
		if (event.t_ns != wanted[i].t_ns || event.kind != wanted[i].kind ||
		    event.track != wanted[i].track || event.row != wanted[i].row)
			fail_msg("event %zu: %lld kind %d track %u row %u", i,
				 (long long)event.t_ns, (int)event.kind, event.track, event.row);
	}
	assert_false(trace_next(&trace, &event));
	trace_free(&trace);
}

#define EXPECT(session, wanted) expect(session, wanted, sizeof(wanted) / sizeof((wanted)[0]))

/* Threads are numbered by their ids; one that only the timeline knows is among them. */
static void states_and_wakeups(void **state)
{
	static const struct timeline_slice slices[] = {
		{.pid = PID, .tid = 9, .start_ns = 60, .ns = 10, .state = SLICE_ONCPU},
		{.pid = PID,
		 .tid = 9,
		 .start_ns = 0,
		 .ns = 50,
		 .state = SLICE_OFF_OTHER,
		 .waker_kind = WAKER_THREAD,
		 .waker = 7},
		{.pid = PID, .tid = 9, .start_ns = 50, .ns = 10, .state = SLICE_RUNQ_WAKE},
		{.pid = PID, .tid = 7, .start_ns = 0, .ns = 70, .state = SLICE_ONCPU},
		{.pid = PID, .tid = 9, .start_ns = 69, .ns = 5}, /* overlaps */
	};
	static const struct wanted wanted[] = {
		{0, TRACE_BEGIN, 0, 3},	 {0, TRACE_BEGIN, 1, 1},  {50, TRACE_END, 1, 1},
		{50, TRACE_WAKES, 0, 2}, {50, TRACE_BEGIN, 1, 2}, {60, TRACE_END, 1, 2},
		{60, TRACE_BEGIN, 1, 0}, {70, TRACE_END, 0, 3},	  {70, TRACE_END, 1, 0},
	};
	struct session *session = make();

	(void)state;
	add_thread(session, 7, "main");
	for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++)
		timeline_add_slice(&session->timeline, &slices[i]);
	EXPECT(session, wanted);
	drop(session);
}

static void calls(void **state)
{
	static const struct timeline_call rows[] = {
		{.pid = PID, .tid = 7, .start_ns = 20, .ns = 5, .kind = 5},
		{.pid = PID, .tid = 8, .start_ns = 10, .ns = 30, .kind = 0},
		{.pid = PID, .tid = 7, .start_ns = 10, .ns = 10, .kind = 7},
		{.pid = PID, .tid = 7, .start_ns = 24, .ns = 0, .kind = 5}, /* overlaps */
		{.pid = PID, .tid = 7, .start_ns = 25, .ns = 0, .kind = 5},
	};
	static const struct wanted wanted[] = {
		{10, TRACE_CALL_BEGIN, 0, 2}, {10, TRACE_CALL_BEGIN, 1, 1},
		{20, TRACE_CALL_END, 0, 2},   {20, TRACE_CALL_BEGIN, 0, 0},
		{25, TRACE_CALL_END, 0, 0},   {25, TRACE_CALL_BEGIN, 0, 4},
		{25, TRACE_CALL_END, 0, 4},   {40, TRACE_CALL_END, 1, 1},
	};
	struct session *session = make();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		timeline_add_call(&session->timeline, &rows[i]);
	EXPECT(session, wanted);
	drop(session);
}

static void add_request(struct session *session, const char *device, int64_t queue_ns,
			int64_t issue_ns, int64_t device_ns)
{
	struct timeline_request request = {.issue_ns = issue_ns,
					   .queue_ns = queue_ns,
					   .device_ns = device_ns,
					   .pid = PID,
					   .tid = 7};

	strcpy(request.device, device);
	timeline_add_request(&session->timeline, &request);
}

/* Two that overlap take two lanes, a third the one that is free; another device has its own. */
static void lanes(void **state)
{
	static const struct wanted wanted[] = {
		{0, TRACE_REQUEST_BEGIN, 0, 1},	 {10, TRACE_DEVICE_BEGIN, 0, 1},
		{10, TRACE_REQUEST_BEGIN, 1, 0}, {10, TRACE_DEVICE_BEGIN, 1, 0},
		{20, TRACE_REQUEST_BEGIN, 2, 3}, {25, TRACE_DEVICE_BEGIN, 2, 3},
		{26, TRACE_DEVICE_END, 2, 3},	 {26, TRACE_REQUEST_END, 2, 3},
		{30, TRACE_DEVICE_END, 0, 1},	 {30, TRACE_REQUEST_END, 0, 1},
		{30, TRACE_REQUEST_BEGIN, 0, 2}, {31, TRACE_DEVICE_BEGIN, 0, 2},
		{32, TRACE_DEVICE_END, 0, 2},	 {32, TRACE_REQUEST_END, 0, 2},
		{40, TRACE_DEVICE_END, 1, 0},	 {40, TRACE_REQUEST_END, 1, 0},
	};
	struct session *session = make();
	struct trace trace;

	(void)state;
	add_request(session, "nvme0n1", UNKNOWN_NS, 10, 30);
	add_request(session, "nvme0n1", 10, 10, 20);
	add_request(session, "nvme0n1", 1, 31, 1);
	add_request(session, "sda", 5, 25, 1);
	EXPECT(session, wanted);
	assert_int_equal(trace_make(&trace, session), 0);
	assert_int_equal(trace.nlanes, 3);
	assert_string_equal(trace.lanes[0], "nvme0n1");
	assert_string_equal(trace.lanes[1], "nvme0n1");
	assert_string_equal(trace.lanes[2], "sda");
	trace_free(&trace);
	drop(session);
}

#define MS 1000000

/*
 * Only a sleep for a disk just before the fault's end is its wait: the second fault needed none, the
 * third came long after its sleep, and the fourth slept for something else.
 */
static void waits_of_faults(void **state)
{
	static const struct timeline_slice slices[] = {
		{.pid = PID, .tid = 7, .start_ns = 0, .ns = 4 * MS, .state = SLICE_OFF_DISK},
		{.pid = PID, .tid = 7, .start_ns = 4 * MS, .ns = MS, .state = SLICE_RUNQ_WAKE},
		{.pid = PID, .tid = 7, .start_ns = 5 * MS, .ns = MS, .state = SLICE_ONCPU},
		{.pid = PID, .tid = 7, .start_ns = 6 * MS, .ns = 2 * MS, .state = SLICE_OFF_DISK},
		{.pid = PID, .tid = 7, .start_ns = 8 * MS, .ns = MS, .state = SLICE_ONCPU},
		{.pid = PID, .tid = 7, .start_ns = 9 * MS, .ns = MS, .state = SLICE_OFF_OTHER},
		{.pid = PID, .tid = 7, .start_ns = 10 * MS, .ns = MS, .state = SLICE_ONCPU},
	};
	static const struct {
		int64_t t_ns, wait_ns;
	} faults[] = {
		{5 * MS + 3000, 4 * MS},
		{5 * MS + 9000, UNKNOWN_NS},
		{8 * MS + 500000, UNKNOWN_NS},
		{10 * MS + 3000, UNKNOWN_NS},
	};
	struct session *session = make();
	struct trace_event event;
	struct trace trace;
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(slices) / sizeof(slices[0]); i++)
		timeline_add_slice(&session->timeline, &slices[i]);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct timeline_fault fault = {.start_ns = faults[i].t_ns,
					       .count = 1,
					       .pid = PID,
					       .tid = 7,
					       .major = true};

		timeline_add_fault(&session->timeline, &fault);
	}
	assert_int_equal(trace_make(&trace, session), 0);
	while (trace_next(&trace, &event)) {
		if (event.kind != TRACE_FAULT)
			continue;
		assert_int_equal(event.t_ns, faults[found].t_ns);
		assert_int_equal(event.wait_ns, faults[found++].wait_ns);
	}
	assert_int_equal(found, 4);
	trace_free(&trace);
	drop(session);
}

/* Rows at random: what comes out is in order and in balance, and nobody is forgotten. */
static void any_rows(void **state)
{
	(void)state;
	for (int seed = 0; seed < 20; seed++) {
		struct session *session = make();
		int open[3][64] = {{0}};
		struct trace_event event;
		struct trace trace;
		int64_t last = 0;

		srand((unsigned int)seed);
		for (int i = 0; i < 500; i++) {
			struct timeline_slice slice = {.pid = PID,
						       .tid = 1 + rand() % 9,
						       .start_ns = rand() % 1000,
						       .ns = rand() % 30,
						       .state = rand() % SLICE_STATES,
						       .waker_kind = rand() % WAKER_KINDS,
						       .waker = (uint32_t)(rand() % 9)};
			struct timeline_call call = {.pid = PID,
						     .tid = 1 + rand() % 9,
						     .start_ns = rand() % 1000,
						     .ns = rand() % 30};

			timeline_add_slice(&session->timeline, &slice);
			timeline_add_call(&session->timeline, &call);
		}
		for (int i = 0; i < 60; i++)
			add_request(session, rand() % 2 ? "a" : "b", rand() % 10, 10 + rand() % 90,
				    rand() % 99);
		assert_int_equal(trace_make(&trace, session), 0);
		assert_true(trace.nthreads <= 9 && trace.nlanes <= 60);
		while (trace_next(&trace, &event)) {
			assert_true(event.t_ns >= last);
			last = event.t_ns;
			if (event.kind == TRACE_BEGIN || event.kind == TRACE_END)
				open[0][event.track] += event.kind == TRACE_BEGIN ? 1 : -1;
			else if (event.kind == TRACE_CALL_BEGIN || event.kind == TRACE_CALL_END)
				open[1][event.track] += event.kind == TRACE_CALL_BEGIN ? 1 : -1;
			else if (event.kind == TRACE_REQUEST_BEGIN ||
				 event.kind == TRACE_REQUEST_END)
				open[2][event.track] += event.kind == TRACE_REQUEST_BEGIN ? 1 : -1;
			for (int kind = 0; kind < 3; kind++)
				assert_in_range(open[kind][event.track], 0, 1);
		}
		for (int kind = 0; kind < 3; kind++)
			for (int track = 0; track < 64; track++)
				assert_int_equal(open[kind][track], 0);
		trace_free(&trace);
		drop(session);
	}
}

static void every_name(void **state)
{
	unsigned int n = 0;

	(void)state;
	while (trace_name(n))
		n++;
	assert_int_equal(n, SLICE_STATES + WAIT_CLASSES + CUDA_KINDS + BLOCK_OPS + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_and_wakeups),
		cmocka_unit_test(calls),
		cmocka_unit_test(lanes),
		cmocka_unit_test(waits_of_faults),
		cmocka_unit_test(any_rows),
		cmocka_unit_test(every_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
