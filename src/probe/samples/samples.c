/* SPDX-License-Identifier: GPL-2.0-only */
#include "probe/samples/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "perf_abi.h"
#include "probe/machine/environment.h"
#include "probe/rungs/rung.h"
#include "probe/samples/samples_internal.h"
#include "sampler.skel.h"

/* An ended thread that burned less than this much CPU is shown with its group. */
#define KEEP_SAMPLES (TT_SAMPLE_HZ / 5)

#define WHAT "on-CPU samples"

/* One table for waits and samples; where no whole stacks are taken, as good as none. */
static int share_stacks(struct sampler *skel, bool wanted, const struct tracer *tracer)
{
	int fd = tracer_map_fd(tracer, "stacks");

	if (!wanted)
		return bpf_map__set_max_entries(skel->maps.stacks, 1);
	return fd < 0 ? 0 : bpf_map__reuse_fd(skel->maps.stacks, fd);
}

static int load(struct samples *samples, const struct samples_options *options,
		const struct tracer *tracer, char reason[RUNG_REASON_LEN])
{
	struct sampler *skel = sampler__open();
	int err = skel ? 0 : -errno;

	samples->skeleton = skel;
	if (!err) {
		skel->rodata->whole_stacks = options->whole_stacks;
		err = bpf_map__reuse_fd(skel->maps.tid_slots, tracer_tid_slots_fd(tracer));
	}
	if (!err)
		err = share_stacks(skel, options->whole_stacks, tracer);
	if (!err)
		err = sampler__load(skel);
	if (!err)
		err = flip_open(&samples->flip, skel->obj, (__u32 *)&skel->bss->flip_active);
	if (err)
		rung_explain_load(err, reason);
	return err;
}

static int attach(struct samples *samples, char reason[RUNG_REASON_LEN])
{
	static const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = TT_SAMPLE_HZ,
		.exclude_idle = 1,
	};

	return cpu_events_attach(&samples->events, &attr, samples->skeleton->progs.sample, reason);
}

static int make_tables(struct samples *samples, const struct samples_options *options,
		       const struct tracer *tracer)
{
	samples->tally = tally_new(tracer_slots_max(tracer), KEEP_SAMPLES);
	samples->stacks_fd = bpf_map__fd(samples->skeleton->maps.stacks);
	if (options->whole_stacks)
		samples->stacks = user_stacks_new(samples->stacks_fd, samples->symbols);
	if (!samples->tally || (options->whole_stacks && !samples->stacks))
		return -ENOMEM;
	return 0;
}

static void close_account(void *ctx, uint32_t slot, struct thread_account *account)
{
	struct samples *samples = ctx;
	int64_t counts[TALLY_COUNTS] = {0};

	if (account->oncpu_samples.total != UNKNOWN_COUNT)
		counts[0] = account->oncpu_samples.total;
	tally_close(samples->tally, slot, account, counts);
	account->oncpu_samples.total = counts[0];
}

struct samples *samples_open(const struct samples_options *options, struct tracer *tracer,
			     struct accounts *accounts, struct mappings *mappings,
			     struct user_symbols *symbols, struct capability *capability)
{
	struct samples *samples = calloc(1, sizeof(*samples));
	char reason[RUNG_REASON_LEN] = "out of memory";
	int err = samples ? 0 : -ENOMEM;

	if (!err) {
		samples->mappings = mappings;
		samples->symbols = symbols;
		err = load(samples, options, tracer, reason);
	}
	if (!err)
		err = make_tables(samples, options, tracer);
	if (!err)
		err = attach(samples, reason);
	if (!err)
		err = accounts_on_close(accounts, close_account, samples);
	if (err) {
		capability_add(capability, WHAT, reason);
		samples_close(samples);
		return NULL;
	}
	/* Last: both keep a pointer. */
	if (tracer_add_object(tracer, samples->skeleton->obj,
			      (struct tt_window *)&samples->skeleton->data->window))
		capability_add(capability, WHAT, "too many probes");
	return samples;
}

static void take(void *ctx, const void *key_bytes, const void *value_bytes)
{
	const struct tt_sample_key *key = key_bytes;
	const struct tt_sample *value = value_bytes;
	struct samples *samples = ctx;
	uint64_t tally_key[TALLY_KEY] = {
		[SAMPLE_KERNEL_IP] = key->kernel_ip,
		[SAMPLE_KERNEL_STACK] = key->kernel_stack,
		[SAMPLE_USER_STACK] = key->user_stack,
	};
	int64_t counts[TALLY_COUNTS] = {value->count, 0};

	if (key->user_ip)
		tally_key[SAMPLE_SYMBOL] =
			(uint64_t)(user_symbols_add(samples->symbols, value->tgid, key->user_ip) +
				   1);
	if (samples->stacks)
		user_stacks_note(samples->stacks, value->tgid, key->user_stack);
	tally_add(samples->tally, key->slot, value->tgid, value->tid, tally_key, counts);
}

void samples_tick(struct samples *samples)
{
	int err = samples ? flip_tick(&samples->flip, take, samples) : 0;

	if (err)
		msg_debug("cannot read the on-CPU samples: %s", strerror(-err));
	err = samples ? cpu_events_follow(&samples->events) : 0;
	if (err)
		msg_debug("no on-CPU samples of a CPU that came online: %s", strerror(-err));
}

void samples_stop(struct samples *samples)
{
	int err;

	if (!samples)
		return;
	cpu_events_detach(&samples->events);
	err = flip_finish(&samples->flip, take, samples);
	if (err)
		msg_warn("cannot read the on-CPU samples: %s", strerror(-err));
}

void samples_losses(const struct samples *samples, struct session_losses *losses)
{
	losses->samples_dropped += (int64_t)samples->skeleton->bss->samples_dropped;
	losses->stacks_dropped += (int64_t)samples->skeleton->bss->stacks_dropped;
}

void samples_close(struct samples *samples)
{
	if (!samples)
		return;
	cpu_events_detach(&samples->events);
	sampler__destroy(samples->skeleton);
	tally_free(samples->tally);
	user_stacks_free(samples->stacks);
	free(samples);
}
