/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Marks: A = read in a power-mode file or data sheet, B = reported or taken from a sister module,
 * C = general knowledge. A cap of -1 in a power-mode file is written here as the maximum that the
 * firmware allows.
 */
#include "tegra/modules.h"

enum { DEF = 1, MAX = 2 };

/* NAN and -1 are unknown. The ids are those of the file read: for display only. */
#define MODE(name_, id_, flags, cpus_, cpu_, gpu_, sm_, mask, emc)                          \
	{                                                                                   \
		.name = name_, .id = id_, .is_default = !!((flags)&DEF),                    \
		.is_max = !!((flags)&MAX), .cpus = cpus_, .cpu_mhz = cpu_, .gpu_mhz = gpu_, \
		.sm = sm_, .tpc_pg_mask = mask, .emc_mhz = emc                              \
	}

/* A: power-mode file (umr-ds/BirdEdge-OS) */
static const struct module_mode nano_modes[] = {
	MODE("MAXN", 0, DEF | MAX, 4, 1479, 921.6, 1, -1, 1600),
	MODE("5W", 1, 0, 2, 918, 640, 1, -1, 1600),
};

/* C: general knowledge; no nvpmodel on this module */
static const struct module_mode tx1_modes[] = {
	MODE("jetson_clocks", -1, DEF | MAX, 4, 1734, 998.4, 2, -1, 1600),
};

/* A: power-mode file (LineageOS/android_device_nvidia_quill) */
static const struct module_mode tx2_modes[] = {
	MODE("MAXN", 0, MAX, 6, 2035.2, 1300.5, 2, -1, 1866),
	MODE("MAXQ", 1, 0, 4, 1200, 850, 2, -1, 1331.2),
	MODE("MAXP_CORE_ALL", 2, 0, 6, 1400, 1120, 2, -1, 1600),
	MODE("MAXP_CORE_ARM", 3, DEF, 4, 2000, 1120, 2, -1, 1600),
	MODE("MAXP_CORE_DENVER", 4, 0, 2, 2035.2, 1120, 2, -1, 1600),
};

/* B: as above with the smaller EMC maximum */
static const struct module_mode tx2_4gb_modes[] = {
	MODE("MAXN", 0, MAX, 6, 2035.2, 1300.5, 2, -1, 1600),
	MODE("MAXQ", 1, 0, 4, 1200, 850, 2, -1, 1331.2),
	MODE("MAXP_CORE_ALL", 2, 0, 6, 1400, 1120, 2, -1, 1600),
	MODE("MAXP_CORE_ARM", 3, DEF, 4, 2000, 1120, 2, -1, 1600),
	MODE("MAXP_CORE_DENVER", 4, 0, 2, 2035.2, 1120, 2, -1, 1600),
};

/* A: power-mode file (LineageOS/android_device_nvidia_quill) */
static const struct module_mode tx2_nx_modes[] = {
	MODE("MAXN", 0, MAX, 6, 2035.2, 1300.5, 2, -1, 1600),
	MODE("MAXQ", 1, 0, 4, 1200, 850, 2, -1, 1600),
	MODE("MAXP_CORE_ALL", 2, DEF, 6, 1400, 1120, 2, -1, 1600),
	MODE("MAXP_CORE_ARM", 3, 0, 4, 2000, 1120, 2, -1, 1600),
};

/* A: power-mode file (LineageOS/android_device_nvidia_galen), NVIDIA table (waggle-sensor) */
static const struct module_mode agx_xavier_modes[] = {
	MODE("MAXN", 0, MAX, 8, 2265.6, 1377, 8, 0, 2133),
	MODE("MODE_10W", 1, 0, 2, 1200, 520, 4, 5, 1065.6),
	MODE("MODE_15W", 2, 0, 4, 1200, 670, 8, 0, 1331.2),
	MODE("MODE_30W_ALL", 3, 0, 8, 1200, 900, 8, 0, 1600),
	MODE("MODE_30W_6CORE", 4, 0, 6, 1450, 900, 8, 0, 1600),
	MODE("MODE_30W_4CORE", 5, 0, 4, 1780, 900, 8, 0, 1600),
	MODE("MODE_30W_2CORE", 6, 0, 2, 2100, 900, 8, 0, 1600),
	MODE("MODE_15W_DESKTOP", 7, DEF, 4, 2188.8, 670, 8, 0, 1331.2),
};

