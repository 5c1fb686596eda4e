/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json/json_values.h"

static json_t *wait_json(const struct thread_account *thread)
{
	json_t *wait = json_object();

	for (int i = 0; i < WAIT_CLASSES; i++)
		json_put(&wait, wait_class_name(i), json_count(thread->wait_ns[i]));
	return wait;
}

static json_t *switches_json(const struct thread_account *thread)
{
	json_t *switches = json_object();

	json_put(&switches, "voluntary", json_count(thread->switches_voluntary));
	json_put(&switches, "involuntary", json_count(thread->switches_involuntary));
	return switches;
}

static json_t *runq_json(const struct runq_delay *runq)
{
	json_t *object = json_object();
	json_t *hist = json_array();

	for (int i = 0; i < SESSION_HIST_BUCKETS; i++)
		json_push(&hist, json_integer(runq->hist[i]));
	json_put(&object, "count", json_count(runq->count));
	json_put(&object, "max_ns", runq->count > 0 ? json_count(runq->max_ns) : json_null());
	json_put(&object, "p50_ns", json_count(runq_quantile_ns(runq, 0.50)));
	json_put(&object, "p99_ns", json_count(runq_quantile_ns(runq, 0.99)));
	if (runq->count == UNKNOWN_COUNT) {
		json_decref(hist);
		hist = json_null();
	}
	json_put(&object, "hist", hist);
	return object;
}

static json_t *faults_json(const struct thread_account *thread)
{
	json_t *faults = json_object();

	json_put(&faults, "minor", json_count(thread->minor_faults));
	json_put(&faults, "major", json_count(thread->major_faults));
	json_put(&faults, "wait_ns", json_count(thread->wait_ns[WAIT_FAULT]));
	return faults;
}

static json_t *io_json(const struct thread_account *thread)
{
	json_t *io = json_object();

	json_put(&io, "reads", json_count(thread->io_reads));
	json_put(&io, "writes", json_count(thread->io_writes));
	json_put(&io, "read_bytes", json_count(thread->io_read_bytes));
	json_put(&io, "write_bytes", json_count(thread->io_write_bytes));
	json_put(&io, "queue_ns", json_count(thread->io_queue_ns));
	json_put(&io, "device_ns", json_count(thread->io_device_ns));
	return io;
}

static json_t *schedstat_json(const struct thread_account *thread)
{
	json_t *schedstat = json_object();

	json_put(&schedstat, "oncpu_ns", json_count(thread->schedstat_oncpu_ns));
	json_put(&schedstat, "runq_ns", json_count(thread->schedstat_runq_ns));
	return schedstat;
}

static json_t *thread_json(const struct thread_account *thread)
{
	json_t *object = json_object();

	json_put(&object, "pid", json_integer(thread->pid));
	json_put(&object, "tid", thread->tid ? json_integer(thread->tid) : json_null());
	json_put(&object, "comm", json_bytes(thread->comm, sizeof(thread->comm)));
	json_put(&object, "group", json_bytes(thread->group, sizeof(thread->group)));
	json_put(&object, "folded", json_integer(thread->folded));
	json_put(&object, "exited", json_boolean(thread->exited));
	json_put(&object, "wall_ns", json_count(thread->wall_ns));
	json_put(&object, "oncpu_ns", json_count(thread->oncpu_ns));
	json_put(&object, "gpu_spin_ns", json_count(thread->gpu_spin_ns));
	json_put(&object, "runq_wake_ns", json_count(thread->runq_wake_ns));
	json_put(&object, "runq_preempt_ns", json_count(thread->runq_preempt_ns));
	json_put(&object, "offcpu_ns", json_count(thread->offcpu_ns));
	json_put(&object, "stopped_ns", json_count(thread->stopped_ns));
	json_put(&object, "unknown_ns", json_count(thread->unknown_ns));
	json_put(&object, "identity_error_ns", json_integer(thread_identity_error_ns(thread)));
	json_put(&object, "wait", wait_json(thread));
	json_put(&object, "switches", switches_json(thread));
	json_put(&object, "runq", runq_json(&thread->runq));
	json_put(&object, "faults", faults_json(thread));
	json_put(&object, "io", io_json(thread));
	json_put(&object, "oncpu_samples", json_oncpu_samples(&thread->oncpu_samples));
	json_put(&object, "schedstat", schedstat_json(thread));
	json_put(&object, "cuda", json_thread_cuda(&thread->cuda));
	json_put(&object, "gaps", json_count(thread->gaps));
	return object;
}

json_t *json_threads(const struct session *session)
{
	json_t *threads = json_array();

	for (size_t i = 0; i < session->nthreads; i++)
		json_push(&threads, thread_json(&session->threads[i]));
	return threads;
}
