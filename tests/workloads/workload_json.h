/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON as the workloads print it. Included by workload.h alone. */
#ifndef TESTS_WORKLOADS_WORKLOAD_JSON_H
#define TESTS_WORKLOADS_WORKLOAD_JSON_H

static inline void wl_text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

static inline void wl_key(struct wl_json *j, const char *key)
{
	if (j->comma)
		fputc(',', j->f);
	j->comma = true;
	if (key) {
		wl_text(j->f, key);
		fputc(':', j->f);
	}
}

static inline void wl_open(struct wl_json *j, const char *key, char bracket)
{
	wl_key(j, key);
	fputc(bracket, j->f);
	j->comma = false;
}

static inline void wl_close(struct wl_json *j, char bracket)
{
	fputc(bracket, j->f);
	j->comma = true;
}

static inline void wl_u64(struct wl_json *j, const char *key, uint64_t v)
{
	wl_key(j, key);
	fprintf(j->f, "%" PRIu64, v);
}

static inline void wl_i64(struct wl_json *j, const char *key, int64_t v)
{
	wl_key(j, key);
	fprintf(j->f, "%" PRId64, v);
}

static inline void wl_real(struct wl_json *j, const char *key, double v)
{
	wl_key(j, key);
	fprintf(j->f, "%.6f", v);
}

static inline void wl_ratio(struct wl_json *j, const char *key, double over, double under)
{
	wl_real(j, key, under > 0 ? over / under : 0);
}

static inline void wl_bool(struct wl_json *j, const char *key, bool v)
{
	wl_key(j, key);
	fputs(v ? "true" : "false", j->f);
}

static inline void wl_raw(struct wl_json *j, const char *key, const char *json)
{
	wl_key(j, key);
	fputs(json, j->f);
}

static inline void wl_str(struct wl_json *j, const char *key, const char *v)
{
	wl_key(j, key);
	if (v)
		wl_text(j->f, v);
	else
		fputs("null", j->f);
}

#endif
