/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/block_io.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "block.h"
#include "block_tracepoint.skel.h"
#include "probe/machine/environment.h"
#include "probe/rungs/rung.h"
#include "probe/tracefs.h"

/* A device number as the kernel keeps it. */
#define KERNEL_MINOR_BITS 20

/* A request issued so long before the window's end has hardly been under way at it. */
#define RECENT_NS 1000000000LL

struct block_io {
	struct block_tracepoint *skel;
	struct tt_block_io *slot_io; /* shared with the programs */
	size_t slot_io_size;
};

static const struct wanted_event {
	const char *event, *size_field;
	size_t rodata; /* where the program reads the offsets */
	size_t program;
	bool optional; /* not on every kernel; then what it tells does not happen, or is not told */
} events[] = {
#define EVENT(name, size, at, may_lack)                                              \
	{                                                                            \
		"block/" #name, size, offsetof(struct block_tracepoint__rodata, at), \
			offsetof(struct block_tracepoint, progs.name), may_lack      \
	}
	EVENT(block_getrq, "nr_sector", at_getrq, false),
	EVENT(block_rq_issue, "bytes", at_issue, false),
	EVENT(block_rq_complete, "nr_sector", at_complete, false),
	EVENT(block_rq_requeue, "nr_sector", at_requeue, false),
	EVENT(block_bio_frontmerge, "nr_sector", at_frontmerge, false),
	EVENT(block_rq_merge, "nr_sector", at_merge, true),
#undef EVENT
};

static bool lies_within(const struct tracefs_field *field, int size)
{
	return field->size >= size && field->offset % size == 0 && field->offset >= 0 &&
	       field->offset + size <= TT_BLOCK_RECORD_BYTES;
}

static int set_offsets(const struct tracefs *tracefs, const struct wanted_event *event,
		       struct tt_block_fields *at, char reason[RUNG_REASON_LEN])
{
	struct tracefs_field fields[] = {
		{.name = "dev"}, {.name = "sector"}, {.name = event->size_field}, {.name = "rwbs"}};
	int err = tracefs_event_fields(tracefs, event->event, fields, 4);

	if (err) {
		snprintf(reason, RUNG_REASON_LEN,
			 "the kernel has no tracepoint %s as it is known: %s", event->event,
			 strerror(-err));
		return err;
	}
	/* of rwbs two characters are read, one at a time */
	if (!lies_within(&fields[0], 4) || !lies_within(&fields[1], 8) ||
	    !lies_within(&fields[2], 4) || fields[3].size < 2 || fields[3].offset < 0 ||
	    fields[3].offset + 2 > TT_BLOCK_RECORD_BYTES) {
		snprintf(reason, RUNG_REASON_LEN, "the record of %s is not understood",
			 event->event);
		return -EINVAL;
	}
	at->dev = fields[0].offset;
	at->sector = fields[1].offset;
	at->size = fields[2].offset;
	at->rwbs = fields[3].offset;
	return 0;
}

static int prepare_events(struct block_tracepoint *skel, char reason[RUNG_REASON_LEN])
{
	struct tracefs tracefs;
	int err = tracefs_open(&tracefs);

	if (err) {
		snprintf(reason, RUNG_REASON_LEN, "tracefs %s", tracefs.where);
		return err;
	}
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !err; i++) {
		const struct wanted_event *event = &events[i];
		struct bpf_program *program =
			*(struct bpf_program **)((char *)skel + event->program);

		if (event->optional && tracefs_event_id(&tracefs, event->event) < 0)
			bpf_program__set_autoload(program, false);
		else
			err = set_offsets(
				&tracefs, event,
				(struct tt_block_fields *)((char *)skel->rodata + event->rodata),
				reason);
	}
	tracefs_close(&tracefs);
	return err;
}

static int load(struct block_io *block, const struct tracer *tracer, char reason[RUNG_REASON_LEN])
{
	struct block_tracepoint *skel = block_tracepoint__open();
	int err;

	if (!skel) {
		err = -errno;
		rung_explain_load(err, reason);
		return err;
	}
	block->skel = skel;
	err = prepare_events(skel, reason);
	if (err)
		return err;
	err = bpf_map__set_max_entries(skel->maps.slot_io, tracer_slots_max(tracer));
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.tid_slots, tracer_tid_slots_fd(tracer));
	if (!err)
		err = tracer_share_timeline(tracer, skel->maps.timeline,
					    &skel->rodata->keep_timeline);
	if (!err)
		err = block_tracepoint__load(skel);
	if (err)
		rung_explain_load(err, reason);
	return err;
}

static int share_slots(struct block_io *block, const struct tracer *tracer)
{
	size_t page = sysconf(_SC_PAGESIZE),
	       size = tracer_slots_max(tracer) * sizeof(struct tt_block_io);
	void *p;

	block->slot_io_size = (size + page - 1) / page * page;
	p = mmap(NULL, block->slot_io_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		 bpf_map__fd(block->skel->maps.slot_io), 0);
	if (p == MAP_FAILED)
		return -errno;
	block->slot_io = p;
	return 0;
}

static void add(int64_t *sum, uint64_t value)
{
	*sum = (*sum == UNKNOWN_COUNT ? 0 : *sum) + (int64_t)value;
}

static void close_slot(void *ctx, uint32_t slot, struct thread_account *account)
{
	struct block_io *block = ctx;
	struct tt_block_io *io;

	if (!block->slot_io)
		return;
	io = &block->slot_io[slot];
	add(&account->io_reads, io->reads);
	add(&account->io_writes, io->writes);
	add(&account->io_read_bytes, io->read_bytes);
	add(&account->io_write_bytes, io->write_bytes);
	add(&account->io_queue_ns, io->queue_ns);
	add(&account->io_device_ns, io->device_ns);
	/* reading alone leaves the page untouched */
	if (io->tid)
		memset(io, 0, sizeof(*io));
}

