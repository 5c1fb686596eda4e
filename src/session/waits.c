/* SPDX-License-Identifier: GPL-2.0-only */
#include "session/waits.h"

const char *wait_class_name(enum wait_class wait)
{
	static const char *const names[WAIT_CLASSES] = {
		[WAIT_GPU] = "gpu",	[WAIT_DISK] = "disk",	  [WAIT_FAULT] = "fault",
		[WAIT_LOCK] = "lock",	[WAIT_THREAD] = "thread", [WAIT_PROCESS] = "process",
		[WAIT_NET] = "net",	[WAIT_DEVICE] = "device", [WAIT_TIMER] = "timer",
		[WAIT_CHILD] = "child", [WAIT_EVENT] = "event",	  [WAIT_OTHER] = "other",
	};

	return (unsigned int)wait < WAIT_CLASSES ? names[wait] : "?";
}

const char *waker_kind_name(enum waker_kind kind)
{
	static const char *const names[WAKER_KINDS] = {
		[WAKER_NONE] = "none",	   [WAKER_THREAD] = "thread", [WAKER_PROCESS] = "process",
		[WAKER_KERNEL] = "kernel", [WAKER_IRQ] = "irq",	      [WAKER_SOFTIRQ] = "softirq",
		[WAKER_TIMER] = "timer",
	};

	return (unsigned int)kind < WAKER_KINDS ? names[kind] : "?";
}
