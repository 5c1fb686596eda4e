/* SPDX-License-Identifier: GPL-2.0-only */
/* Preloaded: perf software events are refused, as under a strict perf_event_paranoid. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open &&
	    ((struct perf_event_attr *)a[0])->type == PERF_TYPE_SOFTWARE) {
		errno = EACCES;
		return -1;
	}
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
