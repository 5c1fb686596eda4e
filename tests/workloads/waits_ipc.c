/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that wait in system calls: for another thread of theirs, for a process that is none of
 * theirs, for the network, a terminal, a child, a signal, a timer.
 *
 *   pipe-in, event-in, unix-in   read a pipe, an eventfd, a socket pair: written by pipe-peer,
 *                                event-peer, unix-peer of the same process
 *   poll-in, epoll-in            the same by poll() of an eventfd, epoll of a pipe
 *   pipe-kid                     a pipe, written by the child process kid-peer
 *   pipe-far, event-far, unix-far   the same, written by processes of another session:
 *                                pipe-out, event-out, unix-out
 *   tcp-in, epoll-tcp            TCP over the loopback
 *   pty-in                       a pseudo-terminal
 *   sig-in                       sigtimedwait(), sent by sig-peer; sig-timeout: until it times out
 *   nap, nap-abs, epoll-timeout, epoll-timer   sleeps, and epoll with a time-out, of a timerfd
 *   child-wait                   wait4() for children nap-kid that sleep
 *
 *   count=211  waits a thread       us=7001  how long each
 */
#include "waits.h"
#include "orphan.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <termios.h>

static void need(bool ok, const char *what)
{
	if (!ok)
		wl_die(WL_FAIL, "%s: %s", what, strerror(errno));
}

/* giving and taking: one byte, or one count of an eventfd */

static void give_byte(struct handover *h)
{
	need(write(h->out, "x", 1) == 1, h->giver);
}

static void take_byte(struct handover *h)
{
	char c;

	need(read(h->in, &c, 1) == 1, h->taker);
}

static void give_event(struct handover *h)
{
	uint64_t one = 1;

	need(write(h->out, &one, sizeof(one)) == sizeof(one), h->giver);
}

static void take_event(struct handover *h)
{
	uint64_t one;

	need(read(h->in, &one, sizeof(one)) == sizeof(one), h->taker);
}

static void poll_event(struct handover *h)
{
	struct pollfd p = {.fd = h->in, .events = POLLIN};

	need(poll(&p, 1, -1) == 1, h->taker);
	take_event(h);
}

static void epoll_byte(struct handover *h)
{
	struct epoll_event e;

	need(epoll_wait(h->poll, &e, 1, -1) == 1, h->taker);
	take_byte(h);
}

static void make_pipe(struct handover *h)
{
	int fd[2];

	need(!pipe2(fd, O_CLOEXEC), h->taker);
	h->in = fd[0];
	h->out = fd[1];
}

static void make_event(struct handover *h)
{
	h->in = h->out = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	need(h->in >= 0, h->taker);
}

static void make_unix(struct handover *h)
{
	int fd[2];

	need(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), h->taker);
	h->in = fd[0];
	h->out = fd[1];
}

static void make_tcp(struct handover *h)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	socklen_t len = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	h->out = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	need(server >= 0 && h->out >= 0 && !bind(server, (struct sockaddr *)&at, len) &&
		     !listen(server, 1) && !getsockname(server, (struct sockaddr *)&at, &len) &&
		     !connect(h->out, (struct sockaddr *)&at, len),
	     h->taker);
	h->in = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	need(h->in >= 0 && !setsockopt(h->out, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)),
	     h->taker);
	close(server);
}

static void make_pty(struct handover *h)
{
	struct termios raw;
	char name[64];

	h->out = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	need(h->out >= 0 && !grantpt(h->out) && !unlockpt(h->out) &&
		     !ptsname_r(h->out, name, sizeof(name)),
	     h->taker);
	h->in = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	need(h->in >= 0 && !tcgetattr(h->in, &raw), h->taker);
	cfmakeraw(&raw);
	need(!tcsetattr(h->in, TCSANOW, &raw), h->taker);
}

static void make_epoll(struct handover *h, int fd)
{
	struct epoll_event e = {.events = EPOLLIN};

	h->poll = epoll_create1(EPOLL_CLOEXEC);
	need(h->poll >= 0 && !epoll_ctl(h->poll, EPOLL_CTL_ADD, fd, &e), h->taker);
}

static void make_epoll_pipe(struct handover *h)
{
	make_pipe(h);
	make_epoll(h, h->in);
}

static void make_epoll_tcp(struct handover *h)
{
	make_tcp(h);
	make_epoll(h, h->in);
}

/* Queued signals: none is lost while the taker is busy. */
static void give_signal(struct handover *h)
{
	union sigval value = {.sival_int = 1};

	while (pthread_sigqueue(h->taker_thread->pthread, SIGRTMIN, value) == EAGAIN)
		wl_sleep(WL_MSEC);
}

static void take_signal(struct handover *h)
{
	sigset_t set;

	(void)h;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	while (sigwaitinfo(&set, NULL) < 0 && errno == EINTR)
		;
}

#define BY_THREAD(name)	 .giver = name, .kind = {"thread", "thread", name}
#define BY_PROCESS(name) .giver = name, .kind = {"process", "process", name}
#define BY_NET(name)	 .giver = name, .kind = {"net", "softirq", NULL}
#define BYTES(maker)	 .make = maker, .give = give_byte, .take = take_byte
#define EVENTS		 .make = make_event, .give = give_event, .take = take_event

