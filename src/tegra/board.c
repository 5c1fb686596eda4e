/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"

static void read_model(char *model, size_t size)
{
	const char *root = getenv("TEGRATRACE_ROOT");
	char path[4096], raw[128];
	FILE *file;
	size_t n;

	model[0] = '\0';
	snprintf(path, sizeof(path), "%s/proc/device-tree/model", root ? root : "");
	file = fopen(path, "re");
	if (!file)
		return;
	n = fread(raw, 1, sizeof(raw), file);
	fclose(file);
	text_sanitize(model, size, raw, strnlen(raw, n));
}

void board_read(struct host_info *host)
{
	struct utsname names;

	memset(host, 0, sizeof(*host));
	if (!uname(&names)) {
		text_sanitize(host->kernel, sizeof(host->kernel), names.release,
			      strlen(names.release));
		text_sanitize(host->arch, sizeof(host->arch), names.machine, strlen(names.machine));
	}
	host->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	read_model(host->module, sizeof(host->module));
}
