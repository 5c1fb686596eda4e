/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/rungs/perf_cpu.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe/event_clock.h"

#define STACKS_RING_BYTES (128u << 10)

static int open_event(struct perf_event_attr *attr, int cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_tracepoint(int id, int cpu, size_t ring_bytes)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.read_format = EVENT_CLOCK_FORMAT,
		.wakeup_watermark = ring_bytes / 4,
	};

	return open_event(&attr, cpu);
}

static int open_ring_only(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.wakeup_watermark = STACKS_RING_BYTES / 2,
	};

	return open_event(&attr, cpu);
}

static int open_callchain(int id, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
		.exclude_callchain_user = 1,
		.wakeup_watermark = STACKS_RING_BYTES / 2,
	};

	return open_event(&attr, cpu);
}

static int map_ring(struct perf_buffer *buffer, int fd, size_t data_bytes,
		    const struct perf_cpu_settings *settings)
{
	struct perf_event_mmap_page *page;
	size_t bytes = data_bytes + (size_t)sysconf(_SC_PAGESIZE);
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (pages == MAP_FAILED)
		return -errno;
	page = pages;
	buffer->pages = pages;
	buffer->bytes = bytes;
	/* data_offset and data_size came in 4.1 */
	buffer->source.ring.data = (const char *)pages + sysconf(_SC_PAGESIZE);
	buffer->source.ring.size = data_bytes;
	buffer->source.ring.scratch = settings->scratch;
	buffer->source.ring.position = page->data_tail;
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void unmap_ring(struct perf_buffer *buffer)
{
	if (buffer->pages)
		munmap(buffer->pages, buffer->bytes);
	buffer->pages = NULL;
}

static int open_stacks(struct perf_cpu *cpu, const struct perf_cpu_settings *settings)
{
	int err;

	cpu->stacks_fd = open_ring_only(cpu->cpu);
	if (cpu->stacks_fd < 0)
		return cpu->stacks_fd;
	err = map_ring(&cpu->stacks, cpu->stacks_fd, STACKS_RING_BYTES, settings);
	cpu->stacks.source.stacks = true;
	cpu->stacks.source.cpu = (__u16)cpu->cpu;
	return err;
}

int perf_cpu_open(struct perf_cpu *cpu, int number, const struct perf_cpu_settings *settings,
		  const char **what)
{
	const struct event_formats *formats = settings->formats;
	int err = 0;

	memset(cpu, 0, sizeof(*cpu));
	cpu->cpu = number;
	cpu->stacks_fd = cpu->stack_event_fd = -1;
	cpu->events.source.cpu = (__u16)number;
	for (int i = 0; i < EVENT_KINDS; i++)
		cpu->fds[i] = -1;
	for (int i = 0; i < EVENT_KINDS && !err; i++) {
		if (formats->of[i].id < 0)
			continue;
		*what = event_name(i);
		cpu->fds[i] = open_tracepoint(formats->of[i].id, number, settings->ring_bytes);
		if (cpu->fds[i] < 0)
			err = cpu->fds[i];
		else if (i == EVENT_SWITCH)
			err = map_ring(&cpu->events, cpu->fds[i], settings->ring_bytes, settings);
		else if (ioctl(cpu->fds[i], PERF_EVENT_IOC_SET_OUTPUT, cpu->fds[EVENT_SWITCH]))
			err = -errno;
	}
	if (!err && settings->stacks)
		err = open_stacks(cpu, settings);
	return err;
}

void perf_cpu_close(struct perf_cpu *cpu)
{
	close_fd(&cpu->stack_event_fd);
	unmap_ring(&cpu->stacks);
	close_fd(&cpu->stacks_fd);
	for (int i = EVENT_KINDS - 1; i > EVENT_SWITCH; i--)
		close_fd(&cpu->fds[i]);
	unmap_ring(&cpu->events);
	close_fd(&cpu->fds[EVENT_SWITCH]);
}

static void control(const struct perf_cpu *cpu, unsigned long request)
{
	for (int i = 0; i < EVENT_KINDS; i++) {
		if (cpu->fds[i] >= 0)
			ioctl(cpu->fds[i], request, 0);
	}
	if (cpu->stack_event_fd >= 0)
		ioctl(cpu->stack_event_fd, request, 0);
}

void perf_cpu_enable(const struct perf_cpu *cpu)
{
	control(cpu, PERF_EVENT_IOC_ENABLE);
}

void perf_cpu_disable(const struct perf_cpu *cpu)
{
	control(cpu, PERF_EVENT_IOC_DISABLE);
}

/* A filter can only be set once, so a new one is a new event. */
int perf_cpu_walk(struct perf_cpu *cpu, const struct event_formats *formats, const char *filter)
{
	int fd, err = 0;

	if (cpu->stacks_fd < 0)
		return 0;
	close_fd(&cpu->stack_event_fd);
	if (!filter)
		return 0;
	fd = open_callchain(formats->of[EVENT_SWITCH].id, cpu->cpu);
	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->stacks_fd) ||
	    ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		err = -errno;
	if (err)
		close(fd);
	else
		cpu->stack_event_fd = fd;
	return err;
}

void perf_buffer_begin(struct perf_buffer *buffer)
{
	const struct perf_event_mmap_page *page = buffer->pages;

	merge_set_head(&buffer->source, __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE));
}

void perf_buffer_end(struct perf_buffer *buffer)
{
	struct perf_event_mmap_page *page = buffer->pages;

	__atomic_store_n(&page->data_tail, buffer->source.ring.position, __ATOMIC_RELEASE);
}
