/* SPDX-License-Identifier: GPL-2.0-only */
/* A session to judge, and what a verdict must always be. */
#ifndef TESTS_UNIT_DIAGNOSE_SESSION_H
#define TESTS_UNIT_DIAGNOSE_SESSION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/verdict.h"
#include "session/session.h"

#define SECOND	 INT64_C(1000000000)
#define START_NS (7 * SECOND)

static struct session session;
static struct verdict verdict;

static int clear_session(void **state)
{
	(void)state;
	session_init(&session);
	session.start_ns = START_NS;
	session.end_ns = START_NS + 10 * SECOND;
	session.host.cpus = 4;
	return 0;
}

static int free_session(void **state)
{
	(void)state;
	session_free(&session);
	return 0;
}

static void start_over(void)
{
	free_session(NULL);
	clear_session(NULL);
}

/* What it neither ran nor waited it slept. */
static struct thread_account *add_thread(pid_t tid, const char *comm, int64_t oncpu_ns,
					 int64_t runq_ns)
{
	int64_t window_ns = session.end_ns - session.start_ns;
	struct thread_account *thread = session_add_thread(&session);

	assert_non_null(thread);
	thread->pid = 100;
	thread->tid = tid;
	memcpy(thread->comm, comm, strnlen(comm, sizeof(thread->comm)));
	thread->wall_ns = window_ns;
	thread->oncpu_ns = oncpu_ns;
	thread->runq_wake_ns = runq_ns / 2;
	thread->runq_preempt_ns = runq_ns - runq_ns / 2;
	thread->offcpu_ns = window_ns - oncpu_ns - runq_ns;
	thread->wait_ns[WAIT_OTHER] = thread->offcpu_ns;
	return thread;
}

static void sample(struct sampled *s, double value, int64_t n)
{
	*s = (struct sampled){.n = n, .mean = value, .min = value, .max = value, .last = value};
}

static void set_gpu(double busy, int64_t n)
{
	session.tegra.state = TEGRA_LIVE;
	session.tegra.samples = n;
	sample(&session.tegra.gpu_busy, busy, n);
}

static void set_emc(double busy)
{
	sample(&session.tegra.emc_busy, busy, session.tegra.samples);
}

static void check_text(const char *text, size_t size)
{
	const char *const never[] = {"nan", "-nan", "inf", "-inf", "infx", "nanx", "(null)"};
	char clean[2048], word[64];
	size_t len = strnlen(text, size);

	assert_true(len < size);
	text_sanitize(clean, sizeof(clean), text, len);
	assert_string_equal(clean, text);
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " ,:;()%");

		if (n < sizeof(word)) {
			memcpy(word, p, n);
			word[n] = '\0';
			for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
				assert_string_not_equal(word, never[i]);
		}
		p += n + (p[n] != '\0');
	}
}

static void check_counts(const struct verdict *v)
{
	assert_in_range(v->class, 0, VERDICT_CLASSES - 1);
	assert_in_range(v->nevidence, 0, VERDICT_EVIDENCE);
	assert_in_range(v->nsteps, 1, VERDICT_STEPS);
	assert_in_range(v->ncontributing, 0, VERDICT_CLASSES);
	assert_in_range(v->nthreads, 0, VERDICT_THREADS);
	assert_in_range(v->nrules, 1, VERDICT_RULES);
	assert_true(v->confidence >= 0 && v->confidence <= 1);
	assert_true((v->class == VERDICT_INSUFFICIENT_DATA) == (v->confidence == 0));
	assert_true(isnan(v->share) || (v->share >= 0 && v->share <= 1.01));
	assert_true(isnan(v->gain_bound) || v->gain_bound >= 0.99);
	for (int i = 0; i < v->ncontributing; i++) {
		assert_int_not_equal(v->contributing[i], v->class);
		assert_int_not_equal(v->contributing[i], VERDICT_INSUFFICIENT_DATA);
	}
}

static enum verdict_class judge(void)
{
	memset(&verdict, 0xa5, sizeof(verdict));
	diagnose(&session, &verdict);
	check_counts(&verdict);
	check_text(verdict.headline, sizeof(verdict.headline));
	check_text(verdict.raise, sizeof(verdict.raise));
	check_text(verdict.gain_limit, sizeof(verdict.gain_limit));
	assert_true(isnan(verdict.gain_bound) == !verdict.gain_limit[0]);
	assert_true(verdict.headline[0]);
	for (int i = 0; i < verdict.nevidence; i++) {
		check_text(verdict.evidence[i].text, sizeof(verdict.evidence[i].text));
		check_text(verdict.evidence[i].source, sizeof(verdict.evidence[i].source));
		assert_true(verdict.evidence[i].text[0] && verdict.evidence[i].source[0]);
	}
	for (int i = 0; i < verdict.nsteps; i++) {
		check_text(verdict.next_steps[i], sizeof(verdict.next_steps[i]));
		assert_true(verdict.next_steps[i][0]);
	}
	return verdict.class;
}

static inline const struct rule_outcome *rule(const char *name)
{
	for (int i = 0; i < verdict.nrules; i++) {
		if (!strcmp(verdict.rules[i].name, name))
			return &verdict.rules[i];
	}
	fail_msg("no rule %s", name);
	return NULL;
}

static bool says(const char *word)
{
	bool found = strstr(verdict.headline, word) || strstr(verdict.raise, word);

	for (int i = 0; i < verdict.nevidence; i++)
		found |= strstr(verdict.evidence[i].text, word) != NULL;
	for (int i = 0; i < verdict.nsteps; i++)
		found |= strstr(verdict.next_steps[i], word) != NULL;
	return found;
}

static inline void expect_near(double got, double want)
{
	if (isnan(want) ? !isnan(got) : !(fabs(got - want) < 1e-6))
		fail_msg("%.9f is not %.9f", got, want);
}

#endif
