/* SPDX-License-Identifier: GPL-2.0-only */
#include "cli/probes.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

static const struct {
	const char *name;
	enum probe probe;
} probes[] = {
	{"block", PROBE_BLOCK},	  {"faults", PROBE_FAULTS}, {"samples", PROBE_SAMPLES},
	{"cuda", PROBE_CUDA},	  {"irq", PROBE_IRQ},	    {"stacks", PROBE_STACKS},
	{"system", PROBE_SYSTEM},
};

#define PROBES (sizeof(probes) / sizeof(probes[0]))

static unsigned int probe_of(const char *name, size_t len)
{
	for (size_t i = 0; i < PROBES; i++) {
		if (strlen(probes[i].name) == len && !memcmp(probes[i].name, name, len))
			return probes[i].probe;
	}
	return 0;
}

int probes_parse(const char *list, unsigned int *set, char *bad, size_t bad_size)
{
	for (const char *name = list;; name++) {
		size_t len = strcspn(name, ",");
		unsigned int probe = probe_of(name, len);

		if (!probe) {
			text_sanitize(bad, bad_size, name, len);
			return -EINVAL;
		}
		*set |= probe;
		name += len;
		if (!*name)
			return 0;
	}
}

const char *probes_names(void)
{
	static char names[96];

	if (!*names) {
		for (size_t i = 0; i < PROBES; i++)
			text_appendf(names, sizeof(names), "%s%s", i ? ", " : "", probes[i].name);
	}
	return names;
}
