/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for an inference program: capture -> preproc-N -> infer -> postproc, with bounded
 * queues between them, on the GPU of fakegpu.h. What limits it is known by construction.
 *
 *   scenario=balanced   one of the table below, which only sets the defaults of what follows:
 *   period_us           a frame each period; 0: always ready
 *   input=timer         what the camera is: timer, or net, a process "camera" that sends each frame
 *                       over TCP
 *   reads               reads of the file that a frame is read from, on a disk made slow; 0: no file
 *   capture_us preproc_us infer_us post_us   CPU time a frame in each stage (thread CPU time)
 *   jobs launch_us gpu_us   GPU jobs a frame; of each the CPU time to launch it, and the GPU's
 *   faults              pages of a model larger than memory that infer touches for each frame
 *   hold_us             a thread "calibrator" holds a mutex for so long, most of it asleep, and lets
 *                       go for a twelfth of it; preproc threads compute under that mutex. 0: none
 *   preprocs            preproc threads      depth   frames a queue holds
 *   cpu                 CPU of all threads; -1: not pinned (cpu-starved: the last)
 *   hogs                processes "foreign_hog" of a session of their own that burn that CPU
 *                       (or any) from the go to the end of the load
 *   wait                how infer waits for the GPU: blocking (sleeps) or spinning (burns)
 *   gpu=auto            through libcuda.so.1, the stand-in for it that lies beside this program,
 *                       or without (book); auto: through it where it is there
 *   dir=/var/tmp        where files are; it must be on a disk
 *
 * The hogs and the camera are orphans by design: neither children nor threads of the traced program.
 */
#include "workload.h"
#include "demo_storage.h"
#include "frames.h"
#include "gpu_calls.h"
#include "orphan.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define FRAME_BYTES 4096

struct scenario {
	const char *name, *wait;
	int period_us, capture_us, preproc_us, infer_us, launch_us, gpu_us, post_us;
	int preprocs, depth, jobs, hogs, reads, faults, hold_us;
	bool pinned;
};

#define COMPUTE                                                                                   \
	.capture_us = 101, .preproc_us = 2003, .launch_us = 101, .gpu_us = 15013, .post_us = 499, \
	.preprocs = 2, .depth = 7

#define LIGHT .capture_us = 101, .preproc_us = 1009, .gpu_us = 4001, .post_us = 499, .depth = 3

static const struct scenario scenarios[] = {
	{"balanced", .capture_us = 101, .preproc_us = 6007, .infer_us = 2003, .gpu_us = 9001,
	 .post_us = 1009, .depth = 2},
	{"cpu-bound", .capture_us = 101, .preproc_us = 14009, .infer_us = 199, .gpu_us = 4001,
	 .post_us = 499, .depth = 3},
	{"compute", COMPUTE},
	{"gpu-blocking", COMPUTE},
	{"gpu-spinning", COMPUTE, .wait = "spinning"},
	{"cpu-starved", .capture_us = 101, .preproc_us = 6007, .infer_us = 2003, .gpu_us = 9001,
	 .post_us = 1009, .depth = 2, .hogs = 3, .pinned = true},
	{"io-bound", LIGHT, .reads = 7},
	{"memory-pressure", LIGHT, .faults = 101},
	{"lock", .capture_us = 101, .preproc_us = 1009, .gpu_us = 1009, .post_us = 101,
	 .preprocs = 3, .depth = 3, .hold_us = 12007},
	{"launch", .capture_us = 101, .preproc_us = 499, .launch_us = 41, .gpu_us = 7, .jobs = 199,
	 .post_us = 101, .depth = 3},
	{"input-limited", .period_us = 33013, .capture_us = 101, .preproc_us = 2003,
	 .launch_us = 101, .gpu_us = 5003, .post_us = 499, .depth = 2},
	{"idle", .period_us = 500009, .capture_us = 101, .preproc_us = 503, .launch_us = 101,
	 .gpu_us = 997, .post_us = 101, .depth = 2},
};

