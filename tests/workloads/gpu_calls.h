/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a program uses the GPU of fakegpu.h: by itself, or through the stand-in for the CUDA driver
 * library, which keeps the same book. Launching costs CPU time of the caller, waiting blocks or
 * spins; either way the same.
 */
#ifndef __GPU_CALLS_H
#define __GPU_CALLS_H

#include "fakegpu.h"

#include <dlfcn.h>

static struct {
	struct fakegpu *book;
	bool spinning;
	uint64_t launch_cpu_ns;
	uint64_t fence_ns; /* one thread launches and waits */
	const char *via;   /* "libcuda" or "book" */
	int (*launch_kernel)(void *function, unsigned int gx, unsigned int gy, unsigned int gz,
			     unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			     void *stream, void **params, void **extra);
	int (*synchronize)(void *stream);
} gpu_calls;

static inline void gpu_calls_set_up(void)
{
	char number[32];

	snprintf(number, sizeof(number), "%llu", gpu_calls.launch_cpu_ns / WL_USEC);
	setenv("FAKE_CUDA_LAUNCH_US", number, 1);
	setenv("FAKE_CUDA_WAIT", gpu_calls.spinning ? "spinning" : "blocking", 1);
}

#ifdef GPU_LINKED
#include "fakecuda/fakecuda.h"

/* It is a part of this program. */
static inline bool gpu_calls_find_library(void)
{
	gpu_calls_set_up();
	*(void **)&gpu_calls.launch_kernel = (void *)cuLaunchKernel;
	*(void **)&gpu_calls.synchronize = (void *)cuStreamSynchronize;
	return !cuInit(0);
}
#else
/* The library beside this program, before the one of the system, which may be the real one. */
static inline bool gpu_calls_find_library(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof("libcuda.so.1"));
	int (*init)(unsigned int flags);
	void *library;

	path[len > 0 ? len : 0] = '\0';
	if (!strrchr(path, '/'))
		return false;
	strcpy(strrchr(path, '/') + 1, "libcuda.so.1");
	gpu_calls_set_up();
	library = dlopen(path, RTLD_NOW);
	if (!library)
		return false;
	*(void **)&init = dlsym(library, "cuInit");
	*(void **)&gpu_calls.launch_kernel = dlsym(library, "cuLaunchKernel");
	*(void **)&gpu_calls.synchronize = dlsym(library, "cuStreamSynchronize");
	return init && gpu_calls.launch_kernel && gpu_calls.synchronize && !init(0);
}
#endif

/* how: "book", "libcuda", or "auto", the library where there is one */
static inline void gpu_calls_open(const char *how, bool spinning, uint64_t launch_cpu_ns)
{
	bool library = strcmp(how, "book") != 0;

	if (library && strcmp(how, "auto") && strcmp(how, "libcuda"))
		wl_die(WL_USAGE, "gpu=%s: not auto, libcuda or book", how);
	gpu_calls.spinning = spinning;
	gpu_calls.launch_cpu_ns = launch_cpu_ns;
	gpu_calls.book = fakegpu_open();
	library = library && gpu_calls_find_library();
	if (!library && !strcmp(how, "libcuda"))
		wl_die(WL_FAIL, "gpu=libcuda: no libcuda.so.1 beside this program");
	gpu_calls.via = library ? "libcuda" : "book";
	if (!library)
		gpu_calls.synchronize = NULL;
}

static inline void gpu_calls_launch(uint64_t gpu_ns)
{
	void *params[] = {&gpu_ns};

	if (gpu_calls.synchronize) {
		gpu_calls.launch_kernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
		return;
	}
	if (gpu_calls.launch_cpu_ns)
		wl_burn(gpu_calls.launch_cpu_ns);
	gpu_calls.fence_ns = fakegpu_submit(gpu_calls.book, gpu_ns);
}

/* Until all that was launched is done. */
static inline void gpu_calls_wait(void)
{
	if (gpu_calls.synchronize)
		gpu_calls.synchronize(NULL);
	else if (gpu_calls.spinning)
		fakegpu_wait_spinning(gpu_calls.fence_ns);
	else
		fakegpu_wait_blocking(gpu_calls.fence_ns);
}

#endif /* __GPU_CALLS_H */
