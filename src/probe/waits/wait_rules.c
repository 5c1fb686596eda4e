/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/waits/wait_rules.h"

#include <linux/types.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "base/text.h"
#include "futex.h"
#include "probe/waits/wait_tables.h"

/* The evidence, looked up. */
struct clues {
	const struct wait_evidence *evidence;
	const struct call_rule *call;	  /* by number, else by the stack */
	const struct name_rule *file;	  /* of the descriptor */
	const struct name_rule *function; /* of the innermost function that tells something */
	const char *function_name;
	const char *unknown_name; /* innermost function outside the tables */
	bool fault_entry;	  /* a page fault's handler is on the stack */
	bool iowait;		  /* in_iowait, seen or by the function that sets it */
};

static bool certain(const struct name_rule *rule, enum wait_class class)
{
	return rule && rule->means == MEANS_CLASS && rule->class == class;
}

static void read_frame(struct clues *c, const char *function)
{
	const struct name_rule *rule;

	c->fault_entry |= function_is_fault_entry(function);
	c->iowait |= function_is_io_wait(function);
	if (c->function)
		return;
	rule = function_rule(function);
	if (rule && rule->means != MEANS_PASS) {
		c->function = rule;
		c->function_name = function;
	} else if (!rule && !c->unknown_name && !function_is_plumbing(function) &&
		   !function_is_fault_entry(function) && !call_rule_of_function(function)) {
		c->unknown_name = function;
	}
}

/* Outermost first: a call may use another's functions (execve reads). */
static const struct call_rule *call_on_stack(const struct wait_site *site)
{
	const struct call_rule *call = NULL;

	for (int i = site->nframes - 1; i >= 0 && !call; i--)
		call = call_rule_of_function(site->frames[i]);
	return call;
}

static void read_clues(struct clues *c, const struct wait_evidence *evidence)
{
	const struct wait_site *site = &evidence->site;

	*c = (struct clues){.evidence = evidence, .iowait = site->flags & TT_SITE_IOWAIT};
	for (int i = 0; i < site->nframes; i++)
		read_frame(c, site->frames[i]);
	if (site->syscall == WAIT_SYSCALL_UNKNOWN)
		c->call = call_on_stack(site);
	else
		c->call = call_rule_of(site->syscall);
	if (site->file)
		c->file = file_rule(site->file);
}

/* One hop: the waker only passed on what had woken itself. Only what a verdict is for. */
static enum wait_class relayed_class(const struct wait_evidence *e)
{
	enum wait_class via = waker_class(e->via.kind, e->via.name);

	if (e->via_disk || via == WAIT_DISK)
		return WAIT_DISK;
	if (via == WAIT_GPU)
		return WAIT_GPU;
	/* A relay's timer or socket is its own matter: the thread edge leads to it. */
	return WAIT_CLASSES;
}

static enum wait_class by_waker(const struct wait_evidence *e, enum wait_class otherwise,
				bool *inherited)
{
	enum wait_class class = waker_class(e->waker.kind, e->waker.name);
	enum wait_class relayed = WAIT_CLASSES;

	if (e->waker.kind == WAKER_PROCESS)
		return WAIT_PROCESS;
	if (class != WAIT_CLASSES)
		return class;
	if (e->waker.kind == WAKER_THREAD || e->waker.kind == WAKER_KERNEL)
		relayed = relayed_class(e);
	*inherited = relayed != WAIT_CLASSES;
	if (*inherited)
		return relayed;
	return e->waker.kind == WAKER_THREAD ? WAIT_THREAD : otherwise;
}

/* A thread that woke another in its page fault, where nothing was read, held the mappings' lock. */
static bool is_mapping_lock(const struct clues *c)
{
	const struct wait_site *site = &c->evidence->site;

	return site->syscall == WAIT_SYSCALL_NONE && !site->nframes && !c->iowait &&
	       c->evidence->waker.kind == WAKER_THREAD;
}

static bool is_fault(const struct clues *c)
{
	const struct wait_site *site = &c->evidence->site;

	if (certain(c->function, WAIT_LOCK) || certain(c->function, WAIT_GPU) || is_mapping_lock(c))
		return false;
	if (c->fault_entry || certain(c->function, WAIT_FAULT) ||
	    site->syscall == WAIT_SYSCALL_NONE)
		return true;
	/* A call that reads no storage was in I/O: the kernel touched the caller's memory. */
	return c->iowait && !site->nframes && c->call && !(c->call->flags & CALL_IO);
}

static bool is_disk(const struct clues *c)
{
	if (c->call && c->call->flags & CALL_SYNC &&
	    !(c->function && c->function->means == MEANS_WAKER))
		return true;
	if (certain(c->function, WAIT_DISK))
		return true;
	return c->iowait && !(c->call && c->call->flags & CALL_RING);
}

/* What the site alone tells; MEANS_PASS when nothing is known of it. */
static enum wait_means site_means(const struct clues *c, enum wait_class *class)
{
	const struct name_rule *function = c->function, *file = c->file;

