/* SPDX-License-Identifier: GPL-2.0-only */
/* Format files of tracepoints as kernels 4.9 to 6.18 print them, with and without RT. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/tracefs.h"

#define COMMON                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"

/* 5.10-rt. 5.15-rt and RHEL 9 have the second of them only: both end at 12. */
#define COMMON_RT                                                                        \
	COMMON                                                                           \
	"\tfield:unsigned char common_migrate_disable;\toffset:8;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_lazy_count;\toffset:9;\tsize:1;\tsigned:0;\n"

#define COMMON_LAZY \
	COMMON      \
	"\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;\n"

#define SWITCH_PRINT                                                                             \
	"\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s " \
	"next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "            \
	"(REC->prev_state & ((((0x0000 | 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0010 | 0x0020 | " \
	"0x0040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state, \"|\", { 0x0001, \"S\" }, "   \
	"{ 0x0002, \"D\" }) : \"R\", REC->next_comm, REC->next_pid, REC->next_prio\n"

static const char switch_4_9[] =
	"name: sched_switch\nID: 245\nformat:\n" COMMON "\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s "
	"next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
	"REC->prev_state & (2048-1) ? __print_flags(REC->prev_state & (2048-1), \"|\", "
	"{ 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, "
	"{ 64, \"x\" }, { 128, \"K\"}, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }) : \"R\", "
	"REC->prev_state & 2048 ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio\n";

static const char switch_5_15[] =
	"name: sched_switch\nID: 318\nformat:\n" COMMON "\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n" SWITCH_PRINT;

static const char switch_5_10_rt[] =
	"name: sched_switch\nID: 267\nformat:\n" COMMON_RT "\n"
	"\tfield:char prev_comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:40;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:48;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:64;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:68;\tsize:4;\tsigned:1;\n" SWITCH_PRINT;

static const char switch_5_15_rt[] =
	"name: sched_switch\nID: 330\nformat:\n" COMMON_LAZY "\n"
	"\tfield:char prev_comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:40;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:48;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:64;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:68;\tsize:4;\tsigned:1;\n" SWITCH_PRINT;

static const char wakeup_5_10[] =
	"name: sched_wakeup\nID: 249\nformat:\n" COMMON "\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int success;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:36;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
	"REC->prio, REC->target_cpu\n";

static const char wakeup_5_15[] =
	"name: sched_wakeup\nID: 320\nformat:\n" COMMON "\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
	"REC->prio, REC->target_cpu\n";

static const char wakeup_5_10_rt[] =
	"name: sched_wakeup\nID: 265\nformat:\n" COMMON_RT "\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:int success;\toffset:36;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
	"REC->prio, REC->target_cpu\n";

static const char newtask_6_12[] =
	"name: task_newtask\nID: 190\nformat:\n" COMMON "\n"
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	"\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:short oom_score_adj;\toffset:40;\tsize:2;\tsigned:1;\n"
	"\nprint fmt: \"pid=%d comm=%s clone_flags=%lx oom_score_adj=%hd\", REC->pid, "
	"REC->comm, REC->clone_flags, REC->oom_score_adj\n";

static const char newtask_5_15_rt[] =
	"name: task_newtask\nID: 199\nformat:\n" COMMON_LAZY "\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
	"\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:short oom_score_adj;\toffset:40;\tsize:2;\tsigned:1;\n"
	"\nprint fmt: \"pid=%d comm=%s clone_flags=%lx oom_score_adj=%hd\", REC->pid, "
	"REC->comm, REC->clone_flags, REC->oom_score_adj\n";

static const char newtask_6_18[] =
	"name: task_newtask\nID: 205\nformat:\n" COMMON "\n"
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	"\tfield:u64 clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:short oom_score_adj;\toffset:40;\tsize:2;\tsigned:1;\n"
	"\nprint fmt: \"pid=%d comm=%s clone_flags=%lx oom_score_adj=%hd\", REC->pid, "
	"REC->comm, REC->clone_flags, REC->oom_score_adj\n";

static const char exec_4_9[] =
	"name: sched_process_exec\nID: 252\nformat:\n" COMMON "\n"
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, "
	"REC->old_pid\n";

static const char exec_5_10_rt[] =
	"name: sched_process_exec\nID: 260\nformat:\n" COMMON_RT "\n"
	"\tfield:__data_loc char[] filename;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:20;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, "
	"REC->old_pid\n";

/* Every way in which "pid" can stand beside the field of that name. */
static const char crowded[] =
	"name: crowded\nID: 1\nformat:\n" COMMON "\n"
	"\tfield:struct pid * owner;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:const char *pid_text;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc pid_t[] pid_list;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc pid_t[] pids;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t old_pid;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t pid;\toffset:36;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t prev_pid;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t pid2[4];\toffset:44;\tsize:16;\tsigned:1;\n"
	"\tfield:u8 raw[sizeof(struct pid)];\toffset:60;\tsize:16;\tsigned:0;\n"
	"\tfield:unsigned long * args[6];\toffset:80;\tsize:48;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:128;\tsize:4;\tsigned:0;\n"
	"\tfield:void *skb;\toffset:136;\tsize:8;\tsigned:0;\n"
	"\tfield:int pi;\toffset:144;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"\tfield:pid_t pid;\toffset:99;\tsize:4;\tsigned:1;\", REC->pid\n";