#define NSCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

enum {
	V_FRAMES,
	V_ASKED,
	V_BURNED,
	V_IN,
	V_OUT,
	V_INPUT,
	V_DISK,
	V_LOCK,
	V_FAULT,
	V_LAUNCH,
	V_GPU,
	V_GPU_WAIT,
	V_MAX
};

static const char *const vals[] = {
	[V_FRAMES] = "frames",	      [V_ASKED] = "requested_cpu_ns",
	[V_BURNED] = "burned_cpu_ns", [V_IN] = "wait_in_ns", /* for a frame from the stage before */
	[V_OUT] = "wait_out_ns",			     /* for room in the queue to the next */
	[V_INPUT] = "wait_input_ns",  [V_DISK] = "wait_disk_ns",
	[V_LOCK] = "wait_lock_ns",    [V_FAULT] = "wait_fault_ns",
	[V_LAUNCH] = "launch_ns",     [V_GPU] = "gpu_busy_ns",
	[V_GPU_WAIT] = "gpu_wait_ns", [V_MAX] = NULL,
};

_Static_assert(V_MAX < WL_MAX_VALS, "no room for the values");

static struct frames raw, ready, results;
static uint64_t period_ns, capture_ns, preproc_ns, infer_ns, gpu_ns, post_ns, hold_ns;
static int jobs, reads, faults, one_cpu, camera_fd = -1, camera_out = -1;
static bool over_net;
static pthread_mutex_t calibration = PTHREAD_MUTEX_INITIALIZER;
/* Held while one waits for the other: or who has just let it go takes it again before anybody wakes. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static uint64_t first_out_ns, last_out_ns, latency_sum_ns, latency_max_ns;
static const struct scenario *scenario;

/* stages */

static void work(struct wl_thread *t, uint64_t ns)
{
	t->val[V_ASKED] += ns;
	if (ns)
		t->val[V_BURNED] += wl_burn(ns);
}

static void lock_calibration(void)
{
	pthread_mutex_lock(&turn);
	pthread_mutex_lock(&calibration);
	pthread_mutex_unlock(&turn);
}

/* A camera drops the frames that nobody takes. */
static void wait_period(uint64_t *next)
{
	uint64_t now = wl_now();

	while (*next <= now)
		*next += period_ns;
	wl_sleep_until(*next);
}

/* False: the camera is gone. */
static bool receive_frame(void)
{
	static char frame[FRAME_BYTES];

	return recv(camera_fd, frame, sizeof(frame), MSG_WAITALL) == sizeof(frame);
}

static bool capture_frame(struct wl_thread *t, uint64_t *next)
{
	uint64_t t0 = wl_now();
	bool got = true;

	if (over_net)
		got = receive_frame();
	else if (period_ns)
		wait_period(next);
	t->val[V_INPUT] += wl_now() - t0;
	if (reads) {
		t0 = wl_now();
		storage_read_frame(reads);
		t->val[V_DISK] += wl_now() - t0;
	}
	return got && !wl_stopped();
}

static void capture(struct wl_thread *t)
{
	uint64_t next = wl_now(), frame;

	while (capture_frame(t, &next)) {
		frame = wl_now();
		work(t, capture_ns);
		frames_push(&raw, frame, &t->val[V_OUT]);
		t->val[V_FRAMES]++;
	}
	frames_leave(&raw);
}

static void preproc(struct wl_thread *t)
{
	uint64_t frame, t0;

	while (frames_pop(&raw, &frame, &t->val[V_IN])) {
		if (hold_ns) {
			t0 = wl_now();
			lock_calibration();
			t->val[V_LOCK] += wl_now() - t0;
		}
		work(t, preproc_ns);
		if (hold_ns)
			pthread_mutex_unlock(&calibration);
		frames_push(&ready, frame, &t->val[V_OUT]);
		t->val[V_FRAMES]++;
	}
	frames_leave(&ready);
}

