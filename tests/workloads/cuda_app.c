/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that calls the CUDA driver library (fakecuda/, or whatever libcuda.so.1 is found) in
 * known numbers, and takes the time of its waits itself. It gets the library with dlopen and the
 * functions with cuGetProcAddress, as libcudart does; cuda_linked.c is the same, linked to it.
 *
 * Each thread, in this order:
 *   iters=101      iterations: syncs=1 times a kernel of kernel_us=2003 and cuStreamSynchronize
 *                  (the k-th kernel of an iteration is k times as long); then work_us=0 of CPU time
 *   uneven=0       1: kernels of iterations are 1 to 64 times as long, in no order
 *   events=31      kernel, cuEventRecord, cuEventSynchronize
 *   ctx=13         kernel, cuCtxSynchronize
 *   polls=5        kernel, cuEventRecord, cuEventQuery until it is done
 *   htod=17 dtoh=19    synchronous copies, of bytes=1013, 1014, ...
 *   copies=211     asynchronous ones likewise, in turn of five kinds; the first of 2^33 + 7 bytes
 *   launches=1009  more kernels, of no time;  graphs=53  graphs
 *   waits=23       cuStreamWaitEvent
 *   jumps=0        cuStreamSynchronize left by longjmp, each with 1 ms inside
 *   doomed=0       threads "doomed" that end inside cuStreamSynchronize after 53 ms
 *   hang_ms=0      at last, one cuStreamSynchronize of that length
 *   inside=0       1: the stand-in takes the CPU time of the waits too: without what a call of it costs
 *
 *   threads=1      of them; process=0  1: each a forked process; child=0  1: in a child forked then
 *   lib=libcuda.so.1   what dlopen gets; at the start, or with settle_ms=0 in the loaded phase, and
 *                  then the first call waits so long
 */
#include "workload.h"
#include "fakegpu.h"
#include "fakecuda/fakecuda.h"

#include <dlfcn.h>
#include <setjmp.h>

enum {
	V_SYNCS,
	V_SYNC_NS,
	V_SYNC_CPU,
	V_INSIDE_CPU,
	V_POLLS,
	V_POLL_NS,
	V_POLL_CPU,
	V_LAUNCHES,
	V_GRAPHS,
	V_LAUNCH_NS,
	V_COPIES,
	V_BYTES,
	V_ITERATIONS,
	V_MAX
};

static const char *const vals[] = {
	[V_SYNCS] = "sync_calls",      [V_SYNC_NS] = "sync_ns",
	[V_SYNC_CPU] = "sync_cpu_ns",  [V_INSIDE_CPU] = "inside_cpu_ns",
	[V_POLLS] = "polls",	       [V_POLL_NS] = "poll_ns",
	[V_POLL_CPU] = "poll_cpu_ns",  [V_LAUNCHES] = "launches",
	[V_GRAPHS] = "graph_launches", [V_LAUNCH_NS] = "launch_ns",
	[V_COPIES] = "copies",	       [V_BYTES] = "copy_bytes",
	[V_ITERATIONS] = "iterations", [V_MAX] = NULL,
};

static struct {
	int iters, syncs, events, ctx, polls, htod, dtoh, copies, launches, graphs, waits;
	int jumps, doomed;
	uint64_t kernel_ns, work_ns, hang_ns, settle_ns, bytes;
	bool child, late, uneven, inside;
	const char *lib;
} arg;

/* The functions, behind their own names. */
#ifdef CUDA_LINKED
static void load_library(void)
{
}
#define set_inside   fakecuda_inside_sync
#define cpu_of_waits fakecuda_cpu_of_waits
#else
#define POINTER(name, args) static CUresult(*p_##name) args;
FAKECUDA_CALLS(POINTER)
static void (*set_inside)(void (*callback)(void *), void *argument);
static void (*cpu_of_waits)(uint64_t *cpu_ns);
static pthread_once_t library_once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
	void *handle = dlopen(arg.lib, RTLD_NOW);
	CUresult (*get)(const char *, void **, int, uint64_t, int *);

	if (!handle)
		wl_die(WL_FAIL, "%s", dlerror());
	*(void **)&get = dlsym(handle, "cuGetProcAddress_v2");
	*(void **)&set_inside = dlsym(handle, "fakecuda_inside_sync");
	*(void **)&cpu_of_waits = dlsym(handle, "fakecuda_cpu_of_waits");
