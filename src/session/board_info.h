/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The board under the measurement: what it is, what its clocks are, may be and could be, and the
 * ceilings that follow. Clocks MHz, temperatures C, ceilings FLOP/s (operations/s for INT8) and
 * B/s. Unknown is NAN, -1 or an empty string, never 0. All text is sanitised.
 */
#ifndef TEGRATRACE_BOARD_INFO_H
#define TEGRATRACE_BOARD_INFO_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define BOARD_NAME_LEN 64
#define BOARD_WHY_LEN  192

/* Dense arithmetic paths of a GPU: CUDA cores first, then tensor cores. */
enum precision {
	PREC_FP32,
	PREC_FP16,
	PREC_TF32_TC,
	PREC_FP16_TC,
	PREC_INT8_TC,
	PREC_FP8_TC,
	PREC_FP4_TC,
	PRECISIONS,
};

/* Where a value comes from, best first; what a reader may print beside it. */
enum board_source {
	BOARD_UNKNOWN,
	BOARD_READ,  /* read from the running kernel */
	BOARD_CONF,  /* this board's nvpmodel.conf, for the mode that the status file names */
	BOARD_TABLE, /* the module table, by module and mode name */
};

struct board_ceilings {
	double flops[PRECISIONS]; /* NAN: no such unit, or unknown */
	double dram;		  /* theoretical */
	double dram_practical;	  /* 0.8 x theoretical */
};

/* One power mode as this board has it. */
struct board_mode {
	int id;			   /* for "nvpmodel -m ID" on this board; -1 unknown */
	char name[BOARD_NAME_LEN]; /* empty: no such mode, or unknown */
	int cpus;
	double cpu_mhz;
	double gpu_mhz;
	int sm;
	double emc_mhz;
	struct board_ceilings ceilings;
};

struct board_cpu {
	int present;
	int online;
	char offline[BOARD_NAME_LEN]; /* list "4-7"; empty: none, or unknown when online is -1 */
	double now_mhz;		      /* fastest online CPU */
	double cap_mhz;		      /* scaling_max_freq, largest */
	double hw_max_mhz;	      /* cpuinfo_max_freq, largest */
};

struct board_gpu {
	char path[128]; /* devfreq folder used, without the root; empty: none found */
	double now_mhz;
	double min_mhz;
	double cap_mhz;
	enum board_source cap_source;
	double hw_max_mhz; /* last available frequency */
	enum board_source hw_max_source;
	char governor[32];
	int locked;		     /* min == max: 1 yes, 0 no, -1 unknown */
	long long tpc_pg_mask;	     /* -1 unknown or no such concept */
	int sm_active;		     /* after TPC power gating */
	int sm_total;		     /* in the module's largest mode */
	enum board_source sm_source; /* of sm_active */
};

struct board_emc {
	double now_mhz; /* follows the load unless locked; needs root on most releases */
	int locked;	/* held at now_mhz (jetson_clocks): 1 yes, 0 no, -1 unknown */
	double cap_mhz; /* min(cap of the mode, hw_max); now_mhz when locked below that */
	enum board_source cap_source;
	double hw_max_mhz;
	enum board_source hw_max_source;
	int bus_bits;
};

/* Fallback trip points of the module; the live thermal zones know better. */
struct board_trips {
	double sw_cpu_c, sw_gpu_c, sw_other_c;
	double hw_c;
	double shutdown_c; /* software shutdown */
};

/* How the name of the power mode is known. */
enum board_mode_source {
	BOARD_MODE_UNKNOWN,
	BOARD_MODE_STATUS,  /* id of the status file, name of the board's conf */
	BOARD_MODE_DEFAULT, /* no status file: the default of the conf */
};

struct board_info {
	char model[BOARD_NAME_LEN * 2]; /* device tree text: shared by modules, not an identity */
	char pnumber[32];		/* "p3767-0005", as read; may be none of the table */
	char module[BOARD_NAME_LEN];	/* "Jetson Orin Nano 8GB Super"; empty: not in the table */
	bool module_certain;		/* no cross-check disagrees; false when module is empty */
	char module_doubt[BOARD_WHY_LEN]; /* why not certain */
	char soc[16];			  /* "tegra234" */
	char l4t[24];			  /* "R36.4.7" */
	double ram_mb;			  /* MemTotal, MiB */

	char mode[BOARD_NAME_LEN];
	int mode_id;
	enum board_mode_source mode_source;
	char mode_doubt[BOARD_WHY_LEN]; /* the clocks read are not the mode's; empty: agree */

	struct board_cpu cpu;
	struct board_gpu gpu;
	struct board_emc emc;
	struct board_trips trips;

	struct board_ceilings ceilings; /* capped GPU clock, active SMs, EMC cap */
	unsigned int unverified; /* bit (1 << enum precision): rate not confirmed by NVIDIA text */
	struct board_mode next;	 /* smallest mode faster than now; name empty: none */
	struct board_mode largest; /* may be the present mode */
	int conf_bad_lines;	   /* lines of nvpmodel.conf not understood; -1: no file */
};

static inline const char *precision_name(enum precision precision)
{
	static const char *const names[PRECISIONS] = {
		[PREC_FP32] = "fp32",	    [PREC_FP16] = "fp16",	[PREC_TF32_TC] = "tf32",
		[PREC_FP16_TC] = "fp16-tc", [PREC_INT8_TC] = "int8-tc", [PREC_FP8_TC] = "fp8-tc",
		[PREC_FP4_TC] = "fp4-tc",
	};

	return names[precision];
}

static inline void board_ceilings_init(struct board_ceilings *ceilings)
{
	for (int i = 0; i < PRECISIONS; i++)
		ceilings->flops[i] = NAN;
	ceilings->dram = ceilings->dram_practical = NAN;
}

static inline void board_mode_init(struct board_mode *mode)
{
	memset(mode, 0, sizeof(*mode));
	mode->id = mode->cpus = mode->sm = -1;
	mode->cpu_mhz = mode->gpu_mhz = mode->emc_mhz = NAN;
	board_ceilings_init(&mode->ceilings);
}

/* Everything unknown. */
static inline void board_info_init(struct board_info *board)
{
	memset(board, 0, sizeof(*board));
	board->ram_mb = NAN;
	board->mode_id = board->conf_bad_lines = -1;
	board->cpu.present = board->cpu.online = -1;
	board->cpu.now_mhz = board->cpu.cap_mhz = board->cpu.hw_max_mhz = NAN;
	board->gpu.now_mhz = board->gpu.min_mhz = board->gpu.cap_mhz = board->gpu.hw_max_mhz = NAN;
	board->gpu.locked = board->gpu.sm_active = board->gpu.sm_total = -1;
	board->gpu.tpc_pg_mask = -1;
	board->emc.now_mhz = board->emc.cap_mhz = board->emc.hw_max_mhz = NAN;
	board->emc.bus_bits = board->emc.locked = -1;
	board->trips.sw_cpu_c = board->trips.sw_gpu_c = board->trips.sw_other_c = NAN;
	board->trips.hw_c = board->trips.shutdown_c = NAN;
	board_ceilings_init(&board->ceilings);
	board_mode_init(&board->next);
	board_mode_init(&board->largest);
}

#endif
