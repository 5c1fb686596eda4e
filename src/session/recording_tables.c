/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/recording_tables.h"

#define S struct session

static const char *end_name(int value)
{
	static const char *const names[] = {"duration", "interrupt", "target-exit"};

	return names[value];
}

static const char *wait_name(int value)
{
	return wait_class_name((enum wait_class)value);
}

static const char *waker_name(int value)
{
	return waker_kind_name((enum waker_kind)value);
}

static const char *op_name(int value)
{
	return block_op_name((enum block_op)value);
}

static const char *kind_name(int value)
{
	return oncpu_kind_name((enum oncpu_kind)value);
}

static const char *holder_name(int value)
{
	return holder_kind_name((enum holder_kind)value);
}

static const char *state_name(int value)
{
	return slice_state_name((enum slice_state)value);
}

static const char *call_name(int value)
{
	return cuda_kind_name(value);
}

static const char *swap_name(int value)
{
	return swap_kind_name((enum swap_kind)value);
}

static const struct column session_columns[] = {
	KNOWN(S, start_ns),
	KNOWN(S, end_ns),
	F(S, started_unix_ns),
	ENUM("ended_by", S, ended_by, end_name, END_TARGET_EXIT + 1),
	AS("targets_seen", S, ntargets),
	OR_UNKNOWN(S, command_status),
	F(S, block_known),
	F(S, oncpu_hz),
	F(S, threads_seen),
	F(S, cpu_holders_measured),
	COLUMN("top_processes", COLUMN_I32_OR, S, ntop_processes),
	F(S, board_guessed),
	AS("rung", S, capability.rung),
	AS("waits_ns", S, waits.ns),
	AS("waits_with_stack_ns", S, waits.with_stack_ns),
	AS("waits_estimated_ns", S, waits.estimated_ns),
	AS("tegra_points_merged", S, series.merged),
	AS("host_points_merged", S, host_series.merged),
};

static const struct column host_columns[] = {
	AS("kernel", S, host.kernel), AS("arch", S, host.arch),
	AS("cpus", S, host.cpus),     AS("page_bytes", S, host.page_bytes),
	AS("module", S, host.module), AS("power_mode", S, host.power_mode),
};

#define L(field) AS(#field, S, losses.field)

static const struct column losses_columns[] = {
	L(threads_untracked), L(gaps_switch_out), L(gaps_switch_in),   L(wakes_without_waker),
	L(edges_dropped),     L(stacks_dropped),  L(holders_dropped),  L(clamped),
	L(events_lost),	      L(block_unmatched), L(block_unfinished), L(block_dropped),
	L(samples_dropped),   L(faults_dropped),  L(tegra_rejected),   L(identity_violations),
	L(timeline_lost),
};

static const struct column overhead_columns[] = {
	AS("events", S, overhead.events),	AS("ns_per_switch", S, overhead.ns_per_switch),
	AS("cpu_share", S, overhead.cpu_share), AS("rss_bytes", S, overhead.rss_bytes),
	AS("attach_ns", S, overhead.attach_ns),
};

#define W(field) AS(#field, S, workload.field)

static const struct column workload_columns[] = {
	W(flop_per_item), W(batch),   W(latency_s), W(items_per_s), W(bytes_per_item),
	W(peak_flops),	  W(peak_bw), W(precision), W(model),
};

#define T		  struct thread_account
#define WAIT(name, class) AS(name, T, wait_ns[class])

