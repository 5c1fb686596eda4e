/* SPDX-License-Identifier: GPL-2.0-only */
/* Block I/O by device and by submitting thread: bpf/block_tracepoint.bpf.c, on both rungs. */
#ifndef TEGRATRACE_PROBE_BLOCK_IO_H
#define TEGRATRACE_PROBE_BLOCK_IO_H

#include <stddef.h>
#include <stdint.h>

#include "probe/accounts.h"
#include "probe/tracer.h"
#include "session/session.h"

struct block_io;

/*
 * Load and attach; the window is the tracer's. When that fails `capability` says why and the rest
 * is as without; NULL only when out of memory. The accounts get the threads' requests as they are
 * closed, so this is freed after them.
 */
struct block_io *block_io_open(struct tracer *tracer, struct accounts *accounts,
			       struct capability *capability);

/* After the window: detach; the devices' rows and the losses. NULL is fine. */
void block_io_finish(struct block_io *block, struct session *session);

/* Detach, unload, free. NULL is fine. */
void block_io_close(struct block_io *block);

/* "nvme0n1" of a device number, from <root>/sys/dev/block; "259:0" where it has no name. */
void block_device_name(const char *root, unsigned int major, unsigned int minor, char *name,
		       size_t size);
/* The same of a number as the kernel has it (struct tt_block_event). */
void block_kernel_device_name(uint32_t dev, char *name, size_t size);

#endif