static int start(struct block_io *block, struct tracer *tracer, char reason[RUNG_REASON_LEN])
{
	int err = load(block, tracer, reason);

	if (!err)
		err = share_slots(block, tracer);
	if (!err)
		err = rung_attach_tracepoints(block->skel->skeleton, reason);
	if (!err)
		err = tracer_add_object(tracer, block->skel->obj,
					(struct tt_window *)&block->skel->data->window);
	if (err && !*reason)
		snprintf(reason, RUNG_REASON_LEN, "cannot be set up: %s", strerror(-err));
	return err;
}

static void stop(struct block_io *block)
{
	if (block->slot_io)
		munmap(block->slot_io, block->slot_io_size);
	block_tracepoint__destroy(block->skel);
	block->slot_io = NULL;
	block->skel = NULL;
}

struct block_io *block_io_open(struct tracer *tracer, struct accounts *accounts,
			       struct capability *capability)
{
	struct block_io *block = calloc(1, sizeof(*block));
	char reason[RUNG_REASON_LEN] = "";

	if (!block || accounts_on_close(accounts, close_slot, block)) {
		free(block);
		capability_add(capability, "block I/O", "no room for one more probe");
		return NULL;
	}
	if (start(block, tracer, reason)) {
		stop(block);
		capability_add(capability, "block I/O", reason);
	}
	return block;
}

void block_io_close(struct block_io *block)
{
	if (block)
		stop(block);
	free(block);
}

void block_device_name(const char *root, unsigned int major, unsigned int minor, char *name,
		       size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/sys/dev/block/%u:%u", root, major, minor);
	n = readlink(path, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		base = strrchr(target, '/');
		base = base ? base + 1 : target;
		text_sanitize(name, size, base, strlen(base));
	}
	if (n <= 0 || !*name)
		snprintf(name, size, "%u:%u", major, minor);
}

void block_kernel_device_name(uint32_t dev, char *name, size_t size)
{
	block_device_name("", dev >> KERNEL_MINOR_BITS, dev & ((1u << KERNEL_MINOR_BITS) - 1), name,
			  size);
}

static void add_delay(struct block_delay *into, const struct tt_block_delay *from)
{
	into->count += (int64_t)from->count;
	into->sum_ns += (int64_t)from->sum_ns;
	if ((int64_t)from->max_ns > into->max_ns)
		into->max_ns = (int64_t)from->max_ns;
	for (int i = 0; i < BLOCK_HIST_BUCKETS; i++)
		into->hist[i] += from->hist[i];
}

static void add_row(struct session *session, const struct tt_block_row_key *key,
		    const struct tt_block_row *per_cpu, int cpus)
{
	struct block_row *row = session_add_block(session);

	if (!row)
		return;
	block_kernel_device_name(key->dev, row->device, sizeof(row->device));
	row->op = (enum block_op)key->op;
	row->target = key->target;
	for (int i = 0; i < cpus; i++) {
		row->count += (int64_t)per_cpu[i].count;
		row->bytes += (int64_t)per_cpu[i].bytes;
		add_delay(&row->queue, &per_cpu[i].queue);
		add_delay(&row->device_lat, &per_cpu[i].device);
	}
}

static int64_t under_way_ns(const struct block_row *row)
{
	return row->queue.sum_ns + row->device_lat.sum_ns;
}

static int compare_rows(const void *a, const void *b)
{
	const struct block_row *x = a, *y = b;
	int64_t x_ns = under_way_ns(x), y_ns = under_way_ns(y);

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return strcmp(x->device, y->device);
}

/* Still under way, as far as can be told: an event that was missed leaves its request there too. */
static int64_t count_recent(const struct block_io *block, int64_t since_ns)
{
	int fd = bpf_map__fd(block->skel->maps.requests);
	struct tt_block_key key, *previous = NULL;
	struct tt_block_request request;
	int64_t n = 0;

	while (!bpf_map_get_next_key(fd, previous, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, &request) &&
		    (int64_t)request.t_issue_ns >= since_ns)
			n++;
		previous = &key;
	}
	return n;
}

static void fill_losses(const struct block_io *block, struct session *session)
{
	struct session_losses *losses = &session->losses;
	int64_t since_ns = session->end_ns - RECENT_NS, unfinished = 0;

	for (size_t i = 0; i < session->nblock; i++)
		unfinished += session->block[i].count - session->block[i].device_lat.count;
	if (since_ns < session->start_ns)
		since_ns = session->start_ns;
	unfinished -= count_recent(block, since_ns);
	losses->block_unfinished = unfinished > 0 ? unfinished : 0;
	losses->block_unmatched = (int64_t)block->skel->bss->losses.unmatched;
	losses->block_dropped = (int64_t)block->skel->bss->losses.dropped;
	session_add_timeline_lost(session, block->skel->bss->timeline_lost);
}

void block_io_finish(struct block_io *block, struct session *session)
{
	struct tt_block_row_key key, *previous = NULL;
	int cpus = libbpf_num_possible_cpus(), fd;
	struct tt_block_row *values;

	if (!block || !block->skel || cpus <= 0)
		return;
	block_tracepoint__detach(block->skel);
	values = calloc(cpus, sizeof(*values));
	if (!values)
		return;
	fd = bpf_map__fd(block->skel->maps.rows);
	while (!bpf_map_get_next_key(fd, previous, &key)) {
		if (!bpf_map_lookup_elem(fd, &key, values))
			add_row(session, &key, values, cpus);
		previous = &key;
	}
	free(values);
	if (session->nblock)
		qsort(session->block, session->nblock, sizeof(*session->block), compare_rows);
	session->block_known = true;
	fill_losses(block, session);
}