static struct handover near[] = {
	{.taker = "pipe-in", BY_THREAD("pipe-peer"), BYTES(make_pipe)},
	{.taker = "event-in", BY_THREAD("event-peer"), EVENTS},
	{.taker = "unix-in", BY_THREAD("unix-peer"), BYTES(make_unix)},
	{.taker = "poll-in",
	 BY_THREAD("poll-peer"),
	 .make = make_event,
	 .give = give_event,
	 .take = poll_event},
	{.taker = "epoll-in",
	 BY_THREAD("epoll-peer"),
	 .make = make_epoll_pipe,
	 .give = give_byte,
	 .take = epoll_byte},
	{.taker = "sig-in", BY_THREAD("sig-peer"), .give = give_signal, .take = take_signal},
	{.taker = "pipe-kid", BY_THREAD("kid-peer"), BYTES(make_pipe), .process = true},
	{.taker = "tcp-in", BY_NET("tcp-peer"), BYTES(make_tcp)},
	{.taker = "epoll-tcp",
	 BY_NET("etcp-peer"),
	 .make = make_epoll_tcp,
	 .give = give_byte,
	 .take = epoll_byte},
	{.taker = "pty-in",
	 .giver = "pty-peer",
	 .kind = {"device", "kernel", NULL},
	 BYTES(make_pty)},
	{.taker = "pipe-far", BY_PROCESS("pipe-out"), BYTES(make_pipe)},
	{.taker = "event-far", BY_PROCESS("event-out"), EVENTS},
	{.taker = "unix-far", BY_PROCESS("unix-out"), BYTES(make_unix)},
};

#define NHANDOVERS (sizeof(near) / sizeof(near[0]))

static bool is_far(const struct handover *h)
{
	return !strcmp(h->kind.by, "process");
}

/* The giver as a process of nobody's. */
static void far_giver(struct orphan *o)
{
	struct handover *h = o->arg;
	unsigned int i;

	if (!orphan_wait_go())
		return;
	for (i = 0; i < wait_count && !orphan_alone(); i++) {
		if (!wl_stopped())
			wl_sleep(wait_nap_ns);
		h->give(h);
	}
}

/* timers */

static void nap(struct wl_thread *t)
{
	unsigned int i;

	for (i = 0; i < wait_count; i++)
		wait_nap(t, 0, wait_nap_ns);
}

static void nap_absolute(struct wl_thread *t)
{
	uint64_t at = wl_now();
	unsigned int i;

	for (i = 0; i < wait_count; i++)
		wait_until(t, 0, at += wait_nap_ns);
}

/* epoll_wait() takes whole milliseconds. */
static void epoll_timeout(struct wl_thread *t)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e;
	struct wait_clock c;
	unsigned int i;

	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		c = wait_read();
		need(!epoll_wait(epoll, &e, 1, (int)(wait_nap_ns / WL_MSEC)), t->name);
		wait_end(t, 0, c);
	}
	close(epoll);
}

static void epoll_timer(struct wl_thread *t)
{
	struct handover h = {.taker = t->name};
	struct itimerspec every = {.it_value = wl_ts(wait_nap_ns),
				   .it_interval = wl_ts(wait_nap_ns)};
	unsigned int i;
	struct wait_clock c;

	h.in = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	need(h.in >= 0, t->name);
	make_epoll(&h, h.in);
	timerfd_settime(h.in, 0, &every, NULL);
	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		struct epoll_event e;

		c = wait_read();
		need(epoll_wait(h.poll, &e, 1, -1) == 1, t->name);
		wait_end(t, 0, c);
		take_event(&h);
	}
	close(h.poll);
	close(h.in);
}

static void signal_timeout(struct wl_thread *t)
{
	struct timespec ts = wl_ts(wait_nap_ns);
	struct wait_clock c;
	unsigned int i;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMAX);
	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		c = wait_read();
		sigtimedwait(&set, NULL, &ts);
		wait_end(t, 0, c);
	}
}

/* children */

static pid_t nap_kid(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, "nap-kid");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	wl_sleep(wait_nap_ns);
	_exit(0);
}

static void child_wait(struct wl_thread *t)
{
	struct wait_clock c;
	unsigned int i;
	pid_t pid;

	for (i = 0; i < wait_count && !wl_stopped(); i++) {
		pid = nap_kid();
		need(pid > 0, t->name);
		c = wait_read();
		need(waitpid(pid, NULL, 0) == pid, t->name);
		wait_end(t, 0, c);
	}
}

/* setting up */

static void add_signal_block(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGRTMAX);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void truth(struct wl_json *j)
{
	wait_json(j);
	orphan_json(j);
}

int main(int argc, char **argv)
{
	size_t i;

	wl_init("waits_ipc", argc, argv, 3);
	wait_args(211, 7001);
	wl_args_done();
	add_signal_block();
	handovers = near;
	for (i = 0; i < NHANDOVERS; i++)
		handover_add((int)i, !is_far(&near[i]));
	for (i = 0; i < NHANDOVERS; i++)
		if (is_far(&near[i]))
			orphan_add(near[i].giver, far_giver, &near[i]);
	wait_add(nap, "nap", wait_timer);
	wait_add(nap_absolute, "nap-abs", wait_timer);
	wait_add(epoll_timeout, "epoll-timeout", wait_timer);
	wait_add(epoll_timer, "epoll-timer", wait_timer);
	wait_add(signal_timeout, "sig-timeout", wait_timer);
	wait_add(child_wait, "child-wait", (struct wait_kind){"child", "thread", "nap-kid"});
	wl_launch();
	wait_load();
	return wl_finish(truth);
}