#define FIELDS_MAX 4

struct sample {
	const char *text;
	struct tracefs_field want[FIELDS_MAX];
};

static const struct sample samples[] = {
	{switch_4_9, {{"prev_pid", 24, 4}, {"prev_state", 32, 8}, {"next_pid", 56, 4}}},
	{switch_5_15, {{"next_pid", 56, 4}, {"prev_state", 32, 8}, {"prev_pid", 24, 4}}},
	{switch_5_10_rt, {{"prev_pid", 28, 4}, {"prev_state", 40, 8}, {"next_pid", 64, 4}}},
	{switch_5_15_rt, {{"prev_pid", 28, 4}, {"prev_state", 40, 8}, {"next_pid", 64, 4}}},
	{switch_5_15, {{"prev_comm", 8, 16}, {"next_comm", 40, 16}, {"next_prio", 60, 4}}},
	{wakeup_5_10, {{"pid", 24, 4}, {"success", 32, 4}, {"target_cpu", 36, 4}}},
	{wakeup_5_15, {{"pid", 24, 4}, {"target_cpu", 32, 4}, {"common_pid", 4, 4}}},
	{wakeup_5_10_rt, {{"pid", 28, 4}, {"common_pid", 4, 4}}},
	{newtask_6_12, {{"pid", 8, 4}, {"clone_flags", 32, 8}}},
	{newtask_5_15_rt, {{"pid", 12, 4}, {"clone_flags", 32, 8}}},
	{newtask_6_18, {{"pid", 8, 4}, {"clone_flags", 32, 8}, {"oom_score_adj", 40, 2}}},
	{exec_4_9, {{"pid", 12, 4}, {"old_pid", 16, 4}, {"filename", 8, 4}}},
	{exec_5_10_rt, {{"old_pid", 20, 4}, {"pid", 16, 4}}},
	{crowded, {{"pid", 36, 4}, {"old_pid", 32, 4}, {"prev_pid", 40, 4}, {"common_pid", 4, 4}}},
	{crowded, {{"owner", 8, 8}, {"pid_text", 16, 8}, {"pid_list", 24, 4}, {"pids", 28, 4}}},
	{crowded, {{"pid2", 44, 16}, {"args", 80, 48}, {"name", 128, 4}, {"skb", 136, 8}}},
	{crowded, {{"pi", 144, 4}}},
};

#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static int wanted(const struct sample *sample)
{
	int n = 0;

	while (n < FIELDS_MAX && sample->want[n].name)
		n++;
	return n;
}

/* Fields to look for, filled with what must not survive. */
static int ask(const struct sample *sample, struct tracefs_field got[FIELDS_MAX])
{
	int n = wanted(sample);

	for (int i = 0; i < n; i++)
		got[i] = (struct tracefs_field){sample->want[i].name, -77, -77};
	return n;
}

static void fields_are_where_each_kernel_puts_them(void **state)
{
	struct tracefs_field got[FIELDS_MAX];

	(void)state;
	for (size_t s = 0; s < SAMPLES; s++) {
		int n = ask(&samples[s], got);

		assert_int_equal(tracefs_parse_format(samples[s].text, got, n), 0);
		for (int i = 0; i < n; i++) {
			assert_int_equal(got[i].offset, samples[s].want[i].offset);
			assert_int_equal(got[i].size, samples[s].want[i].size);
			assert_ptr_equal(got[i].name, samples[s].want[i].name);
		}
	}
}

static void expect_missing(const char *text, const char *name)
{
	struct tracefs_field field = {name, -77, -77};

	assert_int_equal(tracefs_parse_format(text, &field, 1), -ENOENT);
	assert_int_equal(field.size, 0);
}

static void a_name_is_matched_as_a_whole(void **state)
{
	static const char *const parts[] = {
		"pi",	"prev",	     "prev_",	  "prev_pi", "id",   "_pid",	     "rev_pid",
		"pid ", "pid_t pid", "prev_pid;", "common",  "Pid",  "pid_t",	     "long",
		"",	"prev_pid2", "field",	  "[16]",    "comm", "prev_comm[16]"};

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		expect_missing(switch_5_15, parts[i]);
	expect_missing(switch_5_15, "pid"); /* prev_pid, next_pid and common_pid are there */
	expect_missing(exec_4_9, "char");
	expect_missing(exec_4_9, "filenam");
	expect_missing(crowded, "sizeof");
	expect_missing(crowded, "raw_");
}