static const struct column thread_columns[] = {
	F(T, pid),
	F(T, tid),
	F(T, folded),
	F(T, exited),
	BYTES(T, comm),
	AS("group_name", T, group),
	KNOWN(T, wall_ns),
	KNOWN(T, oncpu_ns),
	F(T, gpu_spin_ns),
	KNOWN(T, runq_wake_ns),
	KNOWN(T, runq_preempt_ns),
	KNOWN(T, offcpu_ns),
	KNOWN(T, stopped_ns),
	KNOWN(T, unknown_ns),
	WAIT("wait_gpu_ns", WAIT_GPU),
	WAIT("wait_disk_ns", WAIT_DISK),
	WAIT("wait_fault_ns", WAIT_FAULT),
	WAIT("wait_lock_ns", WAIT_LOCK),
	WAIT("wait_thread_ns", WAIT_THREAD),
	WAIT("wait_process_ns", WAIT_PROCESS),
	WAIT("wait_net_ns", WAIT_NET),
	WAIT("wait_device_ns", WAIT_DEVICE),
	WAIT("wait_timer_ns", WAIT_TIMER),
	WAIT("wait_child_ns", WAIT_CHILD),
	WAIT("wait_event_ns", WAIT_EVENT),
	WAIT("wait_other_ns", WAIT_OTHER),
	F(T, switches_voluntary),
	F(T, switches_involuntary),
	AS("runq_count", T, runq.count),
	AS("runq_max_ns", T, runq.max_ns),
	HIST("runq_hist", T, runq.hist),
	F(T, minor_faults),
	F(T, major_faults),
	AS("samples", T, oncpu_samples.total),
	AS("samples_kernel", T, oncpu_samples.kernel),
	AS("samples_gpu_spin", T, oncpu_samples.gpu_spin),
	AS("samples_spin", T, oncpu_samples.spin),
	F(T, schedstat_oncpu_ns),
	F(T, schedstat_runq_ns),
	F(T, io_reads),
	F(T, io_writes),
	F(T, io_read_bytes),
	F(T, io_write_bytes),
	F(T, io_queue_ns),
	F(T, io_device_ns),
	AS("cuda_sync_calls", T, cuda.sync_calls),
	AS("cuda_sync_ns", T, cuda.sync_ns),
	AS("cuda_polls", T, cuda.polls),
	AS("cuda_poll_ns", T, cuda.poll_ns),
	AS("cuda_spin_ns", T, cuda.spin_ns),
	AS("cuda_launches", T, cuda.launches),
	AS("cuda_graph_launches", T, cuda.graph_launches),
	AS("cuda_launch_ns", T, cuda.launch_ns),
	AS("cuda_copies", T, cuda.copies),
	AS("cuda_copy_bytes", T, cuda.copy_bytes),
	KNOWN(T, gaps),
};

_Static_assert(WAIT_CLASSES == 12, "a column for every class");

static const struct column target_columns[] = {
	F(struct target_info, pid),
	BYTES(struct target_info, comm),
};

static const struct column missing_columns[] = {
	F(struct missing_capability, what),
	F(struct missing_capability, why),
};

#define E struct wait_edge

static const struct column edge_columns[] = {
	F(E, pid),
	F(E, tid),
	AS("group_name", E, group),
	ENUM("waker_kind", E, waker_kind, waker_name, WAKER_KINDS),
	F(E, waker_pid),
	F(E, waker_tid),
	F(E, waker),
	F(E, via),
	ENUM("class", E, class, wait_name, WAIT_CLASSES),
	F(E, site),
	KNOWN(E, ns),
	KNOWN(E, count),
	KNOWN(E, max_ns),
	OR_UNKNOWN(E, stack),
};

#define K struct wait_stack

static const struct column stack_columns[] = {
	F(K, pid),
	F(K, tid),
	AS("group_name", K, group),
	ENUM("class", K, class, wait_name, WAIT_CLASSES),
	STRING(K, frames),
	KNOWN(K, ns),
	KNOWN(K, count),
};

#define B struct block_row

