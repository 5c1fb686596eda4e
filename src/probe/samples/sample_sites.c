/* SPDX-License-Identifier: GPL-2.0-only */
/* From counted samples to sites by library and function, and each thread's share of spinning. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/frame.h"
#include "base/text.h"
#include "perf_abi.h"
#include "probe/symbols/kernel_names.h"
#include "probe/samples/oncpu_rules.h"
#include "probe/samples/samples_internal.h"

#define MAX_SITES  2000
#define MAX_STACKS 4000
#define MAX_FRAMES TT_STACK_DEPTH
/* Below this a share of spinning says nothing. */
#define LEAST_SAMPLES 20

struct summing {
	struct samples *samples;
	struct session *session;
	struct kernel_names *kernel;
	size_t site_room, stack_room;
};

/* Room for one more behind n; false when out of memory. */
static bool room(void **rows, size_t n, size_t *have, size_t size)
{
	size_t more = *have ? 2 * *have : 256;
	void *grown;

	if (n < *have)
		return true;
	grown = reallocarray(*rows, more, size);
	if (!grown)
		return false;
	*rows = grown;
	*have = more;
	return true;
}

static void ask_kernel_name(void *ctx, const struct tally_owner *owner,
			    const uint64_t key[TALLY_KEY], const int64_t counts[TALLY_COUNTS])
{
	struct summing *sum = ctx;
	struct tt_stack raw;

	(void)owner;
	(void)counts;
	if (key[SAMPLE_SYMBOL] == TALLY_REST)
		return;
	if (key[SAMPLE_KERNEL_IP])
		kernel_names_add(sum->kernel, key[SAMPLE_KERNEL_IP]);
	if (!key[SAMPLE_KERNEL_STACK] ||
	    bpf_map_lookup_elem(sum->samples->stacks_fd, &key[SAMPLE_KERNEL_STACK], &raw))
		return;
	for (int i = 0; i < TT_STACK_DEPTH && raw.frame[i]; i++)
		kernel_names_add(sum->kernel, raw.frame[i] - !!i);
}

struct named_stack {
	struct user_symbol symbols[MAX_FRAMES];
	struct oncpu_frame frames[MAX_FRAMES];
	size_t n;
};

/* The user stack where one is kept, else the innermost function alone. */
static void name_stack(const struct samples *samples, pid_t pid, const uint64_t key[TALLY_KEY],
		       struct named_stack *named)
{
	int leaf = (int)key[SAMPLE_SYMBOL] - 1;
	const int *numbers = &leaf;
	size_t n = 0;

	if (samples->stacks)
		n = user_stacks_frames(samples->stacks, pid, key[SAMPLE_USER_STACK], &numbers);
	if (!n) {
		numbers = &leaf;
		n = 1;
	}
	named->n = n < MAX_FRAMES ? n : MAX_FRAMES;
	for (size_t i = 0; i < named->n; i++) {
		user_symbols_get(samples->symbols, numbers[i], &named->symbols[i]);
		named->frames[i].library = named->symbols[i].library;
		named->frames[i].function =
			named->symbols[i].function ? named->symbols[i].function : "";
	}
}

static void add_site(struct summing *sum, const struct tally_owner *owner,
		     const struct named_stack *named, const char *kernel, enum oncpu_kind kind,
		     int64_t samples)
{
	struct session *session = sum->session;
	struct oncpu_site *site;

	if (!room((void **)&session->oncpu, session->noncpu, &sum->site_room, sizeof(*site)))
		return;
	site = &session->oncpu[session->noncpu++];
	*site = (struct oncpu_site){
		.pid = owner->pid, .tid = owner->tid, .kind = kind, .samples = samples};
	text_copy(site->group, sizeof(site->group), owner->group);
	text_copy(site->library, sizeof(site->library), named->frames[0].library);
	text_copy(site->function, sizeof(site->function), named->frames[0].function);
	if (kernel)
		text_copy(site->kernel, sizeof(site->kernel), kernel);
}

static void fold_kernel(const struct summing *sum, const uint64_t key[TALLY_KEY], FILE *out)
{
	struct tt_stack raw = {.frame = {key[SAMPLE_KERNEL_IP]}};
	char frame[96];
	int n = 0;

	if (!key[SAMPLE_KERNEL_IP])
		return;
	if (bpf_map_lookup_elem(sum->samples->stacks_fd, &key[SAMPLE_KERNEL_STACK], &raw))
		raw.frame[1] = 0;
	while (n < TT_STACK_DEPTH && raw.frame[n])
		n++;
	while (n--) {
		frame_escape(frame, sizeof(frame),
			     kernel_names_get(sum->kernel, raw.frame[n] - !!n));
		fprintf(out, ";%s_[k]", frame);
	}
}

