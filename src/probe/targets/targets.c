/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/targets/targets.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define USER_COMM_MAX 15 /* TASK_COMM_LEN less its NUL */
#define MAX_SUDO      4
#define MAX_SCANS     16

struct request {
	struct target_set *set;
	char *err;
	size_t errsize;
};

/* "12 (infer), 34 (python3) and 5 more" */
struct listing {
	int n;
	char text[TARGETS_LIST_SIZE];
};

/* Processes that are the tool itself */
struct own {
	pid_t self;
	int n_sudo;
	pid_t sudo[MAX_SUDO];
};

struct printable {
	char text[TEXT_SANITIZED_SIZE(PROCFS_COMM_SIZE)];
};

struct nested {
	pid_t wanted;
	pid_t self;
	pid_t first;
	struct listing found;
};

struct match_scan {
	struct request *rq;
	struct own own;
	struct targets_scan *scan;
	struct listing found;
	int err; /* of adding one, already told */
};

struct row {
	struct target t;
	pid_t ppid;
	bool known;
};

struct tree {
	struct row *rows;
	int n, capacity;
	struct target_set known;
	struct own own;
	targets_child_fn cb;
	void *ctx;
};

static struct printable printable_comm(const char *comm)
{
	struct printable p;

	text_sanitize(p.text, sizeof(p.text), comm, strlen(comm));
	return p;
}

static int __attribute__((format(printf, 3, 4)))
fail(struct request *rq, int code, const char *fmt, ...)
{
	va_list ap;

	if (rq->errsize)
		rq->err[0] = 0;
	va_start(ap, fmt);
	text_vappendf(rq->err, rq->errsize, fmt, ap);
	va_end(ap);
	return code;
}

static void __attribute__((format(printf, 2, 3))) note(struct request *rq, const char *fmt, ...)
{
	char line[TARGETS_LINE_SIZE] = "";
	va_list ap;

	if (!rq->set->note)
		return;
	va_start(ap, fmt);
	text_vappendf(line, sizeof(line), fmt, ap);
	va_end(ap);
	rq->set->note(rq->set->note_ctx, line);
}

static void list_process(struct listing *l, pid_t pid, const char *comm)
{
	if (l->n++ < TARGETS_LISTED)
		text_appendf(l->text, sizeof(l->text), "%s%d (%s)", l->n > 1 ? ", " : "", pid,
			     printable_comm(comm).text);
}

static const char *list_end(struct listing *l)
{
	if (l->n > TARGETS_LISTED)
		text_appendf(l->text, sizeof(l->text), " and %d more", l->n - TARGETS_LISTED);
	return l->text;
}

void targets_list(const struct target_set *set, char *text, size_t size)
{
	struct listing list = {0};

	for (int i = 0; i < set->n; i++)
		list_process(&list, set->items[i].pid, set->items[i].comm);
	text_copy(text, size, list_end(&list));
}

/* sudo may be two processes when it gives the command a terminal of its own */
static struct own find_own(void)
{
	struct own own = {.self = procfs_self()};
	struct procfs_stat st;
	pid_t pid = own.self;

	while (own.n_sudo < MAX_SUDO && !procfs_task_stat(pid, PROCFS_PROCESS, &st)) {
		pid = st.ppid;
		if (procfs_task_stat(pid, PROCFS_PROCESS, &st) || strcmp(st.comm, "sudo"))
			break;
		own.sudo[own.n_sudo++] = pid;
	}
	return own;
}

static bool is_own(const struct own *own, pid_t pid)
{
	for (int i = 0; i < own->n_sudo; i++) {
		if (own->sudo[i] == pid)
			return true;
	}
	return own->self == pid;
}

static int grow(void **items, int n, int *capacity, size_t size)
{
	int want = *capacity ? *capacity * 2 : 16;
	void *p;

	if (n < *capacity)
		return 0;
	p = realloc(*items, (size_t)want * size);
	if (!p)
		return -ENOMEM;
	*items = p;
	*capacity = want;
	return 0;
}

static bool same_process(const struct target *a, const struct target *b)
{
	return a->pid == b->pid && a->starttime == b->starttime;
}

int targets_add(struct target_set *set, const struct target *target)
{
	void *items = set->items;
	int err;

	for (int i = 0; i < set->n; i++) {
		if (same_process(&set->items[i], target))
			return 0;
	}
	err = grow(&items, set->n, &set->capacity, sizeof(*target));
	if (err)
		return err;
	set->items = items;
	set->items[set->n++] = *target;
	return 0;
}

static struct target make_target(pid_t pid, const struct procfs_stat *st)
{
	struct target t = {.pid = pid, .starttime = st->starttime_ticks};

