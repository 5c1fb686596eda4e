/* SPDX-License-Identifier: GPL-2.0-only */
#include "tegra/board_conf.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LINE_SIZE   512
#define TOKENS	    8
#define MODE_ID_MAX 999
#define KNEXT	    "_KNEXT"

enum section { OUTSIDE, IGNORED, PARAM, MODEL };

struct parser {
	struct power_conf *conf;
	enum section section;
	char param[32];
	struct power_conf_mode *mode;
};

struct tokens {
	char *at[TOKENS];
	int n;
};

static void split(struct tokens *tokens, char *line)
{
	char *save = NULL;

	tokens->n = 0;
	for (char *at = strtok_r(line, " \t\r<>", &save); at && tokens->n < TOKENS;
	     at = strtok_r(NULL, " \t\r<>", &save))
		tokens->at[tokens->n++] = at;
}

/* The value of "KEY=value" among the tokens; NULL without one. */
static const char *attribute(const struct tokens *tokens, const char *key)
{
	size_t len = strlen(key);

	for (int i = 1; i < tokens->n; i++) {
		if (!strncmp(tokens->at[i], key, len) && tokens->at[i][len] == '=')
			return tokens->at[i] + len + 1;
	}
	return NULL;
}

static bool parse_integer(const char *text, long long min, long long max, long long *value)
{
	char *end;
	long long n;

	if (!text || !*text)
		return false;
	n = strtoll(text, &end, 10);
	if (*end || n < min || n > max)
		return false;
	*value = n;
	return true;
}

static bool begin_model(struct parser *parser, const struct tokens *tokens)
{
	struct power_conf *conf = parser->conf;
	const char *name = attribute(tokens, "NAME");
	struct power_conf_mode *mode;
	long long id;

	parser->section = IGNORED;
	if (!parse_integer(attribute(tokens, "ID"), 0, MODE_ID_MAX, &id) || !name || !*name)
		return false;
	if (conf->nmodes == POWER_CONF_MODES || power_conf_mode(conf, (int)id))
		return false;
	mode = &conf->modes[conf->nmodes++];
	mode->id = (int)id;
	text_sanitize(mode->name, sizeof(mode->name), name, strlen(name));
	mode->cpus = -1;
	mode->cpu_mhz = mode->gpu_mhz = mode->emc_mhz = NAN;
	mode->tpc_pg_mask = mode->gpu_pg_mask = -1;
	parser->mode = mode;
	parser->section = MODEL;
	return true;
}

static bool begin_section(struct parser *parser, const struct tokens *tokens)
{
	const char *name;
	long long id;

	parser->section = IGNORED;
	if (!tokens->n)
		return false;
	if (!strcmp(tokens->at[0], "POWER_MODEL"))
		return begin_model(parser, tokens);
	if (!strcmp(tokens->at[0], "PM_CONFIG")) {
		if (!parse_integer(attribute(tokens, "DEFAULT"), 0, MODE_ID_MAX, &id))
			return false;
		parser->conf->default_id = (int)id;
	} else if (!strcmp(tokens->at[0], "PARAM")) {
		name = attribute(tokens, "NAME");
		if (!name || !text_copy(parser->param, sizeof(parser->param), name))
			return false;
		parser->section = PARAM;
	}
	return true;
}

static struct power_conf_paths *wanted_paths(struct parser *parser, const char *arg)
{
	static const char *const max_freq = "MAX_FREQ", *const mask = "TPC_PG_MASK";
	struct power_conf *conf = parser->conf;

	if (!strcmp(parser->param, "GPU") && !strncmp(arg, max_freq, strlen(max_freq)))
		return &conf->gpu_max_freq;
	if (!strcmp(parser->param, "EMC") && !strncmp(arg, max_freq, strlen(max_freq)))
		return &conf->emc_max_freq;
	if (!strcmp(parser->param, "TPC_POWER_GATING") && !strncmp(arg, mask, strlen(mask)))
		return &conf->tpc_pg_mask;
	return NULL;
}