static const struct column block_columns[] = {
	F(B, device),
	ENUM("op", B, op, op_name, BLOCK_OPS),
	F(B, target),
	KNOWN(B, count),
	KNOWN(B, bytes),
	KNOWN_AS("queue_count", B, queue.count),
	KNOWN_AS("queue_ns", B, queue.sum_ns),
	KNOWN_AS("queue_max_ns", B, queue.max_ns),
	HIST("queue_hist", B, queue.hist),
	KNOWN_AS("device_count", B, device_lat.count),
	KNOWN_AS("device_ns", B, device_lat.sum_ns),
	KNOWN_AS("device_max_ns", B, device_lat.max_ns),
	HIST("device_hist", B, device_lat.hist),
};

#define O struct oncpu_site

static const struct column oncpu_columns[] = {
	F(O, pid),
	F(O, tid),
	AS("group_name", O, group),
	F(O, library),
	F(O, function),
	F(O, kernel),
	ENUM("kind", O, kind, kind_name, ONCPU_KINDS),
	KNOWN(O, samples),
};

#define OS struct oncpu_stack

static const struct column oncpu_stack_columns[] = {
	F(OS, pid),
	F(OS, tid),
	AS("group_name", OS, group),
	ENUM("kind", OS, kind, kind_name, ONCPU_KINDS),
	STRING(OS, frames),
	KNOWN(OS, samples),
};

#define FAULT(field) AS(#field, S, faults.field)

static const struct column fault_columns[] = {
	FAULT(measured),	 FAULT(minor),	  FAULT(major),
	FAULT(anonymous),	 FAULT(swap_ins), FAULT(file_reads),
	FAULT(rss_growth_bytes),
};

#define FS struct fault_site

static const struct column fault_site_columns[] = {
	F(FS, pid),	  F(FS, tid),  AS("group_name", FS, group),
	F(FS, mapping),	  F(FS, kind), KNOWN(FS, minor),
	KNOWN(FS, major),
};

static const struct column fault_series_columns[] = {F(struct fault_series, interval_ns)};

#define FP struct fault_point

static const struct column fault_point_columns[] = {KNOWN(FP, minor), KNOWN(FP, major)};

static const struct column cpu_columns[] = {
	F(struct cpu_account, id),
	AS("busy_share", struct cpu_account, busy),
	AS("irq_share", struct cpu_account, irq),
	AS("steal_share", struct cpu_account, steal),
	F(struct cpu_account, online),
};

#define H struct cpu_holder

static const struct column holder_columns[] = {
	F(H, pid),
	F(H, tid),
	AS("group_name", H, group),
	ENUM("kind", H, kind, holder_name, HOLDER_OTHERS + 1),
	F(H, holder_pid),
	F(H, holder_tid),
	F(H, name),
	F(H, process),
	OR_UNKNOWN(H, policy),
	OR_UNKNOWN(H, rt_priority),
	KNOWN(H, ns),
	KNOWN(H, count),
	KNOWN(H, waited_ns),
	F(H, share),
};

static const struct column top_columns[] = {
	F(struct top_process, pid),
	F(struct top_process, comm),
	F(struct top_process, cpu_share),
};

#define P(field)	       AS(#field, S, pressure.field)
#define VM(text, R, of, event) AS(text, R, of[event])
/* The counts of /proc/vmstat, in a row of type R. */
#define VM_COLUMNS(R, of)                                                           \
	VM("faults", R, of, VM_FAULTS), VM("major_faults", R, of, VM_MAJOR_FAULTS), \
		VM("paged_in_bytes", R, of, VM_PAGED_IN_BYTES),                     \
		VM("paged_out_bytes", R, of, VM_PAGED_OUT_BYTES),                   \
		VM("swapped_in_bytes", R, of, VM_SWAPPED_IN_BYTES),                 \
		VM("swapped_out_bytes", R, of, VM_SWAPPED_OUT_BYTES),               \
		VM("allocation_stalls", R, of, VM_ALLOCATION_STALLS),               \
		VM("direct_scanned_pages", R, of, VM_DIRECT_SCANNED),               \
		VM("direct_reclaimed_pages", R, of, VM_DIRECT_RECLAIMED),           \
		VM("kswapd_scanned_pages", R, of, VM_KSWAPD_SCANNED),               \
		VM("refaults_file_pages", R, of, VM_REFAULTS_FILE),                 \
		VM("refaults_anon_pages", R, of, VM_REFAULTS_ANON)

