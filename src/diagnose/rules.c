/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/rules.h"

#include <stddef.h>

static const struct {
	const char *name;
	size_t input; /* offset of a double in struct facts */
	double threshold;
	const char *reason;
} table[RULES] = {
	[RULE_WINDOW] = {"window-long-enough", offsetof(struct facts, window_s), 1.0,
			 "below 1 s a few frames decide, and the kernel's books are too coarse to "
			 "check against"},
	[RULE_ACTIVE] =
		{"target-active", offsetof(struct facts, activity), 0.05,
		 "a target that computes and waits for the GPU, disks or locks for less than 5 %, "
		 "beside a GPU as little busy, is idle: nothing limits it"},
	[RULE_GPU_SAMPLES] =
		{"gpu-samples", offsetof(struct facts, gpu_samples), GPU_SAMPLES_MIN,
		 "GR3D is one 16.7 ms reading a line: fewer than 10 say nothing about a "
		 "mean"},
	[RULE_GPU_SATURATED] =
		{"gpu-saturated", offsetof(struct facts, gpu_busy), 0.90,
		 "GR3D tops out at 99 %; above 90 % at most 1.1x is left outside the "
		 "GPU"},
	[RULE_EMC_SATURATED] =
		{"emc-saturated", offsetof(struct facts, emc_busy), 0.75,
		 "practical DRAM bandwidth ends at about 75-80 % of the theoretical"},
	[RULE_RUNQ] = {"run-queue-delay", offsetof(struct facts, critical_runq), 0.20,
		       "below 20 % of the window, free CPUs would gain less than 1.25x"},
	[RULE_CPU_LIMIT] = {"thread-fills-a-cpu", offsetof(struct facts, critical_oncpu), 0.85,
			    "a thread that computes 85 % of the time cannot feed the GPU more than "
			    "1.18x faster"},
	[RULE_ALL_CPUS] = {"target-fills-all-cpus", offsetof(struct facts, target_cpu), 0.85,
			   "all cores together leave less than 1.18x"},
	[RULE_TURNS] =
		{"cpu-and-gpu-take-turns", offsetof(struct facts, turns), 0.85,
		 "one thread's CPU time and the GPU's busy time fill the window: they do not "
		 "overlap"},
	[RULE_CPU_DOMINATES] =
		{"cpu-part-dominates", offsetof(struct facts, cpu_over_gpu), 1.5,
		 "with 1.5 times the GPU's share the CPU part is what to shorten first"},
	[RULE_UNDER_VOLTAGE] =
		{"oc1-events-in-10-s", offsetof(struct facts, under_voltage_10s), 1,
		 "OC1 is under-voltage of the input on Orin and Thor: a supply or cable at its "
		 "limit; a rarer event costs too little to be the limit"},
	[RULE_POWER_LIMIT] = {"oc2-events-in-10-s", offsetof(struct facts, power_limit_10s), 1,
			      "OC2 is the average power limit on Orin and Thor; rarer than that it "
			      "holds back next to nothing"},
	[RULE_EVENT_CLOCK] =
		{"clock-loss-with-events", offsetof(struct facts, event_clock_loss), 0.03,
		 "with a single OC1 or OC2 event a loaded GPU below its cap was held back; a clock "
		 "at its cap jitters by 3 %"},
	[RULE_OVER_CURRENT] =
		{"oc3-loss", offsetof(struct facts, oc3_loss), 0.05,
		 "thousands of OC3 events an hour are normal in MAXN: only the time they "
		 "cost counts"},
	[RULE_COOLING] = {"cooling-active-at-trip", offsetof(struct facts, cooling), 1,
			  "a cooling device bound to clocks, at the trip point: fans and surface "
			  "notices do not count"},
	[RULE_HOT_CLOCK] =
		{"clock-loss-at-trip", offsetof(struct facts, hot_clock_loss), 0.05,
		 "heat alone is no limit: only a clock that falls under load at the trip "
		 "point is; 5 % is above the 1-2 % jitter of the clock counter"},
	[RULE_CPU_HELD_BACK] =
		{"cpu-clock-held-back", offsetof(struct facts, cpu_clock_loss), 0.20,
		 "the firmware cuts a measured CPU clock to 1/2 and less, which no other file "
		 "shows; 3 % of such readings are normal in MAXN, and reach 20 % of a mean by "
		 "chance in less than 1 of 200 short runs"},
	[RULE_GPU_AT_CAP] =
		{"gpu-clock-at-cap", offsetof(struct facts, gpu_clock_share), 0.97,
		 "a locked 1020 MHz reads 1005-1019: 3 % below its cap a clock is still at it"},
	[RULE_MODE_BELOW_HARDWARE] =
		{"mode-below-hardware", offsetof(struct facts, mode_headroom), 1.10,
		 "clocks and SMs that the power mode takes away; 1.10 is well above the "
		 "3 % jitter"},
	[RULE_GPU_LOAD_LOW] = {"gpu-load-low", offsetof(struct facts, gpu_idle), 0.20,
			       "idle a fifth of the time: the governor lowers the clock on "
			       "purpose, no fault"},
	[RULE_EMC_AT_CAP] = {"emc-clock-at-cap", offsetof(struct facts, emc_clock_share), 0.97,
			     "the same 3 % as for the GPU"},
	[RULE_EMC_BELOW_HARDWARE] =
		{"emc-below-hardware", offsetof(struct facts, emc_headroom), 1.10,
		 "bandwidth that the memory clock of the power mode takes away; steps are "
		 "1.5x and more"},
	[RULE_CLOCK_HEADROOM] = {"clock-below-maximum", offsetof(struct facts, clock_headroom),
				 1.10,
				 "a loaded GPU below its largest clock is held there by the power "
				 "mode or the governor; 1.10 is well above the 3 % jitter"},
	[RULE_CORE_FILLED] = {"busiest-core", offsetof(struct facts, core_max), 0.65,
			      "in a log one busy thread moves between cores, so the busiest core "
			      "shows less than it does"},
	[RULE_CORES_WORK] = {"one-core-of-work", offsetof(struct facts, cores_used), 1.0,
			     "together one core's worth of work, while the GPU is not filled"},
	[RULE_PATH_CPU] = {"path-computes", offsetof(struct facts, path.parts[PATH_CPU].share),
			   0.30,
			   "below 30 % of the GPU-feeding thread's time, free computing would gain "
			   "less than 1.4x"},
	[RULE_PATH_CPU_DOMINATES] =
		{"path-computes-more-than-gpu", offsetof(struct facts, path_cpu_over_gpu), 1.5,
		 "with less than 1.5 times the GPU's part, computing and GPU take turns"},
	[RULE_PATH_RUNQ] = {"path-waits-for-cpu",
			    offsetof(struct facts, path.parts[PATH_RUNQ].share), 0.20,
			    "below 20 % free CPUs would gain less than 1.25x"},
	[RULE_PATH_GPU] = {"path-waits-for-gpu", offsetof(struct facts, path.parts[PATH_GPU].share),
			   0.90,
			   "above 90 % at most 1.1x is left outside the GPU; counts where its load "
			   "is not known"},
	[RULE_PATH_DISK] = {"path-waits-for-disk",
			    offsetof(struct facts, path.parts[PATH_DISK].share), 0.20,
			    "below 20 % a disk without latency would gain less than 1.25x"},
	[RULE_PATH_FAULT] = {"path-waits-for-faults",
			     offsetof(struct facts, path.parts[PATH_FAULT].share), 0.20,
			     "below 20 % resident pages would gain less than 1.25x"},
	[RULE_PATH_LOCK] = {"path-waits-for-lock",
			    offsetof(struct facts, path.parts[PATH_LOCK].share), 0.20,
			    "below 20 % a free lock would gain less than 1.25x"},
	[RULE_PATH_INPUT] = {"path-waits-for-input",
			     offsetof(struct facts, path.parts[PATH_INPUT].share), 0.30,
			     "below 30 % faster input would gain less than 1.4x"},
	[RULE_REFAULTS] =
		{"pages-come-back", offsetof(struct facts, refault_share), 0.10,
		 "a page read again soon after it was evicted means that memory is short; "
		 "reading a file for the first time evicts nothing of its own"},
	[RULE_LAUNCH] = {"launching-dominates", offsetof(struct facts, launch_share), 0.50,
			 "half of the feeding thread's computing is inside the GPU's library"},
	[RULE_GPU_UNUSED] = {"gpu-unused", offsetof(struct facts, gpu_unused), 0.98,
			     "a GPU busy for less than 2 %, and no thread waits for it"},
	[RULE_COMPUTES] = {"target-computes", offsetof(struct facts, activity), 0.50,
			   "an unused GPU beside a target that waits for something is no finding"},
	[RULE_NOT_STEADY] =
		{"window-not-steady", offsetof(struct facts, steady_differs), 0.10,
		 "a mean over start-up and work describes neither; under 10 points of GPU use "
		 "the class would hardly change"},
};

void rules_evaluate(const struct facts *facts, struct rule_outcome outcomes[RULES])
{
	for (int i = 0; i < RULES; i++) {
		double value = *(const double *)((const char *)facts + table[i].input);

		outcomes[i] = (struct rule_outcome){
			.name = table[i].name,
			.reason = table[i].reason,
			.value = value,
			.threshold = table[i].threshold,
			.at_least = true,
			.fired = value >= table[i].threshold,
		};
	}
}
