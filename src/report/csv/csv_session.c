/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/csv/csv_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/csv/csv_values.h"
#include "report/output.h"
#include "session/recording_tables.h"

/* Quoted always; a text that a spreadsheet would take for a formula gets an apostrophe. */
static void put_text(FILE *out, const char *raw, size_t len)
{
	size_t size = TEXT_SANITIZED_SIZE(len);
	char *safe = malloc(size);

	if (!safe || !len) {
		free(safe);
		return;
	}
	text_sanitize(safe, size, raw, len);
	csv_put_quoted(out, safe);
	free(safe);
}

static void put_number(FILE *out, double value)
{
	if (isfinite(value))
		fprintf(out, "%.9g", value);
}

static void put_known(FILE *out, int64_t value, int64_t unknown)
{
	if (value != unknown)
		fprintf(out, "%" PRId64, value);
}

static void put_field(FILE *out, const struct column *column, const char *field)
{
	unsigned int value;

	switch (column->type) {
	case COLUMN_I32:
		fprintf(out, "%d", *(const int *)field);
		break;
	case COLUMN_I32_OR:
		put_known(out, *(const int *)field, -1);
		break;
	case COLUMN_U32:
		fprintf(out, "%u", *(const uint32_t *)field);
		break;
	case COLUMN_I64:
	case COLUMN_I64_KNOWN:
	case COLUMN_I64_OR:
		put_known(out, *(const int64_t *)field,
			  column->type == COLUMN_I64_OR ? -1 : UNKNOWN_COUNT);
		break;
	case COLUMN_SIZE:
		fprintf(out, "%zu", *(const size_t *)field);
		break;
	case COLUMN_BOOL:
		fprintf(out, "%d", *(const bool *)field);
		break;
	case COLUMN_F32:
		put_number(out, *(const float *)field);
		break;
	case COLUMN_F64:
		put_number(out, *(const double *)field);
		break;
	case COLUMN_TEXT:
	case COLUMN_BYTES:
		put_text(out, field, strnlen(field, column->size));
		break;
	case COLUMN_STRING:
	case COLUMN_LABEL:
		put_text(out, *(const char *const *)field, strlen(*(const char *const *)field));
		break;
	case COLUMN_ENUM:
		value = *(const unsigned int *)field;
		if (value < (unsigned int)column->names)
			fputs(column->name_of((int)value), out);
		break;
	case COLUMN_HIST:
	case COLUMN_SHARES:
		break;
	}
}

static bool is_list(const struct column *column)
{
	return column->type == COLUMN_HIST || column->type == COLUMN_SHARES;
}

static void put_table(FILE *out, const struct table *table, const struct session *session)
{
	const char *comma = "";
	size_t n;
	const char *rows = table_rows(table, session, &n);

	for (int i = 0; i < table->ncolumns; i++) {
		if (is_list(&table->columns[i]))
			continue;
		fprintf(out, "%s%s", comma, table->columns[i].name);
		comma = ",";
	}
	fputs("\r\n", out);
	for (size_t row = 0; row < n; row++) {
		comma = "";
		for (int i = 0; i < table->ncolumns; i++) {
			const struct column *column = &table->columns[i];

			if (is_list(column))
				continue;
			fputs(comma, out);
			put_field(out, column, rows + row * table->row_size + column->offset);
			comma = ",";
		}
		fputs("\r\n", out);
	}
}

static int cpus_seen(const struct host_series *series)
{
	int n = 0;

	for (size_t i = 0; i < series->n; i++) {
		for (int cpu = n; cpu < HOST_CPUS; cpu++) {
			if (!isnan(series->points[i].cpu_busy[cpu]))
				n = cpu + 1;
		}
	}
	return n;
}

static void put_cells(FILE *out, const float *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fputc(',', out);
		put_number(out, values[i]);
	}
}

static void put_tegra(FILE *out, const struct tegra_point *point)
{
	static const struct tegra_point none = {0,   0,	  NAN, NAN, NAN, NAN,
						NAN, NAN, NAN, NAN, NAN, NAN};
	const struct tegra_point *p = point ? point : &none;
	const float values[] = {p->gpu_busy, p->gpu_mhz, p->emc_busy,  p->emc_mhz, p->core_max,
				p->ram_mb,   p->swap_mb, p->hottest_c, p->power_mw};

	put_cells(out, values, sizeof(values) / sizeof(values[0]));
}

static void put_host(FILE *out, const struct host_point *point, int cpus)
{
	struct host_point none;
	const struct host_point *p = point ? point : &none;

	host_point_init(&none);
	put_cells(
		out, &p->oncpu_cpus,
		(offsetof(struct host_point, cpu_busy) - offsetof(struct host_point, oncpu_cpus)) /
			sizeof(float));
	put_cells(out, p->cpu_busy, (size_t)cpus);
}

/* Samples of the board and of the host have times of their own: a row for each moment of either. */
static void put_timeseries(FILE *out, const struct session *session)
{
	const struct tegra_series *tegra = &session->series;
	const struct host_series *host = &session->host_series;
	int cpus = cpus_seen(host);
	size_t t = 0, h = 0;

	fputs("t_s,gpu_busy_share,gpu_mhz,emc_busy_share,emc_mhz,core_max_share,ram_mb,swap_mb,"
	      "hottest_c,power_mw,oncpu_cpus,runq_threads,stopped_threads,",
	      out);
	for (int c = 0; c < WAIT_CLASSES; c++)
		fprintf(out, "off_%s_threads,", wait_class_name((enum wait_class)c));
	fputs("minor_faults_per_s,major_faults_per_s,read_bytes_per_s,write_bytes_per_s", out);
	for (int i = 0; i < cpus; i++)
		fprintf(out, ",cpu%d_busy_share", i);
	fputs("\r\n", out);
	while (t < tegra->n || h < host->n) {
		int64_t t_ns = t < tegra->n ? tegra->points[t].t_ns : INT64_MAX;
		int64_t h_ns = h < host->n ? host->points[h].t_ns : INT64_MAX;
		int64_t now_ns = t_ns < h_ns ? t_ns : h_ns;

		if (now_ns != UNKNOWN_NS)
			fprintf(out, "%.3f", (double)now_ns / 1e9);
		put_tegra(out, t_ns == now_ns && t < tegra->n ? &tegra->points[t++] : NULL);
		put_host(out, h_ns == now_ns && h < host->n ? &host->points[h++] : NULL, cpus);
		fputs("\r\n", out);
	}
}

static const struct table *table_of(const char *name)
{
	const struct table *table;

	for (int i = 0; (table = recording_table(i)); i++) {
		if (!strcmp(table->name, name))
			break;
	}
	return table;
}

static int finish(FILE *out)
{
	int err = output_finish(out);

	fclose(out);
	return err;
}

int csv_session_write(int folder, const struct session *session, const struct verdict *verdict)
{
	static const char *const tables[] = {"threads", "edges"};
	FILE *out;
	int err = output_folder_file(folder, "timeseries.csv", &out);

	(void)verdict;
	if (!err) {
		put_timeseries(out, session);
		err = finish(out);
	}
	for (int i = 0; !err && i < 2; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s.csv", tables[i]);
		err = output_folder_file(folder, name, &out);
		if (!err) {
			put_table(out, table_of(tables[i]), session);
			err = finish(out);
		}
	}
	return err;
}
