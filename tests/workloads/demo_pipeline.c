/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for an inference program: capture -> preproc-N -> infer -> postproc, with bounded
 * queues between them, on the GPU of fakegpu.h. What limits it is known by construction.
 *
 *   scenario=balanced   cpu-bound | compute | cpu-starved | balanced | idle; see the table below.
 *                       It only sets the defaults of what follows:
 *   period_us           camera period; 0: a file, always ready
 *   capture_us preproc_us launch_us post_us   CPU time a frame in each stage (thread CPU time)
 *   gpu_us              GPU time a frame
 *   preprocs            preproc threads      depth   frames a queue holds
 *   cpu                 CPU of all threads; -1: not pinned (cpu-starved: the last)
 *   hogs                processes "foreign_hog" of a session of their own that burn that CPU
 *                       (or any) from the go to the end of the load
 *   wait=blocking       how infer waits for the GPU: blocking (sleeps) or spinning (burns)
 *
 * The hogs are orphans by design: neither children nor threads of the traced program.
 */
#include "workload.h"
#include "fakegpu.h"

#define MAX_DEPTH 101
#define MAX_HOGS  101

struct scenario {
	const char *name;
	int period_us, capture_us, preproc_us, launch_us, gpu_us, post_us;
	int preprocs, depth, hogs;
	bool pinned;
};

static const struct scenario scenarios[] = {
	/* name, period, capture, preproc, launch, gpu, post; preprocs, depth, hogs, pinned */
	{"balanced", 0, 101, 6007, 2003, 9001, 1009, 1, 2, 0, false},
	{"cpu-bound", 0, 101, 14009, 199, 4001, 499, 1, 3, 0, false},
	{"compute", 0, 101, 2003, 101, 15013, 499, 2, 7, 0, false},
	{"cpu-starved", 0, 101, 6007, 2003, 9001, 1009, 1, 2, 3, true},
	{"idle", 500009, 101, 503, 101, 997, 101, 1, 2, 0, false},
};

enum { V_FRAMES, V_ASKED, V_BURNED, V_IN, V_OUT, V_TIMER, V_GPU, V_GPU_WAIT, V_MAX };

static const char *const vals[] = {
	[V_FRAMES] = "frames",	      [V_ASKED] = "requested_cpu_ns",
	[V_BURNED] = "burned_cpu_ns", [V_IN] = "wait_in_ns", /* for a frame from the stage before */
	[V_OUT] = "wait_out_ns",			     /* for room in the queue to the next */
	[V_TIMER] = "wait_timer_ns",  [V_GPU] = "gpu_busy_ns",
	[V_GPU_WAIT] = "gpu_wait_ns", [V_MAX] = NULL,
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	uint64_t frame[MAX_DEPTH];
	int first, count, writers;
};

struct foreign {
	pid_t pid;
	_Atomic uint64_t cpu_ns;
};

static struct queue raw, ready, results;
static int depth;
static uint64_t period_ns, capture_ns, preproc_ns, launch_ns, gpu_ns, post_ns;
static bool spinning;
static struct fakegpu *gpu;
static uint64_t first_out_ns, last_out_ns, latency_sum_ns, latency_max_ns;
static struct foreign *foreign;
static int nforeign, one_cpu, life[2];
static const struct scenario *scenario;

/* queues: a frame is the time at which it was captured */

static void queue_init(struct queue *q, int writers)
{
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->filled, NULL);
	pthread_cond_init(&q->emptied, NULL);
	q->writers = writers;
}

