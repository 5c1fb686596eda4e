/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/cuda/cuda_calls.h"

#include <stdio.h>

/* A call on a stream, and its twin for programs built with one default stream for each thread. */
#define STREAM(symbol, kind, bytes)                   \
	{symbol, TT_CUDA_##kind, bytes},              \
	{                                             \
		symbol "_ptsz", TT_CUDA_##kind, bytes \
	}
/* The same for calls that use the default stream without naming it. */
#define DEFAULT_STREAM(symbol, kind, bytes)           \
	{symbol, TT_CUDA_##kind, bytes},              \
	{                                             \
		symbol "_ptds", TT_CUDA_##kind, bytes \
	}
#define CALL(symbol, kind, bytes)             \
	{                                     \
		symbol, TT_CUDA_##kind, bytes \
	}

/*
 * cuda.h and cuda_typedefs.h of CUDA 13: names as libcuda exports them, and the place of ByteCount.
 * Copies of two and three dimensions keep their size in a struct: counted without bytes.
 */
static const struct cuda_call calls[] = {
	STREAM("cuStreamSynchronize", STREAM_SYNC, 0),
	CALL("cuCtxSynchronize", CTX_SYNC, 0),
	CALL("cuCtxSynchronize_v2", CTX_SYNC, 0),
	CALL("cuEventSynchronize", EVENT_SYNC, 0),

	DEFAULT_STREAM("cuMemcpy", COPY_SYNC, 3),
	DEFAULT_STREAM("cuMemcpyHtoD_v2", COPY_SYNC, 3),
	DEFAULT_STREAM("cuMemcpyDtoH_v2", COPY_SYNC, 3),
	DEFAULT_STREAM("cuMemcpyDtoD_v2", COPY_SYNC, 3),
	DEFAULT_STREAM("cuMemcpyDtoA_v2", COPY_SYNC, 4),
	DEFAULT_STREAM("cuMemcpyAtoD_v2", COPY_SYNC, 4),
	DEFAULT_STREAM("cuMemcpyHtoA_v2", COPY_SYNC, 4),
	DEFAULT_STREAM("cuMemcpyAtoH_v2", COPY_SYNC, 4),
	DEFAULT_STREAM("cuMemcpyAtoA_v2", COPY_SYNC, 5),
	DEFAULT_STREAM("cuMemcpyPeer", COPY_SYNC, 5),
	DEFAULT_STREAM("cuMemcpy2D_v2", COPY_SYNC, 0),
	DEFAULT_STREAM("cuMemcpy2DUnaligned_v2", COPY_SYNC, 0),
	DEFAULT_STREAM("cuMemcpy3D_v2", COPY_SYNC, 0),
	DEFAULT_STREAM("cuMemcpy3DPeer", COPY_SYNC, 0),

	STREAM("cuStreamQuery", QUERY, 0),
	CALL("cuEventQuery", QUERY, 0),

	STREAM("cuLaunchKernel", LAUNCH, 0),
	STREAM("cuLaunchKernelEx", LAUNCH, 0),
	STREAM("cuLaunchCooperativeKernel", LAUNCH, 0),
	CALL("cuLaunchCooperativeKernelMultiDevice", LAUNCH, 0),
	CALL("cuLaunch", LAUNCH, 0),
	CALL("cuLaunchGrid", LAUNCH, 0),
	CALL("cuLaunchGridAsync", LAUNCH, 0),

	STREAM("cuGraphLaunch", GRAPH_LAUNCH, 0),

	STREAM("cuMemcpyAsync", COPY_ASYNC, 3),
	STREAM("cuMemcpyHtoDAsync_v2", COPY_ASYNC, 3),
	STREAM("cuMemcpyDtoHAsync_v2", COPY_ASYNC, 3),
	STREAM("cuMemcpyDtoDAsync_v2", COPY_ASYNC, 3),
	STREAM("cuMemcpyHtoAAsync_v2", COPY_ASYNC, 4),
	STREAM("cuMemcpyAtoHAsync_v2", COPY_ASYNC, 4),
	STREAM("cuMemcpyPeerAsync", COPY_ASYNC, 5),
	STREAM("cuMemcpy2DAsync_v2", COPY_ASYNC, 0),
	STREAM("cuMemcpy3DAsync_v2", COPY_ASYNC, 0),
	STREAM("cuMemcpy3DPeerAsync", COPY_ASYNC, 0),
	STREAM("cuMemcpyBatchAsync", COPY_ASYNC, 0),
	STREAM("cuMemcpy3DBatchAsync", COPY_ASYNC, 0),

	/* Makes a stream wait, not the caller. */
	STREAM("cuStreamWaitEvent", OTHER, 0),
	STREAM("cuEventRecord", OTHER, 0),
	STREAM("cuEventRecordWithFlags", OTHER, 0),
	STREAM("cuLaunchHostFunc", OTHER, 0),
	STREAM("cuMemsetD8Async", OTHER, 0),
	STREAM("cuMemsetD16Async", OTHER, 0),
	STREAM("cuMemsetD32Async", OTHER, 0),
	DEFAULT_STREAM("cuMemsetD8_v2", OTHER, 0),
	DEFAULT_STREAM("cuMemsetD32_v2", OTHER, 0),
	STREAM("cuMemAllocAsync", OTHER, 0),
	STREAM("cuMemFreeAsync", OTHER, 0),
	STREAM("cuMemPrefetchAsync", OTHER, 0),
	/* Not for every inference: where they are, they cost more than a launch. */
	CALL("cuMemAlloc_v2", OTHER, 0),
	CALL("cuMemFree_v2", OTHER, 0),
	CALL("cuMemHostAlloc", OTHER, 0),
	CALL("cuMemFreeHost", OTHER, 0),
};

const struct cuda_call *cuda_calls(size_t *n)
{
	*n = sizeof(calls) / sizeof(calls[0]);
	return calls;
}

void cuda_call_program(const struct cuda_call *call, char *name, size_t size)
{
	static const char *const programs[TT_CUDA_KINDS] = {
		[TT_CUDA_STREAM_SYNC] = "stream_sync",
		[TT_CUDA_CTX_SYNC] = "ctx_sync",
		[TT_CUDA_EVENT_SYNC] = "event_sync",
		[TT_CUDA_COPY_SYNC] = "copy_sync",
		[TT_CUDA_QUERY] = "query",
		[TT_CUDA_LAUNCH] = "launch",
		[TT_CUDA_GRAPH_LAUNCH] = "graph_launch",
		[TT_CUDA_COPY_ASYNC] = "copy_async",
		[TT_CUDA_OTHER] = "other",
	};

	if (call->bytes_argument)
		snprintf(name, size, "%s_%d", programs[call->kind], call->bytes_argument);
	else
		snprintf(name, size, "%s", programs[call->kind]);
}

bool cuda_kind_is_work(enum tt_cuda_kind kind)
{
	return kind > TT_CUDA_QUERY;
}