	*class = WAIT_OTHER;
	if (is_mapping_lock(c)) {
		*class = WAIT_LOCK;
		return MEANS_CLASS;
	}
	if (function && function->means == MEANS_CLASS) {
		*class = function->class;
		return MEANS_CLASS;
	}
	if (c->evidence->site.flags & TT_SITE_FUTEX_LOCK) {
		*class = WAIT_LOCK;
		return MEANS_CLASS;
	}
	if (file && !(c->call && c->call->means == MEANS_CLASS)) {
		*class = c->iowait ? WAIT_DISK : file->class;
		return file->means;
	}
	if (function) {
		*class = function->class;
		return function->means;
	}
	if (c->call) {
		*class = c->iowait ? WAIT_DISK : c->call->class;
		return c->call->means;
	}
	return MEANS_PASS;
}

static enum wait_class decide(const struct clues *c, bool *inherited)
{
	enum wait_class class;

	if (is_fault(c))
		return WAIT_FAULT;
	if (is_disk(c))
		return WAIT_DISK;
	if (c->evidence->site.flags & TT_SITE_GPU_CALL)
		return WAIT_GPU;
	if (site_means(c, &class) == MEANS_CLASS)
		return class;
	return by_waker(c->evidence, class, inherited);
}

/* "anon_inode:[eventfd]" -> "eventfd", "pipe:[4711]" -> "pipe": alike for all of a kind */
static void append_object(char *text, size_t size, const char *object)
{
	size_t len;

	if (!strncmp(object, "anon_inode:", strlen("anon_inode:"))) {
		object += strlen("anon_inode:");
		object += *object == '[';
		len = strcspn(object, "]");
	} else if (object[0] == '/') {
		len = strlen(object);
	} else {
		len = strcspn(object, ":");
	}
	text_appendf(text, size, "%s%.*s", *text ? " " : "", (int)len, object);
}

static bool names_by_function(enum wait_class class)
{
	return class == WAIT_GPU || class == WAIT_DEVICE || class == WAIT_OTHER;
}

static void append_function(char *text, size_t size, const char *function)
{
	text_appendf(text, size, "%s%.*s", *text ? " " : "", (int)strcspn(function, "."), function);
}

/* The descriptor, where that tells on what: what epoll waits on is not in its own. */
static const char *telling_file(const struct wait_site *site)
{
	if (!site->file || !strcmp(site->file, "anon_inode:[eventpoll]"))
		return NULL;
	return site->file;
}

/* "read pipe", "ioctl /dev/nvhost-ctrl", "mmap rwsem", "page fault"; a function where no call tells */
static void name_site(const struct clues *c, enum wait_class class, char *text, size_t size)
{
	const struct wait_site *site = &c->evidence->site;
	const char *function = c->function_name ? c->function_name : c->unknown_name;
	bool in_fault = c->fault_entry || site->syscall == WAIT_SYSCALL_NONE ||
			(class == WAIT_FAULT && c->iowait);
	const char *file = in_fault ? NULL : telling_file(site);

	*text = 0;
	if (in_fault)
		text_appendf(text, size, "page fault");
	else if (function && !file && names_by_function(class))
		append_function(text, size, function);
	else if (c->call)
		text_appendf(text, size, "%s", c->call->name);

	if (file)
		append_object(text, size, file);
	if (c->function && c->function->object && (!file || c->function->class == WAIT_LOCK))
		append_object(text, size, c->function->object);
	if (*text)
		return;
	if (function)
		append_function(text, size, function);
	else if (site->flags & TT_SITE_GPU_CALL)
		text_appendf(text, size, "CUDA call");
	else if (site->flags & TT_SITE_FUTEX_LOCK)
		text_appendf(text, size, "futex");
}

void wait_judge(const struct wait_evidence *evidence, struct wait_judgement *judgement)
{
	char text[256];
	struct clues clues;

	memset(judgement, 0, sizeof(*judgement));
	read_clues(&clues, evidence);
	judgement->class = decide(&clues, &judgement->inherited);
	name_site(&clues, judgement->class, text, sizeof(text));
	text_sanitize(judgement->site, sizeof(judgement->site), text, strlen(text));
}

bool wait_syscall_takes_fd(int syscall)
{
	const struct call_rule *call = call_rule_of(syscall);

	return call && call->flags & CALL_FD;
}

const char *wait_syscall_name(int syscall)
{
	const struct call_rule *call = call_rule_of(syscall);

	return call ? call->name : NULL;
}

unsigned int wait_futex_flags(uint64_t op, uint64_t value)
{
	return tt_futex_flags((__u32)op, (__u32)value);
}

bool wait_is_gpu_file(const char *file)
{
	return file && certain(file_rule(file), WAIT_GPU);
}

bool wait_is_gpu_waker(const struct wait_waker *waker)
{
	return waker_class(waker->kind, waker->name) == WAIT_GPU;
}
