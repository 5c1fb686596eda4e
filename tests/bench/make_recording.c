/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as a long run of a pipeline leaves it, for the cost of reports: an hour of samples each
 * 100 ms, and so many events of its timeline, of eight threads that wake each other; of a hundred
 * events 4 are calls, 3 requests and 3 faults.
 * Usage: make_recording FILE EVENTS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

#include "session/recording.h"

#define THREADS	  8
#define PID	  1000
#define HOUR_NS	  3600000000000LL
#define SAMPLE_NS 100000000LL

static void die(const char *what)
{
	fprintf(stderr, "make_recording: %s\n", what);
	exit(1);
}

static void add_threads(struct session *session)
{
	for (int i = 0; i < THREADS; i++) {
		struct thread_account *t = session_add_thread(session);
		struct wait_edge *edge = session_add_edge(session);

		if (!t || !edge)
			die("out of memory");
		t->pid = PID;
		t->tid = PID + i;
		t->folded = 1;
		snprintf(t->comm, sizeof(t->comm), "worker-%d", i);
		snprintf(t->group, sizeof(t->group), "worker-N");
		t->wall_ns = HOUR_NS;
		t->oncpu_ns = HOUR_NS / 2;
		t->offcpu_ns = HOUR_NS - t->oncpu_ns;
		t->wait_ns[WAIT_THREAD] = t->offcpu_ns;
		edge->pid = PID;
		edge->tid = t->tid;
		edge->waker_kind = WAKER_THREAD;
		edge->waker_pid = PID;
		edge->waker_tid = PID + (i + 1) % THREADS;
		edge->class = WAIT_THREAD;
		edge->ns = t->offcpu_ns;
		edge->count = 1;
		edge->max_ns = t->offcpu_ns;
	}
}

static void add_points(struct session *session)
{
	for (int64_t t_ns = 0; t_ns < HOUR_NS; t_ns += SAMPLE_NS) {
		float share = (float)(t_ns / SAMPLE_NS % 97) / 97;
		struct tegra_point point = {
			.t_ns = t_ns,
			.gpu_busy = share,
			.gpu_mhz = 306 + 600 * share,
			.emc_busy = share / 2,
			.emc_mhz = 2133,
			.core_max = 1 - share,
			.cores_used = 3 * share,
			.ram_mb = 4000 + 100 * share,
			.swap_mb = 0,
			.hottest_c = 50 + 10 * share,
			.power_mw = 5000 + 3000 * share,
		};
		struct host_point host;

		host_point_init(&host);
		host.t_ns = t_ns + SAMPLE_NS;
		host.span_ns = SAMPLE_NS;
		host.oncpu_cpus = 3 * share;
		host.runq_threads = share;
		if (series_add(&session->series, &point) ||
		    host_series_add(&session->host_series, &host))
			die("out of memory");
	}
	if (series_flush(&session->series) || host_series_flush(&session->host_series))
		die("out of memory");
	session->tegra.state = TEGRA_LIVE;
	session->tegra.samples = HOUR_NS / SAMPLE_NS;
	session->tegra.interval_ms = 100;
}

/* On a CPU, asleep until another thread wakes it, in the run queue, and again. */
static void add_slice(struct timeline *timeline, int64_t i, int64_t step_ns)
{
	static const enum slice_state states[] = {SLICE_ONCPU, SLICE_OFF_OTHER, SLICE_RUNQ_WAKE};
	int64_t round = i / THREADS;
	pid_t tid = (pid_t)(PID + i % THREADS);
	struct timeline_slice slice = {
		.start_ns = round * step_ns,
		.ns = step_ns,
		.pid = PID,
		.tid = tid,
		.state = states[round % 3],
		.cpu = (int)(i % 4),
	};

	if (slice.state == SLICE_OFF_OTHER) {
		slice.waker_kind = WAKER_THREAD;
		slice.waker = PID + (uint32_t)(tid - PID + 1) % THREADS;
	}
	timeline_add_slice(timeline, &slice);
}

static void add_timeline(struct session *session, int64_t events)
{
	int64_t step_ns = HOUR_NS / (events / THREADS + 1), slices = 0;

	for (int64_t i = 0; i < events; i++) {
		int64_t t_ns = i / THREADS * step_ns;
		pid_t tid = (pid_t)(PID + i % THREADS);
		struct timeline_call call = {t_ns, step_ns / 2, 4096, PID, tid, 5, 1};
		struct timeline_fault fault = {t_ns, 900000, 17, PID, tid, false};
		struct timeline_request request = {
			t_ns + step_ns / 4, step_ns / 4, step_ns, 65536, PID, tid,
			BLOCK_READ,	    "nvme0n1"};

		if (i % 100 < 4)
			timeline_add_call(&session->timeline, &call);
		else if (i % 100 < 7)
			timeline_add_request(&session->timeline, &request);
		else if (i % 100 < 10)
			timeline_add_fault(&session->timeline, &fault);
		else
			add_slice(&session->timeline, slices++, step_ns);
	}
	if (session->timeline.left_out)
		die("out of memory");
	session->losses.timeline_lost = 0;
}

int main(int argc, char **argv)
{
	struct session *session = malloc(sizeof(*session));
	char line[RECORDING_LINE_SIZE];
	struct recording *recording;
	int fd;

	if (argc != 3 || !session || atoll(argv[2]) <= 0)
		die("usage: make_recording FILE EVENTS");
	session_init(session);
	session->start_ns = 1000000000000;
	session->end_ns = session->start_ns + HOUR_NS;
	snprintf(session->capability.rung, sizeof(session->capability.rung), "btf");
	add_threads(session);
	add_points(session);
	add_timeline(session, atoll(argv[2]));
	fd = open(argv[1], O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	if (fd < 0 || close(fd))
		die("the file is there, or cannot be made");
	if (recording_create(argv[1], "make_recording", &recording, line))
		die(line);
	if (recording_finish(recording, session))
		die(recording_error(recording));
	recording_close(recording);
	session_free(session);
	free(session);
	return 0;
}
