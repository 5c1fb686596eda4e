/* SPDX-License-Identifier: GPL-2.0-only */
/* The pure parts of the GPU call probe: the table, specs, maps lines, sums, iterations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "cuda_abi.h"
#include "cuda.skel.h"
#include "probe/cuda/cuda_calls.h"
#include "probe/cuda/cuda_close.h"
#include "probe/cuda/cuda_iter_spec.h"
#include "probe/cuda/cuda_iterations.h"
#include "probe/cuda/cuda_target.h"

#define MS 1000000ULL

static void every_call_has_a_program(void **state)
{
	struct cuda *skel = cuda__open();
	size_t n;
	const struct cuda_call *calls = cuda_calls(&n);
	char name[32];

	(void)state;
	assert_non_null(skel);
	for (size_t i = 0; i < n; i++) {
		cuda_call_program(&calls[i], name, sizeof(name));
		if (!bpf_object__find_program_by_name(skel->obj, name))
			fail_msg("%s: no program %s", calls[i].symbol, name);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(calls[i].symbol, calls[k].symbol);
	}
	cuda__destroy(skel);
}

static const struct cuda_call *find_call(const char *symbol)
{
	size_t n;
	const struct cuda_call *calls = cuda_calls(&n);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(calls[i].symbol, symbol))
			return &calls[i];
	}
	fail_msg("no %s", symbol);
	return NULL;
}

/* Prototypes: "CUDA Driver API", sections Memory Management, Stream Management, Execution Control. */
static void calls_are_what_the_interface_says(void **state)
{
	static const struct {
		const char *symbol;
		enum tt_cuda_kind kind;
		int bytes;
	} facts[] = {
		{"cuStreamSynchronize_ptsz", TT_CUDA_STREAM_SYNC, 0},
		{"cuCtxSynchronize", TT_CUDA_CTX_SYNC, 0},
		{"cuEventSynchronize", TT_CUDA_EVENT_SYNC, 0},
		{"cuEventQuery", TT_CUDA_QUERY, 0},
		{"cuMemcpyDtoH_v2_ptds", TT_CUDA_COPY_SYNC, 3},
		{"cuMemcpyAtoH_v2", TT_CUDA_COPY_SYNC, 4},
		{"cuMemcpyPeer", TT_CUDA_COPY_SYNC, 5},
		{"cuMemcpyHtoDAsync_v2", TT_CUDA_COPY_ASYNC, 3},
		{"cuMemcpyPeerAsync_ptsz", TT_CUDA_COPY_ASYNC, 5},
		{"cuLaunchKernelEx_ptsz", TT_CUDA_LAUNCH, 0},
		{"cuGraphLaunch", TT_CUDA_GRAPH_LAUNCH, 0},
		{"cuStreamWaitEvent", TT_CUDA_OTHER, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const struct cuda_call *call = find_call(facts[i].symbol);

		assert_int_equal(call->kind, facts[i].kind);
		assert_int_equal(call->bytes_argument, facts[i].bytes);
	}
}

static void cookies_come_back(void **state)
{
	(void)state;
	for (__u32 kind = 0; kind < TT_CUDA_KINDS; kind++) {
		for (__u32 bytes = 0; bytes <= 5; bytes++) {
			__u64 cookie = TT_CUDA_COOKIE(kind, bytes);

			assert_int_equal(TT_CUDA_COOKIE_KIND(cookie), kind);
			assert_int_equal(TT_CUDA_COOKIE_BYTES(cookie), bytes);
		}
	}
}

static void iter_specs(void **state)
{
	static const struct {
		const char *text, *provider, *symbol, *library;
	} good[] = {
		{"infer", "", "infer", ""},
		{"infer@libx.so", "", "infer", "libx.so"},
		{"f@V1@/opt/a b/lib.so", "", "f@V1", "/opt/a b/lib.so"},
		{"usdt:prov:name", "prov", "name", ""},
		{"usdt:prov:name@libx", "prov", "name", "libx"},
		{"usdt", "", "usdt", ""},
	};
	static const char *const bad[] = {"",	    "@",       "@lib",	  "f@",	       "usdt:",
					  "usdt:a", "usdt::b", "usdt:a:", "usdt:a:@l", "usdt:@a:b"};
	char longer[300];
	struct iter_spec spec;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(iter_spec_parse(good[i].text, &spec), 0);
		assert_true(spec.given);
		assert_int_equal(spec.usdt, *good[i].provider != 0);
		assert_string_equal(spec.provider, good[i].provider);
		assert_string_equal(spec.symbol, good[i].symbol);
		assert_string_equal(spec.library, good[i].library);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (iter_spec_parse(bad[i], &spec) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
	}
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(iter_spec_parse(longer, &spec), -EINVAL);
}

static void library_names(void **state)
{
	static const struct {
		const char *path, *name;
		bool fits;
	} cases[] = {
		{"/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1.1", "libcuda.so", true},
		{"/usr/lib/libcuda.so.550.54.15", "libcuda.so", true},
		{"/usr/lib/libcuda.so", "libcuda.so", true},
		{"/x/libcuda.so.1 (deleted)", "libcuda.so", true},
		{"/x/libcuda.so (deleted)", "libcuda.so", true},
		{"/x/libcudart.so.12", "libcuda.so", false},
		{"/x/libcuda.so1", "libcuda.so", false},
		{"/libcuda.so/other", "libcuda.so", false},
		{"/bin/infer", "infer", true},
		{"/bin/infer-2", "infer", false},
		{"/bin/infer", "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (target_path_fits(cases[i].path, cases[i].name) != cases[i].fits)
			fail_msg("%s, %s", cases[i].path, cases[i].name);
	}
}

static void maps_lines(void **state)
{
	const char *path;
	char range[40];

	(void)state;
	assert_true(target_maps_line(
		"7f00aa-7f00bb r-xp 00001000 fd:01 1234        /a b/libcuda.so.1", range, &path));
	assert_string_equal(range, "7f00aa-7f00bb");
	assert_string_equal(path, "/a b/libcuda.so.1");
	assert_false(target_maps_line("7f00aa-7f00bb rw-p 00000000 00:00 0", range, &path));
	assert_false(
		target_maps_line("7f00aa-7f00bb rw-p 00000000 00:00 0   [heap]", range, &path));
	assert_false(target_maps_line("", range, &path));
	assert_false(target_maps_line("nonsense", range, &path));
}

/* Each bucket begins where the one before ends, and its bounds are at most an eighth apart. */
static void buckets_join(void **state)
{
	(void)state;
	for (__u32 i = 1; i < TT_STEP_BUCKETS - 1; i++) {
		__u64 from = cuda_step_bucket_ns(i), to = cuda_step_bucket_ns(i + 1);

		assert_int_equal(tt_step_bucket(from), i);
		assert_int_equal(tt_step_bucket(to - 1), i);
		assert_int_equal(tt_step_bucket(to), i + 1);
		assert_true(to - from <= from / 8);
	}
	assert_int_equal(tt_step_bucket(0), 0);
	assert_int_equal(tt_step_bucket(8191), 0);
	assert_int_equal(tt_step_bucket(UINT64_MAX), TT_STEP_BUCKETS - 1);
}

/* Boundaries in turn `n` intervals apart, `rounds` times over. */
static void beat(struct tt_cuda_series *series, const unsigned int ms[], int n, int rounds)
{
	__u64 now = 1000 * MS;

	memset(series, 0, sizeof(*series));
	tt_series_add(series, now);
	for (int i = 0; i < n * rounds; i++) {
		now += ms[i % n] * MS;
		tt_series_add(series, now);
	}
}

static void rhythm_is_found(void **state)
{
	static const struct {
		unsigned int ms[6];
		int intervals, waits; /* in a round, and in an iteration */
		unsigned int mean_ms;
	} cases[] = {
		{{20}, 1, 1, 20},
		{{3, 17}, 2, 2, 20},
		{{1, 5, 14}, 3, 3, 20},
		{{1, 1, 1, 17}, 4, 4, 20},
		{{2, 9, 1, 30, 4}, 5, 5, 46},
		{{1, 2, 4, 8, 16, 32}, 6, 6, 63},
		{{19, 20, 21}, 3, 1, 20}, /* within what a machine adds: single waits */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t mean_ns = (int64_t)(cases[i].mean_ms * MS);
		struct iterations found = {.count = UNKNOWN_COUNT};
		struct tt_cuda_series series;

		beat(&series, cases[i].ms, cases[i].intervals, 101);
		cuda_iterations_from_waits(&series, &found);
		assert_int_equal(found.source, ITER_SYNC);
		assert_int_equal(found.syncs, cases[i].waits);
		assert_int_equal(found.count, (101 * cases[i].intervals + 1) / cases[i].waits);
		assert_int_equal(found.mean_ns, mean_ns);
		assert_true(llabs(found.p50_ns - mean_ns) <= mean_ns / 8);
		assert_true(llabs(found.p99_ns - mean_ns) <=
			    mean_ns / 6); /* 21 of 20, in its bucket */
	}
}

static void no_rhythm_is_not_made_up(void **state)
{
	/* Nine short and one long: the median of single intervals is not their mean. */
	static const unsigned int ten[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 91};
	static const unsigned int few[] = {20};
	struct iterations found = {.count = UNKNOWN_COUNT};
	struct tt_cuda_series series;

	(void)state;
	beat(&series, ten, 10, 101);
	cuda_iterations_from_waits(&series, &found);
	assert_int_equal(found.source, ITER_NONE);
	assert_int_equal(found.count, UNKNOWN_COUNT);
	assert_non_null(strstr(found.note, "--iter"));
	beat(&series, few, 1, 7);
	cuda_iterations_from_waits(&series, &found);
	assert_int_equal(found.source, ITER_NONE);
	assert_non_null(strstr(found.note, "fewer"));
}

static void probe_calls_of_two_threads(void **state)
{
	static const unsigned int slow[] = {30}, fast[] = {10};
	struct cuda_probe_calls sum = {0};
	struct iterations found = {.count = UNKNOWN_COUNT, .p50_ns = UNKNOWN_NS};
	struct tt_cuda_series series;

	(void)state;
	beat(&series, slow, 1, 100);
	cuda_probe_calls_add(&sum, &series);
	beat(&series, fast, 1, 300);
	cuda_probe_calls_add(&sum, &series);
	cuda_iterations_from_probe(&sum, &found);
	assert_int_equal(found.source, ITER_PROBE);
	assert_int_equal(found.count, 101 + 301);
	assert_int_equal(found.mean_ns, (100 * 30 + 300 * 10) * MS / 400);
	assert_true(found.p50_ns > 9 * (int64_t)MS && found.p50_ns < 12 * (int64_t)MS);
	assert_true(found.p99_ns > 27 * (int64_t)MS && found.p99_ns < 34 * (int64_t)MS);
}

static void oncpu_of_a_running_thread(void **state)
{
	struct tt_thread t = {.bucket = TT_ONCPU, .t_last_ns = 1500, .ns[TT_ONCPU] = 70};

	(void)state;
	assert_int_equal(tt_oncpu_at(&t, 1510, 1000), 80);
	assert_int_equal(tt_oncpu_at(&t, 1490, 1000), 70); /* a clock of another CPU */
	t.bucket = TT_RUNQ_WAKE;			   /* its switch-in was missed */
	assert_int_equal(tt_oncpu_at(&t, 1510, 1000), 70);
	t = (struct tt_thread){.bucket = TT_UNKNOWN}; /* no event since the window began */
	assert_int_equal(tt_oncpu_at(&t, 1510, 1000), 510);
	assert_int_equal(tt_oncpu_at(&t, 990, 1000), 0);
	assert_int_equal(tt_oncpu_at(&t, 990, TT_WINDOW_CLOSED), 0);
}

static void a_thread_that_runs_unseen(void **state)
{
	struct tt_thread t = {.bucket = TT_ONCPU, .t_last_ns = 1500, .ns[TT_ONCPU] = 70};
	struct tt_cuda cuda = {0};

	(void)state;
	assert_int_equal(tt_oncpu_here(&cuda, &t, 1510, 1000), 80);
	t.bucket = TT_RUNQ_PREEMPT; /* and in again at a moment that is not known */
	t.t_last_ns = 1520;
	t.ns[TT_ONCPU] = 90;
	assert_int_equal(tt_oncpu_here(&cuda, &t, 1600, 1000), 90);
	assert_int_equal(tt_oncpu_here(&cuda, &t, 1640, 1000), 130);
	assert_int_equal(tt_oncpu_here(&cuda, &t, 1590, 1000), 90); /* a clock of another CPU */
	/* Out and in once more; the first slice was 150 long by the kernel's books. */
	t.bucket = TT_ONCPU;
	t.t_last_ns = 1700;
	t.ns[TT_ONCPU] = 240;
	assert_int_equal(tt_oncpu_here(&cuda, &t, 1710, 1000), 250);
	t.bucket = TT_UNKNOWN; /* missed again, and nothing tells the length */
	t.t_last_ns = 1800;
	assert_int_equal(tt_oncpu_here(&cuda, &t, 1900, 1000), 240);
	assert_int_equal(tt_oncpu_here(&cuda, &t, 1930, 1000), 270);
	assert_int_equal(tt_ran(270, 240), 30);
	assert_int_equal(tt_ran(240, 270), 0);
}

/* [begin, end) is [1000, 2000). */
static void parts_inside_the_window(void **state)
{
	static const struct {
		__u64 from, to, oncpu, ns, oncpu_ns;
	} cases[] = {
		{1100, 1300, 50, 200, 50},   {900, 1300, 50, 300, 50},
		{1900, 2500, 600, 100, 100}, {500, 2500, 900, 1000, 900},
		{500, 900, 400, 0, 0},	     {2100, 2500, 400, 0, 0},
		{1300, 1300, 0, 0, 0},	     {1100, 1300, 999, 200, 200},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tt_cuda_sum sum = {0};

		tt_cuda_close(&sum, cases[i].from, cases[i].to, cases[i].oncpu, 1000, 2000);
		assert_int_equal(sum.ns, cases[i].ns);
		assert_int_equal(sum.oncpu_ns, cases[i].oncpu_ns);
	}
}

static void a_call_is_cut(void **state)
{
	struct tt_thread alive = {.bucket = TT_OFF_OTHER};
	struct tt_thread dead = {.bucket = TT_DEAD, .t_death_ns = 1600};
	struct tt_cuda in_call = {.sp = 4096,
				  .call = {.start_ns = 1200,
					   .start_oncpu_ns = 100,
					   .bytes = 7,
					   .kind = TT_CUDA_COPY_SYNC}};
	struct tt_cuda cuda = in_call;
	struct timeline_call event;

	(void)state;
	assert_true(cuda_cut_call(&cuda, &alive, 1000, 2000, 130));
	assert_int_equal(cuda.sum[TT_CUDA_COPY_SYNC].ns, 800);
	assert_int_equal(cuda.sum[TT_CUDA_COPY_SYNC].oncpu_ns, 30);
	assert_int_equal(cuda.sum[TT_CUDA_COPY_SYNC].calls, 1);
	assert_int_equal(cuda.sum[TT_CUDA_COPY_SYNC].bytes, 7);
	cuda_cut_event(&cuda, &alive, 1300, 2000, &event);
	assert_int_equal(event.start_ns, 0);
	assert_int_equal(event.ns, 700);
	assert_int_equal(event.bytes, 7);
	assert_int_equal(event.kind, TT_CUDA_COPY_SYNC);
	assert_int_equal(event.calls, 1);

	cuda = in_call;
	assert_true(cuda_cut_call(&cuda, &dead, 1000, UINT64_MAX, 90));
	assert_int_equal(cuda.sum[TT_CUDA_COPY_SYNC].ns, 400);
	cuda_cut_event(&cuda, &dead, 1000, UINT64_MAX, &event);
	assert_int_equal(event.start_ns, 200);
	assert_int_equal(event.ns, 400);
	assert_int_equal(cuda.sum[TT_CUDA_COPY_SYNC].oncpu_ns, 0);

	/* Left and entered again: the newer one is under way. */
	cuda = in_call;
	cuda.again = 1;
	cuda.again_call = (struct tt_cuda_call){.start_ns = 1900, .kind = TT_CUDA_LAUNCH};
	assert_true(cuda_cut_call(&cuda, &alive, 1000, 2000, 500));
	assert_int_equal(cuda.sum[TT_CUDA_LAUNCH].ns, 100);
	assert_int_equal(cuda.sum[TT_CUDA_LAUNCH].oncpu_ns, 0);
	assert_int_equal(cuda.sum[TT_CUDA_COPY_SYNC].calls, 0);

	cuda = in_call;
	cuda.sp = 0;
	assert_false(cuda_cut_call(&cuda, &alive, 1000, 2000, 500));
	cuda = in_call;
	cuda.call.start_ns = 2000;
	assert_false(cuda_cut_call(&cuda, &alive, 1000, 2000, 500));
}

static void accounts_by_mode(void **state)
{
	struct tt_cuda cuda = {0};
	struct thread_account account = {.oncpu_ns = 100};

	(void)state;
	for (__u32 i = 0; i < TT_CUDA_KINDS; i++)
		cuda.sum[i] = (struct tt_cuda_sum){
			.calls = 1u << i, .ns = 10u << i, .oncpu_ns = 1u << i, .bytes = 100u << i};
	cuda_account_init(&account.cuda);
	cuda_fill_account(&cuda, CUDA_MODE_SYNC, &account);
	assert_int_equal(account.cuda.sync_calls, 1 + 2 + 4 + 8);
	assert_int_equal(account.cuda.sync_ns, 150);
	assert_int_equal(account.cuda.polls, 16);
	assert_int_equal(account.cuda.spin_ns, 31);
	assert_int_equal(account.gpu_spin_ns, 31);
	assert_int_equal(account.cuda.launches, UNKNOWN_COUNT);
	assert_int_equal(account.cuda.copies, UNKNOWN_COUNT);

	/* The second record of a thread that exec renamed adds up; spin stays within on-CPU time. */
	account.oncpu_ns = 50;
	cuda_fill_account(&cuda, CUDA_MODE_ALL, &account);
	assert_int_equal(account.cuda.sync_calls, 30);
	assert_int_equal(account.gpu_spin_ns, 50);
	assert_int_equal(account.cuda.launches, 32);
	assert_int_equal(account.cuda.graph_launches, 64);
	assert_int_equal(account.cuda.launch_ns, 320 + 640);
	assert_int_equal(account.cuda.copies, 8 + 128);
	assert_int_equal(account.cuda.copy_bytes, 800 + 12800);
}

static void unknown_swallows_known(void **state)
{
	struct cuda_account a, b;

	(void)state;
	cuda_account_init(&a);
	cuda_account_init(&b);
	a.sync_ns = 5;
	a.polls = 7;
	b.sync_ns = 6;
	cuda_account_merge(&a, &b);
	assert_int_equal(a.sync_ns, 11);
	assert_int_equal(a.polls, UNKNOWN_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_has_a_program),
		cmocka_unit_test(calls_are_what_the_interface_says),
		cmocka_unit_test(cookies_come_back),
		cmocka_unit_test(iter_specs),
		cmocka_unit_test(library_names),
		cmocka_unit_test(maps_lines),
		cmocka_unit_test(buckets_join),
		cmocka_unit_test(rhythm_is_found),
		cmocka_unit_test(no_rhythm_is_not_made_up),
		cmocka_unit_test(probe_calls_of_two_threads),
		cmocka_unit_test(oncpu_of_a_running_thread),
		cmocka_unit_test(a_thread_that_runs_unseen),
		cmocka_unit_test(parts_inside_the_window),
		cmocka_unit_test(a_call_is_cut),
		cmocka_unit_test(accounts_by_mode),
		cmocka_unit_test(unknown_swallows_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
