/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/wait_series.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"

/* 2 MiB at most; then neighbours of one kind become one. */
#define SPELLS_LIMIT 65536
#define GRID_NS	     1000000000LL

/* The number of a raw wait instead of that of a kind that still grows. */
#define IS_ROW	0x80000000u
#define UNBOUND 0xffffffffu

/* So much sleep of one kind, spread evenly over a time. */
struct spell {
	uint32_t kind;
	int64_t begin_ns, end_ns, ns;
};

/* Of a kind that grows, by its key. */
struct open_kind {
	int64_t ns;
	uint32_t kind;
	struct kind_note note;
};

/* Of the thread in a slot. */
struct heard {
	uint32_t tid;
	uint64_t birth_ns;
	int64_t off_ns;	 /* it had slept so long at the last look */
	int64_t told_ns; /* and of so much the kind is known */
	bool fresh;	 /* told since the last look */
	bool ended;	 /* nobody was in the slot since */
};

struct wait_series {
	struct hash_table *open;
	uint32_t *rows; /* by kind: its raw wait, or UNBOUND */
	uint32_t nkinds, kinds_room;
	struct heard *heard; /* by slot */
	uint32_t nheard;
	struct spell *spells;
	size_t n, room, limit;
	int64_t begin_ns, look_ns; /* of the window, and the last look */
	int64_t grid_ns;
};

struct wait_series *wait_series_new(void)
{
	struct wait_series *series = calloc(1, sizeof(*series));

	if (!series)
		return NULL;
	series->grid_ns = GRID_NS;
	series->limit = SPELLS_LIMIT;
	series->open =
		hash_table_new(TT_MAX_EDGES, sizeof(struct tt_edge_key), sizeof(struct open_kind));
	if (series->open)
		return series;
	free(series);
	return NULL;
}

void wait_series_free(struct wait_series *series)
{
	if (!series)
		return;
	hash_table_free(series->open);
	free(series->rows);
	free(series->heard);
	free(series->spells);
	free(series);
}

void wait_series_begin(struct wait_series *series, int64_t begin_ns)
{
	series->begin_ns = series->look_ns = begin_ns;
}