static void add_stack(struct summing *sum, const struct tally_owner *owner,
		      const uint64_t key[TALLY_KEY], enum oncpu_kind kind, int64_t samples)
{
	struct session *session = sum->session;
	struct oncpu_stack *stack;
	char *frames = NULL;
	size_t size;
	FILE *out;

	if (!room((void **)&session->oncpu_stacks, session->noncpu_stacks, &sum->stack_room,
		  sizeof(*stack)))
		return;
	out = open_memstream(&frames, &size);
	if (!out)
		return;
	user_stacks_fold(sum->samples->stacks, owner->pid, key[SAMPLE_USER_STACK], out);
	fold_kernel(sum, key, out);
	if (fclose(out) || !frames)
		return;
	/* No user stack: begin without its ";". */
	if (*frames == ';')
		memmove(frames, frames + 1, strlen(frames));
	stack = &session->oncpu_stacks[session->noncpu_stacks++];
	*stack = (struct oncpu_stack){.pid = owner->pid,
				      .tid = owner->tid,
				      .kind = kind,
				      .frames = frames,
				      .samples = samples};
	text_copy(stack->group, sizeof(stack->group), owner->group);
}

static void sum_up(void *ctx, const struct tally_owner *owner, const uint64_t key[TALLY_KEY],
		   const int64_t counts[TALLY_COUNTS])
{
	static struct named_stack named; /* large */
	struct summing *sum = ctx;
	const char *kernel = NULL;
	enum oncpu_kind kind;

	if (key[SAMPLE_SYMBOL] == TALLY_REST) {
		named.n = 1;
		named.frames[0] = (struct oncpu_frame){"[other]", ""};
		add_site(sum, owner, &named, NULL, ONCPU_WORK, counts[0]);
		return;
	}
	if (key[SAMPLE_KERNEL_IP])
		kernel = kernel_names_get(sum->kernel, key[SAMPLE_KERNEL_IP]);
	name_stack(sum->samples, owner->pid, key, &named);
	kind = oncpu_kind_of(named.frames, named.n, kernel);
	add_site(sum, owner, &named, kernel, kind, counts[0]);
	if (sum->samples->stacks)
		add_stack(sum, owner, key, kind, counts[0]);
}

static int compare_owner(const struct oncpu_site *x, const struct oncpu_site *y)
{
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->tid ? 0 : strcmp(x->group, y->group);
}