#define RESOLVE(name, args)                                         \
	if (!get || get(#name, (void **)&p_##name, 13000, 0, NULL)) \
		wl_die(WL_FAIL, "%s has no %s", arg.lib, #name);
	FAKECUDA_CALLS(RESOLVE)
}

static void load_library(void)
{
	pthread_once(&library_once, open_library);
}

#define cuInit		     p_cuInit
#define cuStreamCreate	     p_cuStreamCreate
#define cuEventCreate	     p_cuEventCreate
#define cuStreamSynchronize  p_cuStreamSynchronize
#define cuCtxSynchronize     p_cuCtxSynchronize
#define cuEventSynchronize   p_cuEventSynchronize
#define cuEventQuery	     p_cuEventQuery
#define cuEventRecord	     p_cuEventRecord
#define cuStreamWaitEvent    p_cuStreamWaitEvent
#define cuLaunchKernel	     p_cuLaunchKernel
#define cuLaunchKernelEx     p_cuLaunchKernelEx
#define cuGraphLaunch	     p_cuGraphLaunch
#define cuMemcpyHtoD_v2	     p_cuMemcpyHtoD_v2
#define cuMemcpyDtoH_v2	     p_cuMemcpyDtoH_v2
#define cuMemcpyAsync	     p_cuMemcpyAsync
#define cuMemcpyHtoDAsync_v2 p_cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync_v2 p_cuMemcpyDtoHAsync_v2
#define cuMemcpyPeerAsync    p_cuMemcpyPeerAsync
#define cuMemcpyAtoHAsync_v2 p_cuMemcpyAtoHAsync_v2
#endif

/* What --iter can name: a function, and a user-space tracepoint with a semaphore. */
__attribute__((section(".probes"))) volatile unsigned short app_iteration_semaphore;

/* The note that systemtap defines: its address, the base, the semaphore; then three strings. */
#define TRACEPOINT                                                                  \
	"990: nop\n"                                                                \
	".pushsection .note.stapsdt,\"\",\"note\"\n"                                \
	".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                               \
	"991: .asciz \"stapsdt\"\n992: .balign 4\n"                                 \
	"993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte app_iteration_semaphore\n" \
	".asciz \"cuda_app\"\n.asciz \"iteration\"\n.asciz \"\"\n"                  \
	"994: .balign 4\n.popsection\n"                                             \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"     \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                            \
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n"

__attribute__((noinline)) void app_iteration(struct wl_thread *t);
void app_iteration(struct wl_thread *t)
{
	t->val[V_ITERATIONS]++;
	if (app_iteration_semaphore)
		__asm__ volatile(TRACEPOINT ::: "memory");
}

struct taken {
	uint64_t ns, cpu_ns;
};

static struct taken begin_wait(void)
{
	return (struct taken){wl_now(), wl_cpu_ns()};
}

static void end_wait(struct wl_thread *t, const struct taken *from)
{
	t->val[V_SYNC_CPU] += wl_cpu_ns() - from->cpu_ns;
	t->val[V_SYNC_NS] += wl_now() - from->ns;
	t->val[V_SYNCS]++;
}

#define WAIT(t, call)                                 \
	do {                                          \
		struct taken from_ = begin_wait();    \
		if ((call) != CUDA_SUCCESS)           \
			wl_die(WL_FAIL, "%s", #call); \
		end_wait(t, &from_);                  \
	} while (0)

static void kernel(struct wl_thread *t, CUstream stream, uint64_t ns)
{
	struct fake_launch_config config = {.stream = stream};
	void *params[] = {&ns};
	uint64_t t0 = wl_now();

	if (t->val[V_LAUNCHES] % 2)
		cuLaunchKernelEx(&config, NULL, params, NULL);
	else
		cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
	t->val[V_LAUNCH_NS] += wl_now() - t0;
	t->val[V_LAUNCHES]++;
}

static void iterate(struct wl_thread *t, CUstream stream)
{
	for (int i = 0; i < arg.iters && !wl_stopped(); i++) {
		int shift = arg.uneven ? (int)((unsigned int)i * 2654435761U >> 16) % 7 : 0;

		for (int k = 1; k <= arg.syncs; k++) {
			kernel(t, stream, arg.kernel_ns * (uint64_t)k << shift);
			WAIT(t, cuStreamSynchronize(stream));
		}
		if (arg.work_ns)
			wl_burn(arg.work_ns);
		app_iteration(t);
	}
}

static void poll_event(struct wl_thread *t, CUevent event)
{
	struct taken from = begin_wait();

	do
		t->val[V_POLLS]++;
	while (cuEventQuery(event) == CUDA_ERROR_NOT_READY);
	t->val[V_POLL_CPU] += wl_cpu_ns() - from.cpu_ns;
	t->val[V_POLL_NS] += wl_now() - from.ns;
}

static void other_waits(struct wl_thread *t, CUstream stream)
{
	CUevent event;

	cuEventCreate(&event, 0);
	for (int i = 0; i < arg.events; i++) {
		kernel(t, stream, arg.kernel_ns);
		cuEventRecord(event, stream);
		WAIT(t, cuEventSynchronize(event));
	}
	for (int i = 0; i < arg.ctx; i++) {
		kernel(t, stream, arg.kernel_ns);
		WAIT(t, cuCtxSynchronize());
	}
	for (int i = 0; i < arg.polls; i++) {
		kernel(t, stream, arg.kernel_ns);
		cuEventRecord(event, stream);
		poll_event(t, event);
	}
	for (int i = 0; i < arg.waits; i++)
		cuStreamWaitEvent(stream, event, 0);
}

static size_t copy_size(struct wl_thread *t, int i)
{
	size_t bytes = arg.bytes + (size_t)i;

	t->val[V_COPIES]++;
	t->val[V_BYTES] += bytes;
	return bytes;
}

static void copy_async(struct wl_thread *t, CUstream stream, int i)
{
	size_t bytes = copy_size(t, i);

	if (!i) {
		bytes += 1ULL << 33;
		t->val[V_BYTES] += 1ULL << 33;
	}
	switch (i % 5) {
	case 0:
		cuMemcpyAsync(1, 2, bytes, stream);
		break;
	case 1:
		cuMemcpyHtoDAsync_v2(1, t, bytes, stream);
		break;
	case 2:
		cuMemcpyDtoHAsync_v2(t, 1, bytes, stream);
		break;
	case 3:
		cuMemcpyPeerAsync(1, t, 2, t, bytes, stream);
		break;
	case 4:
		cuMemcpyAtoHAsync_v2(t, t, 99, bytes, stream);
		break;
	}
}

static void copies(struct wl_thread *t, CUstream stream)
{
	for (int i = 0; i < arg.htod; i++)
		WAIT(t, cuMemcpyHtoD_v2(1, t, copy_size(t, i)));
	for (int i = 0; i < arg.dtoh; i++)
		WAIT(t, cuMemcpyDtoH_v2(t, 1, copy_size(t, i)));
	for (int i = 0; i < arg.copies; i++)
		copy_async(t, stream, i);
}

static void launches(struct wl_thread *t, CUstream stream)
{
	uint64_t none = 0, t0;

	for (int i = 0; i < arg.launches; i++)
		kernel(t, stream, 0);
	for (int i = 0; i < arg.graphs; i++) {
		t0 = wl_now();
		cuGraphLaunch(&none, stream);
		t->val[V_LAUNCH_NS] += wl_now() - t0;
		t->val[V_GRAPHS]++;
	}
}

/* ways out of a call that are no return */

static void jump(void *to)
{
	wl_sleep(WL_MSEC);
	siglongjmp(*(sigjmp_buf *)to, 1);
}

static void jump_out(CUstream stream)
{
	static __thread volatile int left;
	sigjmp_buf here;

	left = arg.jumps;
	sigsetjmp(here, 0);
	if (left-- > 0) {
		set_inside(jump, &here);
		cuStreamSynchronize(stream);
	}
}

/* Without pthread_exit, which would unwind the stack and so leave the call after all. */
static void end_thread(void *unused)
{
	(void)unused;
	wl_sleep(53 * WL_MSEC);
	syscall(SYS_exit, 0);
}

static void *doomed(void *unused)
{
	prctl(PR_SET_NAME, "doomed");
	set_inside(end_thread, unused);
	cuStreamSynchronize(NULL);
	return NULL;
}

static void doom(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, doomed, NULL) || pthread_join(thread, NULL))
		wl_die(WL_FAIL, "doomed");
}

static void run(struct wl_thread *t)
{
	CUstream stream;

	load_library();
	if (arg.settle_ns)
		wl_sleep(arg.settle_ns);
	if (arg.inside)
		cpu_of_waits(&t->val[V_INSIDE_CPU]);
	cuInit(0);
	cuStreamCreate(&stream, 0);
	iterate(t, stream);
	other_waits(t, stream);
	copies(t, stream);
	launches(t, stream);
	/* A jump shows at the next call. */
	if (arg.jumps) {
		jump_out(stream);
		WAIT(t, cuStreamSynchronize(stream));
	}
	for (int i = 0; i < arg.doomed; i++)
		doom();
	if (arg.hang_ns) {
		kernel(t, stream, arg.hang_ns);
		WAIT(t, cuStreamSynchronize(stream));
	}
}

static void run_in_child(struct wl_thread *t)
{
	pid_t pid;

	wl_signals(SIG_BLOCK);
	pid = wl_fork();
	if (!pid) {
		prctl(PR_SET_NAME, "child");
		run(t);
		_exit(0);
	}
	wl_signals(SIG_UNBLOCK);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void infer(struct wl_thread *t)
{
	if (arg.child)
		run_in_child(t);
	else
		run(t);
}

static void truth(struct wl_json *j)
{
	const struct wl_thread *t;
	uint64_t iterations = 0;

	for (t = wl.sh->th; t < wl.sh->th + wl.nth; t++)
		iterations += t->val[V_ITERATIONS];
	wl_u64(j, "iterations", iterations);
}

static int count(const char *key, int def)
{
	return (int)wl_arg_int(key, def, 0, INT_MAX);
}

static uint64_t arg_us(const char *key, int def)
{
	return (uint64_t)wl_arg_int(key, def, 0, 60000000) * WL_USEC;
}

static void read_args(void)
{
	arg.iters = count("iters", 101);
	arg.syncs = count("syncs", 1);
	arg.events = count("events", 31);
	arg.ctx = count("ctx", 13);
	arg.polls = count("polls", 5);
	arg.htod = count("htod", 17);
	arg.dtoh = count("dtoh", 19);
	arg.copies = count("copies", 211);
	arg.launches = count("launches", 1009);
	arg.graphs = count("graphs", 53);
	arg.waits = count("waits", 23);
	arg.jumps = count("jumps", 0);
	arg.doomed = count("doomed", 0);
	arg.kernel_ns = arg_us("kernel_us", 2003);
	arg.work_ns = arg_us("work_us", 0);
	arg.bytes = (uint64_t)wl_arg_int("bytes", 1013, 0, INT_MAX);
	arg.hang_ns = (uint64_t)count("hang_ms", 0) * WL_MSEC;
	arg.child = count("child", 0);
	arg.uneven = count("uneven", 0);
	arg.inside = count("inside", 0);
	arg.lib = wl_arg_str("lib", "libcuda.so.1");
	arg.late = wl_arg("settle_ms");
	arg.settle_ns = (uint64_t)count("settle_ms", 0) * WL_MSEC;
}

int main(int argc, char **argv)
{
	int threads, process;

	wl_init("cuda_app", argc, argv, 60);
	read_args();
	threads = (int)wl_arg_int("threads", 1, 1, 101);
	process = count("process", 0);
	wl_args_done();
	if (!arg.late)
		load_library();
	for (int i = 0; i < threads; i++) {
		struct wl_thread *t = wl_add(infer, "infer-%d", i);

		t->process = process;
		t->val_names = vals;
	}
	wl_launch();
	wl_wait_load(wl.secs_ns);
	return wl_finish(truth);
}
