/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer target: any bytes as a tegrastats stream. Whole and in pieces it must give the same
 * records, and each sample must go through the summary, the split by writer, the JSON and the CSV
 * writers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report/csv/csv.h"
#include "tegra/reader.h"
#include "tegra/sample_json.h"
#include "tegra/summary.h"
#include "tegra/writers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tegra_reader reader;
static struct tegra_summary summary;
static struct tegra_writers writers;
static FILE *sink;

static bool use_record(const struct tegra_record *record, void *ctx)
{
	json_t *object = tegra_sample_json(record->sample);

	if (!object)
		abort();
	json_decref(object);
	tegra_summary_add(&summary, record->sample);
	if (tegra_writers_add(&writers, record->sample))
		abort();
	for (int form = CSV_OWN; form <= CSV_JTOP; form++) {
		csv_header(sink, (enum csv_form)form, record->sample);
		csv_row(sink, (enum csv_form)form, record->sample, record->sample, 0);
	}
	++*(unsigned long *)ctx;
	return true;
}

static unsigned long read_in_pieces(const uint8_t *data, size_t size, size_t piece)
{
	unsigned long records = 0;
	int64_t split = 0;

	tegra_reader_init(&reader);
	tegra_summary_init(&summary);
	tegra_writers_init(&writers);
	for (size_t at = 0; at < size; at += piece)
		tegra_reader_push(&reader, data + at, size - at < piece ? size - at : piece,
				  use_record, &records);
	tegra_reader_finish(&reader, use_record, &records);
	for (int i = 0; i < TEGRA_WRITERS_MAX; i++)
		split += tegra_series_samples(&writers.writer[i].series);
	if (split != (int64_t)records)
		abort();
	tegra_writers_free(&writers);
	return records;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!sink)
		sink = fopen("/dev/null", "w");
	if (!sink || !size)
		return 0;
	if (read_in_pieces(data, size, size) != read_in_pieces(data, size, data[0] % 31 + 1))
		abort();
	return 0;
}
