/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the busiest threads burn their CPU time, and page faults where they matter. */
#include "report/text/text_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define TEXT 1024

/* Of a thread's time: one that is on the CPU for less does not limit by what it computes. */
#define BUSY_SHARE 0.2
/* With fewer samples a share is off by more than 10 percentage points. */
#define LEAST_SAMPLES 30
#define GROUPS	      3
#define SPIN_SHARE    0.1

#define NS_PER_S 1e9

/* From here on page faults cost a noticeable part of a CPU, or the disk is waited for. */
#define MANY_ANONYMOUS_PER_S 2000
#define MANY_MAJOR_PER_S     10
/* Pages faulted in against what the process has grown by: more often than once each is churn. */
#define CHURN 4

struct hot {
	int64_t total, gpu_spin, spin;
	const char *place; /* library, or "the kernel" */
	int64_t in_place;
	const char *function;
	int64_t in_function;
};

static bool is_of(const struct oncpu_site *site, const struct thread_group *group)
{
	return site->pid == group->pid && !strcmp(site->group, group->name);
}

static const char *place_of(const struct oncpu_site *site)
{
	return *site->kernel ? "the kernel" : site->library;
}

static const char *function_of(const struct oncpu_site *site)
{
	return *site->kernel ? site->kernel : site->function;
}

/* Sums of one place, or of one function in it, over the sites of a group. */
static int64_t sum_of(const struct session *session, const struct thread_group *group,
		      const char *place, const char *function)
{
	int64_t sum = 0;

	for (size_t i = 0; i < session->noncpu; i++) {
		const struct oncpu_site *site = &session->oncpu[i];

		if (is_of(site, group) && !strcmp(place_of(site), place) &&
		    (!function || !strcmp(function_of(site), function)))
			sum += site->samples;
	}
	return sum;
}

/* The largest are near the front: the sites are sorted, so few are asked about. */
#define CANDIDATES 8

static void find_hot(struct hot *hot, const struct session *session,
		     const struct thread_group *group)
{
	int asked = 0;

	*hot = (struct hot){.place = ""};
	for (size_t i = 0; i < session->noncpu; i++) {
		const struct oncpu_site *site = &session->oncpu[i];
		int64_t sum;

		if (!is_of(site, group))
			continue;
		hot->total += site->samples;
		hot->gpu_spin += site->kind == ONCPU_GPU_SPIN ? site->samples : 0;
		hot->spin += site->kind == ONCPU_SPIN ? site->samples : 0;
		if (asked++ >= CANDIDATES)
			continue;
		sum = sum_of(session, group, place_of(site), NULL);
		if (sum > hot->in_place) {
			hot->in_place = sum;
			hot->place = place_of(site);
			hot->in_function = 0;
		}
		if (strcmp(place_of(site), hot->place) || !*function_of(site))
			continue;
		sum = sum_of(session, group, hot->place, function_of(site));
		if (sum > hot->in_function) {
			hot->in_function = sum;
			hot->function = function_of(site);
		}
	}
}

static void append_share(char *text, int64_t part, int64_t whole, const char *what)
{
	char percent[32];

	text_percent_sign(percent, sizeof(percent), share_of(part, whole));
	text_appendf(text, TEXT, "%s %s", percent, what);
}

static void append_group(char *text, const struct thread_group *group, const struct hot *hot)
{
	text_appendf(text, TEXT, "%s%.32s: ", *text ? "; " : "", group->name);
	append_share(text, hot->in_place, hot->total, hot->place);
	if (hot->in_function)
		text_appendf(text, TEXT, " (");
	if (hot->in_function && hot->in_function < hot->in_place)
		append_share(text, hot->in_function, hot->total, "");
	if (hot->in_function)
		text_appendf(text, TEXT, "%s)", hot->function);
	if ((double)hot->gpu_spin >= SPIN_SHARE * (double)hot->total) {
		text_appendf(text, TEXT, ", ");
		append_share(text, hot->gpu_spin, hot->total, "spins for the GPU");
	}
	if ((double)hot->spin >= SPIN_SHARE * (double)hot->total) {
		text_appendf(text, TEXT, ", ");
		append_share(text, hot->spin, hot->total, "spins for others");
	}
}

void text_oncpu(struct lines *lines, const struct session *session,
		const struct thread_group *groups, size_t n, size_t max)
{
	char text[TEXT] = "";
	int named = 0;

	for (size_t i = 0; i < n && named < GROUPS; i++) {
		struct hot hot;

		if (!(share_of(groups[i].sum.oncpu_ns, groups[i].sum.wall_ns) >= BUSY_SHARE))
			continue;
		find_hot(&hot, session, &groups[i]);
		if (hot.total < LEAST_SAMPLES)
			continue;
		append_group(text, &groups[i], &hot);
		named++;
	}
	if (*text)
		lines_label(lines, "on CPU", text, max);
}

static void major_faults(char *text, const struct session *session, double seconds)
{
	const struct fault_summary *faults = &session->faults;

	if ((double)faults->major < MANY_MAJOR_PER_S * seconds)
		return;
	text_appendf(text, TEXT, "%.0f major/s", (double)faults->major / seconds);
	if (faults->swap_ins)
		text_appendf(text, TEXT, ", %" PRId64 " of them from swap", faults->swap_ins);
	if (faults->nsites && faults->sites[0].major && !strcmp(faults->sites[0].kind, "file"))
		text_appendf(text, TEXT, ", most by %.32s in %.160s", faults->sites[0].group,
			     faults->sites[0].mapping);
}

static void churn(char *text, const struct session *session, double seconds)
{
	const struct fault_summary *faults = &session->faults;
	int64_t bytes;
	int64_t growth = faults->rss_growth_bytes;
	char size[32], grown[32];

	if (__builtin_mul_overflow(faults->anonymous, session->host.page_bytes, &bytes))
		return;
	if ((double)faults->anonymous < MANY_ANONYMOUS_PER_S * seconds ||
	    2 * faults->anonymous < faults->minor || growth == UNKNOWN_COUNT ||
	    bytes < CHURN * growth)
		return;
	text_bytes(size, sizeof(size), bytes);
	text_bytes(grown, sizeof(grown), growth > 0 ? growth : 0);
	text_appendf(text, TEXT,
		     "%s%.0f anonymous minor/s, %s while resident memory grew by %s: the allocator "
		     "gives "
		     "memory back (raise MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_)",
		     *text ? "; " : "", (double)faults->anonymous / seconds, size, grown);
}

void text_faults(struct lines *lines, const struct session *session, size_t max)
{
	int64_t duration_ns = session_duration_ns(session);
	char text[TEXT] = "";

	if (!session->faults.measured || duration_ns == UNKNOWN_NS)
		return;
	major_faults(text, session, (double)duration_ns / NS_PER_S);
	churn(text, session, (double)duration_ns / NS_PER_S);
	if (*text)
		lines_label(lines, "faults", text, max);
}
