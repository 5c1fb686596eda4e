/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/samples/oncpu_rules.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#define CUDA	"libcuda.so*|libcudart.so*|libnvrm_*.so*|libnvcuvid.so*"
#define OPENMP	"libgomp.so*|libgomp-*.so*|libomp.so*|libomp5.so*|libiomp*.so*"
#define RUNTIME "libc.so*|libc-*.so|libpthread*.so*|ld-*.so*|[[]vdso]"

/*
 * In the order in which they are asked. A rule for a whole library stands behind those for its
 * functions: where a stack is known, they are asked for every frame of the library first.
 */
static const struct oncpu_rule rules[] = {
	{CUDA, "cu*Synchronize*|cu*Query*|cudaStreamWait*", ONCPU_GPU_SPIN,
	 "a synchronisation or query call does nothing but wait for the GPU"},
	{CUDA, "*Fence*Wait*|*Syncpt*Wait*|*SyncPoint*Wait*", ONCPU_GPU_SPIN,
	 "waits for a fence of the GPU"},
	{CUDA,
	 "cu*Launch*|cuMem*|cudaMem*|cuModule*|cuLibrary*|cuLink*|cuInit*|cuCtxCreate*|"
	 "cuDevicePrimaryCtx*|cu*Malloc*|cu*Free*|cuGraph*|cuEventRecord*|cudaEventRecord*|"
	 "cuStreamCreate*|cuStreamWaitEvent*",
	 ONCPU_WORK, "submits, copies, allocates or loads code: CPU work for the GPU"},
	{CUDA, "", ONCPU_GPU_SPIN,
	 "the driver library has no names inside; submitting takes microseconds, so what burns a "
	 "CPU there is the default spin of a synchronisation call"},
	{OPENMP, "*alloc*|*free*|GOMP_loop*|__kmp*dispatch*|__kmpc_for_static*", ONCPU_WORK,
	 "hands out iterations"},
	{OPENMP, "", ONCPU_SPIN,
	 "an OpenMP runtime does next to nothing of its own but spin at barriers and for new work"},
	{"*", "sched_yield|__sched_yield|*[tT]hread_yield*|*::yield|*::yield_now", ONCPU_SPIN,
	 "gives the CPU away in a loop instead of sleeping"},
	{"*", "pthread_spin_*|__pthread_spin_*|*[sS]pin[lL]ock*|*spin_lock*|*SpinPause*",
	 ONCPU_SPIN, "spins for a lock"},
	{"*",
	 "do_spin|do_wait|*spin_wait*|*SpinWait*|*busy_wait*|gomp_barrier_wait*|"
	 "gomp_team_barrier_wait*|__kmp_*wait*|__kmp_*yield*|*barrier_wait_spin*",
	 ONCPU_SPIN, "spins for other threads"},
	{"libtbb*.so*", "*receive_or_steal*|*prolonged_pause*|*wait_until*|*spin*", ONCPU_SPIN,
	 "looks for work to steal and finds none"},
	{"*", "*ThreadPoolTempl*::WorkerLoop*|*NonBlockingThreadPool*::WaitForWork*", ONCPU_SPIN,
	 "an idle worker of a thread pool (ONNX Runtime, Eigen) spins before it sleeps"},
	{"libopenblas*.so*|libblis*.so*", "blas_thread_server|exec_blas_async_wait|bli_*barrier*",
	 ONCPU_SPIN, "an idle worker of the BLAS library spins before it sleeps"},
};

/* Told by the kernel function alone: the innermost one. */
static const struct oncpu_rule kernel_rules[] = {
	{"[[]kernel]", "host1x_syncpt_wait*|nvhost_syncpt_wait*|gk20a_*_wait*|nvgpu_timeout_*",
	 ONCPU_GPU_SPIN, "the driver polls for the GPU before it sleeps"},
	{"[[]kernel]",
	 "*queued_spin_lock_slowpath*|osq_lock|mutex_spin_on_owner*|rwsem_*spin_on_owner*|"
	 "__mutex_lock*",
	 ONCPU_SPIN, "spins for a lock of the kernel"},
	{"[[]kernel]", "__*_sys_sched_yield|do_sched_yield|yield_task_*", ONCPU_SPIN,
	 "gives the CPU away in a loop instead of sleeping"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool matches(const char *patterns, const char *text)
{
	char pattern[96];

	while (*patterns) {
		size_t length = strcspn(patterns, "|");

		if (length < sizeof(pattern)) {
			memcpy(pattern, patterns, length);
			pattern[length] = '\0';
			if (!fnmatch(pattern, text, 0))
				return true;
		}
		patterns += length + (patterns[length] == '|');
	}
	return false;
}

static const struct oncpu_rule *rule_of_frame(const struct oncpu_frame *frame)
{
	for (size_t i = 0; i < COUNT(rules); i++) {
		if (matches(rules[i].library, frame->library) &&
		    (!*rules[i].function || matches(rules[i].function, frame->function)))
			return &rules[i];
	}
	return NULL;
}

/* A call further out within the same library says more than the library as a whole. */
static const struct oncpu_rule *refine(const struct oncpu_frame *frames, size_t n, size_t from,
				       const struct oncpu_rule *whole)
{
	for (size_t i = from + 1; i < n && matches(whole->library, frames[i].library); i++) {
		const struct oncpu_rule *rule = rule_of_frame(&frames[i]);

		if (rule && *rule->function)
			return rule;
	}
	return whole;
}

const struct oncpu_rule *oncpu_rule_for(const struct oncpu_frame *frames, size_t n,
					const char *kernel)
{
	for (size_t i = 0; kernel && i < COUNT(kernel_rules); i++) {
		if (matches(kernel_rules[i].function, kernel))
			return &kernel_rules[i];
	}
	for (size_t i = 0; i < n; i++) {
		const struct oncpu_rule *rule = rule_of_frame(&frames[i]);

		if (rule)
			return *rule->function ? rule : refine(frames, n, i, rule);
		/* A loop that waits reads the clock and calls the kernel: its caller tells. */
		if (!matches(RUNTIME, frames[i].library))
			return NULL;
	}
	return NULL;
}

enum oncpu_kind oncpu_kind_of(const struct oncpu_frame *frames, size_t n, const char *kernel)
{
	const struct oncpu_rule *rule = oncpu_rule_for(frames, n, kernel);

	return rule ? rule->kind : ONCPU_WORK;
}

const struct oncpu_rule *oncpu_rules(size_t *n)
{
	*n = COUNT(rules);
	return rules;
}
