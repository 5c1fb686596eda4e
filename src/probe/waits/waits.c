/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/waits.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/text.h"
#include "probe/waits/fd_names.h"
#include "probe/waits/holders.h"
#include "probe/map_table.h"
#include "probe/waits/raw_waits.h"
#include "probe/symbols/user_stacks.h"
#include "probe/waits/wait_report.h"
#include "probe/waits/wait_rules.h"
#include "probe/waits/wait_series.h"
#include "thread_state.h"

/* Where a thread slept when the window began or ended. */
struct sleeper {
	uint32_t slot;
	bool at_end;
	struct sleep_site *site;
	char file[WAIT_FILE_SIZE]; /* of the call's descriptor, as it slept */
};

struct waits {
	struct tracer *tracer;
	struct session *session;
	struct wakers *wakers;
	struct holders *holders;
	struct fd_names *files;
	struct user_stacks *user_stacks;
	struct raw_waits raw;
	struct map_table edges; /* sorted by slot through `order` */
	uint32_t *order;
	bool read; /* the two above are of this drain */
	struct sleeper *sleepers;
	size_t nsleepers;
	struct wait_series *series;
	struct wait_grown *grown; /* of one thread */
	size_t grown_room;
	int64_t begin_ns;
	bool asks_at_begin;
	pid_t last_pid; /* runs_python() was asked for it */
	bool last_is_python;
	int error;
};

static const struct tt_edge_key *key_at(const struct waits *waits, uint32_t i)
{
	return (const struct tt_edge_key *)waits->edges.keys + i;
}

static int compare_slots(const void *a, const void *b, void *ctx)
{
	uint32_t x = key_at(ctx, *(const uint32_t *)a)->slot;
	uint32_t y = key_at(ctx, *(const uint32_t *)b)->slot;

	return (x > y) - (x < y);
}

static void forget_table(struct waits *waits)
{
	map_table_free(&waits->edges);
	free(waits->order);
	waits->order = NULL;
	waits->read = false;
}

static void read_table(struct waits *waits)
{
	int err;

	if (waits->read)
		return;
	waits->read = true;
	err = tracer_read_table(waits->tracer, TRACER_EDGES, &waits->edges);
	if (!err && waits->edges.n) {
		waits->order = malloc(waits->edges.n * sizeof(*waits->order));
		err = waits->order ? 0 : -ENOMEM;
	}
	if (err) {
		waits->error = err;
		waits->edges.n = 0;
		return;
	}
	for (uint32_t i = 0; i < waits->edges.n; i++)
		waits->order[i] = i;
	qsort_r(waits->order, waits->edges.n, sizeof(*waits->order), compare_slots, waits);
}