/* C: general knowledge */
static const struct module_mode agx_xavier_8gb_modes[] = {
	MODE("20W", -1, MAX, 6, 2265.6, 1100, 6, -1, 1333),
};

/* C: general knowledge */
static const struct module_mode agx_xavier_ind_modes[] = {
	MODE("MAXN", 0, MAX, 8, 2035, 1211, 8, 0, 2133),
};

/* A: power-mode file (LineageOS/android_device_nvidia_galen, dev10110/gatekeeper-exp-xavier) */
static const struct module_mode xavier_nx_modes[] = {
	MODE("MODE_15W_2CORE", 0, 0, 2, 1907.2, 1109.25, 6, 1, 1600),
	MODE("MODE_15W_4CORE", 1, 0, 4, 1420.8, 1109.25, 6, 1, 1600),
	MODE("MODE_15W_6CORE", 2, 0, 6, 1420.8, 1109.25, 6, 1, 1600),
	MODE("MODE_10W_2CORE", 3, 0, 2, 1497.6, 803.25, 6, 1, 1600),
	MODE("MODE_10W_4CORE", 4, 0, 4, 1190.4, 803.25, 6, 1, 1600),
	MODE("MODE_10W_DESKTOP", 5, DEF, 4, 1907.2, 510, 6, 1, 1600),
	MODE("MODE_20W_2CORE", 6, 0, 2, 1907.2, 1109.25, 6, 1, 1866),
	MODE("MODE_20W_4CORE", 7, 0, 4, 1420.8, 1109.25, 6, 1, 1866),
	MODE("MODE_20W_6CORE", 8, MAX, 6, 1420.8, 1109.25, 6, 1, 1866),
};

/* A: R35 power-mode file (LineageOS/android_device_nvidia_concord), data sheet */
static const struct module_mode orin_nano_4gb_modes[] = {
	MODE("10W", 0, DEF | MAX, 6, 1510.4, 624.75, 4, 252, 2133),
	MODE("7W_AI", 1, 0, 4, 806.4, 408, 4, 252, 2133),
	MODE("7W_CPU", 2, 0, 4, 960, 306, 4, 252, 2133),
};

/* A: R36 super power-mode file (android_device_nvidia_concord) */
static const struct module_mode orin_nano_4gb_super_modes[] = {
	MODE("10W", 0, 0, 6, 1497.6, 612, 4, 252, 2133),
	MODE("25W", 1, DEF, 6, 1728, 1020, 4, 252, 3199),
	MODE("MAXN_SUPER", 2, MAX, 6, 1728, 1020, 4, 252, 3199),
};

/* A: R35 power-mode file (android_device_nvidia_concord), data sheet */
static const struct module_mode orin_nano_8gb_modes[] = {
	MODE("15W", 0, DEF | MAX, 6, 1510.4, 624.75, 8, 240, 2133),
	MODE("7W", 1, 0, 4, 960, 408, 4, 252, 2133),
};

/* A: R36 super power-mode file (android_device_nvidia_concord); 7W is B: reported readings */
static const struct module_mode orin_nano_8gb_super_modes[] = {
	MODE("15W", 0, 0, 6, 1497.6, 612, 8, 240, 2133),
	MODE("25W", 1, DEF, 6, 1344, 918, 8, 240, 3199),
	MODE("MAXN_SUPER", 2, MAX, 6, 1728, 1020, 8, 240, 3199),
	MODE("7W", 3, 0, 4, 960, 408, 4, 252, 2133),
};

/* A: R35 power-mode file (android_device_nvidia_concord), data sheet */
static const struct module_mode orin_nx_8gb_modes[] = {
	MODE("MAXN", 0, MAX, 6, 1984, 765, 8, 240, 3199),
	MODE("10W", 1, 0, 4, 1190.4, 612, 4, 252, 2133),
	MODE("15W", 2, DEF, 4, 1420.8, 612, 4, 252, 3199),
	MODE("20W", 3, 0, 6, 1497.6, 408, 8, 240, 3199),
};

