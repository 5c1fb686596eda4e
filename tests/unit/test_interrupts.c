/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/waits/interrupts.h"

static char root[64];
static struct interrupts interrupts;

static void put(const char *text)
{
	char name[PATH_MAX];
	FILE *file;

	snprintf(name, sizeof(name), "%s/interrupts", root);
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void make_directories(const char *const *names)
{
	char name[PATH_MAX];

	for (; *names; names++) {
		snprintf(name, sizeof(name), "%s/%s", root, *names);
		assert_int_equal(mkdir(name, 0755), 0);
	}
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/interrupts-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state)
{
	char command[128];

	(void)state;
	interrupts_free(&interrupts);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void check(int irq, const char *name)
{
	const char *found = interrupts_name(&interrupts, irq);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
}

static void test_orin(void **state)
{
	(void)state;
	put("           CPU0       CPU1       CPU2       \n"
	    " 11:   51774135   56184421   52083251     GICv3  30 Level     arch_timer\n"
	    " 55:          0          0          0     GICv3  77 Level     tegra-pcie-intr, PCIe "
	    "PME, "
	    "aerdrv\n"
	    " 67:   54311800          0          0     GICv3  94 Level     mmc1\n"
	    "128:     183586          0          0     GICv3 480 Level     host_syncpt\n"
	    "232:          0          0          0     GICv3 100 Level     gk20a_stall\n"
	    "249:        517          0          0  agic-controller  73 Edge    \n"
	    "294:          0          0          0      gpio  42 Edge      3400000.sdhci cd\n"
	    "301:   42525629          0          0       MSI 1074266112 Edge      eth0\n"
	    "IPI0:  35679938   46384122   43490193       Rescheduling interrupts\n"
	    "Err:          0\n");
	assert_int_equal(interrupts_read(&interrupts, root), 0);
	check(11, "arch_timer");
	check(55, "tegra-pcie-intr, PCIe PME, aerdrv");
	check(67, "mmc1");
	check(128, "host_syncpt");
	check(232, "gk20a_stall");
	check(249, NULL); /* no action left */
	check(294, "3400000.sdhci cd");
	check(301, "eth0");
	check(0, NULL);
	assert_int_equal(interrupts.n, 7);
}

static void test_x86(void **state)
{
	(void)state;
	put("           CPU0       CPU1       \n"
	    "   0:         11          0  IR-IO-APIC    2-edge      timer\n"
	    "  24:          1          0   IO-APIC   5-edge      ACPI:Ged\n"
	    "  36:          0     722944 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
	    " 141:          0          9  PCI-MSI 524288-edge      nvme0q0, nvme0q1\n"
	    " 150:          3          0  DMAR-MSI    0-edge    \n"
	    " LOC:    3425078    3351469   Local timer interrupts\n"
	    " MIS:          0\n");
	assert_int_equal(interrupts_read(&interrupts, root), 0);
	check(0, "timer");
	check(24, "ACPI:Ged");
	check(36, "virtio1-req.0");
	check(141, "nvme0q0, nvme0q1");
	check(150, NULL);
	assert_int_equal(interrupts.n, 4);
}

/* Only online CPUs have a column, and their lines are longer than any buffer */
static void test_many_cpus(void **state)
{
	static char text[40000];
	char *p = text;

	(void)state;
	for (int cpu = 0; cpu < 1024; cpu += 2)
		p += sprintf(p, "      CPU%-4d", cpu);
	p += sprintf(p, "\n 37:");
	for (int cpu = 0; cpu < 1024; cpu += 2)
		p += sprintf(p, " %10u", 4294967295u);
	sprintf(p, "  ITS-MSI 524289 Edge      nvme0q1\n");
	put(text);
	assert_int_equal(interrupts_read(&interrupts, root), 0);
	check(37, "nvme0q1");
}

static void test_damaged(void **state)
{
	(void)state;
	put("           CPU0       CPU1\n"
	    "\n"
	    " 5\n"
	    " 6:\n"
	    " 7: 1\n"
	    " 8: 1 2\n"
	    " 99999999999999999999: 1 2 GICv3 1 Level     a\n"
	    " 9: 1 2  GICv3  27\n"
	    "10:          1          2     GICv3  28 Level     \x1b[2J\xff\n"
	    "11:          1          2     GICv3  28 Level     last");
	assert_int_equal(interrupts_read(&interrupts, root), 0);
	check(5, NULL);
	check(7, NULL);
	check(9, NULL);
	check(10, "\\x1b[2J\\xff");
	check(11, "last");
	assert_int_equal(interrupts.n, 2);
}

static void test_directories_where_there_is_no_table(void **state)
{
	static const char *const names[] = {
		"irq",	  "irq/37",	     "irq/37/nvme0q1", "irq/128", "irq/128/host1x_syncpt",
		"irq/55", "irq/55/PCIe PME", "irq/55/aerdrv",  "irq/60",  "irq/notanumber",
		NULL};

	(void)state;
	assert_int_equal(interrupts_read(&interrupts, root), -ENOENT);
	make_directories(names);
	assert_int_equal(interrupts_read(&interrupts, root), 0);
	check(37, "nvme0q1");
	check(128, "host1x_syncpt");
	check(60, NULL);
	assert_non_null(strstr(interrupts_name(&interrupts, 55), "PCIe PME"));
	assert_non_null(strstr(interrupts_name(&interrupts, 55), "aerdrv"));
	interrupts_free(&interrupts);
	put("not a table\n");
	assert_int_equal(interrupts_read(&interrupts, root), 0);
	check(37, "nvme0q1");
}

/* Names of /proc/irq, which the kernel writes by other code */
static void test_this_machine(void **state)
{
	int compared = 0;

	(void)state;
	assert_int_equal(interrupts_read(&interrupts, NULL), 0);
	for (size_t i = 0; i < interrupts.n; i++) {
		char name[PATH_MAX];
		struct stat st;

		if (strchr(interrupts.list[i].name, ',') || strchr(interrupts.list[i].name, '/'))
			continue;
		snprintf(name, sizeof(name), "/proc/irq/%d/%s", interrupts.list[i].irq,
			 interrupts.list[i].name);
		assert_int_equal(stat(name, &st), 0);
		compared++;
	}
	if (!compared)
		skip();
}

static void test_softirqs(void **state)
{
	(void)state;
	assert_string_equal(softirq_name(0), "HI");
	assert_string_equal(softirq_name(1), "TIMER");
	assert_string_equal(softirq_name(3), "NET_RX");
	assert_string_equal(softirq_name(4), "BLOCK");
	assert_string_equal(softirq_name(8), "HRTIMER");
	assert_string_equal(softirq_name(9), "RCU");
	assert_null(softirq_name(10));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, drop_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_orin),
		TEST(test_x86),
		TEST(test_many_cpus),
		TEST(test_damaged),
		TEST(test_directories_where_there_is_no_table),
		TEST(test_this_machine),
		TEST(test_softirqs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