	text_copy(t.comm, sizeof(t.comm), st->comm);
	return t;
}

static int push_process(struct request *rq, pid_t pid, const struct procfs_stat *st)
{
	struct target t = make_target(pid, st);
	int err = targets_add(rq->set, &t);

	return err ? fail(rq, err, "cannot add process %d: out of memory", pid) : 0;
}

int targets_add_traced(struct target_set *set, pid_t pid)
{
	struct procfs_stat st;
	struct target t;
	int err = procfs_task_stat(pid, PROCFS_PROCESS, &st);

	if (err)
		return err;
	t = make_target(pid, &st);
	return targets_add(set, &t);
}

bool target_lives(const struct target *target)
{
	struct procfs_stat stat;

	return !procfs_task_stat(target->pid, PROCFS_PROCESS, &stat) &&
	       stat.starttime_ticks == target->starttime && !procfs_is_dead(&stat);
}

void targets_free(struct target_set *set)
{
	free(set->items);
	set->items = NULL;
	set->n = 0;
	set->capacity = 0;
}

/* Processes that end during a scan, or may not be read, are as good as not there */
static int match_nested(void *ctx, pid_t pid)
{
	struct nested *ns = ctx;
	struct procfs_status status;
	struct procfs_stat st;

	if (pid == ns->self || procfs_status(pid, PROCFS_PROCESS, &status) ||
	    status.nspid_count < 2 || status.nspid[status.nspid_count - 1] != ns->wanted)
		return 0;
	if (procfs_task_stat(pid, PROCFS_PROCESS, &st) || procfs_is_dead(&st))
		return 0;
	if (!ns->found.n)
		ns->first = pid;
	list_process(&ns->found, pid, st.comm);
	return 0;
}

static int fail_gone(struct request *rq, pid_t pid)
{
	return fail(rq, -ESRCH,
		    "no process %d: it has ended or was never here; list candidates with "
		    "pgrep -a NAME",
		    pid);
}

static int fail_read(struct request *rq, pid_t pid, int err)
{
	if (err == -ESRCH)
		return fail_gone(rq, pid);
	return fail(rq, err, "cannot read process %d: %s%s", pid, strerror(-err),
		    err == -EACCES || err == -EPERM ? "; run as root (sudo)" : "");
}

static int fail_list(struct request *rq, int err)
{
	return fail(rq, err, "cannot list processes: %s; is /proc mounted?", strerror(-err));
}

/* @pid as a PID that was typed from inside a container; @kthread: what it is out here, or NULL */
static int add_nested(struct request *rq, pid_t pid, const char *kthread)
{
	struct nested ns = {.wanted = pid, .self = procfs_self()};
	struct procfs_stat st;
	char here[TEXT_SANITIZED_SIZE(PROCFS_COMM_SIZE) + 64];
	int err = procfs_for_each_pid(match_nested, &ns);

	if (err)
		return fail_list(rq, err);
	if (ns.found.n == 0 && kthread)
		return fail(rq, -EPERM,
			    "PID %d is the kernel thread %s, not an inference process; list "
			    "candidates with pgrep -a NAME",
			    pid, printable_comm(kthread).text);
	if (ns.found.n == 0)
		return fail_gone(rq, pid);
	if (kthread)
		snprintf(here, sizeof(here), "is the kernel thread %s here",
			 printable_comm(kthread).text);
	else
		snprintf(here, sizeof(here), "does not exist here");
	if (ns.found.n > 1)
		return fail(rq, -ENOTUNIQ,
			    "PID %d %s, and %d processes have it inside containers: %s; give one "
			    "of these PIDs instead",
			    pid, here, ns.found.n, list_end(&ns.found));
	err = procfs_task_stat(ns.first, PROCFS_PROCESS, &st);
	if (err)
		return fail_read(rq, ns.first, err);
	note(rq, "PID %d %s; using %d (%s), which is PID %d inside a container", pid, here,
	     ns.first, printable_comm(st.comm).text, pid);
	return push_process(rq, ns.first, &st);
}

static int add_pid(struct request *rq, pid_t pid)
{
	struct procfs_status status;
	struct procfs_stat st;
	int err = procfs_status(pid, PROCFS_PROCESS, &status);

	if (err == -ESRCH)
		return add_nested(rq, pid, NULL);
	if (!err)
		err = procfs_task_stat(status.tgid, PROCFS_PROCESS, &st);
	if (err)
		return fail_read(rq, pid, err);
	if (procfs_is_kthread(&st))
		return add_nested(rq, pid, st.comm);
	if (status.tgid == procfs_self())
		return fail(rq, -EPERM,
			    "PID %d is tegratrace itself, not an inference process; list "
			    "candidates with pgrep -a NAME",
			    pid);
	if (procfs_is_dead(&st))
		return fail(rq, -EPERM,
			    "process %d (%s) has ended and only waits for its parent %d to collect "
			    "it (zombie): there is nothing to trace",
			    status.tgid, printable_comm(st.comm).text, st.ppid);
	if (status.tgid != pid)
		note(rq, "%d is a thread of process %d (%s): tracing the whole process", pid,
		     status.tgid, printable_comm(st.comm).text);
	return push_process(rq, status.tgid, &st);
}

