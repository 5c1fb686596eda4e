/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/text/text_parts.h"

#define MAX_LINES    25
#define MAX_ROWS     8 /* the line on groups left out included */
#define MAX_NOTES    2
#define MIN_ROWS     3 /* kept free for them when there is much evidence */
#define MIN_EVIDENCE 3 /* lines of it, before lines on disks take their place */
#define SYSTEM_LINES 3 /* on what the machine was short of */
#define TEXT	     2048
#define NEAR	     0.2 /* of the threshold */
#define SENTENCE(v)  (int)sizeof(v), v

static void headline(struct lines *lines, const struct verdict *verdict, size_t max)
{
	char text[TEXT], confidence[16] = "?";

	if (isfinite(verdict->confidence))
		snprintf(confidence, sizeof(confidence), "%.2f", verdict->confidence);
	snprintf(text, sizeof(text), "%s (confidence %s)", verdict_class_name(verdict->class),
		 confidence);
	lines->bold = strlen(text);
	if (*verdict->headline)
		text_appendf(text, sizeof(text), ": %.*s", SENTENCE(verdict->headline));
	lines_wrap(lines, "", "    ", text, max);
}

/* Where the sources stand: behind the widest text that leaves room for the longest of them. */
static size_t source_column(const struct verdict *verdict)
{
	size_t source = 0, column = 0;

	for (int i = 0; i < verdict->nevidence && i < VERDICT_EVIDENCE; i++) {
		size_t columns = text_columns(verdict->evidence[i].source);

		source = columns > source ? columns : source;
	}
	for (int i = 0; i < verdict->nevidence && i < VERDICT_EVIDENCE; i++) {
		size_t columns = text_columns(verdict->evidence[i].text);

		/* 4 for two spaces and the brackets */
		if (columns > column && LABEL_COLUMNS + columns + 4 + source <= REPORT_COLUMNS)
			column = columns;
	}
	return column;
}

static void evidence_entry(struct lines *lines, const struct evidence *evidence, bool first,
			   size_t column, size_t max)
{
	size_t columns = text_columns(evidence->text);
	int pad = columns < column ? (int)(column - columns) : 0;
	char text[TEXT];

	snprintf(text, sizeof(text), "%.*s", SENTENCE(evidence->text));
	if (*evidence->source)
		text_appendf(text, sizeof(text), "%*s  [%.*s]", pad, "",
			     SENTENCE(evidence->source));
	lines_label(lines, first ? "evidence" : "", text, max);
}

/* As many entries as fit in max lines, and how many did not. */
static void evidence(struct lines *lines, const struct verdict *verdict, size_t max)
{
	int n = verdict->nevidence < VERDICT_EVIDENCE ? verdict->nevidence : VERDICT_EVIDENCE;
	size_t column = source_column(verdict);
	char more[64];

	for (int i = 0; i < n; i++) {
		struct lines entry = {0};
		size_t kept = i + 1 < n ? 1 : 0;

		evidence_entry(&entry, &verdict->evidence[i], i == 0, column, NO_LIMIT);
		if (lines->n + entry.n + kept > max) {
			lines_free(&entry);
			snprintf(more, sizeof(more), "and %d more (-v)", n - i);
			lines_label(lines, i == 0 ? "evidence" : "", more, 1);
			return;
		}
		lines_move(lines, &entry);
	}
}

static void gain(struct lines *lines, const struct verdict *verdict)
{
	char text[TEXT], share[32];

	text_percent_sign(share, sizeof(share), verdict->share);
	if (isnan(verdict->share))
		snprintf(text, sizeof(text), "unknown: no limiting path was measured");
	else if (isinf(verdict->gain_bound) || verdict->gain_bound >= 100)
		snprintf(text, sizeof(text),
			 "the limiting path takes %s of the window; no useful "
			 "bound on the speed-up without it",
			 share);
	else if (isnan(verdict->gain_bound))
		snprintf(text, sizeof(text),
			 "the limiting path takes %s of the window; bound on "
			 "the speed-up unknown",
			 share);
	else
		snprintf(text, sizeof(text),
			 "the limiting path takes %s; without it at most %.1fx as fast%s%s%s",
			 share, verdict->gain_bound,
			 *verdict->gain_limit ? ", then limited by " : "", verdict->gain_limit, "");
	lines_label(lines, "gain", text, 2);
}