_Static_assert(VM_EVENTS == 12, "a column for every count");

static const struct column pressure_columns[] = {
	P(measured),
	AS("cpu_some_ns", S, pressure.stalls[STALL_CPU].some_ns),
	AS("cpu_full_ns", S, pressure.stalls[STALL_CPU].full_ns),
	AS("memory_some_ns", S, pressure.stalls[STALL_MEMORY].some_ns),
	AS("memory_full_ns", S, pressure.stalls[STALL_MEMORY].full_ns),
	AS("io_some_ns", S, pressure.stalls[STALL_IO].some_ns),
	AS("io_full_ns", S, pressure.stalls[STALL_IO].full_ns),
	VM_COLUMNS(S, pressure.vm),
	P(total_bytes),
	P(available_min_bytes),
	COLUMN("swaps", COLUMN_I32_OR, S, pressure.nswaps),
	COLUMN("quotas", COLUMN_I32_OR, S, pressure.nquotas),
	COLUMN("limits", COLUMN_I32_OR, S, pressure.nlimits),
	P(rt_runtime_us),
	P(rt_period_us),
};

#define V struct vm_point

static const struct column vm_columns[] = {F(V, t_ns), F(V, available_bytes), VM_COLUMNS(V, count)};

#define SW struct swap_device

static const struct column swap_columns[] = {
	F(SW, name),
	ENUM("kind", SW, kind, swap_name, SWAP_FILE + 1),
	F(SW, size_bytes),
	F(SW, used_bytes),
};

#define Q struct cpu_quota

static const struct column quota_columns[] = {
	F(Q, cgroup),  F(Q, version),		F(Q, pid),	    F(Q, cpus),
	F(Q, periods), F(Q, throttled_periods), F(Q, throttled_ns),
};

#define M struct memory_limit

static const struct column limit_columns[] = {
	F(M, cgroup),
	F(M, version),
	F(M, pid),
	F(M, limit_bytes),
	F(M, used_bytes),
	F(M, reclaims),
	F(M, oom_kills),
	AS("some_ns", M, stall.some_ns),
	AS("full_ns", M, stall.full_ns),
};

#define HP		 struct host_point
#define OFF(name, class) AS("off_" name "_threads", HP, off_threads[class])

static const struct column host_point_columns[] = {
	KNOWN(HP, t_ns),
	KNOWN(HP, span_ns),
	F(HP, oncpu_cpus),
	F(HP, runq_threads),
	F(HP, stopped_threads),
	OFF("gpu", WAIT_GPU),
	OFF("disk", WAIT_DISK),
	OFF("fault", WAIT_FAULT),
	OFF("lock", WAIT_LOCK),
	OFF("thread", WAIT_THREAD),
	OFF("process", WAIT_PROCESS),
	OFF("net", WAIT_NET),
	OFF("device", WAIT_DEVICE),
	OFF("timer", WAIT_TIMER),
	OFF("child", WAIT_CHILD),
	OFF("event", WAIT_EVENT),
	OFF("other", WAIT_OTHER),
	F(HP, minor_faults_per_s),
	F(HP, major_faults_per_s),
	F(HP, read_bytes_per_s),
	F(HP, write_bytes_per_s),
	COLUMN("cpu_busy_shares", COLUMN_SHARES, HP, cpu_busy),
};

#define TS struct timeline_slice

static const struct column timeline_columns[] = {
	KNOWN(TS, start_ns),
	KNOWN(TS, ns),
	F(TS, pid),
	F(TS, tid),
	ENUM("state", TS, state, state_name, SLICE_STATES),
	OR_UNKNOWN(TS, cpu),
	ENUM("waker_kind", TS, waker_kind, waker_name, WAKER_KINDS),
	F(TS, waker),
};

