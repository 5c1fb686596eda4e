/* SPDX-License-Identifier: GPL-2.0-only */
#include "../workload.h"
#include "../fakegpu.h"
#include "fakecuda.h"

struct fake_stream {
	_Atomic uint64_t fence_ns; /* when all that was queued is done */
};

struct fake_event {
	CUstream stream; /* of its record */
	_Atomic uint64_t fence_ns;
};

static struct fakegpu *gpu;
static struct fake_stream default_stream;
static __thread struct fake_stream thread_stream;
static __thread void (*inside)(void *);
static __thread void *inside_argument;
static __thread uint64_t *cpu_of_waits_ns;
static bool spinning, query_jumps;
static uint64_t launch_cpu_ns, copy_bytes_per_ns;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t setting(const char *name, uint64_t def)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 10) : def;
}

static void set_up(void)
{
	const char *wait = getenv("FAKE_CUDA_WAIT");

	spinning = wait && !strcmp(wait, "spinning");
	query_jumps = setting("FAKE_CUDA_QUERY_JUMPS", 0);
	launch_cpu_ns = setting("FAKE_CUDA_LAUNCH_US", 0) * WL_USEC;
	copy_bytes_per_ns = setting("FAKE_CUDA_COPY_BYTES_PER_NS", 1024);
	if (!copy_bytes_per_ns)
		copy_bytes_per_ns = 1;
	gpu = fakegpu_open();
}

static void ready(void)
{
	pthread_once(&once, set_up);
}

static struct fake_stream *stream_of(CUstream stream)
{
	ready();
	return stream ? stream : &default_stream;
}

void fakecuda_cpu_of_waits(uint64_t *cpu_ns)
{
	cpu_of_waits_ns = cpu_ns;
}

static CUresult wait_until(uint64_t fence_ns)
{
	uint64_t from_ns = cpu_of_waits_ns ? wl_cpu_ns() : 0;

	if (spinning)
		fakegpu_wait_spinning(fence_ns);
	else
		fakegpu_wait_blocking(fence_ns);
	if (cpu_of_waits_ns)
		*cpu_of_waits_ns += wl_cpu_ns() - from_ns;
	return CUDA_SUCCESS;
}

static CUresult submit(CUstream stream, uint64_t ns)
{
	struct fake_stream *s = stream_of(stream);

	if (ns)
		atomic_store(&s->fence_ns, fakegpu_submit(gpu, ns));
	return CUDA_SUCCESS;
}

static CUresult copy(CUstream stream, size_t bytes)
{
	ready();
	return submit(stream, bytes / copy_bytes_per_ns);
}

CUresult cuInit(unsigned int flags)
{
	(void)flags;
	ready();
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	(void)flags;
	*stream = calloc(1, sizeof(**stream));
	return *stream ? CUDA_SUCCESS : 2;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	(void)flags;
	*event = calloc(1, sizeof(**event));
	return *event ? CUDA_SUCCESS : 2;
}

void fakecuda_inside_sync(void (*callback)(void *), void *argument)
{
	inside = callback;
	inside_argument = argument;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	void (*callback)(void *) = inside;

	inside = NULL;
	if (callback)
		callback(inside_argument);
	return wait_until(stream_of(stream)->fence_ns);
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
	ready();
	return wait_until(stream ? stream->fence_ns : thread_stream.fence_ns);
}

CUresult cuCtxSynchronize(void)
{
	ready();
	return wait_until(atomic_load(&gpu->busy_until_ns));
}

CUresult cuEventSynchronize(CUevent event)
{
	ready();
	return wait_until(event->fence_ns);
}

static CUresult query(uint64_t fence_ns)
{
	return wl_now() < fence_ns ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream)
{
	return query(stream_of(stream)->fence_ns);
}

/* Through the exported function, as cuMemcpyDtoH_v2 below: here it leaves by a jump. */
CUresult cuEventQuery(CUevent event)
{
	return query_jumps ? cuStreamQuery(event->stream) : query(event->fence_ns);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	event->stream = stream;
	event->fence_ns = stream_of(stream)->fence_ns;
	return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	struct fake_stream *s = stream_of(stream);

	(void)flags;
	if (event->fence_ns > s->fence_ns)
		s->fence_ns = event->fence_ns;
	return CUDA_SUCCESS;
}

static CUresult launch(CUstream stream, void **params)
{
	ready();
	if (launch_cpu_ns)
		wl_burn(launch_cpu_ns);
	return submit(stream, params ? *(const uint64_t *)params[0] : 0);
}

CUresult cuLaunchKernel(void *function, unsigned int gx, unsigned int gy, unsigned int gz,
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			CUstream stream, void **params, void **extra)
{
	(void)function, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
	(void)shared, (void)extra;
	return launch(stream, params);
}

CUresult cuLaunchKernelEx(const struct fake_launch_config *config, void *function, void **params,
			  void **extra)
{
	(void)function, (void)extra;
	return launch(config->stream, params);
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
	ready();
	if (launch_cpu_ns)
		wl_burn(launch_cpu_ns);
	return submit(stream, *graph);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	(void)to, (void)from;
	copy(NULL, bytes);
	return wait_until(default_stream.fence_ns);
}

/* Through the exported function, as a library may do: a call inside a call. */
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	(void)to, (void)from;
	copy(NULL, bytes);
	return cuStreamSynchronize(NULL);
}

/* Two names of one function. */
CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes)
	__attribute__((alias("cuMemcpyDtoH_v2")));

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)to, (void)from;
	return copy(stream, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	(void)to, (void)from;
	return copy(stream, bytes);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)to, (void)from;
	return copy(stream, bytes);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, void *to_context, CUdeviceptr from, void *from_context,
			   size_t bytes, CUstream stream)
{
	(void)to, (void)to_context, (void)from, (void)from_context;
	return copy(stream, bytes);
}

CUresult cuMemcpyAtoHAsync_v2(void *to, void *from, size_t offset, size_t bytes, CUstream stream)
{
	(void)to, (void)from, (void)offset;
	return copy(stream, bytes);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
			     int *status)
{
#define ENTRY(name, args) {#name, (void *)name},
	static const struct {
		const char *name;
		void *function;
	} entries[] = {FAKECUDA_CALLS(ENTRY)};

	(void)version, (void)flags, (void)status;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		if (!strcmp(symbol, entries[i].name)) {
			*function = entries[i].function;
			return CUDA_SUCCESS;
		}
	}
	return 500;
}
