/* SPDX-License-Identifier: GPL-2.0-only */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "report/text/text_parts.h"

#define TEXT 512
/* Waits on a CPU for this part of them or more are spinning, for the other part or less sleeping. */
#define SPINS  0.5
#define SLEEPS 0.1
/* From this part of the waiting on, one kind of call stands for all of it. */
#define NEARLY_ALL 0.9

static const char *how(const struct cuda_account *calls)
{
	double spin = share_of(calls->spin_ns, calls->sync_ns + calls->poll_ns);

	return spin >= SPINS ? "spinning" : spin <= SLEEPS ? "asleep" : "partly spinning";
}

static void feeder(char *text, const struct cuda_summary *cuda)
{
	const struct cuda_account *calls = &cuda->feeder_calls;
	const char *symbol = cuda->kinds[cuda->feeder_kind].symbol;
	int64_t wait_ns = calls->sync_ns + calls->poll_ns;
	char share[32];

	text_percent_sign(share, sizeof(share), share_of(wait_ns, cuda->feeder_wall_ns));
	text_appendf(text, TEXT, "%s: %s of its time ", cuda->feeder, share);
	if (share_of(cuda->feeder_kind_ns, wait_ns) >= NEARLY_ALL)
		text_appendf(text, TEXT, "in %s, %s", symbol, how(calls));
	else
		text_appendf(text, TEXT, "waiting for the GPU, %s, most in %s", how(calls), symbol);
	if (calls->launches == UNKNOWN_COUNT)
		return;
	text_percent_sign(share, sizeof(share), share_of(calls->launch_ns, cuda->feeder_wall_ns));
	text_appendf(text, TEXT, "; %" PRId64 " launches, %s of its time",
		     calls->launches + calls->graph_launches, share);
}

static void iterations(char *text, const struct iterations *iterations)
{
	char mean[32], p99[32];

	if (iterations->count == UNKNOWN_COUNT)
		return;
	text_duration(mean, sizeof(mean), iterations->mean_ns);
	text_duration(p99, sizeof(p99), iterations->p99_ns);
	text_appendf(text, TEXT, "%s%" PRId64 " iterations", *text ? "; " : "", iterations->count);
	if (iterations->mean_ns != UNKNOWN_NS)
		text_appendf(text, TEXT, " of %s (p99 %s)", mean, p99);
}

void text_cuda(struct lines *lines, const struct session *session)
{
	const struct cuda_summary *cuda = &session->cuda;
	char text[TEXT] = "";

	if (cuda->state == CUDA_ATTACHED && cuda->feeder_tid)
		feeder(text, cuda);
	else if (cuda->state == CUDA_ABSENT || cuda->state == CUDA_FAILED || *cuda->note)
		text_appendf(text, sizeof(text), "%s", cuda->note);
	iterations(text, &cuda->iterations);
	if (*text)
		lines_label(lines, "gpu calls", text, 2);
}

static void kinds(struct lines *lines, const struct cuda_summary *cuda)
{
	char text[TEXT] = "", time[32], spin[32], bytes[32];

	for (int i = 0; i < CUDA_KINDS; i++) {
		const struct cuda_kind_sum *kind = &cuda->kinds[i];

		if (kind->calls == UNKNOWN_COUNT || kind->calls == 0)
			continue;
		text_duration(time, sizeof(time), kind->ns);
		text_appendf(text, sizeof(text), "%s%s %" PRId64 " calls, %s", *text ? "; " : "",
			     kind->name, kind->calls, time);
		if (kind->oncpu_ns != UNKNOWN_NS) {
			text_duration(spin, sizeof(spin), kind->oncpu_ns);
			text_appendf(text, sizeof(text), " (on-CPU %s)", spin);
		}
		if (kind->bytes != UNKNOWN_COUNT) {
			text_bytes(bytes, sizeof(bytes), kind->bytes);
			text_appendf(text, sizeof(text), ", %s", bytes);
		}
	}
	lines_label(lines, "", *text ? text : "none seen", NO_LIMIT);
}

void text_cuda_details(struct lines *lines, const struct session *session)
{
	const struct cuda_summary *cuda = &session->cuda;
	char text[TEXT] = "", cost[32], when[32];

	if (cuda->state != CUDA_ATTACHED)
		return;
	text_duration(when, sizeof(when), cuda->attached_ns);
	text_appendf(text, sizeof(text), "%s (--cuda %s), %s%s", cuda->library,
		     cuda_mode_name(cuda->mode),
		     cuda->attached_ns ? "probed after " : "probed from the begin",
		     cuda->attached_ns ? when : "");
	if (cuda->libraries > 1)
		text_appendf(text, sizeof(text), ", and %d files more", cuda->libraries - 1);
	if (isfinite(cuda->ns_per_call)) {
		text_duration(cost, sizeof(cost), (int64_t)cuda->ns_per_call);
		text_appendf(text, sizeof(text), "; a probed call costs about %s more", cost);
	}
	text_appendf(text, sizeof(text),
		     "; %" PRId64 " inside others, %" PRId64 " left without a return, %" PRId64
		     " cut by the end",
		     cuda->nested, cuda->lost, cuda->cut);
	lines_label(lines, "CUDA", text, NO_LIMIT);
	kinds(lines, cuda);
	if (*cuda->iterations.note)
		lines_label(lines, "", cuda->iterations.note, NO_LIMIT);
}
