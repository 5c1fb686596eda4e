/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TEGRATRACE_TEGRA_LINE_H
#define TEGRATRACE_TEGRA_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One record of tegrastats, L4T R19 to R39, as plain numbers.
 *
 * Unknown is TEGRA_UNKNOWN for integers and NAN for doubles, never 0. Only the first `*_count`
 * entries of an array are set; the rest of the array is left as it was.
 */
#define TEGRA_UNKNOWN	   INT32_MIN
#define TEGRA_DATE_UNKNOWN INT64_MIN

#define TEGRA_NAME_SIZE	  32
#define TEGRA_CORES_MAX	  64
#define TEGRA_RAILS_MAX	  24
#define TEGRA_TEMPS_MAX	  32
#define TEGRA_ENGINES_MAX 24
#define TEGRA_GPU_MHZ_MAX 8
#define TEGRA_VPU_MAX	  4
#define TEGRA_UNKNOWN_MAX 16

struct tegra_core {
	int32_t load_pct; /* relative to the present clock; 0 when off */
	int32_t freq_mhz; /* 0 when off */
	bool off;	  /* powered down; the core keeps its index */
};

/* Values may be negative; a name may come twice in one sample (NC on AGX Orin). */
struct tegra_rail {
	char name[TEGRA_NAME_SIZE];
	int32_t cur_mw;
	int32_t avg_mw; /* mean since that tegrastats process started */
	int32_t max_mw; /* R39 and later */
};

struct tegra_temp {
	char name[TEGRA_NAME_SIZE];
	double cur_c; /* NAN: zone without a reading (-256C, PMIC) */
	double max_c; /* R39 and later */
};

/* The name carries no _FREQ or _LOAD. Without a percentage pct_count is 0. */
struct tegra_engine {
	char name[TEGRA_NAME_SIZE];
	bool off;
	bool pct_is_list; /* printed as [x%,y%] */
	uint8_t pct_count;
	int32_t pct[TEGRA_VPU_MAX];
	int32_t mhz; /* 0 when off */
};

struct tegra_sample {
	/* tegrastats' own date, local time: seconds since 1970 as if it were UTC */
	int64_t date_s;

	int32_t ram_used_mb, ram_total_mb;
	int32_t lfb_blocks, lfb_kb;
	int32_t swap_used_mb, swap_total_mb, swap_cached_mb;
	int32_t iram_used_kb, iram_total_kb, iram_lfb_kb;

	int32_t emc_pct, emc_mhz;
	int32_t gr3d_pct;
	int32_t gr3d_mhz[TEGRA_GPU_MHZ_MAX];
	int32_t gr3d2_pct, gr3d2_mhz;
	int32_t gr3d_pci_pct, gr3d_pci_mhz;
	int32_t mts_fg_pct, mts_bg_pct;
	int32_t edp_limit;

	uint32_t gr3d_mhz_count;
	uint32_t cpu_count;
	uint32_t rail_count;
	uint32_t temp_count;
	uint32_t engine_count;
	uint32_t unknown_count; /* words kept in unknown[] */
	uint32_t unknown_total; /* words seen */
	uint32_t dropped;	/* known fields that did not fit an array */

	bool cpu_partial; /* the core list was cut or elided: more cores may exist */
	bool has_iram, has_gr3d2, has_gr3d_pci, has_mts, has_edp;

	struct tegra_core cpu[TEGRA_CORES_MAX];
	struct tegra_rail rail[TEGRA_RAILS_MAX];
	struct tegra_temp temp[TEGRA_TEMPS_MAX];
	struct tegra_engine engine[TEGRA_ENGINES_MAX];
	char unknown[TEGRA_UNKNOWN_MAX][TEGRA_NAME_SIZE];
};

/* Why a line gives no record. */
enum tegra_line_reason {
	TEGRA_LINE_OK,
	TEGRA_LINE_BLANK,      /* white space only: not counted as rejected */
	TEGRA_LINE_COMMENT,    /* begins with # */
	TEGRA_LINE_NO_RAM,     /* no "RAM u/uMB": text of something else */
	TEGRA_LINE_NO_HEAD,    /* tegrastats fields without their beginning */
	TEGRA_LINE_CUT_RAM,    /* "RAM u/" that stops before its unit */
	TEGRA_LINE_BINARY,     /* control bytes and no record */
	TEGRA_LINE_TOO_LONG,   /* longer than the reader's buffer, no record in it */
	TEGRA_LINE_COMPRESSED, /* gzip, xz, zstd or bzip2 stream (reader only) */
	TEGRA_LINE_REASONS
};

/* Short English text, never NULL. */
const char *tegra_line_reason_name(enum tegra_line_reason reason);

/*
 * The first record in `text`, a line without its line end. With `complete_line` false the line was
 * cut (no line end seen): its last word counts for nothing. Allocates nothing, never fails
 * otherwise: fields that do not parse are unknown, words of no known form go to unknown[].
 */
enum tegra_line_reason tegra_line_parse(const char *text, size_t len, bool complete_line,
					struct tegra_sample *out);