/* "ARG PATH", "ARG PATH NAME" of a HWMON section. */
static bool param_line(struct parser *parser, const struct tokens *tokens)
{
	struct power_conf_paths *paths;
	const char *arg, *path;
	size_t len;

	if (tokens->n < 2)
		return false;
	arg = tokens->at[0];
	path = tokens->at[1];
	paths = wanted_paths(parser, arg);
	if (!paths)
		return true;
	if (strncmp(path, "/sys/", 5) || strstr(path, "..") || strlen(path) >= POWER_CONF_PATH)
		return false;
	len = strlen(arg);
	text_copy(paths->path[len > strlen(KNEXT) && !strcmp(arg + len - strlen(KNEXT), KNEXT)],
		  POWER_CONF_PATH, path);
	return true;
}

/* A frequency in 1/per_mhz MHz; -1 and INT_MAX stand for the maximum of the hardware. */
static bool parse_clock(const char *text, double per_mhz, double *mhz)
{
	long long value;

	if (!parse_integer(text, -1, 1000000000000LL, &value))
		return false;
	*mhz = value == -1 || value == INT_MAX ? INFINITY : (double)value / per_mhz;
	return true;
}

static bool cpu_line(struct power_conf_mode *mode, const char *arg, const char *value)
{
	double mhz;

	if (strcmp(arg, "MAX_FREQ"))
		return true;
	if (!parse_clock(value, 1e3, &mhz) || mhz <= 0)
		return false;
	mode->cpu_mhz = fmax(mode->cpu_mhz, mhz);
	return true;
}

static bool online_line(struct power_conf_mode *mode, const char *value)
{
	long long on;

	if (!parse_integer(value, 0, 1, &on))
		return false;
	mode->cpus = (mode->cpus < 0 ? 0 : mode->cpus) + (int)on;
	return true;
}

/* "PARAM ARG VALUE" */
static bool model_line(struct parser *parser, const struct tokens *tokens)
{
	struct power_conf_mode *mode = parser->mode;
	const char *param, *arg, *value;

	if (tokens->n < 3)
		return false;
	param = tokens->at[0];
	arg = tokens->at[1];
	value = tokens->at[2];
	if (!strcmp(param, "CPU_ONLINE"))
		return online_line(mode, value);
	if (!strncmp(param, "CPU_", 4))
		return cpu_line(mode, arg, value);
	if (!strcmp(param, "TPC_POWER_GATING") && !strcmp(arg, "TPC_PG_MASK"))
		return parse_integer(value, 0, INT_MAX, &mode->tpc_pg_mask);
	if (!strcmp(param, "GPU_POWER_GATING") && !strcmp(arg, "GPU_PG_MASK"))
		return parse_integer(value, 0, INT_MAX, &mode->gpu_pg_mask);
	if (!strcmp(param, "GPU") && !strcmp(arg, "MAX_FREQ"))
		return parse_clock(value, 1e6, &mode->gpu_mhz) && mode->gpu_mhz > 0;
	if (!strcmp(param, "EMC") && !strcmp(arg, "MAX_FREQ")) {
		if (!parse_clock(value, 1e6, &mode->emc_mhz))
			return false;
		if (mode->emc_mhz <= 0)
			mode->emc_mhz = INFINITY;
	}
	return true;
}

static bool parse_line(struct parser *parser, char *line)
{
	struct tokens tokens;
	bool header;

	line += strspn(line, " \t\r");
	if (!*line || *line == '#')
		return true;
	header = *line == '<';
	if (header && !strchr(line, '>')) {
		parser->section = IGNORED;
		return false;
	}
	split(&tokens, line);
	if (header)
		return begin_section(parser, &tokens);
	switch (parser->section) {
	case PARAM:
		return param_line(parser, &tokens);
	case MODEL:
		return model_line(parser, &tokens);
	case IGNORED:
		return true;
	default:
		return false;
	}
}

void power_conf_parse(struct power_conf *conf, const char *text, size_t len)
{
	struct parser parser = {.conf = conf};
	char line[LINE_SIZE];

	memset(conf, 0, sizeof(*conf));
	conf->default_id = -1;
	while (len) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;

		if (n >= sizeof(line) || memchr(text, '\0', n)) {
			conf->bad_lines++;
		} else {
			memcpy(line, text, n);
			line[n] = '\0';
			if (!parse_line(&parser, line))
				conf->bad_lines++;
		}
		n += end != NULL;
		text += n;
		len -= n;
	}
}

const struct power_conf_mode *power_conf_mode(const struct power_conf *conf, int id)
{
	for (int i = 0; i < conf->nmodes; i++) {
		if (conf->modes[i].id == id)
			return &conf->modes[i];
	}
	return NULL;
}
