/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/procfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PF_KTHREAD 0x00200000u

static char procfs_root[PATH_MAX / 2] = "/proc";

/* Lines of a file; the tail of one that exceeds the buffer (Groups, intr) is dropped */
struct reader {
	int fd;
	bool eof;
	bool skip;
	size_t begin, end;
	char buf[4096];
};

struct dirent_header {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
};
#define DIRENT_NAME 19 /* offset of d_name in struct linux_dirent64 */

int procfs_set_root(const char *root)
{
	size_t len;

	if (!root)
		root = "/proc";
	len = strlen(root);
	if (len >= sizeof(procfs_root))
		return -ENAMETOOLONG;
	memcpy(procfs_root, root, len + 1);
	return 0;
}

int procfs_path(char *path, size_t size, pid_t pid, pid_t tid, const char *name)
{
	int n;

	if (pid < 1 || tid < 0)
		return -EINVAL;
	if (tid == PROCFS_PROCESS)
		n = snprintf(path, size, "%s/%d/%s", procfs_root, pid, name);
	else
		n = snprintf(path, size, "%s/%d/task/%d/%s", procfs_root, pid, tid, name);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int open_task(pid_t pid, pid_t tid, const char *name)
{
	char path[PATH_MAX];
	int fd = procfs_path(path, sizeof(path), pid, tid, name);

	if (fd)
		return fd;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ESRCH : -errno;
}

static int open_root(const char *name)
{
	char path[PATH_MAX];
	int fd = snprintf(path, sizeof(path), "%s/%s", procfs_root, name);

	if (fd < 0 || (size_t)fd >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t read_some(int fd, char *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Reads from @fd (or passes on the error it stands for) and closes it; always ends with a NUL */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0)
		return fd;
	while (n > 0 && len + 1 < size) {
		n = read_some(fd, buf + len, size - 1 - len);
		if (n > 0)
			len += (size_t)n;
	}
	close(fd);
	buf[len] = 0;
	return n < 0 ? n : (ssize_t)len;
}

/* 1 and a line without its newline, 0 at the end, or a negative errno */
static int next_line(struct reader *r, char **line)
{
	for (;;) {
		char *start = r->buf + r->begin;
		char *nl = memchr(start, '\n', r->end - r->begin);
		bool full = r->begin == 0 && r->end == sizeof(r->buf) - 1;
		ssize_t n;

		if (nl || (r->end > r->begin && (r->eof || full))) {
			bool tail = r->skip;

			r->begin = nl ? (size_t)(nl - r->buf) + 1 : r->end;
			r->skip = !nl && !r->eof;
			if (tail)
				continue;
			r->buf[nl ? (size_t)(nl - r->buf) : r->end] = 0;
			*line = start;
			return 1;
		}
		if (r->eof)
			return 0;
		memmove(r->buf, start, r->end - r->begin);
		r->end -= r->begin;
		r->begin = 0;
		n = read_some(r->fd, r->buf + r->end, sizeof(r->buf) - 1 - r->end);
		if (n < 0)
			return (int)n;
		r->eof = n == 0;
		r->end += (size_t)n;
	}
}

/* Takes one decimal number after blanks off *@p; false if there is none or it is too large */
static bool take_number(const char **p, uint64_t max, uint64_t *value)
{
	const char *s = *p + strspn(*p, " \t");
	uint64_t v = 0;

	if (!isdigit((unsigned char)*s))
		return false;
	for (; isdigit((unsigned char)*s); s++) {
		uint64_t digit = (uint64_t)(*s - '0');

		if (v > (max - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*p = s;
	*value = v;
	return true;
}

static bool take_count(const char **p, int64_t *value)
{
	uint64_t v;

	if (!take_number(p, INT64_MAX, &v))
		return false;
	*value = (int64_t)v;
	return true;
}

static bool take_int(const char **p, int *value)
{
	uint64_t v;

	if (!take_number(p, INT_MAX, &v))
		return false;
	*value = (int)v;
	return true;
}

/* The last parenthesis ends the name, which may hold any byte, parentheses and newlines too */
static const char *parse_comm(const char *buf, size_t len, char *comm)
{
	const char *open = memchr(buf, '(', len);
	const char *close = memrchr(buf, ')', len);
	size_t n;

	if (!open || !close || close < open)
		return NULL;
	n = (size_t)(close - open) - 1;
	if (n >= PROCFS_COMM_SIZE)
		n = PROCFS_COMM_SIZE - 1;
	memcpy(comm, open + 1, n);
	comm[n] = 0;
	return close + 1;
}

/* Takes the value of stat's field @i, numbered as in proc(5), off *@p */
static bool take_stat_field(const char **p, int i, struct procfs_stat *st)
{
	uint64_t flags;

	switch (i) {
	case 4:
		return take_int(p, &st->ppid);
	case 9:
		if (!take_number(p, UINT32_MAX, &flags))
			return false;
		st->flags = (uint32_t)flags;
		return true;
	case 10:
		return take_count(p, &st->minflt);
	case 12:
		return take_count(p, &st->majflt);
	case 14:
		return take_count(p, &st->utime_ticks);
	case 15:
		return take_count(p, &st->stime_ticks);
	case 20:
		return take_count(p, &st->num_threads);
	case 22:
		return take_number(p, UINT64_MAX, &st->starttime_ticks);
	case 39:
		return take_int(p, &st->processor);
	case 40:
		return take_int(p, &st->rt_priority);
	case 41:
		return take_int(p, &st->policy);
	case 42:
		return take_count(p, &st->blkio_delay_ticks);
	default:
		*p += strcspn(*p, " \n");
		return true;
	}
}

int procfs_task_stat(pid_t pid, pid_t tid, struct procfs_stat *st)
{
	char buf[2048];
	ssize_t len = read_all(open_task(pid, tid, "stat"), buf, sizeof(buf));
	const char *p;
	int i = 3;

	*st = (struct procfs_stat){.processor = PROCFS_UNKNOWN,
				   .rt_priority = PROCFS_UNKNOWN,
				   .policy = PROCFS_UNKNOWN,
				   .blkio_delay_ticks = PROCFS_UNKNOWN};
	if (len < 0)
		return (int)len;
	p = parse_comm(buf, (size_t)len, st->comm);
	if (!p || p[0] != ' ' || !isalpha((unsigned char)p[1]))
		return -EBADMSG;
	st->state = p[1];
	for (p += 2; *p == ' '; i++) {
		p++;
		if (!take_stat_field(&p, i + 1, st) || (*p && *p != ' ' && *p != '\n'))
			return -EBADMSG;
	}
	return i < 22 ? -EBADMSG : 0;
}

bool procfs_is_kthread(const struct procfs_stat *st)
{
	return st->flags & PF_KTHREAD;
}

bool procfs_is_dead(const struct procfs_stat *st)
{
	return strchr("ZXx", st->state) && st->num_threads <= 1;
}

static int read_schedstat(int fd, uint64_t v[3])
{
	char buf[128];
	ssize_t len = read_all(fd, buf, sizeof(buf));
	const char *p = buf;

	if (len < 0)
		return (int)len;
	for (int i = 0; i < 3; i++) {
		if (!take_number(&p, UINT64_MAX, &v[i]))
			return -EBADMSG;
	}
	return 0;
}

int procfs_schedstat(pid_t pid, pid_t tid, uint64_t *oncpu_ns, uint64_t *runq_ns, uint64_t *slices)
{
	struct procfs_stat st;
	uint64_t v[3], own[3];
	int err = read_schedstat(open_task(pid, tid, "schedstat"), v);

	if (err == -ESRCH)
		return procfs_task_stat(pid, tid, &st) == 0 ? -EOPNOTSUPP : -ESRCH;
	if (err)
		return err;
	/* A kernel without these books prints zeros; a task that runs, as we do, cannot have them */
	if (!v[0] && !v[1] && !v[2] &&
	    (read_schedstat(open_root("self/schedstat"), own) || !own[2]))
		return -EOPNOTSUPP;
	*oncpu_ns = v[0];
	*runq_ns = v[1];
	*slices = v[2];
	return 0;
}

static const char *after_key(const char *line, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(line, key, len) && line[len] == ':' ? line + len + 1 : NULL;
}

static bool parse_status_line(const char *line, struct procfs_status *st)
{
	const char *p;
	int pid;

	if ((p = after_key(line, "Tgid")))
		return take_int(&p, &st->tgid);
	if ((p = after_key(line, "Pid")))
		return take_int(&p, &st->pid);
	if ((p = after_key(line, "PPid")))
		return take_int(&p, &st->ppid);
	if ((p = after_key(line, "Uid")))
		return take_count(&p, &st->uid) && take_count(&p, &st->euid);
	if ((p = after_key(line, "voluntary_ctxt_switches")))
		return take_count(&p, &st->voluntary_switches);
	if ((p = after_key(line, "nonvoluntary_ctxt_switches")))
		return take_count(&p, &st->nonvoluntary_switches);
	if ((p = after_key(line, "NSpid"))) {
		st->nspid_count = 0;
		while (st->nspid_count < PROCFS_MAX_NESTING && take_int(&p, &pid))
			st->nspid[st->nspid_count++] = pid;
		return st->nspid_count > 0 && p[strspn(p, " \t")] == 0;
	}
	return true;
}

int procfs_status(pid_t pid, pid_t tid, struct procfs_status *st)
{
	struct reader r = {.fd = open_task(pid, tid, "status")};
	char *line;
	int err;

	*st = (struct procfs_status){.pid = PROCFS_UNKNOWN,
				     .tgid = PROCFS_UNKNOWN,
				     .ppid = PROCFS_UNKNOWN,
				     .uid = PROCFS_UNKNOWN,
				     .euid = PROCFS_UNKNOWN,
				     .nspid_count = PROCFS_UNKNOWN,
				     .voluntary_switches = PROCFS_UNKNOWN,
				     .nonvoluntary_switches = PROCFS_UNKNOWN};
	if (r.fd < 0)
		return r.fd;
	while ((err = next_line(&r, &line)) > 0) {
		if (!parse_status_line(line, st)) {
			err = -EBADMSG;
			break;
		}
	}
	close(r.fd);
	if (!err && (st->tgid < 1 || st->pid < 1))
		err = -EBADMSG;
	return err;
}

int procfs_task_text(pid_t pid, pid_t tid, const char *name, char *buf, size_t size)
{
	return (int)read_all(open_task(pid, tid, name), buf, size);
}

int procfs_comm(pid_t pid, pid_t tid, char *buf, size_t size)
{
	char raw[PROCFS_COMM_SIZE + 1];
	ssize_t len = read_all(open_task(pid, tid, "comm"), raw, sizeof(raw));

	if (len < 0)
		return (int)len;
	if (size == 0)
		return -EINVAL;
	if (len > 0 && raw[len - 1] == '\n')
		len--;
	if ((size_t)len >= size)
		len = (ssize_t)size - 1;
	memcpy(buf, raw, (size_t)len);
	buf[len] = 0;
	return (int)len;
}

int procfs_argv0(pid_t pid, char *buf, size_t size)
{
	char raw[PATH_MAX + 1];
	ssize_t len = read_all(open_task(pid, PROCFS_PROCESS, "cmdline"), raw, sizeof(raw));
	size_t n;

	if (len < 0)
		return (int)len;
	n = strlen(raw);
	if (n == 0)
		return -ENODATA;
	if (n >= size || n == sizeof(raw) - 1)
		return -ENAMETOOLONG;
	memcpy(buf, raw, n + 1);
	return (int)n;
}

/* A directory name that is wholly a pid, else 0 */
static pid_t pid_of_name(const char *name)
{
	uint64_t v;

	return isdigit((unsigned char)*name) && take_number(&name, PROCFS_MAX_PID, &v) && !*name
		       ? (pid_t)v
		       : 0;
}

/* readdir() would allocate; glibc wraps the call only since 2.30 */
static int for_each_number(int fd, int (*cb)(void *ctx, pid_t id), void *ctx)
{
	char buf[8192];
	long n;
	int ret = 0;

	if (fd < 0)
		return fd;
	while (!ret && (n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) != 0) {
		if (n < 0) {
			ret = errno == ENOENT ? -ESRCH : -errno;
			break;
		}
		for (long off = 0; off < n && !ret;) {
			struct dirent_header d;
			pid_t id = pid_of_name(buf + off + DIRENT_NAME);

			memcpy(&d, buf + off, sizeof(d));
			if (id > 0)
				ret = cb(ctx, id);
			off += d.reclen;
		}
	}
	close(fd);
	return ret;
}

int procfs_for_each_pid(procfs_pid_fn cb, void *ctx)
{
	return for_each_number(open_root("."), cb, ctx);
}

struct task_walk {
	procfs_task_fn cb;
	void *ctx;
	pid_t pid;
};

static int walk_task(void *ctx, pid_t tid)
{
	struct task_walk *w = ctx;

	return w->cb(w->ctx, w->pid, tid);
}

int procfs_for_each_task(pid_t pid, procfs_task_fn cb, void *ctx)
{
	struct task_walk w = {.cb = cb, .ctx = ctx, .pid = pid};

	return for_each_number(open_task(pid, PROCFS_PROCESS, "task"), walk_task, &w);
}

/* Columns that an old kernel lacks stay unknown; those it has must be numbers */
static bool parse_cpu(const char *p, struct procfs_cpu *cpu)
{
	int64_t *const column[] = {&cpu->user,	 &cpu->nice, &cpu->system,  &cpu->idle,
				   &cpu->iowait, &cpu->irq,  &cpu->softirq, &cpu->steal};
	const size_t n = sizeof(column) / sizeof(column[0]);
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		*column[k] = PROCFS_UNKNOWN;
	while (i < n && take_count(&p, column[i]))
		i++;
	return i >= 4 && (i == n || p[strspn(p, " ")] == 0);
}

/* 1 for a CPU line, 0 for the first other one */
static int parse_stat_line(const char *line, struct procfs_cpu_totals *t)
{
	struct procfs_cpu cpu = {.id = -1};

	if (strncmp(line, "cpu", 3))
		return 0;
	line += 3;
	if (*line != ' ' && !take_int(&line, &cpu.id))
		return -EBADMSG;
	if (*line != ' ' || !parse_cpu(line, &cpu))
		return -EBADMSG;
	if (cpu.id < 0)
		t->all = cpu;
	else if (t->n < PROCFS_MAX_CPUS)
		t->cpu[t->n++] = cpu;
	else
		t->dropped++;
	return 1;
}

int procfs_cpu_totals(struct procfs_cpu_totals *totals)
{
	struct reader r = {.fd = open_root("stat")};
	char *line;
	int ret;

	totals->n = 0;
	totals->dropped = 0;
	if (r.fd < 0)
		return r.fd;
	while ((ret = next_line(&r, &line)) > 0 && (ret = parse_stat_line(line, totals)) > 0)
		;
	close(r.fd);
	if (!ret && !totals->n)
		ret = -EBADMSG;
	return ret;
}

static int read_link(const char *path, char *buf, size_t size)
{
	ssize_t n = readlink(path, buf, size - 1);

	if (n < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	buf[n] = 0;
	return 0;
}

int procfs_ns_pid_inode(pid_t pid, uint64_t *inode)
{
	char path[PATH_MAX], target[64];
	const char *p = target + 5;
	int err = 0;

	if (pid == 0)
		snprintf(path, sizeof(path), "%s/self/ns/pid", procfs_root);
	else
		err = procfs_path(path, sizeof(path), pid, PROCFS_PROCESS, "ns/pid");
	if (!err)
		err = read_link(path, target, sizeof(target));
	if (err)
		return err;
	if (strncmp(target, "pid:[", 5) || !take_number(&p, UINT64_MAX, inode) || *p != ']')
		return -EBADMSG;
	return 0;
}

pid_t procfs_self(void)
{
	char path[PATH_MAX], target[64];
	pid_t pid = 0;

	snprintf(path, sizeof(path), "%s/self", procfs_root);
	if (!read_link(path, target, sizeof(target)))
		pid = pid_of_name(target);
	return pid > 0 ? pid : getpid();
}

int procfs_delayacct(void)
{
	char buf[16];
	ssize_t len = read_all(open_root("sys/kernel/task_delayacct"), buf, sizeof(buf));

	if (len < 0)
		return (int)len;
	return buf[0] == '0' || buf[0] == '1' ? buf[0] - '0' : -EBADMSG;
}