/* A: R36 super power-mode file (android_device_nvidia_concord) */
static const struct module_mode orin_nx_8gb_super_modes[] = {
	MODE("MAXN_SUPER", 0, MAX, 6, 1984, 1173, 8, 240, 3199),
	MODE("10W", 1, 0, 4, 1190.4, 612, 4, 252, 2133),
	MODE("15W", 2, 0, 4, 1420.8, 612, 4, 252, 3199),
	MODE("20W", 3, 0, 6, 1497.6, 408, 8, 240, 3199),
	MODE("40W", 4, DEF, 6, 1984, 1173, 8, 240, 3199),
};

/* A: R35 power-mode file (android_device_nvidia_concord); R36 caps the CPU of 15W at 1420.8 */
static const struct module_mode orin_nx_16gb_modes[] = {
	MODE("MAXN", 0, MAX, 8, 1984, 918, 8, 240, 3199),
	MODE("10W", 1, 0, 4, 1190.4, 612, 4, 252, 2133),
	MODE("15W", 2, DEF, 4, 1651.2, 612, 4, 252, 3199),
	MODE("25W", 3, 0, 8, 1497.6, 408, 8, 240, 3199),
};

/* A: R36 super power-mode file (android_device_nvidia_concord) */
static const struct module_mode orin_nx_16gb_super_modes[] = {
	MODE("MAXN_SUPER", 0, MAX, 8, 1984, 1173, 8, 240, 3199),
	MODE("10W", 1, 0, 4, 1190.4, 612, 4, 252, 2133),
	MODE("15W", 2, 0, 4, 1420.8, 612, 4, 252, 3199),
	MODE("25W", 3, 0, 8, 1497.6, 408, 8, 240, 3199),
	MODE("40W", 4, DEF, 8, 1497.6, 1173, 8, 240, 3199),
};

/* A: R35 power-mode file (android_device_nvidia_concord); the data sheet prints 939 for 930.75 */
static const struct module_mode agx_orin_32gb_modes[] = {
	MODE("MAXN", 0, MAX, 8, 2188.8, 930.75, 14, 128, 3199),
	MODE("MODE_15W", 1, 0, 4, 1113.6, 408, 6, 248, 2133),
	MODE("MODE_30W", 2, DEF, 8, 1728, 612, 8, 240, 3199),
	MODE("MODE_40W", 3, 0, 8, 1497.6, 816, 14, 128, 3199),
};

/* A: R35 power-mode file (android_device_nvidia_concord), DS-10662-001 */
static const struct module_mode agx_orin_64gb_modes[] = {
	MODE("MAXN", 0, MAX, 12, 2201.6, 1300.5, 16, 0, 3199),
	MODE("MODE_15W", 1, 0, 4, 1113.6, 408, 6, 248, 2133),
	MODE("MODE_30W", 2, DEF, 8, 1728, 612, 8, 240, 3199),
	MODE("MODE_50W", 3, 0, 12, 1497.6, 816, 16, 0, 3199),
};

/* B: DS-10662-001; the clocks of 15W, 35W and 60W were not found */
static const struct module_mode agx_orin_ind_modes[] = {
	MODE("MAXN", 0, MAX, 12, 1971, 1185, 16, 0, 3199),
};

/* B: NVIDIA forum 356355, NVIDIA/skills, jetson_stats; below MAXN only the names (C) */
static const struct module_mode t5000_modes[] = {
	MODE("MAXN", 0, MAX, 14, 2601, 1575, 20, -1, 4266),
	MODE("120W", 1, DEF, -1, NAN, NAN, -1, -1, NAN),
	MODE("90W", 2, 0, -1, NAN, NAN, -1, -1, NAN),
	MODE("70W", 3, 0, -1, NAN, NAN, -1, -1, NAN),
};

/* C: same sources; 1530 MHz is general knowledge, 1536 cores are 12 SM */
static const struct module_mode t4000_modes[] = {
	MODE("MAXN", 0, MAX, 12, 2601, 1530, 12, -1, 4266),
};

#define TRIPS(cpu, gpu, other, hw, shutdown)                                       \
	{                                                                          \
		.sw_cpu_c = cpu, .sw_gpu_c = gpu, .sw_other_c = other, .hw_c = hw, \
		.shutdown_c = shutdown                                             \
	}