static int by_kind(const void *a, const void *b)
{
	const struct spell *x = a, *y = b;

	if (x->kind != y->kind)
		return (x->kind > y->kind) - (x->kind < y->kind);
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Neighbours in one stretch of the grid. */
static bool can_join(const struct wait_series *series, const struct spell *a, const struct spell *b)
{
	return a->kind == b->kind && (a->begin_ns - series->begin_ns) / series->grid_ns ==
					     (b->end_ns - 1 - series->begin_ns) / series->grid_ns;
}

static void thin_out(struct wait_series *series)
{
	size_t kept = 0;

	qsort(series->spells, series->n, sizeof(*series->spells), by_kind);
	for (size_t i = 0; i < series->n; i++) {
		const struct spell *spell = &series->spells[i];
		struct spell *last = kept ? &series->spells[kept - 1] : NULL;

		if (!last || !can_join(series, last, spell)) {
			series->spells[kept++] = *spell;
			continue;
		}
		last->ns += spell->ns;
		if (spell->end_ns > last->end_ns)
			last->end_ns = spell->end_ns;
	}
	series->n = kept;
}

/* To half, so that it is seldom done; coarser when there are too many kinds for the grid. */
static void make_room(struct wait_series *series)
{
	thin_out(series);
	while (series->n > SPELLS_LIMIT / 2 &&
	       series->grid_ns < series->look_ns - series->begin_ns) {
		series->grid_ns *= 2;
		thin_out(series);
	}
	series->limit = series->n > SPELLS_LIMIT / 2 ? 2 * series->n : SPELLS_LIMIT;
}

static int add_spell(struct wait_series *series, const struct spell *spell)
{
	if (spell->ns <= 0 || spell->end_ns <= spell->begin_ns)
		return 0;
	if (series->n >= series->limit)
		make_room(series);
	if (series->n == series->room) {
		size_t room = series->room ? 2 * series->room : 256;
		struct spell *grown = reallocarray(series->spells, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		series->spells = grown;
		series->room = room;
	}
	series->spells[series->n++] = *spell;
	return 0;
}

/* Of a sleep that went on at the last look, the part before it; and the part after. */
static int add_sleep(struct wait_series *series, uint32_t kind, int64_t before_ns,
		     int64_t inside_ns, int64_t now_ns)
{
	struct spell before = {kind, series->look_ns - before_ns, series->look_ns, before_ns};
	struct spell inside = {kind, series->look_ns, now_ns, inside_ns};
	int err;

	/* Told of late, when the window is over: that was before too. */
	if (now_ns <= series->look_ns) {
		inside.begin_ns = series->look_ns - inside_ns;
		inside.end_ns = series->look_ns;
	}
	if (before.begin_ns < series->begin_ns)
		before.begin_ns = series->begin_ns;
	err = add_spell(series, &before);
	return err ? err : add_spell(series, &inside);
}

static struct heard *heard_of(struct wait_series *series, uint32_t slot)
{
	struct heard *grown;

	if (slot < series->nheard)
		return &series->heard[slot];
	grown = reallocarray(series->heard, slot + 64, sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + series->nheard, 0, (slot + 64 - series->nheard) * sizeof(*grown));
	series->heard = grown;
	series->nheard = slot + 64;
	return &grown[slot];
}

static int new_kind(struct wait_series *series, uint32_t *kind)
{
	if (series->nkinds == series->kinds_room) {
		uint32_t room = series->kinds_room ? 2 * series->kinds_room : 256;
		uint32_t *grown = reallocarray(series->rows, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		series->rows = grown;
		series->kinds_room = room;
	}
	series->rows[series->nkinds] = UNBOUND;
	*kind = series->nkinds++;
	return 0;
}

static struct open_kind *kind_of(struct wait_series *series, const struct tt_edge_key *key)
{
	struct open_kind *open = hash_table_find(series->open, key);

	if (open)
		return open;
	open = hash_table_add(series->open, key);
	if (open && new_kind(series, &open->kind)) {
		hash_table_delete(series->open, key);
		open = NULL;
	}
	if (open)
		open->note.class = -1;
	return open;
}

/* Returns the one that grew most: what went on at the last look is part of that, the longest. */
static struct wait_grown *grown_most(const struct wait_series *series, struct wait_grown *rows,
				     size_t n)
{
	struct wait_grown *most = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct open_kind *open = hash_table_find(series->open, rows[i].key);

		rows[i].inside_ns = rows[i].ns - (open ? open->ns : 0);
		/* Read in two parts, of which one had just moved to the other. */
		if (rows[i].inside_ns < 0)
			rows[i].inside_ns = 0;
		if (!most || rows[i].inside_ns > most->inside_ns)
			most = &rows[i];
	}
	return most;
}

/* Of a row: it does not grow any more, so nothing is remembered of its key. */
static void close_kind(struct wait_series *series, const struct wait_grown *grown, uint32_t *kind)
{
	const struct open_kind *open = hash_table_find(series->open, grown->key);

	*kind = IS_ROW | (uint32_t)grown->row;
	if (open)
		series->rows[open->kind] = (uint32_t)grown->row;
	hash_table_delete(series->open, grown->key);
}

static int grow_kind(struct wait_series *series, struct wait_grown *grown, uint32_t *kind)
{
	struct open_kind *open = kind_of(series, grown->key);

	if (!open)
		return -ENOMEM;
	open->ns = grown->ns;
	*kind = open->kind;
	grown->note = &open->note;
	return 0;
}

int wait_series_take(struct wait_series *series, uint32_t slot, struct wait_grown *rows, size_t n,
		     int64_t now_ns)
{
	const struct wait_grown *most = grown_most(series, rows, n);
	struct heard *heard = heard_of(series, slot);
	int64_t going_on_ns, told_ns = 0;
	int err = heard ? 0 : -ENOMEM;

	if (!n || err)
		return err;
	going_on_ns = heard->off_ns > heard->told_ns ? heard->off_ns - heard->told_ns : 0;
	for (size_t i = 0; i < n && !err; i++) {
		int64_t before_ns = &rows[i] == most ? going_on_ns : 0;
		uint32_t kind = 0;

		told_ns += rows[i].ns;
		if (before_ns > rows[i].inside_ns)
			before_ns = rows[i].inside_ns;
		if (rows[i].row >= 0)
			close_kind(series, &rows[i], &kind);
		else if (rows[i].inside_ns > 0)
			err = grow_kind(series, &rows[i], &kind);
		rows[i].inside_ns -= before_ns;
		if (!err)
			err = add_sleep(series, kind, before_ns, rows[i].inside_ns, now_ns);
	}
	if (rows[0].row >= 0) {
		heard->ended = true;
		heard->off_ns = 0;
	}
	heard->told_ns = rows[0].row >= 0 ? 0 : told_ns;
	heard->fresh = rows[0].row < 0;
	return err;
}

const struct kind_note *wait_series_note(const struct wait_series *series,
					 const struct tt_edge_key *key)
{
	const struct open_kind *open = hash_table_find(series->open, key);

	return open ? &open->note : NULL;
}

static void look_at(struct heard *heard, const struct slot_sleep *slept)
{
	bool same = slept->tid == heard->tid && slept->birth_ns == heard->birth_ns;

	if (same && heard->ended) {
		heard->off_ns = heard->told_ns = 0;
	} else {
		heard->off_ns = slept->off_ns;
		/* What was told of the one before is not of this one. */
		if (!same && !heard->fresh)
			heard->told_ns = 0;
		heard->ended = false;
	}
	heard->tid = slept->tid;
	heard->birth_ns = slept->birth_ns;
	heard->fresh = false;
}

void wait_series_look(struct wait_series *series, int64_t now_ns,
		      struct slot_sleep (*sleep_of)(const void *ctx, uint32_t slot),
		      const void *ctx, uint32_t slots)
{
	for (uint32_t slot = 0; slot < slots; slot++) {
		struct slot_sleep slept = sleep_of(ctx, slot);
		struct heard *heard = heard_of(series, slot);

		if (heard)
			look_at(heard, &slept);
	}
	series->look_ns = now_ns;
}

int wait_series_last(struct wait_series *series, size_t row, int64_t asleep_ns, int64_t end_ns)
{
	struct spell spell = {IS_ROW | (uint32_t)row, end_ns - asleep_ns, end_ns, asleep_ns};

	return add_spell(series, &spell);
}

/* The first point that ends after a time. */
static size_t point_after(const struct host_series *points, int64_t t_ns)
{
	size_t low = 0, high = points->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (points->points[mid].t_ns > t_ns)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void put_spell(const struct spell *spell, int64_t begin_ns, enum wait_class class,
		      struct host_series *points, double *sums_ns)
{
	int64_t from = spell->begin_ns - begin_ns, to = spell->end_ns - begin_ns;
	double density = (double)spell->ns / (double)(to - from);

	for (size_t i = point_after(points, from); i < points->n; i++) {
		const struct host_point *point = &points->points[i];
		int64_t begin = point->t_ns - point->span_ns, end = point->t_ns;

		if (begin >= to)
			break;
		if (begin < from)
			begin = from;
		if (end > to)
			end = to;
		if (end > begin)
			sums_ns[i * WAIT_CLASSES + class] += density * (double)(end - begin);
	}
}

static void put_point(struct host_point *point, const double *sums_ns)
{
	float *off = point->off_threads;
	double asleep = 0, told = 0;

	for (int c = 0; c < WAIT_CLASSES; c++)
		asleep += isnan(off[c]) ? 0 : off[c];
	for (int c = 0; c < WAIT_CLASSES; c++) {
		off[c] = (float)(sums_ns[c] / (double)point->span_ns);
		told += c == WAIT_OTHER ? 0 : off[c];
	}
	off[WAIT_OTHER] = (float)fmax(off[WAIT_OTHER], asleep - told);
}

void wait_series_fill(const struct wait_series *series, const struct raw_waits *waits,
		      struct host_series *points)
{
	double *sums_ns = calloc(points->n * WAIT_CLASSES + 1, sizeof(*sums_ns));

	if (!sums_ns)
		return;
	for (size_t i = 0; i < series->n; i++) {
		const struct spell *spell = &series->spells[i];
		uint32_t row =
			spell->kind & IS_ROW ? spell->kind & ~IS_ROW : series->rows[spell->kind];

		if (row < waits->n)
			put_spell(spell, series->begin_ns, waits->rows[row].class, points, sums_ns);
	}
	for (size_t i = 0; i < points->n; i++) {
		if (points->points[i].span_ns > 0)
			put_point(&points->points[i], sums_ns + i * WAIT_CLASSES);
	}
	free(sums_ns);
}