static void contributing(struct lines *lines, const struct verdict *verdict)
{
	char text[TEXT] = "";

	for (int i = 0; i < verdict->ncontributing && i < VERDICT_CLASSES; i++)
		text_appendf(text, sizeof(text), "%s%s", i ? ", " : "",
			     verdict_class_name(verdict->contributing[i]));
	if (*text)
		lines_label(lines, "also", text, 1);
}

static void notes(struct lines *lines, const struct verdict *verdict, size_t max)
{
	const struct roofline_notes *all = &verdict->roofline_notes;
	char text[TEXT];

	for (int i = 0; i < all->n && i < ROOFLINE_NOTES && (size_t)i < max; i++) {
		snprintf(text, sizeof(text), "%.*s", SENTENCE(all->text[i]));
		lines_label(lines, i ? "" : "note", text, max == NO_LIMIT ? NO_LIMIT : 2);
	}
}

/* The first step whole if it fits at all; others while all stay within max lines. */
static void next_steps(struct lines *lines, const struct verdict *verdict, size_t max)
{
	int n = verdict->nsteps < VERDICT_STEPS ? verdict->nsteps : VERDICT_STEPS;
	struct lines fitting = {0};
	char text[TEXT] = "";

	for (int i = 0; i < n; i++) {
		struct lines tried = {0};

		text_appendf(text, sizeof(text), "%s%.*s", i ? "; " : "",
			     SENTENCE(verdict->next_steps[i]));
		lines_label(&tried, "next", text, i == 0 ? max : max + 1);
		if (tried.n > max) {
			lines_free(&tried);
			break;
		}
		lines_free(&fitting);
		fitting = tried;
	}
	lines_move(lines, &fitting);
}

static void all_next_steps(struct lines *lines, const struct verdict *verdict)
{
	char text[TEXT];

	for (int i = 0; i < verdict->nsteps && i < VERDICT_STEPS; i++) {
		snprintf(text, sizeof(text), "%.*s", SENTENCE(verdict->next_steps[i]));
		lines_label(lines, i == 0 ? "next" : "", text, NO_LIMIT);
	}
}

static bool nearly_fired(const struct rule_outcome *rule)
{
	return !rule->fired && fabs(rule->value - rule->threshold) <= NEAR * fabs(rule->threshold);
}

static void rule_line(struct lines *lines, const char *label, const struct rule_outcome *rule)
{
	/* not from fired: another rule may have gone before */
	const char *relation = rule->value >= rule->threshold ? ">=" : "<";
	char text[TEXT];

	snprintf(text, sizeof(text), "%s: %.4g %s %.4g; %s", rule->name, rule->value, relation,
		 rule->threshold, rule->reason);
	lines_label(lines, label, text, NO_LIMIT);
}

void text_rules(struct lines *lines, const struct verdict *verdict)
{
	int n = verdict->nrules < VERDICT_RULES ? verdict->nrules : VERDICT_RULES;
	char unknown[TEXT] = "";

	lines_addf(lines, "rules that fired, and those within 20 %% of their threshold");
	for (int i = 0; i < n; i++)
		if (verdict->rules[i].fired)
			rule_line(lines, "fired", &verdict->rules[i]);
	for (int i = 0; i < n; i++)
		if (nearly_fired(&verdict->rules[i]))
			rule_line(lines, "nearly", &verdict->rules[i]);
	for (int i = 0; i < n; i++)
		if (!verdict->rules[i].fired && isnan(verdict->rules[i].value))
			text_appendf(unknown, sizeof(unknown), "%s%s", *unknown ? ", " : "",
				     verdict->rules[i].name);
	if (*unknown)
		lines_label(lines, "no input", unknown, NO_LIMIT);
}

static void blank(struct lines *lines)
{
	lines_addf(lines, "%s", "");
}