/* Longer words are cut for the message, which says enough with their start */
static int parse_pid(struct request *rq, const char *word, size_t len, pid_t *pid)
{
	size_t digits = strspn(word, "0123456789");
	unsigned long v = 0;
	char shown[64];

	text_sanitize(shown, sizeof(shown), word, len);
	if (digits < len || len == 0)
		return fail(rq, -EINVAL,
			    "'%s' is not a PID: give plain decimal numbers, as in -p 123,456",
			    shown);
	for (size_t i = 0; i < len && v <= PROCFS_MAX_PID; i++)
		v = v * 10 + (unsigned long)(word[i] - '0');
	if (v < 1 || v > PROCFS_MAX_PID)
		return fail(rq, -EINVAL, "'%s' is not a PID: PIDs are from 1 to %d", shown,
			    PROCFS_MAX_PID);
	*pid = (pid_t)v;
	return 0;
}

/* Every word is checked before @add is called with any: a typing error must not cost a scan */
static int for_each_word(struct request *rq, const char *list,
			 int (*add)(struct request *rq, pid_t pid))
{
	static const char blanks[] = " \t\n";
	pid_t pid = 0;
	int err;

	for (const char *p = list + strspn(list, blanks);;) {
		size_t len = strcspn(p, ", \t\n");

		err = parse_pid(rq, p, len, &pid);
		if (!err && add)
			err = add(rq, pid);
		if (err)
			return err;
		p += len;
		p += strspn(p, blanks);
		if (!*p)
			return 0;
		if (*p == ',')
			p++;
		p += strspn(p, blanks);
	}
}

int targets_add_pids(struct target_set *set, const char *list, char *err, size_t errsize)
{
	struct request rq = {.set = set, .err = err, .errsize = errsize};
	int before = set->n;
	int ret;

	if (!list[strspn(list, " \t\n")])
		return fail(&rq, -EINVAL,
			    "the list of PIDs is empty: no such process ran when it was made? List "
			    "candidates with pgrep -a NAME");
	ret = for_each_word(&rq, list, NULL);
	if (!ret)
		ret = for_each_word(&rq, list, add_pid);
	if (ret)
		set->n = before;
	return ret;
}

static bool comm_matches(const char *comm, const char *name)
{
	if (strlen(name) <= USER_COMM_MAX)
		return !strcmp(comm, name);
	return strlen(comm) == USER_COMM_MAX && !memcmp(comm, name, USER_COMM_MAX);
}

static bool argv0_matches(pid_t pid, const char *name)
{
	char argv0[PATH_MAX];
	const char *slash;

	if (procfs_argv0(pid, argv0, sizeof(argv0)) < 0)
		return false;
	slash = strrchr(argv0, '/');
	return !strcmp(slash ? slash + 1 : argv0, name);
}

static int add_if_matched(void *ctx, pid_t pid)
{
	struct match_scan *ms = ctx;
	struct procfs_stat st;

	if (is_own(&ms->own, pid) || procfs_task_stat(pid, PROCFS_PROCESS, &st) ||
	    procfs_is_kthread(&st) || procfs_is_dead(&st) || !ms->scan->match(ms->scan, pid, &st))
		return 0;
	list_process(&ms->found, pid, st.comm);
	ms->err = push_process(ms->rq, pid, &st);
	return ms->err;
}

int targets_add_matching(struct target_set *set, struct targets_scan *scan, char *err,
			 size_t errsize)
{
	struct request rq = {.set = set, .err = err, .errsize = errsize};
	struct match_scan ms = {.rq = &rq, .own = find_own(), .scan = scan};
	int before = set->n;
	int ret = procfs_for_each_pid(add_if_matched, &ms);

	if (ret) {
		set->n = before;
		return ms.err ? ret : fail_list(&rq, ret);
	}
	scan->n = ms.found.n;
	text_copy(scan->list, sizeof(scan->list), list_end(&ms.found));
	return 0;
}

static bool match_name(struct targets_scan *scan, pid_t pid, const struct procfs_stat *st)
{
	return comm_matches(st->comm, scan->ctx) || argv0_matches(pid, scan->ctx);
}

