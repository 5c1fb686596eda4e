/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel configurations as boards have them, and as damage leaves them. */
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
#include <zlib.h>

#include "cli/doctor.h"
#include "probe/machine/kernel_needs.h"

#define HEAD "#\n# Automatically generated file; DO NOT EDIT.\n#\nCONFIG_64BIT=y\nCONFIG_HZ=250\n"

/* As L4T builds them: only what is set has a line, or may be set. */
static const char jetpack5[] = HEAD "CONFIG_BPF_SYSCALL=y\nCONFIG_BPF_JIT=y\nCONFIG_PERF_EVENTS=y\n"
				    "# CONFIG_PSI is not set\nCONFIG_TASK_DELAY_ACCT=y\n"
				    "# CONFIG_KPROBES is not set\nCONFIG_SCHED_INFO=y\n"
				    "CONFIG_KALLSYMS=y\nCONFIG_BLOCK=y\nCONFIG_IKCONFIG=m\n"
				    "# CONFIG_DEBUG_INFO_REDUCED is not set\n"
				    "# CONFIG_DEBUG_INFO_BTF is not set\n"
				    "CONFIG_EVENT_TRACING=y\nCONFIG_FTRACE=y\n"
				    "# CONFIG_UPROBE_EVENTS is not set\n";
static const char jetpack6[] =
	HEAD "CONFIG_BPF_SYSCALL=y\nCONFIG_BPF_JIT=y\nCONFIG_PERF_EVENTS=y\n"
	     "# CONFIG_PSI is not set\n# CONFIG_TASKSTATS is not set\n"
	     "# CONFIG_KPROBES is not set\nCONFIG_SCHED_INFO=y\nCONFIG_IKCONFIG=y\n"
	     "CONFIG_IKCONFIG_PROC=y\nCONFIG_DEBUG_INFO_REDUCED=y\nCONFIG_EVENT_TRACING=y\n"
	     "CONFIG_FTRACE=y\nCONFIG_UPROBE_EVENTS=y\nCONFIG_BPF_EVENTS=y\n";

static char folder[] = "/tmp/kernel-config.XXXXXX";

static const char *place(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static const char *put(const void *data, size_t size)
{
	const char *path = place("config");
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return path;
}

/* Returns the length of the compressed text. */
static size_t compress_text(const char *text, unsigned char *out, size_t size)
{
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)text,
			   .avail_in = (unsigned int)strlen(text),
			   .next_out = out,
			   .avail_out = (unsigned int)size};

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, 0), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static struct kernel_config config;

static int read_text(const char *text)
{
	kernel_config_free(&config);
	return kernel_config_read_file(&config, put(text, strlen(text)));
}

static int read_bytes(const void *data, size_t size)
{
	kernel_config_free(&config);
	return kernel_config_read_file(&config, put(data, size));
}

static enum config_value get(const char *option)
{
	return kernel_config_get(&config, option);
}

static void test_values(void **state)
{
	(void)state;
	assert_int_equal(read_text(jetpack5), 0);
	assert_true(config.whole);
	assert_int_equal(get("BPF_SYSCALL"), CONFIG_VALUE_ON);
	assert_int_equal(get("IKCONFIG"), CONFIG_VALUE_MODULE);
	assert_int_equal(get("PSI"), CONFIG_VALUE_OFF);
	assert_int_equal(get("HZ"), CONFIG_VALUE_ON);
	/* its dependencies are not met, so no line names it */
	assert_int_equal(get("BPF_EVENTS"), CONFIG_VALUE_OFF);
}

static void test_names_are_whole(void **state)
{
	(void)state;
	assert_int_equal(read_text(HEAD
				   "CONFIG_BPF_SYSCALL=y\nCONFIG_X_PSI=y\n"
				   "# CONFIG_NET is not set up\n#CONFIG_A=y\nCONFIG_FTRACE=y\n"),
			 0);
	assert_int_equal(get("BPF"), CONFIG_VALUE_OFF);
	assert_int_equal(get("BPF_SYSCALL_X"), CONFIG_VALUE_OFF);
	assert_int_equal(get("PSI"), CONFIG_VALUE_OFF);
	assert_int_equal(get("A"), CONFIG_VALUE_OFF);
}

static void test_last_line_counts(void **state)
{
	(void)state;
	assert_int_equal(read_text(HEAD "CONFIG_PSI=y\n# CONFIG_PSI is not set\nCONFIG_KCM=n\n"
					"# CONFIG_NET is not set\nCONFIG_NET=m\nCONFIG_FTRACE=y\n"),
			 0);
	assert_int_equal(get("PSI"), CONFIG_VALUE_OFF);
	assert_int_equal(get("NET"), CONFIG_VALUE_MODULE);
	assert_int_equal(get("KCM"), CONFIG_VALUE_OFF);
}

