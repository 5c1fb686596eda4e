/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/text_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

#define TEXT	      1024
#define HOLDERS_SHOWN 3
#define WAIT_SHOWN    0.05 /* of the window: less is the scheduler's usual cost */
#define THROTTLED     0.01 /* of the periods */
#define SHARE_SHOWN   0.01

/* A holder by process; threads of the target and kernel threads by themselves. */
static bool same_holder(const struct cpu_holder *a, const struct cpu_holder *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == HOLDER_PROCESS)
		return a->holder_pid == b->holder_pid;
	return a->holder_tid == b->holder_tid;
}

static void append_holder(char *text, const struct cpu_holder *row, double share)
{
	char percent[32];

	text_percent_sign(percent, sizeof(percent), share);
	text_appendf(text, TEXT, "%s", *text ? ", " : "by ");
	if (row->kind == HOLDER_PROCESS)
		text_appendf(text, TEXT, "%s (PID %d)", *row->process ? row->process : row->name,
			     row->holder_pid);
	else if (row->kind == HOLDER_IDLE)
		text_appendf(text, TEXT, "nobody");
	else
		text_appendf(text, TEXT, "%s%s", row->kind == HOLDER_OWN ? "its own " : "",
			     row->name);
	if (row->rt_priority > 0)
		text_appendf(text, TEXT, " (real-time priority %d)", row->rt_priority);
	text_appendf(text, TEXT, " %s", percent);
}

/* The waiter's holders with the largest shares, the threads of one process added up. */
static void append_holders(char *text, const struct cpu_holder *rows, size_t n)
{
	int shown = 0;

	for (size_t i = 0; i < n && shown < HOLDERS_SHOWN; i++) {
		double share = rows[i].share;
		bool before = rows[i].kind == HOLDER_OTHERS;

		for (size_t k = 0; k < n; k++) {
			if (k == i || !same_holder(&rows[i], &rows[k]))
				continue;
			before |= k < i;
			share += rows[k].share;
		}
		if (before || !(share >= SHARE_SHOWN))
			continue;
		append_holder(text, &rows[i], share);
		shown++;
	}
}

static void append_waiter(char *text, const struct session *session, const struct cpu_holder *row)
{
	char name[TEXT_SANITIZED_SIZE(16)] = "";

	for (size_t i = 0; row->tid && i < session->nthreads && !*name; i++) {
		const struct thread_account *thread = &session->threads[i];

		if (thread->tid == row->tid && thread->pid == row->pid)
			text_sanitize(name, sizeof(name), thread->comm,
				      strnlen(thread->comm, sizeof(thread->comm)));
	}
	if (row->tid)
		text_appendf(text, TEXT, " while %s/%d", *name ? name : "thread", row->tid);
	else
		text_appendf(text, TEXT, " while ended threads %.*s", (int)sizeof(row->group),
			     row->group);
}

static size_t rows_of_waiter(const struct session *session, size_t first)
{
	const struct cpu_holder *rows = session->cpu_holders + first;
	size_t n = 1;

	while (first + n < session->ncpu_holders && rows[n].pid == rows->pid &&
	       rows[n].tid == rows->tid &&
	       !strncmp(rows[n].group, rows->group, sizeof(rows->group)))
		n++;
	return n;
}

static void holders(struct lines *lines, const struct session *session, bool verbose, size_t max)
{
	int64_t duration_ns = session_duration_ns(session);
	char text[TEXT], time[32];

	for (size_t i = 0, n; i < session->ncpu_holders && lines->n < max; i += n) {
		int64_t waited_ns = session->cpu_holders[i].waited_ns;

		n = rows_of_waiter(session, i);
		if (!verbose && !(share_of(waited_ns, duration_ns) >= WAIT_SHOWN))
			break;
		*text = 0;
		append_holders(text, session->cpu_holders + i, n);
		if (!*text)
			text_appendf(text, TEXT, "by whom is not known");
		append_waiter(text, session, &session->cpu_holders[i]);
		text_duration(time, sizeof(time), waited_ns);
		text_appendf(text, TEXT, " waited %s for one", time);
		lines_label(lines, i ? "" : "CPU held", text, max - lines->n);
		if (!verbose)
			break;
	}
}

static void quotas(struct lines *lines, const struct pressure *pressure, bool verbose, size_t max)
{
	char text[TEXT], used[32], held[32];
	bool labelled = false;

	for (int i = 0; i < pressure->nquotas && i < PRESSURE_LIMITS && lines->n < max; i++) {
		const struct cpu_quota *quota = &pressure->quotas[i];
		double share = cpu_quota_throttled(quota);

		if (!verbose && !(share > THROTTLED))
			continue;
		text_percent_sign(used, sizeof(used), share);
		text_duration(held, sizeof(held), quota->throttled_ns);
		snprintf(text, sizeof(text),
			 "cgroup %.*s may use %.2f CPUs: its threads were held back in %s of its "
			 "periods, %s in all (CPUs added up)",
			 (int)sizeof(quota->cgroup), quota->cgroup, quota->cpus, used, held);
		lines_label(lines, labelled ? "" : "quota", text, max - lines->n);
		labelled = true;
	}
}