/* L4T device trees (alliedvision/linux_nvidia_jetson); the 103 of Orin is reported. */
#define TRIPS_NANO	     TRIPS(97, 97.5, NAN, 100.5, 102)
#define TRIPS_TX2	     TRIPS(95.5, 95.5, NAN, NAN, 100.5)
#define TRIPS_AGX_XAVIER     TRIPS(90, 92.5, 89, NAN, 94.5) /* a -maxn tree: 86, 88, 82 */
#define TRIPS_AGX_XAVIER_IND TRIPS(103, 102, 100.5, NAN, 106)
#define TRIPS_XAVIER_NX	     TRIPS(90.5, 91.5, 90, NAN, 95.5)
#define TRIPS_ORIN	     TRIPS(99, 99, 99, 103, 104.5)
#define TRIPS_AGX_ORIN_IND   TRIPS(112, 112, 112, NAN, 117.5)
#define TRIPS_THOR	     TRIPS(NAN, NAN, NAN, NAN, 114.5) /* of the GPU zone, unverified */
#define TRIPS_NONE	     TRIPS(NAN, NAN, NAN, NAN, NAN)

#define MODES(array) \
	.modes = array##_modes, .nmodes = sizeof(array##_modes) / sizeof(*array##_modes)

/*
 * Within a family the memory size of the developer kit comes first: module_by_name() takes it
 * when none is given.
 */
