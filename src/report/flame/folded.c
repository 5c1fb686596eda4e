/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/flame/folded.h"

#include <inttypes.h>
#include <string.h>

#include "base/frame.h"
#include "base/text.h"
#include "report/output.h"

#define US_PER_S  1000000
#define NS_PER_US 1000

static void begin(FILE *out, const char *group, const char *state, const char *what)
{
	char frame[TEXT_SANITIZED_SIZE(32)];

	frame_escape(frame, sizeof(frame), group);
	fprintf(out, "%s;%s%s%s", frame, state, *what ? ":" : "", what);
}

static const char *kind_suffix(enum oncpu_kind kind)
{
	return kind == ONCPU_WORK ? "" : oncpu_kind_name(kind);
}

static int64_t sampled_us(const struct session *session, int64_t samples)
{
	return (int64_t)((double)samples * US_PER_S / session->oncpu_hz + 0.5);
}

static void frame(FILE *out, const char *name, const char *suffix)
{
	char text[TEXT_SANITIZED_SIZE(128)];

	if (!*name)
		return;
	frame_escape(text, sizeof(text), name);
	fprintf(out, ";%s%s", text, suffix);
}

/* Without whole stacks: the library, the function, and where in the kernel. */
static void write_site(FILE *out, const struct session *session, const struct oncpu_site *site)
{
	begin(out, site->group, "on-CPU", kind_suffix(site->kind));
	frame(out, site->library, "");
	frame(out, site->function, "");
	frame(out, site->kernel, "_[k]");
	fprintf(out, " %" PRId64 "\n", sampled_us(session, site->samples));
}

static void write_oncpu_stack(FILE *out, const struct session *session,
			      const struct oncpu_stack *stack)
{
	begin(out, stack->group, "on-CPU", kind_suffix(stack->kind));
	fprintf(out, "%s%s %" PRId64 "\n", *stack->frames ? ";" : "", stack->frames,
		sampled_us(session, stack->samples));
}

static void write_wait(FILE *out, const struct wait_stack *stack)
{
	const char *frames = stack->frames ? stack->frames : "";

	begin(out, stack->group, "off-CPU", wait_class_name(stack->class));
	fprintf(out, "%s%s %" PRId64 "\n", *frames ? ";" : "", frames, stack->ns / NS_PER_US);
}

int report_folded_write(FILE *out, const struct session *session)
{
	for (size_t i = 0; i < session->nstacks; i++)
		write_wait(out, &session->stacks[i]);
	for (size_t i = 0; i < session->noncpu_stacks; i++)
		write_oncpu_stack(out, session, &session->oncpu_stacks[i]);
	for (size_t i = 0; i < session->noncpu && !session->noncpu_stacks; i++)
		write_site(out, session, &session->oncpu[i]);
	return output_finish(out);
}
