/* SPDX-License-Identifier: GPL-2.0-only */
#include "diagnose/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static int exit_status(int status)
{
	if (status < 0)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void repeat_run_of(const struct session *session, const struct verdict *verdict,
		   struct repeat_run *run)
{
	const struct iterations *iterations = &session->cuda.iterations;
	int64_t ns = session_duration_ns(session), counted_ns = ns;

	memset(run, 0, sizeof(*run));
	for (int i = 0; i < REPEAT_QUANTITIES; i++)
		run->value[i] = NAN;
	run->exit_status =
		session->ended_by == END_TARGET_EXIT ? exit_status(session->command_status) : -1;
	run->end = session->ended_by == END_INTERRUPT ? REPEAT_INTERRUPTED
		   : run->exit_status > 0	      ? REPEAT_FAILED
						      : REPEAT_WHOLE;
	run->class = verdict->class;
	run->confidence = verdict->confidence;
	if (ns != UNKNOWN_NS && iterations->attached_ns != UNKNOWN_NS)
		counted_ns -= iterations->attached_ns;
	if (ns != UNKNOWN_NS)
		run->value[REPEAT_TIME] = (double)ns / 1e9;
	if (iterations->count > 0 && counted_ns > 0)
		run->value[REPEAT_ITERATIONS] =
			(double)iterations->count / ((double)counted_ns / 1e9);
	if (iterations->count > 0 && iterations->mean_ns != UNKNOWN_NS)
		run->value[REPEAT_ITERATION] = (double)iterations->mean_ns / 1e9;
	run->value[REPEAT_SHARE] = verdict->share;
	if (session->tegra.gpu_busy.n)
		run->value[REPEAT_GPU] = session->tegra.gpu_busy.mean;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void take_stat(const struct repeat_run *runs, int n, int quantity, struct repeat_stat *stat)
{
	double known[REPEATS_MAX];

	*stat = (struct repeat_stat){.median = NAN, .min = NAN, .max = NAN};
	for (int i = 0; i < n; i++) {
		if (runs[i].end == REPEAT_WHOLE && !isnan(runs[i].value[quantity]))
			known[stat->n++] = runs[i].value[quantity];
	}
	if (!stat->n)
		return;
	qsort(known, (size_t)stat->n, sizeof(known[0]), compare);
	stat->min = known[0];
	stat->max = known[stat->n - 1];
	stat->median = (known[(stat->n - 1) / 2] + known[stat->n / 2]) / 2;
}

static int nearest(const struct repeat_run *runs, int n, double time_s)
{
	int found = -1;
	double best = INFINITY;

	for (int i = 0; i < n; i++) {
		double away = fabs(runs[i].value[REPEAT_TIME] - time_s);

		if (runs[i].end != REPEAT_WHOLE || !(away < best))
			continue;
		best = away;
		found = i;
	}
	return found;
}

void repeats_summarise(const struct repeat_run *runs, int n, struct repeats *out)
{
	if (n > REPEATS_MAX)
		n = REPEATS_MAX;
	memset(out, 0, sizeof(*out));
	out->confidence_min = out->confidence_max = NAN;
	for (int i = 0; i < REPEAT_QUANTITIES; i++)
		take_stat(runs, n, i, &out->stat[i]);
	for (int i = 0; i < n; i++) {
		if (runs[i].end != REPEAT_WHOLE)
			continue;
		out->counted++;
		out->classes[runs[i].class]++;
		out->confidence_min = fmin(out->confidence_min, runs[i].confidence);
		out->confidence_max = fmax(out->confidence_max, runs[i].confidence);
	}
	for (int class = 0; class < VERDICT_CLASSES; class ++) {
		if (out->classes[class] > out->classes[out->most])
			out->most = (enum verdict_class) class;
	}
	out->same = out->counted && out->classes[out->most] == out->counted;
	out->middle = nearest(runs, n, out->stat[REPEAT_TIME].median);
}