static const struct module modules[] = {
	{.name = "Jetson Nano 4GB",
	 .pnumbers = {"p3448-0000", "p3448-0002"},
	 .soc = SOC_T210,
	 .ram_gb = 4,
	 .bus_bits = 64,
	 .cpus = 4,
	 .sm = 1,
	 .trips = TRIPS_NANO,
	 MODES(nano)},
	{.name = "Jetson Nano 2GB",
	 .pnumbers = {"p3448-0003"},
	 .soc = SOC_T210,
	 .ram_gb = 2,
	 .bus_bits = 64,
	 .cpus = 4,
	 .sm = 1,
	 .trips = TRIPS_NANO,
	 MODES(nano)},
	{.name = "Jetson TX1",
	 .pnumbers = {"p2180-1000"},
	 .soc = SOC_T210,
	 .ram_gb = 4,
	 .bus_bits = 64,
	 .cpus = 4,
	 .sm = 2,
	 .trips = TRIPS_NONE,
	 MODES(tx1)},
	{.name = "Jetson TX2 8GB",
	 .pnumbers = {"p3310-1000"},
	 .soc = SOC_T186,
	 .ram_gb = 8,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 2,
	 .trips = TRIPS_TX2,
	 MODES(tx2)},
	{.name = "Jetson TX2 4GB",
	 .pnumbers = {"p3489-0888"},
	 .soc = SOC_T186,
	 .ram_gb = 4,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 2,
	 .trips = TRIPS_TX2,
	 MODES(tx2_4gb)},
	{.name = "Jetson TX2i",
	 .pnumbers = {"p3489-0000"},
	 .soc = SOC_T186,
	 .ram_gb = 8,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 2,
	 .trips = TRIPS_TX2,
	 MODES(tx2_4gb)},
	{.name = "Jetson TX2 NX",
	 .pnumbers = {"p3636-0001"},
	 .soc = SOC_T186,
	 .ram_gb = 4,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 2,
	 .trips = TRIPS_TX2,
	 MODES(tx2_nx)},
	{.name = "Jetson AGX Xavier 32GB",
	 .pnumbers = {"p2888-0004", "p2888-0003"},
	 .soc = SOC_T194,
	 .ram_gb = 32,
	 .bus_bits = 256,
	 .cpus = 8,
	 .sm = 8,
	 .trips = TRIPS_AGX_XAVIER,
	 MODES(agx_xavier)},
	{.name = "Jetson AGX Xavier 16GB",
	 .pnumbers = {"p2888-0001"},
	 .soc = SOC_T194,
	 .ram_gb = 16,
	 .bus_bits = 256,
	 .cpus = 8,
	 .sm = 8,
	 .trips = TRIPS_AGX_XAVIER,
	 MODES(agx_xavier)},
	{.name = "Jetson AGX Xavier 64GB",
	 .pnumbers = {"p2888-0005"},
	 .soc = SOC_T194,
	 .ram_gb = 64,
	 .bus_bits = 256,
	 .cpus = 8,
	 .sm = 8,
	 .trips = TRIPS_AGX_XAVIER,
	 MODES(agx_xavier)},
	{.name = "Jetson AGX Xavier 8GB",
	 .pnumbers = {"p2888-0006"},
	 .soc = SOC_T194,
	 .ram_gb = 8,
	 .bus_bits = 256,
	 .cpus = 6,
	 .sm = 6,
	 .trips = TRIPS_AGX_XAVIER,
	 MODES(agx_xavier_8gb)},
	{.name = "Jetson AGX Xavier Industrial 32GB",
	 .pnumbers = {"p2888-0008"},
	 .soc = SOC_T194,
	 .ram_gb = 32,
	 .bus_bits = 256,
	 .cpus = 8,
	 .sm = 8,
	 .trips = TRIPS_AGX_XAVIER_IND,
	 MODES(agx_xavier_ind)},
	{.name = "Jetson Xavier NX 8GB",
	 .pnumbers = {"p3668-0000", "p3668-0001"},
	 .soc = SOC_T194,
	 .ram_gb = 8,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 6,
	 .trips = TRIPS_XAVIER_NX,
	 MODES(xavier_nx)},
	{.name = "Jetson Xavier NX 16GB",
	 .pnumbers = {"p3668-0003"},
	 .soc = SOC_T194,
	 .ram_gb = 16,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 6,
	 .trips = TRIPS_XAVIER_NX,
	 MODES(xavier_nx)},
	{.name = "Jetson Orin Nano 8GB",
	 .pnumbers = {"p3767-0005", "p3767-0003"},
	 .soc = SOC_T234,
	 .ram_gb = 8,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 8,
	 .trips = TRIPS_ORIN,
	 MODES(orin_nano_8gb)},
	{.name = "Jetson Orin Nano 4GB",
	 .pnumbers = {"p3767-0004"},
	 .soc = SOC_T234,
	 .ram_gb = 4,
	 .bus_bits = 64,
	 .cpus = 6,
	 .sm = 4,
	 .trips = TRIPS_ORIN,
	 MODES(orin_nano_4gb)},
	{.name = "Jetson Orin Nano 8GB Super",
	 .pnumbers = {"p3767-0005", "p3767-0003"},
	 .super = true,
	 .soc = SOC_T234,
	 .ram_gb = 8,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 8,
	 .trips = TRIPS_ORIN,
	 MODES(orin_nano_8gb_super)},
	{.name = "Jetson Orin Nano 4GB Super",
	 .pnumbers = {"p3767-0004"},
	 .super = true,
	 .soc = SOC_T234,
	 .ram_gb = 4,
	 .bus_bits = 64,
	 .cpus = 6,
	 .sm = 4,
	 .trips = TRIPS_ORIN,
	 MODES(orin_nano_4gb_super)},
	{.name = "Jetson Orin NX 16GB",
	 .pnumbers = {"p3767-0000"},
	 .soc = SOC_T234,
	 .ram_gb = 16,
	 .bus_bits = 128,
	 .cpus = 8,
	 .sm = 8,
	 .trips = TRIPS_ORIN,
	 MODES(orin_nx_16gb)},
	{.name = "Jetson Orin NX 8GB",
	 .pnumbers = {"p3767-0001"},
	 .soc = SOC_T234,
	 .ram_gb = 8,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 8,
	 .trips = TRIPS_ORIN,
	 MODES(orin_nx_8gb)},
	{.name = "Jetson Orin NX 16GB Super",
	 .pnumbers = {"p3767-0000"},
	 .super = true,
	 .soc = SOC_T234,
	 .ram_gb = 16,
	 .bus_bits = 128,
	 .cpus = 8,
	 .sm = 8,
	 .trips = TRIPS_ORIN,
	 MODES(orin_nx_16gb_super)},
	{.name = "Jetson Orin NX 8GB Super",
	 .pnumbers = {"p3767-0001"},
	 .super = true,
	 .soc = SOC_T234,
	 .ram_gb = 8,
	 .bus_bits = 128,
	 .cpus = 6,
	 .sm = 8,
	 .trips = TRIPS_ORIN,
	 MODES(orin_nx_8gb_super)},
	{.name = "Jetson AGX Orin 64GB",
	 .pnumbers = {"p3701-0005", "p3701-0000"},
	 .soc = SOC_T234,
	 .ram_gb = 64,
	 .bus_bits = 256,
	 .cpus = 12,
	 .sm = 16,
	 .trips = TRIPS_ORIN,
	 MODES(agx_orin_64gb)},
	{.name = "Jetson AGX Orin 32GB",
	 .pnumbers = {"p3701-0004"},
	 .soc = SOC_T234,
	 .ram_gb = 32,
	 .bus_bits = 256,
	 .cpus = 8,
	 .sm = 14,
	 .trips = TRIPS_ORIN,
	 MODES(agx_orin_32gb)},
	{.name = "Jetson AGX Orin Industrial 64GB",
	 .pnumbers = {"p3701-0008", "p3701-0002"},
	 .soc = SOC_T234,
	 .ram_gb = 64,
	 .bus_bits = 256,
	 .cpus = 12,
	 .sm = 16,
	 .trips = TRIPS_AGX_ORIN_IND,
	 MODES(agx_orin_ind)},
	{.name = "Jetson T5000",
	 .pnumbers = {"p3834-0008"},
	 .soc = SOC_T264,
	 .ram_gb = 128,
	 .bus_bits = 256,
	 .cpus = 14,
	 .sm = 20,
	 .trips = TRIPS_THOR,
	 MODES(t5000)},
	{.name = "Jetson T4000",
	 .pnumbers = {"p3834-0005"},
	 .soc = SOC_T264,
	 .ram_gb = 64,
	 .bus_bits = 256,
	 .cpus = 12,
	 .sm = 12,
	 .trips = TRIPS_THOR,
	 MODES(t4000)},
};

