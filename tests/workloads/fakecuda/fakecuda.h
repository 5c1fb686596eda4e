/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stand-in for libcuda.so.1: as much of the CUDA driver's interface as the workloads call. Jobs
 * go to the GPU of fakegpu.h, so how busy that is, is true by construction.
 *
 *   FAKE_CUDA_WAIT=blocking|spinning   how synchronisations wait (blocking)
 *   FAKE_CUDA_LAUNCH_US=0              CPU time that a launch burns
 *   FAKE_CUDA_COPY_BYTES_PER_NS=1024   speed of copies; they touch no memory
 *
 * A kernel's first parameter, where there is one, points to its GPU time in ns (uint64_t), and so
 * does a graph.
 */
#ifndef __FAKECUDA_H
#define __FAKECUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef struct fake_stream *CUstream;
typedef struct fake_event *CUevent;
typedef const uint64_t *CUgraphExec;

struct fake_launch_config {
	unsigned int grid[3], block[3], shared_bytes;
	CUstream stream;
};

#define CUDA_SUCCESS	     0
#define CUDA_ERROR_NOT_READY 600

/* name, arguments: one list for the prototypes, the table of pointers and cuGetProcAddress */
#define FAKECUDA_CALLS(X)                                                                          \
	X(cuInit, (unsigned int flags))                                                            \
	X(cuStreamCreate, (CUstream * stream, unsigned int flags))                                 \
	X(cuEventCreate, (CUevent * event, unsigned int flags))                                    \
	X(cuStreamSynchronize, (CUstream stream))                                                  \
	X(cuStreamSynchronize_ptsz, (CUstream stream))                                             \
	X(cuCtxSynchronize, (void))                                                                \
	X(cuEventSynchronize, (CUevent event))                                                     \
	X(cuStreamQuery, (CUstream stream))                                                        \
	X(cuEventQuery, (CUevent event))                                                           \
	X(cuEventRecord, (CUevent event, CUstream stream))                                         \
	X(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags))                 \
	X(cuLaunchKernel, (void *function, unsigned int gx, unsigned int gy, unsigned int gz,      \
			   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared, \
			   CUstream stream, void **params, void **extra))                          \
	X(cuLaunchKernelEx,                                                                        \
	  (const struct fake_launch_config *config, void *function, void **params, void **extra))  \
	X(cuGraphLaunch, (CUgraphExec graph, CUstream stream))                                     \
	X(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes))                       \
	X(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes))                             \
	X(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))        \
	X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)) \
	X(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))       \
	X(cuMemcpyPeerAsync, (CUdeviceptr to, void *to_context, CUdeviceptr from,                  \
			      void *from_context, size_t bytes, CUstream stream))                  \
	X(cuMemcpyAtoHAsync_v2,                                                                    \
	  (void *to, void *from, size_t offset, size_t bytes, CUstream stream))

#define FAKECUDA_PROTOTYPE(name, args) CUresult name args;
FAKECUDA_CALLS(FAKECUDA_PROTOTYPE)

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
			     int *status);

/* Of the calling thread: called inside its next cuStreamSynchronize, then forgotten. */
void fakecuda_inside_sync(void (*callback)(void *), void *argument);

/* Of the calling thread: adds to *cpu_ns the CPU time of its waits from here on, taken inside them. */
void fakecuda_cpu_of_waits(uint64_t *cpu_ns);

#endif