static void test_gzip(void **state)
{
	unsigned char packed[4096];
	size_t size = compress_text(jetpack6, packed, sizeof(packed));

	(void)state;
	assert_int_equal(read_bytes(packed, size), 0);
	assert_true(config.whole);
	assert_int_equal(get("BPF_EVENTS"), CONFIG_VALUE_ON);
	assert_int_equal(get("DEBUG_INFO_BTF"), CONFIG_VALUE_OFF);
}

/* Whatever is cut off: what is said is true, what is not said is not known. */
static void test_cut_gzip_never_lies(void **state)
{
	static const char *const on[] = {"BPF_SYSCALL", "UPROBE_EVENTS", "BPF_EVENTS"};
	unsigned char packed[4096];
	size_t size = compress_text(jetpack6, packed, sizeof(packed));
	int unknown = 0, known = 0;

	(void)state;
	for (size_t cut = 0; cut < size; cut++) {
		if (read_bytes(packed, cut))
			continue;
		assert_false(config.whole);
		for (size_t i = 0; i < 3; i++) {
			assert_int_not_equal(get(on[i]), CONFIG_VALUE_OFF);
			assert_int_not_equal(get(on[i]), CONFIG_VALUE_MODULE);
			*(get(on[i]) == CONFIG_VALUE_ON ? &known : &unknown) += 1;
		}
	}
	assert_true(unknown > 0 && known > 0);
}

static void test_cut_text_never_lies(void **state)
{
	const char *tracers = strstr(jetpack6, "CONFIG_FTRACE=y\n");

	(void)state;
	for (size_t cut = 0; cut < (size_t)(tracers - jetpack6); cut++) {
		if (read_bytes(jetpack6, cut))
			continue;
		assert_false(config.whole);
		assert_int_not_equal(get("BPF_EVENTS"), CONFIG_VALUE_OFF);
		assert_int_not_equal(get("BPF_SYSCALL"), CONFIG_VALUE_OFF);
		assert_int_not_equal(get("PSI"), CONFIG_VALUE_ON);
	}
}

static void test_flipped_bytes(void **state)
{
	unsigned char packed[4096];
	size_t size = compress_text(jetpack6, packed, sizeof(packed));

	(void)state;
	for (size_t i = 0; i < size; i++) {
		packed[i] ^= 0xff;
		/* the header has fields that change nothing: time, flags, system */
		if (!read_bytes(packed, size) && config.whole)
			assert_true(i >= 4 && i < 10 && get("BPF_EVENTS") == CONFIG_VALUE_ON);
		packed[i] ^= 0xff;
	}
}

static void test_no_configuration(void **state)
{
	static const char binary[] = "\0\1\2CONFIG_64BIT\0=y\n\xff\xfe";

	(void)state;
	assert_int_equal(read_text(""), -EINVAL);
	assert_int_equal(read_text("CONFIG_64BIT"), -EINVAL);
	assert_int_equal(read_text("<html>404 CONFIG_64BIT=y</html>\n"), -EINVAL);
	assert_int_equal(read_bytes(binary, sizeof(binary)), -EINVAL);
	assert_int_not_equal(kernel_config_read_file(&config, folder), 0);
	assert_int_equal(kernel_config_read_file(&config, place("none")), -ENOENT);
	assert_int_equal(get("BPF_SYSCALL"), CONFIG_VALUE_UNKNOWN);
}

/* 64 MB of zeros in 64 KB. */
static void test_bomb(void **state)
{
	static char zeros[1 << 20];
	gzFile file = gzopen(place("config"), "we9");

	(void)state;
	kernel_config_free(&config);
	for (int i = 0; i < 64; i++)
		assert_int_equal(gzwrite(file, zeros, sizeof(zeros)), sizeof(zeros));
	gzclose(file);
	assert_int_equal(kernel_config_read_file(&config, place("config")), -EINVAL);
}

static void test_places(void **state)
{
	(void)state;
	kernel_config_free(&config);
	assert_int_equal(kernel_config_read(&config, folder, "5.15.148-tegra"), -ENOENT);
	assert_non_null(strstr(config.source, "IKCONFIG_PROC"));
	assert_int_equal(mkdir(place("boot"), 0755), 0);
	put(jetpack6, strlen(jetpack6));
	assert_int_equal(symlink("../config", place("boot/config-5.15.148-tegra")), 0);
	assert_int_equal(kernel_config_read(&config, folder, "5.15.148-tegra"), 0);
	assert_string_equal(config.source, "/boot/config-5.15.148-tegra");
	kernel_config_free(&config);
	assert_int_equal(kernel_config_read(&config, folder, "6.8.12-tegra"), -ENOENT);
	unlink(place("boot/config-5.15.148-tegra"));
	rmdir(place("boot"));
}