/*
 * GA10B has the tensor rate of GA100, not GA102: 275 TOPS sparse of AGX Orin with its 105 of the
 * DLAs leave 170, 85 dense. Rates of T264: 2070 TFLOPS sparse FP4 at 20 SM and 1575 MHz.
 */
static const struct gpu_rates rates[SOCS] = {
	[SOC_T210] = {.soc = "tegra210",
		      .compute = "5.3",
		      .tpcs = -1,
		      .fma = {[PREC_FP32] = 128, [PREC_FP16] = 256}},
	[SOC_T186] = {.soc = "tegra186",
		      .compute = "6.2",
		      .tpcs = -1,
		      .fma = {[PREC_FP32] = 128, [PREC_FP16] = 256}},
	[SOC_T194] = {.soc = "tegra194",
		      .compute = "7.2",
		      .tpcs = 4,
		      .fma = {[PREC_FP32] = 64,
			      [PREC_FP16] = 128,
			      [PREC_FP16_TC] = 512,
			      [PREC_INT8_TC] = 1024}},
	[SOC_T234] = {.soc = "tegra234",
		      .compute = "8.7",
		      .tpcs = 8,
		      .fma = {[PREC_FP32] = 128,
			      [PREC_FP16] = 256,
			      [PREC_TF32_TC] = 512,
			      [PREC_FP16_TC] = 1024,
			      [PREC_INT8_TC] = 2048},
		      .unverified = 1U << PREC_TF32_TC},
	[SOC_T264] = {.soc = "tegra264",
		      .compute = "11.0",
		      .tpcs = -1,
		      .fma = {[PREC_FP32] = 128,
			      [PREC_FP16] = 256,
			      [PREC_TF32_TC] = 2048,
			      [PREC_FP16_TC] = 4096,
			      [PREC_INT8_TC] = 8192,
			      [PREC_FP8_TC] = 8192,
			      [PREC_FP4_TC] = 16384},
		      .unverified = 1U << PREC_FP16 | 1U << PREC_TF32_TC | 1U << PREC_INT8_TC},
};

const struct module *modules_all(size_t *n)
{
	*n = sizeof(modules) / sizeof(*modules);
	return modules;
}

const struct gpu_rates *gpu_rates(enum tegra_soc soc)
{
	return soc > SOC_UNKNOWN && soc < SOCS ? &rates[soc] : NULL;
}
