/* SPDX-License-Identifier: GPL-2.0-only */
/* A set of targets under test, and what was said while it was filled. */
#ifndef TESTS_UNIT_TARGET_SET_H
#define TESTS_UNIT_TARGET_SET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "probe/targets/targets.h"

static struct target_set set;
static char err[TARGETS_LINE_SIZE];
static char notes[4096];

static void keep_note(void *ctx, const char *line)
{
	assert_ptr_equal(ctx, notes);
	assert_null(strchr(line, '\n'));
	strncat(notes, line, sizeof(notes) - strlen(notes) - 1);
	strncat(notes, "\n", sizeof(notes) - strlen(notes) - 1);
}

static void clear(void)
{
	targets_free(&set);
	set = (struct target_set){.note = keep_note, .note_ctx = notes};
	notes[0] = 0;
	strcpy(err, "untouched");
}

static int add(const char *list)
{
	return targets_add_pids(&set, list, err, sizeof(err));
}

struct found {
	int n;
	pid_t pid[64];
	int stop_at;
};

static int keep_child(void *ctx, const struct target *child, pid_t parent)
{
	struct found *f = ctx;

	(void)parent;
	assert_true(child->starttime > 0);
	f->pid[f->n++] = child->pid;
	return f->n == f->stop_at ? 42 : 0;
}

static bool has(const struct found *f, pid_t pid)
{
	for (int i = 0; i < f->n; i++) {
		if (f->pid[i] == pid)
			return true;
	}
	return false;
}

#endif
