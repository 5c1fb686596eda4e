/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines a second of the tegrastats reader on one core: all logs given, read into memory first,
 * parsed over and over for about two seconds.
 *
 *   bench_lines LOG...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tegra/reader.h"

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static bool count(const struct tegra_record *record, void *ctx)
{
	(void)record;
	++*(unsigned long *)ctx;
	return true;
}

static char *read_files(char **paths, size_t *size)
{
	char *text = NULL;
	size_t n = 0;

	for (; *paths; paths++) {
		FILE *file = fopen(*paths, "r");
		char chunk[65536];
		size_t got;

		if (!file) {
			perror(*paths);
			exit(1);
		}
		while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0) {
			text = realloc(text, n + got);
			if (!text)
				exit(1);
			memcpy(text + n, chunk, got);
			n += got;
		}
		fclose(file);
	}
	*size = n;
	return text;
}

int main(int argc, char **argv)
{
	struct tegra_reader *reader = malloc(sizeof(*reader));
	unsigned long records = 0;
	double begin, seconds;
	size_t size;
	char *text;

	if (argc < 2 || !reader)
		return 2;
	text = read_files(argv + 1, &size);
	begin = now_s();
	do {
		tegra_reader_init(reader);
		tegra_reader_push(reader, text, size, count, &records);
		tegra_reader_finish(reader, count, &records);
		seconds = now_s() - begin;
	} while (seconds < 2);
	printf("%.0f\n", (double)records / seconds);
	free(text);
	free(reader);
	return 0;
}