static void a_missing_field_leaves_the_others_found(void **state)
{
	struct tracefs_field fields[] = {
		{"prev_pid", -77, -77}, {"success", -77, -77}, {"next_pid", -77, -77}};

	(void)state;
	assert_int_equal(tracefs_parse_format(switch_5_15, fields, 3), -ENOENT);
	assert_int_equal(fields[0].offset, 24);
	assert_int_equal(fields[0].size, 4);
	assert_int_equal(fields[1].size, 0);
	assert_int_equal(fields[2].offset, 56);
	assert_int_equal(fields[2].size, 4);
	assert_int_equal(tracefs_parse_format("", NULL, 0), 0);
}

/* A cut text gives the right answer or none. */
static void truncated_at_every_byte(void **state)
{
	struct tracefs_field got[FIELDS_MAX];
	char text[4096];

	(void)state;
	for (size_t s = 0; s < SAMPLES; s++) {
		size_t len = strlen(samples[s].text);
		int n = wanted(&samples[s]), complete = 0;

		assert_true(len < sizeof(text));
		for (size_t cut = 0; cut <= len; cut++) {
			int err;

			memcpy(text, samples[s].text, cut);
			text[cut] = '\0';
			ask(&samples[s], got);
			err = tracefs_parse_format(text, got, n);
			assert_true(err == 0 || err == -ENOENT);
			complete += !err;
			for (int i = 0; i < n; i++) {
				if (!got[i].size)
					continue;
				assert_int_equal(got[i].offset, samples[s].want[i].offset);
				assert_int_equal(got[i].size, samples[s].want[i].size);
			}
		}
		assert_in_range(complete, 1, len - 100);
	}
}

static void garbage_is_no_field(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n\n",
		"\tfield:",
		"\tfield:\n",
		"\tfield:;",
		"\tfield:pid",
		"\tfield:pid_t pid",
		"\tfield:pid_t pid;",
		"\tfield:pid_t pid;\toffset:",
		"\tfield:pid_t pid;\toffset:24",
		"\tfield:pid_t pid;\toffset:24;\tsize:",
		"\tfield:pid_t pid;\toffset:x;\tsize:4;\tsigned:1;\n",
		"\tfield:pid_t pid;\toffset:24;\tsize:x;\tsigned:1;\n",
		"\tfield:pid_t pid;\tsize:4;\toffset:24;\tsigned:1;\n",
		"\tfield:pid_t pid;\toffset:24;\tsize:0;\tsigned:1;\n",
		"field:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n",
		"print fmt: \"field:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n",
		"\xff\xfe\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n",
		"\tfield:pid_t \xffpid;\toffset:24;\tsize:4;\tsigned:1;\n",
		"\tfield:[[[[;\toffset:24;\tsize:4;\tsigned:1;\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect_missing(texts[i], "pid");
}

static void a_very_long_name_is_passed_over(void **state)
{
	struct tracefs_field field = {.name = "pid"};
	char text[1024] = "\tfield:int ";

	(void)state;
	memset(text + strlen(text), 'p', 500);
	strcat(text, ";\toffset:8;\tsize:4;\tsigned:1;\n"
		     "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n");
	assert_int_equal(tracefs_parse_format(text, &field, 1), 0);
	assert_int_equal(field.offset, 12);
}

static void put_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void events_are_read_below_a_directory(void **state)
{
	static const char *const made[] = {"events", "events/sched", "events/sched/sched_wakeup"};
	char dir[] = "/tmp/tegratrace-tracefs-XXXXXX", path[256];
	struct tracefs_field field = {.name = "pid"};
	struct tracefs tracefs;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, made[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	put_file(path, "format", wakeup_5_10_rt);
	put_file(path, "id", "265\n");
	tracefs.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(tracefs_event_id(&tracefs, "sched/sched_wakeup"), 265);
	assert_int_equal(tracefs_event_id(&tracefs, "sched/sched_waking"), -ENOENT);
	assert_int_equal(tracefs_event_fields(&tracefs, "sched/sched_wakeup", &field, 1), 0);
	assert_int_equal(field.offset, 28);
	assert_int_equal(tracefs_event_fields(&tracefs, "sched/sched_waking", &field, 1), -ENOENT);
	tracefs_close(&tracefs);
	assert_int_equal(tracefs.fd, -1);
	tracefs_close(&tracefs);
	snprintf(path, sizeof(path), "%s/events/sched/sched_wakeup/format", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/events/sched/sched_wakeup/id", dir);
	unlink(path);
	for (int i = 2; i >= 0; i--) {
		snprintf(path, sizeof(path), "%s/%s", dir, made[i]);
		rmdir(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_where_each_kernel_puts_them),
		cmocka_unit_test(a_name_is_matched_as_a_whole),
		cmocka_unit_test(a_missing_field_leaves_the_others_found),
		cmocka_unit_test(truncated_at_every_byte),
		cmocka_unit_test(garbage_is_no_field),
		cmocka_unit_test(a_very_long_name_is_passed_over),
		cmocka_unit_test(events_are_read_below_a_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