#define TR struct timeline_request

static const struct column request_columns[] = {
	KNOWN(TR, issue_ns),
	F(TR, queue_ns),
	KNOWN(TR, device_ns),
	KNOWN(TR, bytes),
	F(TR, pid),
	F(TR, tid),
	ENUM("op", TR, op, op_name, BLOCK_OPS),
	F(TR, device),
};

#define TF struct timeline_fault

static const struct column timeline_fault_columns[] = {
	KNOWN(TF, start_ns), KNOWN(TF, ns), KNOWN(TF, count), F(TF, pid), F(TF, tid), F(TF, major),
};

#define TC struct timeline_call

static const struct column call_columns[] = {
	KNOWN(TC, start_ns), KNOWN(TC, ns), KNOWN(TC, bytes),
	F(TC, pid),	     F(TC, tid),    ENUM("kind", TC, kind, call_name, CUDA_KINDS),
	F(TC, calls),
};

/* Far above what a run can give, so that a hostile file cannot take all memory. */
#define ROWS_MAX 262144

static const struct table tables[] = {
	{"session", "The run as a whole: one row. Times are CLOCK_MONOTONIC.",
	 ONE(session_columns)},
	{"host", "The machine.", ONE(host_columns)},
	{"targets", "Processes traced from the start.", COUNTED(target_columns, targets, ntargets),
	 .may_exceed = true},
	{"missing", "What could not be measured, and why.",
	 COUNTED(missing_columns, capability.missing, capability.nmissing)},
	{"threads",
	 "One thread, or with folded > 1 several exited ones of a group. oncpu + runq_wake + "
	 "runq_preempt + offcpu + stopped + unknown = wall; offcpu is the sum of the waits.",
	 HEAP(thread_columns, threads, nthreads, ROWS_MAX)},
	{"edges", "Who waited for whom, largest first; stack is stacks.row.",
	 HEAP(edge_columns, edges, nedges, ROWS_MAX)},
	{"stacks", "Time asleep by stack: outermost frame first, ';' between, kernel frames _[k].",
	 HEAP(stack_columns, stacks, nstacks, ROWS_MAX)},
	{"block",
	 "Requests to block devices; target 0: of all other processes. Histograms as "
	 "threads.runq_hist.",
	 HEAP(block_columns, block, nblock, ROWS_MAX)},
	{"oncpu", "Samples on a CPU by function.", HEAP(oncpu_columns, oncpu, noncpu, ROWS_MAX)},
	{"oncpu_stacks", "The same by whole stack (--user-stacks).",
	 HEAP(oncpu_stack_columns, oncpu_stacks, noncpu_stacks, ROWS_MAX)},
	{"faults", "Page faults of the target: one row.", ONE(fault_columns)},
	{"fault_sites", "The same by thread and mapping.",
	 HEAP(fault_site_columns, faults.sites, faults.nsites, ROWS_MAX)},
	{"fault_series", "Length of a row of fault_points; no row when not measured.",
	 COLUMNS(fault_series_columns), .kind = TABLE_MAYBE, .offset = offsetof(S, faults.series),
	 .row_size = sizeof(struct fault_series), .max = 1},
	{"fault_points", "Page faults by time.", COLUMNS(fault_point_columns), .kind = TABLE_INSIDE,
	 .row_size = sizeof(struct fault_point), .offset = offsetof(struct fault_series, points),
	 .count_offset = offsetof(struct fault_series, n), .max = FAULT_SERIES_LIMIT,
	 .owner = offsetof(S, faults.series)},
	{"cpus", "CPUs over the window.", HEAP(cpu_columns, cpus, ncpus, 8192)},
	{"cpu_holders", "Who had the CPU while a thread of the target waited for one.",
	 HEAP(holder_columns, cpu_holders, ncpu_holders, ROWS_MAX)},
	{"top_processes", "Processes outside the target; cpu_share 2 = two CPUs.",
	 COUNTED(top_columns, top_processes, ntop_processes)},
	{"pressure", "What the machine was short of: one row.", ONE(pressure_columns)},
	{"vm_points", "Counts of /proc/vmstat since the window's begin.",
	 HEAP(vm_columns, pressure.series, pressure.nseries, 4096)},
	{"swaps", "Swap areas.", COUNTED(swap_columns, pressure.swaps, pressure.nswaps)},
	{"cpu_quotas", "CPU quotas of the targets' cgroups.",
	 COUNTED(quota_columns, pressure.quotas, pressure.nquotas)},
	{"memory_limits", "Memory limits of the targets' cgroups.",
	 COUNTED(limit_columns, pressure.limits, pressure.nlimits)},
	{"workload", "What the user said the inference computes: one row.", ONE(workload_columns)},
	{"host_points",
	 "CPUs and threads by time, as means over span_ns before t_ns; off_ is asleep, by class of "
	 "wait; cpu_busy_shares by CPU.",
	 HEAP(host_point_columns, host_series.points, host_series.n, HOST_LIMIT)},
	{"timeline",
	 "Each interval of each thread in one state, since the window's begin (--timeline); waker, "
	 "a "
	 "tid or the number of an interrupt, ended the sleep.",
	 HEAP(timeline_columns, timeline.slices, timeline.n, TIMELINE_LIMIT)},
	{"timeline_requests",
	 "Each block request of the target that was issued and completed (--timeline), by the "
	 "thread "
	 "that submitted it; queue_ns lies before the issue, device_ns after it.",
	 HEAP(request_columns, timeline.requests, timeline.nrequests, TIMELINE_LIMIT), .since = 2},
	{"timeline_faults",
	 "Page faults of each thread (--timeline): a major one when it was over, or several minor "
	 "ones of about a millisecond.",
	 HEAP(timeline_fault_columns, timeline.faults, timeline.nfaults, TIMELINE_LIMIT),
	 .since = 2},
	{"timeline_calls",
	 "Each call of the CUDA driver library that was probed, the part in the window "
	 "(--timeline); queries of a loop are one row. Kinds as in cuda_calls.",
	 HEAP(call_columns, timeline.calls, timeline.ncalls, TIMELINE_LIMIT), .since = 2},
	{"losses", "Counted losses: one row.", ONE(losses_columns)},
	{"overhead", "What measuring took: one row.", ONE(overhead_columns)},
};

