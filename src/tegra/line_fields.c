/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/line.h"

#include <math.h>
#include <string.h>

/*
 * A value is recognised by its shape and not by its name: on AGX Xavier "GPU 463/463" is a rail,
 * "GPU@30.5C" a temperature and "CPU [..]" the core list, all in one line.
 */

struct cursor {
	const char *pos, *end;
	bool cut;
	struct tegra_sample *out;
};

static bool word_is(const struct tegra_word *w, const char *lit, size_t n)
{
	return (size_t)(w->end - w->start) == n && memcmp(w->start, lit, n) == 0;
}

#define WORD_IS(w, lit)	    word_is(w, lit, sizeof(lit) - 1)
#define STARTS(p, end, lit) tegra_scan_text(p, end, lit, sizeof(lit) - 1)

static void copy_name(char *dst, const char *start, const char *end)
{
	size_t n = (size_t)(end - start);

	if (n > TEGRA_NAME_SIZE - 1)
		n = TEGRA_NAME_SIZE - 1;
	memcpy(dst, start, n);
	dst[n] = '\0';
}

/* A NUL byte inside would end the copied text early, so it is shown as a blank. */
static void keep_unknown(struct tegra_sample *s, const char *start, const char *end)
{
	s->unknown_total++;
	if (s->unknown_count == TEGRA_UNKNOWN_MAX)
		return;
	copy_name(s->unknown[s->unknown_count], start, end);
	for (size_t i = 0; i < TEGRA_NAME_SIZE - 1 && start + i < end; i++) {
		if (!s->unknown[s->unknown_count][i])
			s->unknown[s->unknown_count][i] = ' ';
	}
	s->unknown_count++;
}

/* "u/uMB" or "u/ukB": memory fields. NULL when it has another form. */
static const char *read_pair(const char *p, const char *end, const char *unit, int32_t *used,
			     int32_t *total)
{
	p = tegra_scan_uint(p, end, used);
	if (!p || p == end || *p != '/')
		return NULL;
	p = tegra_scan_uint(p + 1, end, total);
	return p && tegra_scan_text(p, end, unit, 2) ? p + 2 : NULL;
}

/* "(lfb 17x4MB)": the unit changes between MB and kB inside one log. */
static const char *read_lfb(const char *p, const char *end, struct tegra_sample *s)
{
	int32_t blocks, size;

	if (!STARTS(p, end, "(lfb"))
		return NULL;
	p = tegra_scan_uint(tegra_scan_space(p + 4, end), end, &blocks);
	if (!p || p == end || *p != 'x')
		return NULL;
	p = tegra_scan_uint(p + 1, end, &size);
	if (!p || !(STARTS(p, end, "MB)") || STARTS(p, end, "kB)")))
		return NULL;
	if (*p == 'M')
		size = size >= 0 && size <= INT32_MAX / 1024 ? size * 1024 : TEGRA_UNKNOWN;
	s->lfb_blocks = blocks;
	s->lfb_kb = size;
	return p + 3;
}

static bool parse_ram(struct cursor *c)
{
	struct tegra_sample *s = c->out;
	const char *p = c->pos, *lfb;

	if (!STARTS(p, c->end, "RAM"))
		return false;
	p = read_pair(tegra_scan_space(p + 3, c->end), c->end, "MB", &s->ram_used_mb,
		      &s->ram_total_mb);
	if (!p)
		return false;
	c->pos = p;
	lfb = read_lfb(tegra_scan_space(p, c->end), c->end, s);
	if (lfb)
		c->pos = lfb;
	return true;
}

/* "SWAP u/uMB (cached uMB)"; in one TX2 line it stands behind the core list. */
static bool parse_swap(struct cursor *c)
{
	struct tegra_sample *s = c->out;
	int32_t used, total, cached;
	const char *p;

	p = read_pair(tegra_scan_space(c->pos, c->end), c->end, "MB", &used, &total);
	if (!p || !tegra_scan_stop(p, c->end))
		return false;
	s->swap_used_mb = used;
	s->swap_total_mb = total;
	c->pos = p;
	p = tegra_scan_space(p, c->end);
	if (!STARTS(p, c->end, "(cached "))
		return true;
	p = tegra_scan_uint(tegra_scan_space(p + 8, c->end), c->end, &cached);
	if (p && STARTS(p, c->end, "MB)")) {
		s->swap_cached_mb = cached;
		c->pos = p + 3;
	}
	return true;
}