int targets_add_name(struct target_set *set, const char *name, char *err, size_t errsize)
{
	struct request rq = {.set = set, .err = err, .errsize = errsize};
	struct targets_scan scan = {.match = match_name, .ctx = name};
	char shown[128];
	int ret;

	if (!*name)
		return fail(&rq, -EINVAL, "the process name is empty: give one, as in -n infer");
	text_sanitize(shown, sizeof(shown), name, strlen(name));
	ret = targets_add_matching(set, &scan, err, errsize);
	if (ret)
		return ret;
	if (scan.n == 0)
		return fail(&rq, -ESRCH,
			    "no process is named '%s': it is not running or has another name; "
			    "ps -eo pid,comm,args lists all",
			    shown);
	if (scan.n > 1)
		note(&rq, "%d processes are named '%s', tracing all: %s", scan.n, shown, scan.list);
	return 0;
}

int targets_check_own_namespace(char *err, size_t errsize)
{
	struct request rq = {.err = err, .errsize = errsize};
	struct procfs_stat st;
	uint64_t inode;
	int ret = procfs_ns_pid_inode(0, &inode);

	/* A kernel without CONFIG_PID_NS has the one namespace and no file for it */
	if (ret == -ESRCH && !procfs_task_stat(procfs_self(), PROCFS_PROCESS, &st))
		return 0;
	if (ret)
		return fail(&rq, ret,
			    "cannot tell our own PID namespace: /proc/self/ns/pid: %s; is /proc "
			    "mounted?",
			    strerror(-ret));
	if (inode != PROCFS_INIT_PID_NS)
		return fail(&rq, -EXDEV,
			    "tegratrace runs in a PID namespace of its own (pid:[%" PRIu64
			    "], a container?), where PIDs are not those the kernel reports; run it "
			    "on the host, or start the container with --pid=host",
			    inode);
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->t.pid > y->t.pid) - (x->t.pid < y->t.pid);
}

static struct row *find_row(struct tree *tree, pid_t pid)
{
	struct row key = {.t.pid = pid};

	if (!tree->n)
		return NULL;
	return bsearch(&key, tree->rows, (size_t)tree->n, sizeof(key), compare_rows);
}

static int add_row(void *ctx, pid_t pid)
{
	struct tree *tree = ctx;
	void *rows = tree->rows;
	struct procfs_stat st;
	int err;

	if (procfs_task_stat(pid, PROCFS_PROCESS, &st) || procfs_is_dead(&st))
		return 0;
	err = grow(&rows, tree->n, &tree->capacity, sizeof(*tree->rows));
	if (err)
		return err;
	tree->rows = rows;
	tree->rows[tree->n++] = (struct row){.t = make_target(pid, &st), .ppid = st.ppid};
	return 0;
}

/* Reports the children of known processes until there are none */
static int report_new(struct tree *tree)
{
	int seen;

	do {
		seen = tree->known.n;
		for (int i = 0; i < tree->n; i++) {
			struct row *row = &tree->rows[i];
			struct row *parent = find_row(tree, row->ppid);
			int err;

			if (row->known || !parent || !parent->known ||
			    is_own(&tree->own, row->t.pid))
				continue;
			row->known = true;
			err = targets_add(&tree->known, &row->t);
			if (!err)
				err = tree->cb(tree->ctx, &row->t, row->ppid);
			if (err)
				return err;
		}
	} while (tree->known.n > seen);
	return 0;
}

static int scan_tree(struct tree *tree)
{
	int err;

	tree->n = 0;
	err = procfs_for_each_pid(add_row, tree);
	if (err)
		return err;
	if (tree->n)
		qsort(tree->rows, (size_t)tree->n, sizeof(*tree->rows), compare_rows);
	for (int i = 0; i < tree->known.n; i++) {
		struct row *row = find_row(tree, tree->known.items[i].pid);

		if (row && same_process(&row->t, &tree->known.items[i]))
			row->known = true;
	}
	return 0;
}

int targets_descendants(const struct target_set *set, targets_child_fn cb, void *ctx)
{
	struct tree tree = {.own = find_own(), .cb = cb, .ctx = ctx};
	int err = 0, seen = -1;

	for (int i = 0; i < set->n && !err; i++)
		err = targets_add(&tree.known, &set->items[i]);
	/* The bound is for a target that forks faster than we scan */
	for (int i = 0; i < MAX_SCANS && !err && tree.known.n > seen; i++) {
		seen = tree.known.n;
		err = scan_tree(&tree);
		if (!err)
			err = report_new(&tree);
	}
	free(tree.rows);
	targets_free(&tree.known);
	return err;
}
