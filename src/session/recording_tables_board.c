/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of the board, the samples of it, and the calls of the CUDA library. */
#include "session/recording_tables.h"

#define S struct session

#define NAMES(function, ...)                                      \
	static const char *function(int value)                    \
	{                                                         \
		static const char *const names[] = {__VA_ARGS__}; \
                                                                  \
		return names[value];                              \
	}

NAMES(source_name, "unknown", "read", "conf", "table")
NAMES(mode_source_name, "unknown", "status", "default")
NAMES(tegra_name, "none", "live", "died", "silent", "garbage", "recorded", "log")
NAMES(iteration_name, "none", "sync", "probe")

static const char *cuda_state(int value)
{
	return cuda_state_name((enum cuda_state)value);
}

static const char *cuda_mode(int value)
{
	return cuda_mode_name((enum cuda_mode)value);
}

#define SOURCE(text, field) ENUM(text, S, board.field, source_name, BOARD_TABLE + 1)
/* -1 is unknown */
#define INT(text, field) COLUMN(text, COLUMN_I32_OR, S, board.field)
#define B(text, field)	 AS(text, S, board.field)

#define CEILINGS(text, of)                                                                    \
	B(text "fp32_flops", of.flops[PREC_FP32]), B(text "fp16_flops", of.flops[PREC_FP16]), \
		B(text "tf32_tc_flops", of.flops[PREC_TF32_TC]),                              \
		B(text "fp16_tc_flops", of.flops[PREC_FP16_TC]),                              \
		B(text "int8_tc_ops", of.flops[PREC_INT8_TC]),                                \
		B(text "fp8_tc_flops", of.flops[PREC_FP8_TC]),                                \
		B(text "fp4_tc_flops", of.flops[PREC_FP4_TC]),                                \
		B(text "dram_bytes_per_s", of.dram),                                          \
		B(text "dram_practical_bytes_per_s", of.dram_practical)

_Static_assert(PRECISIONS == 7, "a column for every ceiling");

#define MODE(text, of)                                                             \
	INT(text "id", of.id), B(text "name", of.name), INT(text "cpus", of.cpus), \
		B(text "cpu_mhz", of.cpu_mhz), B(text "gpu_mhz", of.gpu_mhz),      \
		INT(text "sm", of.sm), B(text "emc_mhz", of.emc_mhz), CEILINGS(text, of.ceilings)

static const struct column board_columns[] = {
	B("model", model),
	B("pnumber", pnumber),
	B("module", module),
	B("module_certain", module_certain),
	B("module_doubt", module_doubt),
	B("soc", soc),
	B("l4t", l4t),
	B("ram_mb", ram_mb),
	B("mode", mode),
	INT("mode_id", mode_id),
	ENUM("mode_source", S, board.mode_source, mode_source_name, BOARD_MODE_DEFAULT + 1),
	B("mode_doubt", mode_doubt),
	INT("cpus_present", cpu.present),
	INT("cpus_online", cpu.online),
	B("cpus_offline", cpu.offline),
	B("cpu_now_mhz", cpu.now_mhz),
	B("cpu_cap_mhz", cpu.cap_mhz),
	B("cpu_hw_max_mhz", cpu.hw_max_mhz),
	B("gpu_path", gpu.path),
	B("gpu_now_mhz", gpu.now_mhz),
	B("gpu_min_mhz", gpu.min_mhz),
	B("gpu_cap_mhz", gpu.cap_mhz),
	SOURCE("gpu_cap_source", gpu.cap_source),
	B("gpu_hw_max_mhz", gpu.hw_max_mhz),
	SOURCE("gpu_hw_max_source", gpu.hw_max_source),
	B("gpu_governor", gpu.governor),
	INT("gpu_locked", gpu.locked),
	COLUMN("tpc_pg_mask", COLUMN_I64_OR, S, board.gpu.tpc_pg_mask),
	INT("sm_active", gpu.sm_active),
	INT("sm_total", gpu.sm_total),
	SOURCE("sm_source", gpu.sm_source),
	B("emc_now_mhz", emc.now_mhz),
	INT("emc_locked", emc.locked),
	B("emc_cap_mhz", emc.cap_mhz),
	SOURCE("emc_cap_source", emc.cap_source),
	B("emc_hw_max_mhz", emc.hw_max_mhz),
	SOURCE("emc_hw_max_source", emc.hw_max_source),
	INT("emc_bus_bits", emc.bus_bits),
	B("trip_sw_cpu_c", trips.sw_cpu_c),
	B("trip_sw_gpu_c", trips.sw_gpu_c),
	B("trip_sw_other_c", trips.sw_other_c),
	B("trip_hw_c", trips.hw_c),
	B("trip_shutdown_c", trips.shutdown_c),
	CEILINGS("", ceilings),
	B("unverified_mask", unverified),
	MODE("next_", next),
	MODE("largest_", largest),
	INT("conf_bad_lines", conf_bad_lines),
};

#define SAMPLED(text, field, unit)                                                         \
	AS(text "_samples", S, tegra.field.n), AS(text "_mean" unit, S, tegra.field.mean), \
		AS(text "_min" unit, S, tegra.field.min),                                  \
		AS(text "_max" unit, S, tegra.field.max),                                  \
		AS(text "_last" unit, S, tegra.field.last)
#define G(field) AS(#field, S, tegra.field)

