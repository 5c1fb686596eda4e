/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded: what the program makes in the kernel outlives it, as its descriptors are sent to a socket
 * where nobody reads them. LEAK names the kind (prog, map, link, event), LEAK_SOCKET the socket,
 * LEAK_MAX how many.
 */
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static const char *kind_made(long number, long command)
{
	if (number == SYS_perf_event_open)
		return "event";
	if (number != SYS_bpf)
		return "";
	switch (command) {
	case BPF_PROG_LOAD:
		return "prog";
	case BPF_MAP_CREATE:
		return "map";
	case BPF_LINK_CREATE:
	case BPF_RAW_TRACEPOINT_OPEN:
		return "link";
	default:
		return "";
	}
}

static void leak(int fd)
{
	static int to = -1, left;
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr head;
	} control = {0};
	struct iovec data = {.iov_base = "x", .iov_len = 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	if (to < 0) {
		left = atoi(getenv("LEAK_MAX"));
		snprintf(name.sun_path, sizeof(name.sun_path), "%s", getenv("LEAK_SOCKET"));
		to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(to, (struct sockaddr *)&name, sizeof(name)))
			abort();
	}
	control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
					.cmsg_level = SOL_SOCKET,
					.cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (left-- > 0 && sendmsg(to, &message, MSG_DONTWAIT) != 1)
		abort();
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	va_list args;
	long a[6], result;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (result >= 0 && !strcmp(kind_made(number, a[0]), getenv("LEAK")))
		leak((int)result);
	return result;
}
