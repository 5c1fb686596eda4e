/* SPDX-License-Identifier: GPL-2.0-only */
/* From counted faults to sites by mapping. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/samples/faults_internal.h"

#define MAX_SITES 2000
/* A major fault waits for a device: as dear as about so many minor ones. */
#define MAJOR_WEIGHT 100

struct summing {
	struct faults *faults;
	struct session *session;
	size_t room;
};

static struct fault_site *add_site(struct summing *sum)
{
	struct fault_summary *summary = &sum->session->faults;

	if (summary->nsites == sum->room) {
		size_t room = sum->room ? 2 * sum->room : 64;
		struct fault_site *sites = reallocarray(summary->sites, room, sizeof(*sites));

		if (!sites)
			return NULL;
		summary->sites = sites;
		sum->room = room;
	}
	return &summary->sites[summary->nsites++];
}

/* The end of a long path tells more than its begin. */
static void copy_path(char *dst, size_t size, const char *path)
{
	char clean[TEXT_SANITIZED_SIZE(1024)];
	size_t length = text_sanitize(clean, sizeof(clean), path, strnlen(path, 1024));

	if (length < size) {
		text_copy(dst, size, clean);
		return;
	}
	path = clean + length - (size - 4);
	while ((*path & 0xc0) == 0x80)
		path++;
	text_copy(dst, size, "...");
	text_copy(dst + 3, size - 3, path);
}

static void sum_kind(struct fault_summary *summary, enum mapping_kind kind, const int64_t *counts)
{
	bool swap = kind == MAPPING_ANON || kind == MAPPING_HEAP || kind == MAPPING_STACK ||
		    kind == MAPPING_SHARED;

	if (kind == MAPPING_ANON || kind == MAPPING_HEAP)
		summary->anonymous += counts[FAULT_MINOR];
	if (swap)
		summary->swap_ins += counts[FAULT_MAJOR];
	if (kind == MAPPING_FILE)
		summary->file_reads += counts[FAULT_MAJOR];
}

static void sum_up(void *ctx, const struct tally_owner *owner, const uint64_t key[TALLY_KEY],
		   const int64_t counts[TALLY_COUNTS])
{
	struct summing *sum = ctx;
	int number = key[FAULT_OBJECT] == TALLY_REST ? -1 : (int)key[FAULT_OBJECT] - 1;
	const struct mapping_object *object = mappings_object(sum->faults->mappings, number);
	enum mapping_kind kind = object ? object->kind : MAPPING_UNKNOWN;
	struct fault_site *site = add_site(sum);

	sum_kind(&sum->session->faults, kind, counts);
	if (!site)
		return;
	*site = (struct fault_site){.pid = owner->pid,
				    .tid = owner->tid,
				    .minor = counts[FAULT_MINOR],
				    .major = counts[FAULT_MAJOR]};
	text_copy(site->group, sizeof(site->group), owner->group);
	text_copy(site->kind, sizeof(site->kind), mapping_kind_name(kind));
	copy_path(site->mapping, sizeof(site->mapping), object ? object->path : "[unknown]");
}

static int compare_keys(const void *a, const void *b)
{
	const struct fault_site *x = a, *y = b;
	int order = (x->pid > y->pid) - (x->pid < y->pid);

	if (!order)
		order = (x->tid > y->tid) - (x->tid < y->tid);
	if (!order)
		order = strcmp(x->group, y->group);
	if (!order)
		order = strcmp(x->kind, y->kind);
	return order ? order : strcmp(x->mapping, y->mapping);
}

static int64_t weight(const struct fault_site *site)
{
	return site->minor + MAJOR_WEIGHT * site->major;
}

static int compare_weights(const void *a, const void *b)
{
	const struct fault_site *x = a, *y = b;

	if (weight(x) != weight(y))
		return weight(x) > weight(y) ? -1 : 1;
	return compare_keys(a, b);
}

/* Objects of one name are one mapping to a reader; the rarest sites become one row. */
static void merge_sites(struct fault_summary *summary)
{
	struct fault_site *sites = summary->sites;
	size_t n = 0;

	if (!summary->nsites)
		return;
	qsort(sites, summary->nsites, sizeof(*sites), compare_keys);
	for (size_t i = 0; i < summary->nsites; i++) {
		if (n && !compare_keys(&sites[n - 1], &sites[i])) {
			sites[n - 1].minor += sites[i].minor;
			sites[n - 1].major += sites[i].major;
		} else {
			sites[n++] = sites[i];
		}
	}
	qsort(sites, n, sizeof(*sites), compare_weights);
	for (size_t i = MAX_SITES; i < n; i++) {
		struct fault_site *rest = &sites[MAX_SITES - 1];

		if (i == MAX_SITES)
			*rest = (struct fault_site){.mapping = "[other]",
						    .kind = "unknown",
						    .minor = rest->minor,
						    .major = rest->major};
		rest->minor += sites[i].minor;
		rest->major += sites[i].major;
	}
	summary->nsites = n < MAX_SITES ? n : MAX_SITES;
}

static int64_t rss_growth(const struct faults *faults)
{
	int64_t sum = UNKNOWN_COUNT;

	for (int i = 0; i < faults->ntargets; i++) {
		if (faults->rss_begin[i] == UNKNOWN_COUNT || faults->rss_last[i] == UNKNOWN_COUNT)
			continue;
		if (sum == UNKNOWN_COUNT)
			sum = 0;
		sum += faults->rss_last[i] - faults->rss_begin[i];
	}
	return sum;
}

void faults_finish(struct faults *faults, struct session *session)
{
	struct summing sum = {.faults = faults, .session = session};
	struct fault_summary *summary = &session->faults;

	if (!faults)
		return;
	summary->measured = true;
	summary->minor = (int64_t)faults->closed.minor;
	summary->major = (int64_t)faults->closed.major;
	summary->rss_growth_bytes = rss_growth(faults);
	summary->series = faults->series;
	faults->series = NULL;
	faults_add_losses(faults, session);
	tally_for_each(faults->tally, sum_up, &sum);
	merge_sites(summary);
}
