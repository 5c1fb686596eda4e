/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/board.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "tegra/board_parts.h"
#include "tegra/sysfs.h"

#define CONF_SIZE 262144 /* NVIDIA's files have 4 to 30 kB */

int board_power_modes(struct power_conf *conf)
{
	char *text = malloc(CONF_SIZE);
	int n, bad = -1;

	*conf = (struct power_conf){.default_id = -1};
	if (!text)
		return -1;
	n = sysfs_read_text(text, CONF_SIZE, "/etc/nvpmodel.conf");
	if (n >= 0) {
		power_conf_parse(conf, text, (size_t)n);
		bad = conf->bad_lines + (n == CONF_SIZE - 1);
	}
	free(text);
	return bad;
}

void board_info_read(struct board_info *board)
{
	struct board_parts parts = {.info = board, .emc_file_mhz = NAN};

	board_info_init(board);
	board->conf_bad_lines = board_power_modes(&parts.conf);
	board_read_identity(&parts);
	board_read_clocks(&parts);
	board_choose_module(&parts);
	board_read_mode(&parts);
	board_fill_gaps(&parts);
	board_check_mode(&parts);
	board_rank_modes(&parts);
}

void board_read(struct host_info *host)
{
	struct board_info board;
	struct utsname names;

	memset(host, 0, sizeof(*host));
	if (!uname(&names)) {
		text_sanitize(host->kernel, sizeof(host->kernel), names.release,
			      strlen(names.release));
		text_sanitize(host->arch, sizeof(host->arch), names.machine, strlen(names.machine));
	}
	host->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	host->page_bytes = sysconf(_SC_PAGESIZE);
	board_info_read(&board);
	text_sanitize(host->module, sizeof(host->module), board.model, strlen(board.model));
	text_copy(host->power_mode, sizeof(host->power_mode), board.mode);
}