static const char *lacking(const char *what)
{
	const char *options[KERNEL_OPTIONS_MAX];
	size_t n = kernel_needs_lacking(&config, what, options, KERNEL_OPTIONS_MAX);
	static char text[256];

	*text = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 options[i]);
	return text;
}

static void test_what_jetpack5_lacks(void **state)
{
	char text[160];

	(void)state;
	assert_int_equal(read_text(jetpack5), 0);
	assert_string_equal(lacking("rung btf"), "BPF_EVENTS DEBUG_INFO_BTF");
	assert_string_equal(lacking("rung tracepoint"), "BPF_EVENTS");
	assert_string_equal(lacking("rung perf"), "");
	assert_string_equal(lacking("uprobes"), "UPROBE_EVENTS");
	assert_string_equal(lacking("pressure stall information"), "PSI");
	kernel_option_explain(&config, "BPF_EVENTS", text, sizeof(text));
	assert_string_equal(text, "CONFIG_BPF_EVENTS is off (it comes with CONFIG_UPROBE_EVENTS)");
	kernel_option_explain(&config, "DEBUG_INFO_BTF", text, sizeof(text));
	assert_string_equal(text, "CONFIG_DEBUG_INFO_BTF is off");
}

static void test_what_jetpack6_lacks(void **state)
{
	char text[160];

	(void)state;
	assert_int_equal(read_text(jetpack6), 0);
	assert_string_equal(lacking("rung btf"), "DEBUG_INFO_BTF");
	assert_string_equal(lacking("rung tracepoint"), "");
	assert_string_equal(lacking("delay accounting"), "TASK_DELAY_ACCT");
	kernel_option_explain(&config, "DEBUG_INFO_BTF", text, sizeof(text));
	assert_string_equal(
		text, "CONFIG_DEBUG_INFO_BTF is off (it cannot be with CONFIG_DEBUG_INFO_REDUCED)");
}

static void add(struct doctor *doctor, const char *what, bool ok)
{
	doctor->checks[doctor->n].finding.ok = ok;
	doctor->checks[doctor->n++].finding.what = what;
}

static void test_rebuild_is_the_last_resort(void **state)
{
	static struct doctor doctor;

	(void)state;
	assert_int_equal(read_text(jetpack5), 0);
	doctor = (struct doctor){.config = config};
	add(&doctor, "rung btf", false);
	add(&doctor, "rung tracepoint", false);
	add(&doctor, "root", true);
	doctor_advise(&doctor);
	assert_non_null(doctor.next);
	assert_string_equal(doctor.next->finding.what, "rung tracepoint");
	assert_string_equal(
		doctor.next->remedy,
		"scripts/config -e UPROBE_EVENTS in the kernel's source, then build and boot it");

	/* with anything simpler at hand, that */
	doctor = (struct doctor){.config = config};
	add(&doctor, "rung tracepoint", false);
	add(&doctor, "kernel symbols", false);
	add(&doctor, "root", false);
	doctor_advise(&doctor);
	assert_string_equal(doctor.next->remedy, "sudo tegratrace doctor");

	/* and never where tracing works */
	doctor = (struct doctor){.config = config};
	add(&doctor, "rung btf", false);
	add(&doctor, "rung tracepoint", true);
	doctor_advise(&doctor);
	assert_null(doctor.next);
}

/* sysctl would fail on a kernel without it */
static void test_no_useless_remedy(void **state)
{
	static struct doctor doctor;

	(void)state;
	assert_int_equal(read_text(HEAD "# CONFIG_KALLSYMS is not set\nCONFIG_FTRACE=y\n"), 0);
	doctor = (struct doctor){.config = config};
	add(&doctor, "kernel symbols", false);
	doctor_advise(&doctor);
	assert_null(doctor.next);
	assert_string_equal(doctor.checks[0].remedy, "");
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	kernel_config_free(&config);
	unlink(place("config"));
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_names_are_whole),
		cmocka_unit_test(test_last_line_counts),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_cut_gzip_never_lies),
		cmocka_unit_test(test_cut_text_never_lies),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_no_configuration),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_what_jetpack5_lacks),
		cmocka_unit_test(test_what_jetpack6_lacks),
		cmocka_unit_test(test_rebuild_is_the_last_resort),
		cmocka_unit_test(test_no_useless_remedy),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
