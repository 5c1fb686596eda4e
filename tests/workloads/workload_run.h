/* SPDX-License-Identifier: GPL-2.0-only */
/* The phases of a run, and its report. Included by workload.h alone. */
#ifndef TESTS_WORKLOADS_WORKLOAD_RUN_H
#define TESTS_WORKLOADS_WORKLOAD_RUN_H

static inline void wl_json_tids(struct wl_json *j)
{
	unsigned int i;

	wl_open(j, "tids", '{');
	wl_i64(j, wl.program, getpid());
	for (i = 0; i < wl.nth; i++)
		wl_i64(j, wl.sh->th[i].name, wl.sh->th[i].tid);
	wl_close(j, '}');
}

static inline void wl_note_text(FILE *f)
{
	struct wl_json j = {.f = f};

	wl_open(&j, NULL, '{');
	wl_str(&j, "program", wl.program);
	wl_i64(&j, "pid", getpid());
	if (wl.end_ns) {
		wl_u64(&j, "start_ns", wl.start_ns);
		wl_u64(&j, "end_ns", wl.end_ns);
	}
	wl_json_tids(&j);
	wl_close(&j, '}');
	fputc('\n', f);
}

static inline bool wl_is_fd(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

/* Under another name first, so that whoever sees the file sees all of it. */
static inline void wl_note(const char *key, const char *where)
{
	char tmp[PATH_MAX] = "";
	FILE *f;

	if (!where)
		return;
	if (wl_is_fd(where)) {
		f = fdopen(atoi(where), "w");
	} else {
		snprintf(tmp, sizeof(tmp), "%s.tmp%d", where, (int)getpid());
		f = fopen(tmp, "we");
	}
	if (!f)
		wl_die(WL_FAIL, "%s=%s: %s", key, where, strerror(errno));
	wl_note_text(f);
	if (fclose(f) || (*tmp && rename(tmp, where)))
		wl_die(WL_FAIL, "%s=%s: %s", key, where, strerror(errno));
}

/* False: a signal or the limit came first. */
static inline bool wl_wait_file(const char *path)
{
	uint64_t deadline = wl_now() + wl.hold_max_ns;
	int signals = wl.signals;

	while (access(path, F_OK)) {
		if (wl.signals != signals || wl_now() >= deadline)
			return false;
		wl_sleep(WL_POLL_NS);
	}
	return true;
}

/* All threads up; then the go; then the loaded phase begins. */
static inline void wl_launch(void)
{
	unsigned int i;

	for (i = 0; i < wl.nth; i++)
		if (!wl.sh->th[i].external)
			wl_spawn(&wl.sh->th[i]);
	wl_avoid(wl.main_avoid);
	if (!wl_wait_count(&wl.sh->arrived, wl_now() + WL_GRACE_NS, false))
		wl_die(WL_FAIL, "not all threads came up");
	wl_note("ready", wl.ready);
	if (wl.go_file && !wl_wait_file(wl.go_file))
		wl_stop();
	wl_snap(&wl.sh->main.begin);
	wl.start_ns = wl.sh->main.begin.ns;
	wl_gate_open(&wl.sh->go);
}

static inline void wl_wait_load(uint64_t length_ns)
{
	wl_wait_count(&wl.sh->finished, wl.start_ns + length_ns, true);
	wl_stop();
	if (!wl_wait_count(&wl.sh->finished, wl_now() + WL_GRACE_NS, false))
		wl_die(WL_FAIL, "not all threads ended their load");
}

static inline void wl_json_snap(struct wl_json *j, const char *key, const struct wl_snap *s)
{
	wl_open(j, key, '{');
	wl_u64(j, "ns", s->ns);
	wl_u64(j, "cpu_ns", s->cpu_ns);
	wl_u64(j, "nvcsw", s->nvcsw);
	wl_u64(j, "nivcsw", s->nivcsw);
	if (s->sched_ok) {
		wl_open(j, "schedstat", '{');
		wl_u64(j, "oncpu_ns", s->sched_oncpu_ns);
		wl_u64(j, "runq_ns", s->sched_runq_ns);
		wl_u64(j, "slices", s->sched_slices);
		wl_close(j, '}');
	} else {
		wl_str(j, "schedstat", NULL);
	}
	wl_close(j, '}');
}

static inline void wl_json_thread(struct wl_json *j, const struct wl_thread *t)
{
	unsigned int i;

	wl_open(j, NULL, '{');
	wl_str(j, "name", t->name);
	wl_i64(j, "pid", t->pid);
	wl_i64(j, "tid", t->tid);
	wl_i64(j, "cpu", t->cpu);
	for (i = 0; t->val_names && t->val_names[i]; i++)
		wl_u64(j, t->val_names[i], t->val[i]);
	if (!t->no_begin)
		wl_json_snap(j, "begin", &t->begin);
	if (!t->no_final) {
		wl_json_snap(j, "end", &t->end);
		wl_json_snap(j, "final", &t->final);
	}
	wl_close(j, '}');
}

static inline void wl_json_threads(struct wl_json *j)
{
	unsigned int i;

	wl_json_tids(j);
	wl_open(j, "threads", '[');
	wl_json_thread(j, &wl.sh->main);
	for (i = 0; i < wl.nth; i++)
		wl_json_thread(j, &wl.sh->th[i]);
	wl_close(j, ']');
}

static inline void wl_json_report(FILE *f, void (*truth)(struct wl_json *j))
{
	struct wl_json j = {.f = f};

	fflush(wl.args.f);
	wl_open(&j, NULL, '{');
	wl_str(&j, "program", wl.program);
	wl_i64(&j, "pid", getpid());
	fprintf(f, ",\"args\":{%s}", wl.args_text);
	wl_u64(&j, "start_ns", wl.start_ns);
	wl_u64(&j, "end_ns", wl.end_ns);
	wl_u64(&j, "duration_ns", wl.end_ns - wl.start_ns);
	wl_bool(&j, "signalled", wl.signals != 0);
	wl_bool(&j, "hold_timed_out", wl.held_in_vain);
	wl_open(&j, "truth", '{');
	truth(&j);
	wl_close(&j, '}');
	wl_json_threads(&j);
	wl_close(&j, '}');
	fputc('\n', f);
}

/* In one write, so that the line stays whole where several programs share the output. */
static inline void wl_print(void (*truth)(struct wl_json *j))
{
	char *text = NULL;
	size_t len = 0, done = 0;
	ssize_t n;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		wl_die(WL_FAIL, "no memory");
	wl_json_report(f, truth);
	fclose(f);
	while (done < len) {
		n = write(STDOUT_FILENO, text + done, len - done);
		if (n < 0 && errno != EINTR)
			wl_die(WL_FAIL, "write: %s", strerror(errno));
		if (n > 0)
			done += (size_t)n;
	}
	free(text);
}

/* The load is over: hold the threads, let them end, print the truth. */
static inline int wl_finish(void (*truth)(struct wl_json *j))
{
	struct wl_thread *m = &wl.sh->main;
	unsigned int i;

	wl_snap(&m->end);
	wl.end_ns = m->end.ns;
	wl_note("done", wl.done);
	if (wl.hold_file)
		wl.held_in_vain = !wl_wait_file(wl.hold_file);
	wl_gate_open(&wl.sh->leave);
	for (i = 0; i < wl.nth; i++)
		wl_join(&wl.sh->th[i]);
	if (wl.join_external)
		wl.join_external();
	wl_snap(&m->final);
	snprintf(m->name, sizeof(m->name), "%s", wl.program);
	m->pid = m->tid = getpid();
	m->cpu = -1;
	wl_print(truth);
	return 0;
}

#endif