static void calibrator(struct wl_thread *t)
{
	while (!wl_stopped()) {
		lock_calibration();
		work(t, hold_ns / 10);
		wl_sleep(hold_ns - hold_ns / 10);
		pthread_mutex_unlock(&calibration);
		wl_sleep(hold_ns / 12);
		t->val[V_FRAMES]++;
	}
}

static void run_on_gpu(struct wl_thread *t)
{
	uint64_t t0 = wl_now();
	int i;

	for (i = 0; i < jobs; i++)
		gpu_calls_launch(gpu_ns);
	t->val[V_LAUNCH] += wl_now() - t0;
	t->val[V_GPU] += (uint64_t)jobs * gpu_ns;
	t0 = wl_now();
	gpu_calls_wait();
	t->val[V_GPU_WAIT] += wl_now() - t0;
}

static void infer(struct wl_thread *t)
{
	uint64_t frame, t0;

	while (frames_pop(&ready, &frame, &t->val[V_IN])) {
		if (faults) {
			t0 = wl_now();
			storage_touch_model(faults);
			t->val[V_FAULT] += wl_now() - t0;
		}
		work(t, infer_ns);
		run_on_gpu(t);
		frames_push(&results, frame, &t->val[V_OUT]);
		t->val[V_FRAMES]++;
	}
	frames_leave(&results);
}

static void postproc(struct wl_thread *t)
{
	uint64_t frame, now;

	while (frames_pop(&results, &frame, &t->val[V_IN])) {
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

/* the camera on the network */

static void camera(struct orphan *o)
{
	static const char frame[FRAME_BYTES];
	uint64_t next;

	(void)o;
	close(camera_fd);
	if (!orphan_wait_go())
		return;
	next = wl_now();
	while (!wl_stopped() && !orphan_alone()) {
		wait_period(&next);
		if (send(camera_out, frame, sizeof(frame), MSG_NOSIGNAL) < 0)
			return;
	}
}

static void open_camera(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	camera_out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server < 0 || camera_out < 0 || bind(server, (struct sockaddr *)&at, len) ||
	    listen(server, 1) || getsockname(server, (struct sockaddr *)&at, &len) ||
	    connect(camera_out, (struct sockaddr *)&at, len) ||
	    (camera_fd = accept4(server, NULL, NULL, SOCK_CLOEXEC)) < 0)
		wl_die(WL_FAIL, "camera: %s", strerror(errno));
	close(server);
	orphan_add("camera", camera, NULL);
	close(camera_out);
}

/* the truth */

static struct wl_thread *infer_thread;

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
	const struct wl_thread *in = infer_thread, *out = in + 1;
	double frames = (double)out->val[V_FRAMES], length = (double)(wl.end_ns - wl.start_ns);

	wl_str(j, "scenario", scenario->name);
	wl_u64(j, "frames", out->val[V_FRAMES]);
	wl_ratio(j, "fps", frames * 1e9, length);
	wl_ratio(j, "steady_fps", (frames - 1) * 1e9, (double)(last_out_ns - first_out_ns));
	wl_ratio(j, "latency_mean_us", (double)latency_sum_ns / 1e3, frames);
	wl_real(j, "latency_max_us", (double)latency_max_ns / 1e3);
	wl_u64(j, "gpu_busy_ns", in->val[V_GPU]);
	wl_ratio(j, "gpu_busy_share", (double)in->val[V_GPU], length);
	wl_str(j, "gpu_wait", gpu_calls.spinning ? "spinning" : "blocking");
	wl_str(j, "gpu_via", gpu_calls.via);
	wl_bool(j, "limited", storage.limited);
	wl_str(j, "why", storage.limited ? "" : confine.why);
	truth_stages(j);
	orphan_json(j);
}

/* setting up */