/* The first entry of the slot in `order`, or edges.n. */
static size_t first_of(const struct waits *waits, uint32_t slot)
{
	size_t low = 0, high = waits->edges.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (key_at(waits, waits->order[mid])->slot < slot)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Into the wait. */
static void take_sleeper(struct waits *waits, uint32_t slot, bool at_end, struct raw_wait *wait)
{
	for (size_t i = 0; i < waits->nsleepers; i++) {
		if (waits->sleepers[i].slot != slot || waits->sleepers[i].at_end != at_end)
			continue;
		wait->site = waits->sleepers[i].site;
		memcpy(wait->file, waits->sleepers[i].file, sizeof(wait->file));
		waits->sleepers[i] = waits->sleepers[--waits->nsleepers];
		return;
	}
}

static bool takes_fd(const struct tt_edge_key *key)
{
	return key->syscall && key->syscall != TT_SYSCALL_NONE &&
	       wait_syscall_takes_fd((int)key->syscall - 1);
}

/*
 * What the number is now may not be what was waited on: it is believed where it was the same as the
 * kind was seen to grow, or where the kind was not seen before. Else the waker has to tell.
 */
static void name_file(struct waits *waits, struct raw_wait *wait, pid_t pid,
		      const struct kind_note *note)
{
	const char *now;

	if (*wait->file || !takes_fd(&wait->key))
		return;
	now = fd_names_get(waits->files, pid, (int)wait->key.arg);
	if (note && note->file_asked) {
		if (!now || fd_names_alike(note->file, now))
			text_copy(wait->file, sizeof(wait->file), note->file);
	} else if (now) {
		text_copy(wait->file, sizeof(wait->file), now);
	}
}

static void note_file(struct waits *waits, const struct raw_wait *wait, pid_t pid,
		      struct kind_note *note)
{
	const char *file;

	if (!takes_fd(&wait->key))
		return;
	file = fd_names_get(waits->files, pid, (int)wait->key.arg);
	note->file_asked = true;
	if (file)
		text_copy(note->file, sizeof(note->file), file);
}

static void add_syscall(const struct sleep_site *site, struct tt_edge_key *key)
{
	if (site->syscall == WAIT_SYSCALL_UNKNOWN)
		return;
	key->syscall =
		site->syscall == WAIT_SYSCALL_NONE ? TT_SYSCALL_NONE : TT_SYSCALL(site->syscall);
	if (!site->args_known)
		return;
	key->arg = (__u32)site->args[0];
	key->flags |= sleep_site_evidence(site, NULL).flags;
}

/* By the name of its executable: an interpreter inside another program is not seen. */
static bool runs_python(struct waits *waits, pid_t pid)
{
	char path[32], target[PATH_MAX];
	const char *name;
	ssize_t length;

	if (pid == waits->last_pid)
		return waits->last_is_python;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	name = strrchr(target, '/');
	waits->last_pid = pid;
	waits->last_is_python = name && !strncmp(name + 1, "python", 6);
	return waits->last_is_python;
}

/* Returns its place among the raw waits, or -1. */
static int64_t add_wait(struct waits *waits, const struct kept_account *kept, struct raw_wait *wait,
			const struct kind_note *note)
{
	const struct thread_account *row = &waits->session->threads[kept->row];
	size_t place;

	wait->row = kept->row;
	wait->key.slot = 0;
	name_file(waits, wait, kept->record->tgid, note);
	if (wait->key.user_stack)
		user_stacks_note(waits->user_stacks, kept->record->tgid, wait->key.user_stack);
	if (wait->waker.kind == WAKER_TIMER &&
	    (!wait->key.syscall || wait->key.syscall == TT_SYSCALL(SYS_futex)))
		wait->python = runs_python(waits, kept->record->tgid);
	if (!raw_waits_add(&waits->raw, wait, row->folded > 1, &place))
		return (int64_t)place;
	waits->error = -ENOMEM;
	free(wait->site);
	return -1;
}

/* On a rung that polls the key of a stack is that of a place. */
static struct sleep_site *polled_site(const struct waits *waits, struct tt_edge_key *key)
{
	struct sleep_site *site = malloc(sizeof(*site));

	if (site && tracer_read_site(waits->tracer, key->kernel_stack, site)) {
		free(site);
		site = NULL;
	}
	key->kernel_stack = 0;
	return site;
}

/*
 * With what its thread's record has of it. While the programs run that may move to the map between the
 * two readings: then it is missing once, and never there twice.
 */
static struct tt_edge edge_at(const struct waits *waits, uint32_t i)
{
	const struct tt_edge_key *key = key_at(waits, i);
	const struct tt_repeat *repeat = &tracer_record(waits->tracer, key->slot)->repeat;
	struct tt_edge edge = ((const struct tt_edge *)waits->edges.values)[i];

	if (tt_repeats(repeat, key)) {
		edge.ns += repeat->ns;
		edge.count += repeat->count;
		if (repeat->max_ns > edge.max_ns)
			edge.max_ns = repeat->max_ns;
	}
	return edge;
}

static int64_t add_edge(struct waits *waits, const struct kept_account *kept, uint32_t i)
{
	struct tt_edge edge = edge_at(waits, i);
	struct raw_wait wait = {.key = *key_at(waits, i)};

	wait.ns = edge.ns;
	wait.max_ns = edge.max_ns;
	wait.count = edge.count;
	wakers_name(waits->wakers, wait.key.waker, &edge, &wait.waker);
	if (wait.key.via)
		wakers_name(waits->wakers, wait.key.via, NULL, &wait.via);
	if (tracer_polls(waits->tracer))
		wait.site = polled_site(waits, &wait.key);
	else if (wait.key.flags & TT_SITE_FIRST && !wait.key.syscall)
		take_sleeper(waits, key_at(waits, i)->slot, false, &wait);
	if (wait.site)
		add_syscall(wait.site, &wait.key);
	return add_wait(waits, kept, &wait, wait_series_note(waits->series, key_at(waits, i)));
}

/* Of the slot whose edges begin there; returns how many. */
static size_t collect_edges(struct waits *waits, size_t first)
{
	uint32_t slot = key_at(waits, waits->order[first])->slot;
	size_t n = 0;

	while (first + n < waits->edges.n && key_at(waits, waits->order[first + n])->slot == slot)
		n++;
	if (n > waits->grown_room) {
		struct wait_grown *grown = reallocarray(waits->grown, n, sizeof(*grown));

		if (!grown) {
			waits->error = -ENOMEM;
			return 0;
		}
		waits->grown = grown;
		waits->grown_room = n;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t at = waits->order[first + i];

		waits->grown[i] = (struct wait_grown){
			.key = key_at(waits, at),
			.ns = (int64_t)edge_at(waits, at).ns,
			.row = -1,
		};
	}
	return n;
}

static void note_growth(struct waits *waits, uint32_t slot, size_t n, int64_t now_ns)
{
	int err = wait_series_take(waits->series, slot, waits->grown, n, now_ns);

	if (err)
		waits->error = err;
}

/* Nothing grows after the window's end. */
static int64_t account_ns(const struct waits *waits)
{
	struct timespec ts;

	if (waits->session->end_ns)
		return waits->session->end_ns;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void take_edges(struct waits *waits, const struct kept_account *kept, uint32_t slot)
{
	size_t first = first_of(waits, slot), n;

	if (first == waits->edges.n || key_at(waits, waits->order[first])->slot != slot)
		return;
	n = collect_edges(waits, first);
	for (size_t i = 0; i < n; i++)
		waits->grown[i].row = add_edge(waits, kept, waits->order[first + i]);
	note_growth(waits, slot, n, account_ns(waits));
	/* The next thread in this slot must not find them. */
	for (size_t i = 0; i < n && kept->record->bucket == TT_DEAD; i++)
		tracer_delete_row(waits->tracer, TRACER_EDGES, waits->grown[i].key);
}

/* It sleeps on at the end: nobody has woken it. */
static void add_last_sleep(struct waits *waits, const struct kept_account *kept)
{
	const struct tt_thread *record = kept->record;
	struct raw_wait wait = {
		.ns = kept->asleep_ns,
		.max_ns = kept->asleep_ns,
		.count = 1,
		.key.waker = TT_WAKER(TT_WAKER_UNSEEN, 0),
		.key.kernel_stack = record->site_kernel_stack,
		.key.user_stack = record->site_user_stack,
		.key.syscall = record->site_syscall,
		.key.arg = record->site_arg,
		.key.flags = (record->bucket == TT_OFF_DISK ? TT_SITE_IOWAIT : 0) |
			     (record->in_gpu_call ? TT_SITE_GPU_CALL : 0) | record->site_flags,
	};
	int64_t place;

	take_sleeper(waits, kept->slots->slot, true, &wait);
	if (wait.site)
		add_syscall(wait.site, &wait.key);
	place = add_wait(waits, kept, &wait, NULL);
	if (place >= 0 &&
	    wait_series_last(waits->series, (size_t)place, kept->asleep_ns, waits->session->end_ns))
		waits->error = -ENOMEM;
}

static void on_kept(void *ctx, const struct kept_account *kept)
{
	struct waits *waits = ctx;

	read_table(waits);
	if (kept->slots->predecessor)
		take_edges(waits, kept, kept->slots->predecessor);
	take_edges(waits, kept, kept->slots->slot);
	if (kept->asleep_ns > 0)
		add_last_sleep(waits, kept);
	if (kept->record->bucket == TT_DEAD)
		wakers_note_ended(waits->wakers, kept->record->tgid, kept->record->tid,
				  kept->record->comm);
	holders_take(waits->holders, kept);
}

static void on_asleep(void *ctx, uint32_t slot, pid_t pid, pid_t tid, bool at_end)
{
	struct waits *waits = ctx;
	struct sleeper sleeper = {.slot = slot, .at_end = at_end};
	const char *file;
	void *rows;

	if (tracer_polls(waits->tracer) || (!at_end && !waits->asks_at_begin))
		return;
	sleeper.site = malloc(sizeof(*sleeper.site));
	rows = reallocarray(waits->sleepers, waits->nsleepers + 1, sizeof(sleeper));
	if (rows)
		waits->sleepers = rows;
	if (!rows || !sleeper.site || sleep_site_read(sleeper.site, pid, tid)) {
		free(sleeper.site);
		return;
	}
	if (sleeper.site->args_known && wait_syscall_takes_fd(sleeper.site->syscall)) {
		file = fd_names_get(waits->files, pid, (int)sleeper.site->args[0]);
		if (file)
			text_copy(sleeper.file, sizeof(sleeper.file), file);
	}
	waits->sleepers[waits->nsleepers++] = sleeper;
}

struct waits *waits_new(struct tracer *tracer, struct accounts *accounts, struct session *session,
			struct user_symbols *symbols)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return NULL;
	waits->tracer = tracer;
	waits->session = session;
	waits->wakers = wakers_new(tracer, session);
	waits->holders = holders_new(tracer, session);
	waits->files = fd_names_new();
	waits->series = wait_series_new();
	waits->user_stacks = user_stacks_new(tracer_map_fd(tracer, "stacks"), symbols);
	/* With type data a sleeper is read when it is woken, whenever it went to sleep. */
	waits->asks_at_begin = strcmp(session->capability.rung, "btf") != 0;
	if (!waits->wakers || !waits->holders || !waits->files || !waits->user_stacks ||
	    !waits->series) {
		waits_free(waits);
		return NULL;
	}
	accounts_on_kept(accounts, on_kept, waits);
	accounts_on_asleep(accounts, on_asleep, waits);
	return waits;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	forget_table(waits);
	for (size_t i = 0; i < waits->nsleepers; i++)
		free(waits->sleepers[i].site);
	free(waits->sleepers);
	free(waits->grown);
	wait_series_free(waits->series);
	raw_waits_free(&waits->raw);
	wakers_free(waits->wakers);
	holders_free(waits->holders);
	fd_names_free(waits->files);
	user_stacks_free(waits->user_stacks);
	free(waits);
}

void waits_drained(struct waits *waits)
{
	forget_table(waits);
	wakers_forget(waits->wakers);
	fd_names_forget(waits->files);
	waits->last_pid = 0;
	holders_drained(waits->holders);
}

void waits_begin(struct waits *waits, int64_t begin_ns)
{
	waits->begin_ns = begin_ns;
	wait_series_begin(waits->series, begin_ns);
}

static struct slot_sleep sleep_of(const void *live, uint32_t slot)
{
	struct live_sleep slept = live_threads_sleep(live, slot);

	return (struct slot_sleep){slept.tid, slept.birth_ns, slept.off_ns};
}

/* Stacks have no names before the end: that costs too much in the middle. */
static enum wait_class class_for_now(struct waits *waits, pid_t pid, uint32_t i,
				     struct kind_note *note)
{
	const struct kernel_stack no_stack = {.n = 0};
	struct raw_wait wait = {.key = *key_at(waits, i)};
	struct wait_judgement judgement;

	wakers_name(waits->wakers, wait.key.waker, (const struct tt_edge *)waits->edges.values + i,
		    &wait.waker);
	if (wait.key.via)
		wakers_name(waits->wakers, wait.key.via, NULL, &wait.via);
	if (tracer_polls(waits->tracer))
		wait.site = polled_site(waits, &wait.key);
	if (wait.site)
		add_syscall(wait.site, &wait.key);
	note_file(waits, &wait, pid, note);
	text_copy(wait.file, sizeof(wait.file), note->file);
	wait_report_judge(&wait, &no_stack, &judgement);
	free(wait.site);
	return judgement.class;
}

void waits_look(struct waits *waits, const struct live_threads *live, struct host_point *point,
		float asleep_threads)
{
	int64_t now_ns = waits->begin_ns + point->t_ns;
	float told_threads = 0;
	size_t n;

	memset(point->off_threads, 0, sizeof(point->off_threads));
	fd_names_forget(waits->files);
	read_table(waits);
	for (size_t first = 0; first < waits->edges.n; first += n) {
		uint32_t slot = key_at(waits, waits->order[first])->slot;

		n = collect_edges(waits, first);
		if (!n)
			break;
		note_growth(waits, slot, n, now_ns);
		for (size_t i = 0; i < n; i++) {
			float threads =
				(float)((double)waits->grown[i].inside_ns / (double)point->span_ns);
			struct kind_note *note = waits->grown[i].note;

			if (threads <= 0 || !note)
				continue;
			/* A file that was closed by the first look may be open at this one. */
			if (note->class < 0 || (note->file_asked && !*note->file))
				note->class = (int)class_for_now(waits,
								 live_threads_sleep(live, slot).pid,
								 waits->order[first + i], note);
			point->off_threads[note->class] += threads;
			told_threads += note->class == WAIT_OTHER ? 0 : threads;
		}
	}
	wait_series_look(waits->series, now_ns, sleep_of, live, live_threads_slots(live));
	point->off_threads[WAIT_OTHER] = fmaxf(0, asleep_threads - told_threads);
	/* What grows until the drain is read again. */
	forget_table(waits);
}

void waits_finish(struct waits *waits, const struct site_sampler *sites)
{
	struct wait_sources sources = {
		.tracer = waits->tracer,
		.sites = sites,
		.files = waits->files,
		.user_stacks = waits->user_stacks,
	};
	int err;

	for (size_t i = 0; i < waits->raw.n; i++) {
		wakers_name_late(waits->wakers, &waits->raw.rows[i].waker);
		wakers_name_late(waits->wakers, &waits->raw.rows[i].via);
	}
	err = wait_report_fill(waits->session, &waits->raw, &sources);
	if (!err)
		wait_series_fill(waits->series, &waits->raw, &waits->session->host_series);
	if (!waits->error)
		waits->error = err;
	err = holders_finish(waits->holders, waits->session);
	if (!waits->error)
		waits->error = err;
	if (waits->error)
		msg_warn("not every wait has its cause: %s", strerror(-waits->error));
}