/* "IRAM u/ukB(lfb ukB)" of TX1 and Nano; the Android form has a blank and "kb". */
static bool parse_iram(struct cursor *c)
{
	struct tegra_sample *s = c->out;
	int32_t used, total, lfb;
	const char *p;

	p = read_pair(tegra_scan_space(c->pos, c->end), c->end, "kB", &used, &total);
	if (!p)
		return false;
	s->iram_used_kb = used;
	s->iram_total_kb = total;
	s->has_iram = true;
	c->pos = p;
	p = tegra_scan_space(p, c->end);
	if (!STARTS(p, c->end, "(lfb "))
		return true;
	p = tegra_scan_uint(tegra_scan_space(p + 5, c->end), c->end, &lfb);
	if (p && (STARTS(p, c->end, "kB)") || STARTS(p, c->end, "kb)"))) {
		s->iram_lfb_kb = lfb;
		c->pos = p + 3;
	}
	return true;
}

static bool ends_core(const char *p, const char *end)
{
	return p < end && (*p == ',' || *p == ']');
}

static const char *read_core_clock(const char *p, const char *end, int32_t *mhz)
{
	const char *q = tegra_scan_uint(p, end, mhz);

	if (q && ends_core(q, end))
		return q;
	*mhz = TEGRA_UNKNOWN;
	while (p < end && (*p == '/' || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z')))
		p++;
	return p;
}

/*
 * One core: "u%@u", "u%" or "off"; returns where its comma or bracket is. NULL at other text: where
 * a list is elided by a human ("[2%@972,...]") the index of what follows is not known.
 */
static const char *read_core(const char *p, const char *end, struct tegra_core *core)
{
	int32_t load, mhz = TEGRA_UNKNOWN;

	if (STARTS(p, end, "off")) {
		*core = (struct tegra_core){.off = true};
		p += 3;
	} else {
		p = tegra_scan_uint(p, end, &load);
		if (!p || p == end || *p != '%')
			return NULL;
		if (++p < end && *p == '@')
			p = read_core_clock(p + 1, end, &mhz);
		*core = (struct tegra_core){.load_pct = load, .freq_mhz = mhz};
	}
	return ends_core(p, end) ? p : NULL;
}

/* R24-R28.1 print one clock behind the list; -1 is an unreadable one (no root). */
static void parse_shared_clock(struct cursor *c)
{
	struct tegra_sample *s = c->out;
	const char *p = c->pos;
	int32_t mhz;

	if (p == c->end || *p != '@')
		return;
	p = tegra_scan_int(p + 1, c->end, &mhz);
	if (!p || !tegra_scan_stop(p, c->end)) {
		c->pos = tegra_scan_word(c->pos, c->end);
		return;
	}
	c->pos = p;
	for (uint32_t i = 0; i < s->cpu_count && mhz >= 0; i++) {
		if (!s->cpu[i].off)
			s->cpu[i].freq_mhz = mhz;
	}
}

/* The cursor is behind "CPU"; false when no list follows. */
static bool parse_cores(struct cursor *c)
{
	struct tegra_sample *s = c->out;
	const char *p = tegra_scan_space(c->pos, c->end), *stop;
	struct tegra_core core;
	bool closed = false;

	if (p == c->end || *p != '[')
		return false;
	s->cpu_count = 0;
	while (!closed) {
		p = tegra_scan_space(p + 1, c->end);
		stop = read_core(p, c->end, &core);
		if (!stop)
			break;
		if (s->cpu_count < TEGRA_CORES_MAX)
			s->cpu[s->cpu_count++] = core;
		else
			s->dropped++;
		closed = *stop == ']';
		p = stop;
	}
	s->cpu_partial = !closed;
	c->pos = closed ? p + 1 : tegra_scan_word(p, c->end);
	if (closed)
		parse_shared_clock(c);
	return true;
}

static void add_rail(struct tegra_sample *s, const struct tegra_word *w,
		     const struct tegra_value *v)
{
	struct tegra_rail *r;

	if (s->rail_count == TEGRA_RAILS_MAX) {
		s->dropped++;
		return;
	}
	r = &s->rail[s->rail_count++];
	copy_name(r->name, w->start, w->end);
	r->cur_mw = v->mw[0];
	r->avg_mw = v->mw_count > 1 ? v->mw[1] : TEGRA_UNKNOWN;
	r->max_mw = v->mw_count > 2 ? v->mw[2] : TEGRA_UNKNOWN;
}

/* "name@45.5C" or, from R39, "name@45.5C/47C". */
static bool add_temp(struct tegra_sample *s, const struct tegra_word *w)
{
	double cur, max = NAN;
	const char *p = tegra_scan_decimal(w->at + 1, w->end, &cur);
	struct tegra_temp *t;

	if (!p || p == w->end || *p++ != 'C')
		return false;
	if (p < w->end) {
		p = *p == '/' ? tegra_scan_decimal(p + 1, w->end, &max) : NULL;
		if (!p || w->end - p != 1 || *p != 'C')
			return false;
	}
	if (s->temp_count == TEGRA_TEMPS_MAX) {
		s->dropped++;
		return true;
	}
	t = &s->temp[s->temp_count++];
	copy_name(t->name, w->start, w->at);
	/* -256C: the unit is powered off (R35). PMIC has no sensor, its value is a constant. */
	if (cur == -256.0 || strcmp(t->name, "PMIC") == 0)
		cur = max = NAN;
	t->cur_c = cur;
	t->max_c = max == -256.0 ? NAN : max;
	return true;
}

/* A bare number tells nothing about its unit, so it is MHz only behind these names. */
static bool is_clock_name(const struct tegra_word *w)
{
	static const struct {
		char text[6];
		uint8_t len;
	} names[] = {{"APE", 3}, {"NV", 2},  {"VIC", 3}, {"VDE", 3},  {"AVP", 3},
		     {"OFA", 3}, {"PVA", 3}, {"SE", 2},	 {"MSENC", 5}};

	if (w->end - w->start > 5 && memcmp(w->end - 5, "_FREQ", 5) == 0)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (tegra_scan_text(w->start, w->end, names[i].text, names[i].len))
			return true;
	}
	return false;
}

static struct tegra_engine *engine_slot(struct tegra_sample *s, const struct tegra_word *w)
{
	const char *end = w->end;
	struct tegra_engine *e;

	if (end - w->start > 5 &&
	    (memcmp(end - 5, "_FREQ", 5) == 0 || memcmp(end - 5, "_LOAD", 5) == 0))
		end -= 5;
	if (s->engine_count == TEGRA_ENGINES_MAX) {
		s->dropped++;
		return NULL;
	}
	e = &s->engine[s->engine_count++];
	copy_name(e->name, w->start, end);
	return e;
}

static void add_engine(struct tegra_sample *s, const struct tegra_word *w,
		       const struct tegra_value *v)
{
	struct tegra_engine *e = engine_slot(s, w);

	if (!e)
		return;
	e->off = v->shape == TEGRA_SHAPE_OFF;
	e->pct_is_list = v->pct_is_list;
	e->pct_count = (uint8_t)v->pct_count;
	memcpy(e->pct, v->pct, v->pct_count * sizeof(e->pct[0]));
	if (e->off)
		e->mhz = 0;
	else if (v->shape == TEGRA_SHAPE_NUMBER)
		e->mhz = v->mw[0];
	else
		e->mhz = v->mhz_count ? v->mhz[0] : TEGRA_UNKNOWN;
}

/* False for a value that the GPU and EMC fields never have. */
static bool read_load(const struct tegra_value *v, int32_t *pct, int32_t *mhz)
{
	if (v->shape != TEGRA_SHAPE_PCT && v->shape != TEGRA_SHAPE_CLOCK)
		return false;
	*pct = v->pct_count ? v->pct[0] : TEGRA_UNKNOWN;
	*mhz = v->mhz_count ? v->mhz[0] : TEGRA_UNKNOWN;
	return true;
}

static bool set_load(const struct tegra_value *v, int32_t *pct, int32_t *mhz, bool *has)
{
	bool ok = read_load(v, pct, mhz);

	*has |= ok;
	return ok;
}

static bool set_gr3d(struct tegra_sample *s, const struct tegra_value *v)
{
	int32_t mhz;

	if (!read_load(v, &s->gr3d_pct, &mhz))
		return false;
	s->gr3d_mhz_count = v->mhz_count;
	memcpy(s->gr3d_mhz, v->mhz, v->mhz_count * sizeof(v->mhz[0]));
	return true;
}

/* GPU and memory fields by name; *done tells whether the name is one of them. */
static bool set_named(struct tegra_sample *s, const struct tegra_word *w,
		      const struct tegra_value *v, bool *done)
{
	*done = true;
	if (WORD_IS(w, "GR3D_FREQ") || WORD_IS(w, "GR3D"))
		return set_gr3d(s, v);
	if (WORD_IS(w, "EMC_FREQ") || WORD_IS(w, "EMC") || WORD_IS(w, "emc"))
		return read_load(v, &s->emc_pct, &s->emc_mhz);
	if (WORD_IS(w, "GR3D2_FREQ") || WORD_IS(w, "GR3D2"))
		return set_load(v, &s->gr3d2_pct, &s->gr3d2_mhz, &s->has_gr3d2);
	if (WORD_IS(w, "GR3D_PCI") || WORD_IS(w, "GR3D_PCI_FREQ"))
		return set_load(v, &s->gr3d_pci_pct, &s->gr3d_pci_mhz, &s->has_gr3d_pci);
	*done = false;
	return false;
}

/* "SWAP 873/81" is no rail but a pair that was cut. */
static bool is_memory_name(const struct tegra_word *w)
{
	return WORD_IS(w, "SWAP") || WORD_IS(w, "IRAM") || WORD_IS(w, "RAM") || WORD_IS(w, "GART");
}

static bool set_field(struct tegra_sample *s, const struct tegra_word *w,
		      const struct tegra_value *v)
{
	bool done, ok;

	if (v->shape == TEGRA_SHAPE_RAIL) {
		/* Text that a script appended has forms like "frame 12/30". */
		if (!v->has_unit && (!w->is_upper || is_memory_name(w)))
			return false;
		add_rail(s, w, v);
		return true;
	}
	ok = set_named(s, w, v, &done);
	if (done)
		return ok;
	if (v->shape == TEGRA_SHAPE_NUMBER ? !is_clock_name(w) || v->mw[0] < 0 : !w->is_upper)
		return false;
	add_engine(s, w, v);
	return true;
}

/* "MTS fg u% bg u%": the name has two values with a word before each. */
static bool parse_mts(struct cursor *c)
{
	int32_t *const out[] = {&c->out->mts_fg_pct, &c->out->mts_bg_pct};
	static const char key[][3] = {"fg", "bg"};
	const char *p = c->pos;
	int32_t pct;

	for (size_t i = 0; i < 2; i++) {
		p = tegra_scan_space(p, c->end);
		if (!tegra_scan_text(p, c->end, key[i], 2))
			return i > 0;
		p = tegra_scan_uint(tegra_scan_space(p + 2, c->end), c->end, &pct);
		if (!p || p == c->end || *p != '%' || !tegra_scan_stop(p + 1, c->end))
			return i > 0;
		*out[i] = pct;
		c->out->has_mts = true;
		c->pos = ++p;
	}
	return true;
}

static bool parse_edp(struct cursor *c)
{
	const char *p = tegra_scan_space(c->pos, c->end);
	int32_t limit;

	if (!STARTS(p, c->end, "limit"))
		return false;
	p = tegra_scan_uint(tegra_scan_space(p + 5, c->end), c->end, &limit);
	if (!p || !tegra_scan_stop(p, c->end))
		return false;
	c->out->edp_limit = limit;
	c->out->has_edp = true;
	c->pos = p;
	return true;
}

/* Fields whose value has a form of its own. */
static bool parse_special(struct cursor *c, const struct tegra_word *w)
{
	switch (*w->start) {
	case 'C':
	case 'c':
		return (WORD_IS(w, "CPU") || WORD_IS(w, "cpu")) && parse_cores(c);
	case 'S':
		return WORD_IS(w, "SWAP") && parse_swap(c);
	case 'I':
		return WORD_IS(w, "IRAM") && parse_iram(c);
	case 'M':
		return WORD_IS(w, "MTS") && parse_mts(c);
	case 'E':
		return WORD_IS(w, "EDP") && parse_edp(c);
	default:
		return false;
	}
}

static void parse_named(struct cursor *c, const struct tegra_word *w)
{
	const char *p, *end = c->end;
	struct tegra_value v;

	if (parse_special(c, w))
		return;
	p = tegra_scan_space(c->pos, end);
	if (c->cut && p == end)
		return;
	p = tegra_scan_value(p, end, &v);
	if (p && v.shape != TEGRA_SHAPE_NONE && set_field(c->out, w, &v))
		c->pos = p;
	else
		keep_unknown(c->out, w->start, w->end);
}

static void reset(struct tegra_sample *s)
{
	memset(s, 0, offsetof(struct tegra_sample, cpu));
	s->date_s = TEGRA_DATE_UNKNOWN;
	s->ram_used_mb = s->ram_total_mb = s->lfb_blocks = s->lfb_kb = TEGRA_UNKNOWN;
	s->swap_used_mb = s->swap_total_mb = s->swap_cached_mb = TEGRA_UNKNOWN;
	s->iram_used_kb = s->iram_total_kb = s->iram_lfb_kb = TEGRA_UNKNOWN;
	s->emc_pct = s->emc_mhz = s->gr3d_pct = TEGRA_UNKNOWN;
	s->gr3d2_pct = s->gr3d2_mhz = s->gr3d_pci_pct = s->gr3d_pci_mhz = TEGRA_UNKNOWN;
	s->mts_fg_pct = s->mts_bg_pct = s->edp_limit = TEGRA_UNKNOWN;
}

/* What can be told only when the whole line is known. */
static void settle(struct tegra_sample *s)
{
	/* Without root debugfs is closed: the EMC load is printed as 0 and the clock left out. */
	if (s->emc_pct == 0 && s->emc_mhz == TEGRA_UNKNOWN)
		s->emc_pct = TEGRA_UNKNOWN;
	/* R35 without root keeps "@0" on GR3D2 where GR3D has no clock. */
	if (s->gr3d2_mhz == 0 && s->gr3d_mhz_count == 0)
		s->gr3d2_mhz = TEGRA_UNKNOWN;
}

/* "cpu[...]" in a line that lost its blanks. */
static bool parse_glued_cores(struct cursor *c, const struct tegra_word *w)
{
	const char *behind = c->pos;

	if (!STARTS(w->start, w->end, "CPU[") && !STARTS(w->start, w->end, "cpu["))
		return false;
	c->pos = w->start + 3;
	if (parse_cores(c))
		return true;
	c->pos = behind;
	return false;
}

bool tegra_line_fields(const char *text, size_t len, bool cut, struct tegra_sample *out)
{
	struct cursor c = {.pos = text, .end = text + len, .cut = cut, .out = out};
	struct tegra_word w;

	reset(out);
	if (!parse_ram(&c))
		return false;
	while (tegra_scan_next(&c.pos, c.end, &w)) {
		if (w.at && w.is_named && add_temp(out, &w))
			continue;
		if (w.is_name)
			parse_named(&c, &w);
		else if (!parse_glued_cores(&c, &w))
			keep_unknown(out, w.start, w.end);
	}
	settle(out);
	return true;
}

const struct tegra_rail *tegra_sample_rail(const struct tegra_sample *sample, const char *name)
{
	for (uint32_t i = 0; i < sample->rail_count; i++) {
		if (strcmp(sample->rail[i].name, name) == 0)
			return &sample->rail[i];
	}
	return NULL;
}