static const struct column tegra_columns[] = {
	ENUM("state", S, tegra.state, tegra_name, TEGRA_LOG + 1),
	G(source),
	G(note),
	G(samples),
	G(rejected),
	G(left_aside),
	G(interval_ms),
	SAMPLED("gpu_busy", gpu_busy, "_share"),
	SAMPLED("gpu_clock", gpu_clock_mhz, "_mhz"),
	SAMPLED("emc_busy", emc_busy, "_share"),
	SAMPLED("emc_clock", emc_clock_mhz, "_mhz"),
	SAMPLED("ram_used", ram_used_mb, "_mb"),
	G(ram_total_mb),
	SAMPLED("swap_used", swap_used_mb, "_mb"),
	G(swap_total_mb),
	SAMPLED("cpu_busiest", cpu_busy_max, "_share"),
	COLUMN("cpus_off", COLUMN_I32_OR, S, tegra.cpus_off),
};

#define C(field)      AS(#field, S, cuda.field)
#define FEEDER(field) AS("feeder_" #field, S, cuda.feeder_calls.field)

static const struct column cuda_columns[] = {
	ENUM("state", S, cuda.state, cuda_state, CUDA_ATTACHED + 1),
	ENUM("mode", S, cuda.mode, cuda_mode, CUDA_MODE_ALL + 1),
	C(library),
	C(libraries),
	C(note),
	C(attached_ns),
	AS("nested_calls", S, cuda.nested),
	AS("lost_calls", S, cuda.lost),
	AS("cut_calls", S, cuda.cut),
	C(feeder_pid),
	C(feeder_tid),
	AS("feeder_group", S, cuda.feeder),
	C(feeder_wall_ns),
	FEEDER(sync_calls),
	FEEDER(sync_ns),
	FEEDER(polls),
	FEEDER(poll_ns),
	FEEDER(spin_ns),
	FEEDER(launches),
	FEEDER(graph_launches),
	FEEDER(launch_ns),
	FEEDER(copies),
	FEEDER(copy_bytes),
	COLUMN("feeder_kind", COLUMN_I32_OR, S, cuda.feeder_kind),
	C(feeder_kind_ns),
	ENUM("iterations_source", S, cuda.iterations.source, iteration_name, ITER_PROBE + 1),
	AS("iterations_note", S, cuda.iterations.note),
	AS("iterations", S, cuda.iterations.count),
	AS("iterations_syncs", S, cuda.iterations.syncs),
	AS("iterations_mean_ns", S, cuda.iterations.mean_ns),
	AS("iterations_p50_ns", S, cuda.iterations.p50_ns),
	AS("iterations_p99_ns", S, cuda.iterations.p99_ns),
	AS("iterations_attached_ns", S, cuda.iterations.attached_ns),
	C(ns_per_call),
};

#define TP struct tegra_point

static const struct column tegra_point_columns[] = {
	F(TP, t_ns),
	F(TP, run),
	AS("gpu_busy_share", TP, gpu_busy),
	F(TP, gpu_mhz),
	AS("emc_busy_share", TP, emc_busy),
	F(TP, emc_mhz),
	AS("core_max_share", TP, core_max),
	AS("cores_used_cpus", TP, cores_used),
	F(TP, ram_mb),
	F(TP, swap_mb),
	F(TP, hottest_c),
	F(TP, power_mw),
};

#define TH(field) AS(#field, S, throttle.field)

static const struct column throttle_columns[] = {
	AS("oc1_events", S, throttle.oc_events[0]),
	AS("oc2_events", S, throttle.oc_events[1]),
	AS("oc3_events", S, throttle.oc_events[2]),
	COLUMN("cooling_active", COLUMN_I32_OR, S, throttle.cooling_active),
	TH(cooling_name),
	TH(cpu_measurements),
	TH(cpu_clock_share),
	TH(cpu_slowest),
	TH(margin_c),
	TH(trip_c),
	TH(margin_zone),
};

static const struct column sensor_columns[] = {
	F(struct named_sampled, name),
	AS("n", struct named_sampled, value.n),
	AS("mean", struct named_sampled, value.mean),
	AS("min", struct named_sampled, value.min),
	AS("max", struct named_sampled, value.max),
	AS("last", struct named_sampled, value.last),
};

static const struct column cuda_kind_columns[] = {
	F(struct cuda_kind_sum, name),	   F(struct cuda_kind_sum, symbol),
	F(struct cuda_kind_sum, calls),	   F(struct cuda_kind_sum, ns),
	F(struct cuda_kind_sum, oncpu_ns), F(struct cuda_kind_sum, bytes),
};

const struct table recording_board_tables[] = {
	{"board", "The board: one row. Ceilings are FLOP/s, operations/s for INT8.",
	 ONE(board_columns)},
	{"tegra", "Samples of the board, summed up: one row.", ONE(tegra_columns)},
	{"cuda",
	 "Waits for the GPU by calls of the CUDA driver library: one row; feeder_kind is "
	 "cuda_kinds.row.",
	 ONE(cuda_columns)},
	{"temps", "Temperatures by sensor (C).",
	 COUNTED(sensor_columns, tegra.temps_c, tegra.temps)},
	{"rails", "Power by rail (mW).", COUNTED(sensor_columns, tegra.power_mw, tegra.rails)},
	{"tegra_points", "Samples of the board by time; t_ns since the window's begin.",
	 HEAP(tegra_point_columns, series.points, series.n, SERIES_LIMIT)},
	{"throttle", "What held clocks back: one row.", ONE(throttle_columns)},
	{"cuda_kinds", "Calls of the CUDA driver library by kind.",
	 FIXED(cuda_kind_columns, cuda.kinds)},
};

const int recording_board_ntables = COUNT_OF(recording_board_tables);
