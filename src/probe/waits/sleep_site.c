/* SPDX-License-Identifier: GPL-2.0-only */
/* Formats: proc_pid_syscall() and proc_pid_stack() in fs/proc/base.c. */
#include "probe/waits/sleep_site.h"

#include <errno.h>
#include <limits.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "abi.h"
#include "base/text.h"
#include "probe/procfs.h"

/* @length bytes of @name as the next frame; dropped when there is no room. */
static void add_frame(struct sleep_site *site, const char *name, size_t length)
{
	size_t used = 0;
	char *text;

	if (site->nframes == SLEEP_SITE_FRAMES || !length)
		return;
	if (site->nframes) {
		const char *last = site->frames[site->nframes - 1];

		used = (size_t)(last - site->text) + strlen(last) + 1;
	}
	if (used + 1 >= sizeof(site->text))
		return;
	text = site->text + used;
	if (text_sanitize(text, sizeof(site->text) - used, name, length))
		site->frames[site->nframes++] = text;
}

/* "[<0>] futex_wait+0xad/0x150 [module]"; before 4.15 with an address, and a last one of all ones */
static void parse_stack(struct sleep_site *site, const char *text)
{
	while (*text) {
		size_t line = strcspn(text, "\n");
		const char *name = memchr(text, ']', line);

		if (name && text[0] == '[' && name[1] == ' ' && strncmp(name + 2, "0x", 2))
			add_frame(site, name + 2, strcspn(name + 2, "+ \n"));
		text += line;
		text += *text == '\n';
	}
}

/* A number in the C notation, -1 included; false when there is none that fits. */
static bool take_number(const char **text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(*text, &end, 0);
	if (end == *text || errno)
		return false;
	*text = end;
	return true;
}

static bool take_all(const char **text, uint64_t *values, int n)
{
	for (int i = 0; i < n; i++)
		if (!take_number(text, &values[i]))
			return false;
	return true;
}

/*
 * "running", "-1 SP PC" outside a syscall, or "NR" with six arguments, SP and PC. A dead thread has
 * no stack pointer.
 */
static void parse_syscall(struct sleep_site *site, const char *text)
{
	uint64_t nr, args[6], pointers[2];

	if (!strncmp(text, "running", strlen("running"))) {
		site->running = true;
		return;
	}
	if (!take_number(&text, &nr))
		return;
	if (nr == UINT64_MAX) {
		if (take_all(&text, pointers, 2) && pointers[0])
			site->syscall = WAIT_SYSCALL_NONE;
		return;
	}
	if (nr > INT_MAX || !take_all(&text, args, 6))
		return;
	site->syscall = (int)nr;
	site->args_known = true;
	memcpy(site->args, args, sizeof(args));
}

/* The innermost function that is not the scheduler's: all that is left where stacks are off. */
static void parse_wchan(struct sleep_site *site, const char *text)
{
	size_t length = strcspn(text, "\n");

	if (length && !(length == 1 && *text == '0'))
		add_frame(site, text, length);
}

int sleep_site_read(struct sleep_site *site, pid_t pid, pid_t tid)
{
	char text[4096];
	int call, stack, wchan = 0;

	*site = (struct sleep_site){.syscall = WAIT_SYSCALL_UNKNOWN};
	call = procfs_task_text(pid, tid, "syscall", text, sizeof(text));
	if (call > 0)
		parse_syscall(site, text);
	if (site->running)
		return 0;
	stack = procfs_task_text(pid, tid, "stack", text, sizeof(text));
	if (stack > 0)
		parse_stack(site, text);
	if (!site->nframes) {
		wchan = procfs_task_text(pid, tid, "wchan", text, sizeof(text));
		if (wchan > 0)
			parse_wchan(site, text);
	}
	return call < 0 && stack < 0 && wchan < 0 ? wchan : 0;
}

int sleep_site_fd(const struct sleep_site *site)
{
	if (!site->args_known || !wait_syscall_takes_fd(site->syscall) || site->args[0] > INT_MAX)
		return -1;
	return (int)site->args[0];
}

struct wait_site sleep_site_evidence(const struct sleep_site *site, const char *file)
{
	bool futex = site->args_known && site->syscall == SYS_futex;

	return (struct wait_site){
		.syscall = site->syscall,
		.flags = futex ? wait_futex_flags(site->args[1], site->args[2]) : 0,
		.file = file,
		.frames = site->frames,
		.nframes = site->nframes,
	};
}