static int compare_sites(const void *a, const void *b)
{
	const struct oncpu_site *x = a, *y = b;
	int order = compare_owner(x, y);

	if (!order)
		order = strcmp(x->library, y->library);
	if (!order)
		order = strcmp(x->function, y->function);
	if (!order)
		order = strcmp(x->kernel, y->kernel);
	return order ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

static void merge_sites(struct session *session)
{
	size_t n = 0;

	if (session->noncpu)
		qsort(session->oncpu, session->noncpu, sizeof(*session->oncpu), compare_sites);
	for (size_t i = 0; i < session->noncpu; i++) {
		if (n && !compare_sites(&session->oncpu[n - 1], &session->oncpu[i]))
			session->oncpu[n - 1].samples += session->oncpu[i].samples;
		else
			session->oncpu[n++] = session->oncpu[i];
	}
	session->noncpu = n;
}

static int compare_stacks(const void *a, const void *b)
{
	const struct oncpu_stack *x = a, *y = b;
	int order = x->pid == y->pid ? (x->tid > y->tid) - (x->tid < y->tid)
				     : (x->pid > y->pid) - (x->pid < y->pid);

	if (!order)
		order = strcmp(x->group, y->group);
	return order ? order : strcmp(x->frames, y->frames);
}

static int compare_stack_samples(const void *a, const void *b)
{
	const struct oncpu_stack *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return compare_stacks(a, b);
}

static void merge_stacks(struct session *session)
{
	struct oncpu_stack *stacks = session->oncpu_stacks;
	size_t n = 0;

	if (!session->noncpu_stacks)
		return;
	qsort(stacks, session->noncpu_stacks, sizeof(*stacks), compare_stacks);
	for (size_t i = 0; i < session->noncpu_stacks; i++) {
		if (n && !compare_stacks(&stacks[n - 1], &stacks[i])) {
			stacks[n - 1].samples += stacks[i].samples;
			free(stacks[i].frames);
		} else {
			stacks[n++] = stacks[i];
		}
	}
	qsort(stacks, n, sizeof(*stacks), compare_stack_samples);
	for (; n > MAX_STACKS; n--) {
		session->losses.stacks_dropped += stacks[n - 1].samples;
		free(stacks[n - 1].frames);
	}
	session->noncpu_stacks = n;
}

/* The sums of one thread or group of ended threads. */
struct run {
	const struct oncpu_site *of;
	struct oncpu_samples sums;
};

static void add_to_run(struct run *run, const struct oncpu_site *site)
{
	run->sums.total += site->samples;
	if (*site->kernel)
		run->sums.kernel += site->samples;
	if (site->kind == ONCPU_GPU_SPIN)
		run->sums.gpu_spin += site->samples;
	if (site->kind == ONCPU_SPIN)
		run->sums.spin += site->samples;
}

static const struct run *find_run(const struct run *runs, size_t n, pid_t pid, pid_t tid,
				  const char *group)
{
	struct oncpu_site wanted = {.pid = pid, .tid = tid};
	size_t low = 0, high = n;

	text_copy(wanted.group, sizeof(wanted.group), group);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_owner(runs[middle].of, &wanted);

		if (!order)
			return &runs[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int64_t part(int64_t count, int64_t of, int64_t total)
{
	return total ? (int64_t)((double)count * (double)of / (double)total + 0.5) : 0;
}

/* An ended thread that was added to its group is taken to have spun as the group did. */
static void share_out(struct thread_account *account, const struct run *runs, size_t n)
{
	static const struct oncpu_samples none;
	struct oncpu_samples *samples = &account->oncpu_samples;
	const struct run *run = find_run(runs, n, account->pid, account->tid, account->group);
	const struct oncpu_samples *sums;

	if (samples->total == UNKNOWN_COUNT)
		return;
	if (!run)
		run = find_run(runs, n, account->pid, 0, account->group);
	sums = run ? &run->sums : &none;
	samples->kernel = part(sums->kernel, samples->total, sums->total);
	samples->gpu_spin = part(sums->gpu_spin, samples->total, sums->total);
	samples->spin = part(sums->spin, samples->total, sums->total);
	if (account->gpu_spin_ns == UNKNOWN_NS && samples->total >= LEAST_SAMPLES)
		account->gpu_spin_ns = part(samples->gpu_spin, account->oncpu_ns, samples->total);
}

static void sum_threads(struct session *session)
{
	struct run *runs = calloc(session->noncpu + 1, sizeof(*runs));
	size_t n = 0;

	if (!runs)
		return;
	for (size_t i = 0; i < session->noncpu; i++) {
		const struct oncpu_site *site = &session->oncpu[i];

		if (!n || compare_owner(runs[n - 1].of, site))
			runs[n++].of = site;
		add_to_run(&runs[n - 1], site);
	}
	for (size_t i = 0; i < session->nthreads; i++)
		share_out(&session->threads[i], runs, n);
	free(runs);
}

static int compare_samples(const void *a, const void *b)
{
	const struct oncpu_site *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return compare_sites(a, b);
}

/* The rarest become one row, so that the sum stays right. */
static void limit_sites(struct session *session)
{
	struct oncpu_site *rest;

	if (session->noncpu)
		qsort(session->oncpu, session->noncpu, sizeof(*session->oncpu), compare_samples);
	if (session->noncpu <= MAX_SITES)
		return;
	rest = &session->oncpu[MAX_SITES - 1];
	*rest = (struct oncpu_site){.library = "[other]", .samples = rest->samples};
	for (size_t i = MAX_SITES; i < session->noncpu; i++)
		rest->samples += session->oncpu[i].samples;
	session->noncpu = MAX_SITES;
}

void samples_finish(struct samples *samples, struct session *session)
{
	struct summing sum = {.samples = samples, .session = session};

	if (!samples)
		return;
	session->oncpu_hz = TT_SAMPLE_HZ;
	samples_losses(samples, &session->losses);
	sum.kernel = kernel_names_new();
	if (!sum.kernel)
		return;
	tally_for_each(samples->tally, ask_kernel_name, &sum);
	kernel_names_resolve(sum.kernel);
	tally_for_each(samples->tally, sum_up, &sum);
	kernel_names_free(sum.kernel);
	merge_sites(session);
	sum_threads(session);
	limit_sites(session);
	merge_stacks(session);
}