static void push(struct wl_thread *t, struct queue *q, uint64_t frame)
{
	uint64_t t0;

	pthread_mutex_lock(&q->lock);
	if (q->count == depth) {
		t0 = wl_now();
		while (q->count == depth)
			pthread_cond_wait(&q->emptied, &q->lock);
		t->val[V_OUT] += wl_now() - t0;
	}
	q->frame[(q->first + q->count++) % depth] = frame;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

/* False: empty, and nobody is left who writes. */
static bool pop(struct wl_thread *t, struct queue *q, uint64_t *frame)
{
	uint64_t t0;
	bool got;

	pthread_mutex_lock(&q->lock);
	if (!q->count && q->writers) {
		t0 = wl_now();
		while (!q->count && q->writers)
			pthread_cond_wait(&q->filled, &q->lock);
		t->val[V_IN] += wl_now() - t0;
	}
	got = q->count > 0;
	if (got) {
		*frame = q->frame[q->first];
		q->first = (q->first + 1) % depth;
		q->count--;
		pthread_cond_signal(&q->emptied);
	}
	pthread_mutex_unlock(&q->lock);
	return got;
}

static void leave(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->writers--;
	pthread_cond_broadcast(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

/* stages */

static void work(struct wl_thread *t, uint64_t ns)
{
	t->val[V_ASKED] += ns;
	if (ns)
		t->val[V_BURNED] += wl_burn(ns);
}

static void capture_wait(struct wl_thread *t, uint64_t *next)
{
	uint64_t now = wl_now();

	if (!period_ns)
		return;
	/* A camera drops the frames that nobody takes. */
	while (*next <= now)
		*next += period_ns;
	wl_pass(*next - now);
	t->val[V_TIMER] += wl_now() - now;
}

static void capture(struct wl_thread *t)
{
	uint64_t next = wl_now(), frame;

	for (;;) {
		capture_wait(t, &next);
		if (wl_stopped())
			break;
		frame = wl_now();
		work(t, capture_ns);
		push(t, &raw, frame);
		t->val[V_FRAMES]++;
	}
	leave(&raw);
}

static void preproc(struct wl_thread *t)
{
	uint64_t frame;

	while (pop(t, &raw, &frame)) {
		work(t, preproc_ns);
		push(t, &ready, frame);
		t->val[V_FRAMES]++;
	}
	leave(&ready);
}

static void infer(struct wl_thread *t)
{
	uint64_t frame, fence, t0;

	while (pop(t, &ready, &frame)) {
		work(t, launch_ns);
		fence = fakegpu_submit(gpu, gpu_ns);
		t->val[V_GPU] += gpu_ns;
		t0 = wl_now();
		if (spinning)
			fakegpu_wait_spinning(fence);
		else
			fakegpu_wait_blocking(fence);
		t->val[V_GPU_WAIT] += wl_now() - t0;
		push(t, &results, frame);
		t->val[V_FRAMES]++;
	}
	leave(&results);
}

static void postproc(struct wl_thread *t)
{
	uint64_t frame, now;

	while (pop(t, &results, &frame)) {
		work(t, post_ns);
		now = wl_now();
		if (!t->val[V_FRAMES]++)
			first_out_ns = now;
		last_out_ns = now;
		latency_sum_ns += now - frame;
		if (now - frame > latency_max_ns)
			latency_max_ns = now - frame;
	}
}

/* foreign processes */

/* End of file on the pipe that the pipeline holds open: it is gone. */
static bool alone(void)
{
	char c;

	return read(life[0], &c, 1) == 0;
}

static void foreign_hog(struct foreign *f)
{
	prctl(PR_SET_NAME, "foreign_hog");
	close(life[1]);
	if (one_cpu >= 0)
		wl_pin(0, one_cpu);
	f->pid = getpid();
	while (!atomic_load(&wl.sh->go) && !alone())
		wl_sleep(WL_MSEC);
	while (!wl_stopped() && !alone()) {
		wl_burn(5 * WL_MSEC);
		atomic_store(&f->cpu_ns, wl_cpu_ns());
	}
	_exit(0);
}

static void start_foreign(struct foreign *f)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		wl_die(WL_FAIL, "fork: %s", strerror(errno));
	if (!pid) {
		setsid();
		pid = fork();
		if (!pid)
			foreign_hog(f);
		_exit(pid < 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	while (!*(volatile pid_t *)&f->pid)
		wl_sleep(WL_MSEC);
}

static void start_foreigners(void)
{
	int i;

	if (!nforeign)
		return;
	foreign = mmap(NULL, sizeof(*foreign) * MAX_HOGS, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (foreign == MAP_FAILED || pipe2(life, O_CLOEXEC | O_NONBLOCK))
		wl_die(WL_FAIL, "foreign processes: %s", strerror(errno));
	wl_signals(SIG_BLOCK);
	for (i = 0; i < nforeign; i++)
		start_foreign(&foreign[i]);
	wl_signals(SIG_UNBLOCK);
}

/* the truth */

static void truth_foreign(struct wl_json *j)
{
	int i;

	wl_open(j, "foreign", '[');
	for (i = 0; i < nforeign; i++) {
		wl_open(j, NULL, '{');
		wl_str(j, "name", "foreign_hog");
		wl_i64(j, "pid", foreign[i].pid);
		wl_u64(j, "cpu_ns", foreign[i].cpu_ns);
		wl_close(j, '}');
	}
	wl_close(j, ']');
}

static void truth_stages(struct wl_json *j)
{
	const struct wl_thread *t;
	double busy;

	wl_open(j, "stages", '{');
	for (t = wl.sh->th; t < wl.sh->th + wl.nth; t++) {
		busy = (double)(t->end.cpu_ns - t->begin.cpu_ns);
		wl_open(j, t->name, '{');
		wl_u64(j, "frames", t->val[V_FRAMES]);
		wl_ratio(j, "cpu_share", busy, (double)(wl.end_ns - wl.start_ns));
		wl_ratio(j, "cpu_us_a_frame", busy / 1e3, (double)t->val[V_FRAMES]);
		wl_close(j, '}');
	}
	wl_close(j, '}');
}

static void truth(struct wl_json *j)
{
	const struct wl_thread *in = &wl.sh->th[wl.nth - 2], *out = &wl.sh->th[wl.nth - 1];
	double frames = (double)out->val[V_FRAMES], length = (double)(wl.end_ns - wl.start_ns);

	wl_str(j, "scenario", scenario->name);
	wl_u64(j, "frames", out->val[V_FRAMES]);
	wl_ratio(j, "fps", frames * 1e9, length);
	wl_ratio(j, "steady_fps", (frames - 1) * 1e9, (double)(last_out_ns - first_out_ns));
	wl_ratio(j, "latency_mean_us", (double)latency_sum_ns / 1e3, frames);
	wl_real(j, "latency_max_us", (double)latency_max_ns / 1e3);
	wl_u64(j, "gpu_busy_ns", in->val[V_GPU]);
	wl_ratio(j, "gpu_busy_share", (double)in->val[V_GPU], length);
	wl_str(j, "gpu_wait", spinning ? "spinning" : "blocking");
	truth_stages(j);
	truth_foreign(j);
}

/* setting up */

static const struct scenario *find_scenario(void)
{
	const char *name = wl_arg_str("scenario", scenarios[0].name);
	size_t i;

	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!strcmp(name, scenarios[i].name))
			return &scenarios[i];
	wl_die(WL_USAGE, "scenario=%s: balanced, cpu-bound, compute, cpu-starved or idle", name);
}

static uint64_t arg_us(const char *key, int def)
{
	return (uint64_t)wl_arg_int(key, def, 0, 60000000) * WL_USEC;
}

static void stage(struct wl_thread *t)
{
	t->cpu = one_cpu;
	t->val_names = vals;
}

static void add_stages(int npreproc)
{
	int i;

	queue_init(&raw, 1);
	queue_init(&ready, npreproc);
	queue_init(&results, 1);
	stage(wl_add(capture, "capture"));
	for (i = 0; i < npreproc; i++)
		stage(wl_add(preproc, "preproc-%d", i));
	stage(wl_add(infer, "infer"));
	stage(wl_add(postproc, "postproc"));
}

static void read_args(int *npreproc)
{
	const struct scenario *s = scenario = find_scenario();
	const char *how;

	period_ns = arg_us("period_us", s->period_us);
	capture_ns = arg_us("capture_us", s->capture_us);
	preproc_ns = arg_us("preproc_us", s->preproc_us);
	launch_ns = arg_us("launch_us", s->launch_us);
	gpu_ns = arg_us("gpu_us", s->gpu_us);
	post_ns = arg_us("post_us", s->post_us);
	*npreproc = (int)wl_arg_int("preprocs", s->preprocs, 1, 101);
	depth = (int)wl_arg_int("depth", s->depth, 1, MAX_DEPTH);
	nforeign = (int)wl_arg_int("hogs", s->hogs, 0, MAX_HOGS);
	one_cpu = wl_arg_cpu("cpu", s->pinned ? wl_last_cpu() : -1);
	how = wl_arg_str("wait", "blocking");
	wl_args_done();
	spinning = !strcmp(how, "spinning");
	if (!spinning && strcmp(how, "blocking"))
		wl_die(WL_USAGE, "wait=%s: not blocking or spinning", how);
}

int main(int argc, char **argv)
{
	int npreproc;

	wl_init("demo_pipeline", argc, argv, 3);
	read_args(&npreproc);
	gpu = fakegpu_open();
	start_foreigners();
	add_stages(npreproc);
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