/* A record's own text: from its date or RAM word on, without the prefix of another program. */
struct tegra_span {
	size_t start, end;
};

/*
 * The first record at or after *pos; moves *pos behind it. A line may hold several records when
 * line ends are missing ("glued"). Not TEGRA_LINE_OK: there is no further record, and the reason
 * describes the line from *pos on.
 */
enum tegra_line_reason tegra_line_next(const char *text, size_t len, size_t *pos,
				       bool complete_line, struct tegra_sample *out,
				       struct tegra_span *span);

/* The first rail of that name, or NULL. */
const struct tegra_rail *tegra_sample_rail(const struct tegra_sample *sample, const char *name);

/*
 * Which tegrastats process printed a sample. Rail averages are means since the process started,
 * so a sample continues a run when its averages follow from the samples before; a sample that
 * continues none and has current == average on every rail starts one.
 */
#define TEGRA_RUNS_MAX 4

struct tegra_run_rail {
	char name[TEGRA_NAME_SIZE];
	double mean_mw;
	double count; /* samples in the mean; 0: unknown number, joined in mid-stream */
};

struct tegra_run {
	uint32_t id; /* from 1, in order of appearance */
	uint64_t last_sample;
	bool counted_restart;
	bool midstream;
	uint32_t writer; /* see tegra/writers.h */
	uint32_t rail_count;
	struct tegra_run_rail rail[TEGRA_RAILS_MAX];
};

struct tegra_runs {
	struct tegra_run run[TEGRA_RUNS_MAX];
	uint32_t run_count;
	uint32_t next_id;
	uint64_t samples;
	/* Processes that began after another had ended. */
	uint32_t restarts;
	/* Processes that wrote while an older one went on; each was a restart until that showed. */
	uint32_t interleaved;
	/* Samples whose averages fit no known run and that start none. */
	uint32_t odd;
};

enum tegra_run_event {
	TEGRA_RUN_NO_RAILS, /* nothing to tell runs apart by */
	TEGRA_RUN_FIRST,
	TEGRA_RUN_CONTINUES,
	TEGRA_RUN_RESTART,
	TEGRA_RUN_ODD
};

void tegra_runs_init(struct tegra_runs *runs);

/* Assigns the sample to a run; *run_id (may be NULL) gets its id, 0 when there are no rails. */
enum tegra_run_event tegra_runs_add(struct tegra_runs *runs, const struct tegra_sample *sample,
				    uint32_t *run_id);

/* The rest is shared by the line_*.c files only. Scanners return NULL when nothing matches. */

struct tegra_word {
	const char *start, *end;
	const char *at; /* its first @, or NULL */
	bool is_named;	/* letter first, then name bytes up to the @ or the end */
	bool is_name;	/* the same without an @ */
	bool is_upper;	/* a name of A-Z, 0-9 and _ */
};

enum tegra_shape {
	TEGRA_SHAPE_NONE,
	TEGRA_SHAPE_OFF,
	TEGRA_SHAPE_NUMBER, /* u */
	TEGRA_SHAPE_PCT,    /* u%, u%@u, u%@[u,u], [u%,u%]@u */
	TEGRA_SHAPE_CLOCK,  /* @u, @[u,u] */
	TEGRA_SHAPE_RAIL    /* i/i, imW, imW/imW/imW */
};

/* What stands behind a name. */
struct tegra_value {
	enum tegra_shape shape;
	bool pct_is_list;
	bool has_unit; /* a rail with mW */
	uint32_t pct_count, mhz_count, mw_count;
	int32_t pct[TEGRA_VPU_MAX];
	int32_t mhz[TEGRA_GPU_MHZ_MAX];
	int32_t mw[3]; /* mw[0] is also the number of TEGRA_SHAPE_NUMBER */
};

/* The end of a word: white space, an escape sequence, a carrier's quote, the end of the text. */
bool tegra_scan_stop(const char *p, const char *end);
bool tegra_scan_text(const char *p, const char *end, const char *text, size_t n);
const char *tegra_scan_space(const char *p, const char *end);
const char *tegra_scan_word(const char *p, const char *end);
/* A number of more than 9 digits is TEGRA_UNKNOWN (NAN): no field has such a value. */
const char *tegra_scan_uint(const char *p, const char *end, int32_t *out);
const char *tegra_scan_int(const char *p, const char *end, int32_t *out);
const char *tegra_scan_decimal(const char *p, const char *end, double *out);
/* The next word, *pos behind it; false at the end of the record's text. */
bool tegra_scan_next(const char **pos, const char *end, struct tegra_word *w);
const char *tegra_scan_value(const char *p, const char *end, struct tegra_value *v);

/*
 * Reads the fields of one record that begins with its RAM word; line.c finds the record. With
 * `cut` a name at the end may have lost its value. False when the RAM field itself is not whole;
 * then *out is not valid.
 */
bool tegra_line_fields(const char *text, size_t len, bool cut, struct tegra_sample *out);

#endif