/* What the machine was short of, then its disks, in at most max lines. */
static void machine(struct lines *lines, const struct session *session, bool verbose, size_t max)
{
	struct lines found = {0};
	size_t system = verbose || max < SYSTEM_LINES ? max : SYSTEM_LINES;

	text_system(&found, session, verbose, system);
	if (found.n < max)
		text_block(&found, session, max - found.n);
	lines_move(lines, &found);
}

/* The evidence of a log that is shown however long its phases and checklist are. */
#define LOG_EVIDENCE 3

/* Up to max lines on each of both. */
/* Two lines each at most, in `room` lines altogether. */
static void what_threads_do(struct lines *lines, const struct session *session,
			    const struct thread_group *groups, size_t n, size_t room)
{
	size_t each = room < 4 ? (room + 1) / 2 : 2;

	text_oncpu(lines, session, groups, n, room == NO_LIMIT ? room : each);
	if (room > lines->n)
		text_faults(lines, session,
			    room == NO_LIMIT	     ? room
			    : room - lines->n < each ? room - lines->n
						     : each);
}

static void report(struct lines *lines, const struct session *session,
		   const struct verdict *verdict, const struct thread_group *groups, size_t n,
		   bool verbose)
{
	struct lines bound = {0}, middle = {0}, causes = {0}, board = {0}, tail = {0};
	bool log = session->tegra.state == TEGRA_LOG;
	size_t table, left;

	gain(&bound, verdict);
	if (*verdict->raise)
		lines_label(&bound, "surer", verdict->raise, verbose ? NO_LIMIT : 2);
	contributing(&bound, verdict);
	notes(&bound, verdict, verbose ? NO_LIMIT : MAX_NOTES);

	text_cuda(&board, session);
	text_board(&board, session);
	text_losses(&tail, session, verbose);
	if (verbose)
		all_next_steps(&tail, verdict);
	else
		next_steps(&tail, verdict, log ? 2 : 3);
	text_measured(&tail, session);

	headline(lines, verdict, verbose ? NO_LIMIT : 3);
	/* two blank lines around the middle */
	left = MAX_LINES - 2 - bound.n - board.n - tail.n;
	table = lines->n + 1 + (n < MIN_ROWS ? n : MIN_ROWS) + MIN_EVIDENCE;
	if (verbose || table < left)
		machine(&board, session, verbose, verbose ? NO_LIMIT : left - table);
	left = MAX_LINES - 2 - bound.n - board.n - tail.n;
	if (!log && (verbose || table < left))
		what_threads_do(&causes, session, groups, n, verbose ? NO_LIMIT : left - table);
	left -= causes.n;
	if (log)
		text_log(&middle, verdict, verbose ? NO_LIMIT : left - lines->n - LOG_EVIDENCE);
	table = log ? middle.n : 1 + (n < MIN_ROWS ? n : MIN_ROWS);
	evidence(lines, verdict, verbose ? NO_LIMIT : left - table);
	left -= lines->n;
	lines_move(lines, &bound);
	blank(lines);
	table = 1 + (n < MAX_ROWS ? n : MAX_ROWS);
	if (log)
		lines_move(lines, &middle);
	else
		text_groups(lines, session, groups, n,
			    verbose	   ? NO_LIMIT
			    : table < left ? table
					   : left);
	lines_move(lines, &causes);
	blank(lines);
	lines_move(lines, &board);
	lines_move(lines, &tail);
}

int report_text_write(FILE *out, const struct session *session, const struct verdict *verdict,
		      const struct report_text_options *options)
{
	struct lines lines = {0};
	struct thread_group *groups;
	size_t n;
	int error;

	groups = session_groups(session, &n);
	if (!groups && session->nthreads > 0)
		return -ENOMEM;
	report(&lines, session, verdict, groups, n, options->verbose);
	free(groups);
	if (options->verbose) {
		text_details(&lines, session);
		text_block_table(&lines, session);
		blank(&lines);
		if (session->tegra.state != TEGRA_LOG) {
			text_phases(&lines, verdict, NO_LIMIT);
			text_threads(&lines, session);
			text_waits(&lines, session);
		}
	}
	if (options->explain) {
		blank(&lines);
		text_rules(&lines, verdict);
	}
	error = lines_write(out, &lines, options->color);
	lines_free(&lines);
	return error;
}
