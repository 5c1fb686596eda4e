/* SPDX-License-Identifier: GPL-2.0-only */
/* Format of /proc/interrupts: show_interrupts() in kernel/irq/proc.c. */
#include "probe/waits/interrupts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/text.h"

const char *softirq_name(unsigned int vector)
{
	/* include/linux/interrupt.h; the order has not changed since 4.9. */
	static const char *const names[] = {
		"HI",	    "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
		"IRQ_POLL", "TASKLET", "SCHED",	 "HRTIMER", "RCU",
	};

	return vector < sizeof(names) / sizeof(names[0]) ? names[vector] : NULL;
}

static struct interrupt *add(struct interrupts *interrupts, long irq)
{
	struct interrupt *list, *added;

	/* The list doubles when its size is a power of two */
	if (!(interrupts->n & (interrupts->n - 1))) {
		list = realloc(interrupts->list,
			       (interrupts->n ? interrupts->n * 2 : 1) * sizeof(*list));
		if (!list)
			return NULL;
		interrupts->list = list;
	}
	added = &interrupts->list[interrupts->n++];
	added->irq = (int)irq;
	added->name[0] = 0;
	return added;
}

static bool take_irq(const char **text, long *irq)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*irq = strtol(*text, &end, 10);
	*text = end;
	return !errno && *irq <= INT_MAX;
}

static const char *skip_counts(const char *text, int cpus)
{
	for (int i = 0; i < cpus; i++) {
		text += strspn(text, " ");
		text += strspn(text, "0123456789");
	}
	return text;
}

/*
 * Behind the counts stand the chip, the line of the chip, the trigger, and after two spaces the
 * actions. Without an action the trigger's column is padded to the end.
 */
static const char *actions_of(const char *text, size_t *length)
{
	const char *actions = NULL;

	*length = strlen(text);
	if (!*length || text[*length - 1] == ' ')
		return NULL;
	for (const char *gap = text; (gap = strstr(gap, "  ")); gap++)
		actions = gap + 2;
	if (!actions || actions[strspn(actions, "0123456789")] == 0)
		return NULL;
	*length = strlen(actions);
	return actions;
}

static int parse_line(struct interrupts *interrupts, const char *text, int cpus)
{
	struct interrupt *interrupt;
	const char *actions;
	size_t length;
	long irq;

	text += strspn(text, " ");
	if (!take_irq(&text, &irq) || *text != ':')
		return 0;
	actions = actions_of(skip_counts(text + 1, cpus), &length);
	if (!actions)
		return 0;
	interrupt = add(interrupts, irq);
	if (!interrupt)
		return -ENOMEM;
	text_sanitize(interrupt->name, sizeof(interrupt->name), actions, length);
	return 0;
}

/* Columns of the header; CPUs that are offline have none. */
static int count_cpus(const char *header)
{
	int cpus = 0;

	while ((header = strstr(header, "CPU"))) {
		header += 3;
		cpus++;
	}
	return cpus;
}

/* Lines are as long as there are CPUs. */
static int read_table(struct interrupts *interrupts, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	int cpus = -1, err = 0;
	ssize_t n;

	while (!err && (n = getline(&line, &size, file)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = 0;
		if (cpus < 0)
			cpus = count_cpus(line);
		else
			err = parse_line(interrupts, line, cpus);
	}
	free(line);
	if (!err && cpus <= 0)
		err = -EBADMSG;
	return err;
}

static bool is_directory(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && entry->d_name[0] != '.';
}

/* Below irq/N every action has a directory. */
static void read_actions(struct interrupts *interrupts, const char *root, long irq)
{
	struct interrupt *interrupt = NULL;
	char path[PATH_MAX], name[INTERRUPT_NAME_SIZE];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/irq/%ld", root, irq);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!is_directory(entry))
			continue;
		if (!interrupt)
			interrupt = add(interrupts, irq);
		if (!interrupt)
			break;
		text_sanitize(name, sizeof(name), entry->d_name, strlen(entry->d_name));
		text_appendf(interrupt->name, sizeof(interrupt->name), "%s%s",
			     interrupt->name[0] ? ", " : "", name);
	}
	if (dir)
		closedir(dir);
}

static int read_directories(struct interrupts *interrupts, const char *root)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/irq", root);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		const char *text = entry->d_name;
		long irq;

		if (is_directory(entry) && take_irq(&text, &irq) && !*text)
			read_actions(interrupts, root, irq);
	}
	closedir(dir);
	return 0;
}

int interrupts_read(struct interrupts *interrupts, const char *root)
{
	char path[PATH_MAX];
	FILE *file;
	int err;

	*interrupts = (struct interrupts){0};
	if (!root)
		root = "/proc";
	if ((size_t)snprintf(path, sizeof(path), "%s/interrupts", root) >= sizeof(path) / 2)
		return -ENAMETOOLONG;
	file = fopen(path, "re");
	if (!file)
		return read_directories(interrupts, root);
	err = read_table(interrupts, file);
	fclose(file);
	return err == -EBADMSG ? read_directories(interrupts, root) : err;
}

void interrupts_free(struct interrupts *interrupts)
{
	free(interrupts->list);
	*interrupts = (struct interrupts){0};
}

const char *interrupts_name(const struct interrupts *interrupts, int irq)
{
	for (size_t i = 0; i < interrupts->n; i++)
		if (interrupts->list[i].irq == irq)
			return interrupts->list[i].name;
	return NULL;
}