/* Of the devices in use; of all when none is in use any more. */
static const char *swap_note(const struct pressure *pressure)
{
	bool zram[2] = {false}, other[2] = {false}, used = false;

	for (int i = 0; i < pressure->nswaps && i < PRESSURE_SWAPS; i++) {
		const struct swap_device *swap = &pressure->swaps[i];
		bool *kind = swap->kind == SWAP_ZRAM ? zram : other;

		kind[false] = true;
		kind[true] |= swap->used_bytes > 0;
		used |= swap->used_bytes > 0;
	}
	if (zram[used])
		return other[used] ? " (zram and disk)" : " (zram: costs CPU time, no disk time)";
	return other[used] ? " (disk)" : "";
}

static void append_limits(char *text, const struct pressure *pressure)
{
	char bytes[32];

	for (int i = 0; i < pressure->nlimits && i < PRESSURE_LIMITS; i++) {
		const struct memory_limit *limit = &pressure->limits[i];

		if (limit->reclaims <= 0)
			continue;
		text_bytes(bytes, sizeof(bytes), limit->limit_bytes);
		text_appendf(text, TEXT, "%scgroup %.*s was at its limit of %s %" PRId64 " times",
			     *text ? ", " : "", (int)sizeof(limit->cgroup), limit->cgroup, bytes,
			     limit->reclaims);
	}
}

static void memory(struct lines *lines, const struct session *session, size_t max)
{
	const struct pressure *pressure = &session->pressure;
	const int64_t *vm = pressure->vm;
	char text[TEXT] = "", number[32];

	if (vm[VM_SWAPPED_IN_BYTES] > 0) {
		text_bytes(number, sizeof(number), vm[VM_SWAPPED_IN_BYTES]);
		text_appendf(text, TEXT, "%s swapped in%s", number, swap_note(pressure));
	}
	if (vm[VM_ALLOCATION_STALLS] > 0)
		text_appendf(text, TEXT, "%s%" PRId64 " allocations had to reclaim memory",
			     *text ? ", " : "", vm[VM_ALLOCATION_STALLS]);
	append_limits(text, pressure);
	if (!*text || lines->n >= max)
		return;
	if (pressure->stalls[STALL_MEMORY].some_ns > 0) {
		text_percent_sign(number, sizeof(number),
				  share_of(pressure->stalls[STALL_MEMORY].some_ns,
					   session_duration_ns(session)));
		text_appendf(text, TEXT, "; something waited for memory %s of the time", number);
	}
	lines_label(lines, "memory", text, max - lines->n);
}

void text_system(struct lines *lines, const struct session *session, bool verbose, size_t max)
{
	struct lines own = {0};

	quotas(&own, &session->pressure, verbose, max);
	holders(&own, session, verbose, max);
	memory(&own, session, max);
	lines_move(lines, &own);
}

static void append_stall(char *text, const struct session *session, enum stall_resource resource)
{
	const struct stall *stall = &session->pressure.stalls[resource];
	int64_t duration_ns = session_duration_ns(session);
	char some[32], full[32];

	text_percent_sign(some, sizeof(some), share_of(stall->some_ns, duration_ns));
	text_percent_sign(full, sizeof(full), share_of(stall->full_ns, duration_ns));
	text_appendf(text, TEXT, "%s%s %s (all tasks: %s)", *text ? ", " : "",
		     stall_resource_name(resource), some, full);
}

static void paging(struct lines *lines, const struct pressure *pressure)
{
	char text[TEXT] = "", number[32];

	for (int i = 0; i < VM_EVENTS; i++) {
		const char *name = vm_event_name(i);
		size_t length = strlen(name);
		bool bytes = length > 6 && !strcmp(name + length - 6, "_bytes");

		if (bytes)
			text_bytes(number, sizeof(number), pressure->vm[i]);
		else if (pressure->vm[i] == UNKNOWN_COUNT)
			snprintf(number, sizeof(number), "unknown");
		else
			snprintf(number, sizeof(number), "%" PRId64, pressure->vm[i]);
		text_appendf(text, TEXT, "%s%.*s %s", *text ? ", " : "",
			     (int)(bytes ? length - 6 : length), name, number);
	}
	lines_label(lines, "paging", text, NO_LIMIT);
}

void text_system_details(struct lines *lines, const struct session *session)
{
	char text[TEXT] = "";

	for (int i = 0; i < session->ntop_processes && i < TOP_PROCESSES; i++) {
		const struct top_process *process = &session->top_processes[i];

		text_appendf(text, TEXT, "%s%.*s/%d %.1f %%", *text ? ", " : "",
			     (int)sizeof(process->comm), process->comm, process->pid,
			     100 * process->cpu_share);
	}
	if (session->ntop_processes >= 0)
		lines_label(lines, "others", *text ? text : "no other process used a CPU",
			    NO_LIMIT);
	if (!session->pressure.measured)
		return;
	*text = 0;
	for (int i = 0; i < STALL_RESOURCES; i++)
		append_stall(text, session, i);
	lines_label(lines, "stalled", text, NO_LIMIT);
	paging(lines, &session->pressure);
}