static const struct scenario *find_scenario(void)
{
	const char *name = wl_arg_str("scenario", scenarios[0].name);
	size_t i;

	for (i = 0; i < NSCENARIOS; i++)
		if (!strcmp(name, scenarios[i].name))
			return &scenarios[i];
	for (i = 0; i < NSCENARIOS; i++)
		fprintf(stderr, "%s ", scenarios[i].name);
	wl_die(WL_USAGE, "scenario=%s: none of these", name);
}

static uint64_t arg_us(const char *key, int def)
{
	return (uint64_t)wl_arg_int(key, def, 0, 60000000) * WL_USEC;
}

static int arg_count(const char *key, int def, int min, int max)
{
	return (int)wl_arg_int(key, def < min ? min : def, min, max);
}

static bool arg_choice(const char *key, const char *def, const char *first, const char *second)
{
	const char *value = wl_arg_str(key, def ? def : first);

	if (strcmp(value, first) && strcmp(value, second))
		wl_die(WL_USAGE, "%s=%s: not %s or %s", key, value, first, second);
	return !strcmp(value, second);
}

static struct wl_thread *stage(struct wl_thread *t)
{
	t->cpu = one_cpu;
	t->val_names = vals;
	return t;
}

static void add_stages(int preprocs, int depth)
{
	int i;

	frames_init(&raw, depth, 1);
	frames_init(&ready, depth, preprocs);
	frames_init(&results, depth, 1);
	stage(wl_add(capture, "capture"));
	for (i = 0; i < preprocs; i++)
		stage(wl_add(preproc, "preproc-%d", i));
	infer_thread = stage(wl_add(infer, "infer"));
	stage(wl_add(postproc, "postproc"));
	if (hold_ns)
		stage(wl_add(calibrator, "calibrator"));
	if (faults && !storage.limited)
		stage(wl_add(storage_evict, "evictor"));
}

static void read_times(const struct scenario *s)
{
	period_ns = arg_us("period_us", s->period_us);
	capture_ns = arg_us("capture_us", s->capture_us);
	preproc_ns = arg_us("preproc_us", s->preproc_us);
	infer_ns = arg_us("infer_us", s->infer_us);
	gpu_ns = arg_us("gpu_us", s->gpu_us);
	post_ns = arg_us("post_us", s->post_us);
	hold_ns = arg_us("hold_us", s->hold_us);
}

int main(int argc, char **argv)
{
	int preprocs, depth, hogs;
	const char *dir, *gpu;
	uint64_t launch_ns;
	bool spinning;

	wl_init("demo_pipeline", argc, argv, 3);
	scenario = find_scenario();
	read_times(scenario);
	launch_ns = arg_us("launch_us", scenario->launch_us);
	jobs = arg_count("jobs", scenario->jobs, 1, 100003);
	reads = arg_count("reads", scenario->reads, 0, 100003);
	faults = arg_count("faults", scenario->faults, 0, 100003);
	preprocs = arg_count("preprocs", scenario->preprocs, 1, 101);
	depth = arg_count("depth", scenario->depth, 1, FRAMES_MAX);
	hogs = arg_count("hogs", scenario->hogs, 0, ORPHAN_MAX - 1);
	one_cpu = wl_arg_cpu("cpu", scenario->pinned ? wl_last_cpu() : -1);
	over_net = arg_choice("input", NULL, "timer", "net") && period_ns;
	spinning = arg_choice("wait", scenario->wait, "blocking", "spinning");
	gpu = wl_arg_str("gpu", "auto");
	dir = wl_arg_str("dir", "/var/tmp");
	wl_args_done();
	gpu_calls_open(gpu, spinning, launch_ns);
	if (reads)
		reads = storage_open_frames(dir, reads);
	if (faults)
		storage_open_model(dir);
	while (hogs-- > 0)
		orphan_add("foreign_hog", orphan_hog, (void *)(intptr_t)one_cpu);
	if (over_net)
		open_camera();
	add_stages(preprocs, depth);
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