char *table_base(const struct table *table, const struct session *session)
{
	char *base = (char *)session;

	return table->owner ? *(char **)(base + table->owner) : base;
}

const char *table_rows(const struct table *table, const struct session *session, size_t *n)
{
	char *base = table_base(table, session), *rows;
	int count;

	*n = 0;
	if (!base)
		return NULL;
	rows = base + table->offset;
	switch (table->kind) {
	case TABLE_ONE:
		*n = 1;
		break;
	case TABLE_FIXED:
		*n = table->max;
		break;
	case TABLE_COUNTED:
		count = *(int *)(base + table->count_offset);
		*n = count < 0 ? 0 : (size_t)count;
		break;
	case TABLE_HEAP:
		*n = *(size_t *)(base + table->count_offset);
		rows = *(char **)rows;
		break;
	case TABLE_INSIDE:
		*n = *(size_t *)(base + table->count_offset);
		break;
	case TABLE_MAYBE:
		rows = *(char **)rows;
		*n = rows ? 1 : 0;
		break;
	}
	if (*n > table->max)
		*n = table->max;
	return rows;
}

const struct table *recording_table(int number)
{
	int own = COUNT_OF(tables);

	if (number < own)
		return &tables[number];
	number -= own;
	return number < recording_board_ntables ? &recording_board_tables[number] : NULL;
}
