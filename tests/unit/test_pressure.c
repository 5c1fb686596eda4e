/* SPDX-License-Identifier: GPL-2.0-only */
/* Pressure, paging and cgroup limits, read from trees of files written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/machine/cgroup.h"
#include "probe/machine/pressure.h"

#define SECOND 1000000000LL

static char root[64];
static struct session session;

static void put(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0755);
		*slash = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/pressure-XXXXXX");
	session_init(&session);
	return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state)
{
	char command[128];

	(void)state;
	session_free(&session);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

#define V2_MOUNT "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
#define OTHERS	 "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\nbroken line\n\n - \n"
#define V1_MOUNTS                                                                       \
	"32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:2 - cgroup cgroup " \
	"rw,cpu,cpuacct\n"                                                              \
	"33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"             \
	"34 31 0:31 / /sys/fs/cgroup/my\\040memory rw - cgroup cgroup rw,memory\n"

static struct pressure_watch *begin(pid_t pid)
{
	struct pressure_watch *watch = pressure_watch_open(root);

	assert_non_null(watch);
	pressure_watch_add(watch, pid);
	pressure_watch_begin(watch, 5 * SECOND);
	return watch;
}

static struct pressure *end(struct pressure_watch *watch)
{
	pressure_watch_end(watch, 15 * SECOND, &session);
	pressure_watch_free(watch);
	assert_true(session.pressure.measured);
	return &session.pressure;
}

static void put_v2(const char *dir, const char *max, const char *stat)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/fs/cgroup%s/cpu.max", dir);
	put(path, max);
	snprintf(path, sizeof(path), "sys/fs/cgroup%s/cpu.stat", dir);
	put(path, stat);
}

/* The limit is two levels above the process; its own group has none. */
static void test_v2_nested(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;

	(void)state;
	put("proc/self/mountinfo", OTHERS V2_MOUNT);
	put("proc/77/cgroup", "0::/system.slice/docker-1.scope/init\n");
	put_v2("/system.slice", "max 100000\n", "usage_usec 9\nnr_periods 0\n");
	put_v2("/system.slice/docker-1.scope", "150000 100000\n",
	       "usage_usec 900\nnr_periods 1000\nnr_throttled 100\nthrottled_usec 7000\n");
	put("sys/fs/cgroup/system.slice/docker-1.scope/init/cpu.stat", "usage_usec 5\n");
	watch = begin(77);
	put_v2("/system.slice/docker-1.scope", "150000 100000\n",
	       "usage_usec 900\nnr_periods 1100\nnr_throttled 163\nthrottled_usec 4107011\n");
	pressure = end(watch);
	assert_int_equal(pressure->nquotas, 1);
	assert_string_equal(pressure->quotas[0].cgroup, "/system.slice/docker-1.scope");
	assert_int_equal(pressure->quotas[0].version, 2);
	assert_int_equal(pressure->quotas[0].pid, 77);
	assert_float_equal(pressure->quotas[0].cpus, 1.5, 1e-9);
	assert_int_equal(pressure->quotas[0].periods, 100);
	assert_int_equal(pressure->quotas[0].throttled_periods, 63);
	assert_int_equal(pressure->quotas[0].throttled_ns, 4100011000);
	assert_float_equal(cpu_quota_throttled(&pressure->quotas[0]), 0.63, 1e-9);
	assert_int_equal(pressure->nlimits, 0);
	assert_int_equal(session.capability.nmissing, 0);
}

static void test_v2_memory(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;

	(void)state;
	put("proc/self/mountinfo", V2_MOUNT);
	put("proc/77/cgroup", "0::/a/b\n");
	put("sys/fs/cgroup/a/memory.max", "max\n");
	put("sys/fs/cgroup/a/memory.high", "max\n");
	put("sys/fs/cgroup/a/b/memory.max", "1073741824\n");
	put("sys/fs/cgroup/a/b/memory.high", "536870912\n");
	put("sys/fs/cgroup/a/b/memory.current", "4096\n");
	put("sys/fs/cgroup/a/b/memory.events",
	    "low 0\nhigh 11\nmax 5\noom 0\noom_kill 1\noom_group_kill 9\n");
	put("sys/fs/cgroup/a/b/memory.pressure",
	    "some avg10=1.00 avg60=0.00 avg300=0.00 total=1000\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=300\n");
	watch = begin(77);
	put("sys/fs/cgroup/a/b/memory.current", "536866816\n");
	put("sys/fs/cgroup/a/b/memory.events",
	    "low 0\nhigh 42\nmax 7\noom 0\noom_kill 1\noom_group_kill 9\n");
	put("sys/fs/cgroup/a/b/memory.pressure",
	    "some avg10=1.00 avg60=0.00 avg300=0.00 total=51003\n"
	    "full avg10=0.00 avg60=0.00 avg300=0.00 total=20301\n");
	pressure = end(watch);
	assert_int_equal(pressure->nlimits, 1);
	assert_string_equal(pressure->limits[0].cgroup, "/a/b");
	assert_int_equal(pressure->limits[0].limit_bytes, 536870912);
	assert_int_equal(pressure->limits[0].used_bytes, 536866816);
	assert_int_equal(pressure->limits[0].reclaims, 33);
	assert_int_equal(pressure->limits[0].oom_kills, 0);
	assert_int_equal(pressure->limits[0].stall.some_ns, 50003000);
	assert_int_equal(pressure->limits[0].stall.full_ns, 20001000);
	assert_int_equal(pressure->nquotas, 0);
}

/* Both versions mounted: the controller is where the process' v1 line says. */
static void test_v1_hybrid(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;

	(void)state;
	put("proc/self/mountinfo",
	    V1_MOUNTS "35 31 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
	put("proc/77/cgroup", "4:memory:/job/m\n3:cpuset:/\n2:cpu,cpuacct:/job\n"
			      "1:name=systemd:/x\n0::/job\n");
	put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "30000\n");
	put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
	put("sys/fs/cgroup/cpu,cpuacct/job/cpu.stat",
	    "nr_periods 21\nnr_throttled 21\nthrottled_time 1412119172\n");
	put("sys/fs/cgroup/my memory/job/memory.limit_in_bytes", "9223372036854771712\n");
	put("sys/fs/cgroup/my memory/job/m/memory.limit_in_bytes", "33554432\n");
	put("sys/fs/cgroup/my memory/job/m/memory.usage_in_bytes", "33550336\n");
	put("sys/fs/cgroup/my memory/job/m/memory.failcnt", "100\n");
	put("sys/fs/cgroup/my memory/job/m/memory.oom_control",
	    "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
	watch = begin(77);
	put("sys/fs/cgroup/cpu,cpuacct/job/cpu.stat",
	    "nr_periods 121\nnr_throttled 120\nthrottled_time 8412119179\n");
	put("sys/fs/cgroup/my memory/job/m/memory.failcnt", "107\n");
	put("sys/fs/cgroup/my memory/job/m/memory.oom_control",
	    "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
	pressure = end(watch);
	assert_int_equal(pressure->nquotas, 1);
	assert_int_equal(pressure->quotas[0].version, 1);
	assert_string_equal(pressure->quotas[0].cgroup, "/job");
	assert_float_equal(pressure->quotas[0].cpus, 0.3, 1e-9);
	assert_int_equal(pressure->quotas[0].periods, 100);
	assert_int_equal(pressure->quotas[0].throttled_periods, 99);
	assert_int_equal(pressure->quotas[0].throttled_ns, 7000000007);
	assert_int_equal(pressure->nlimits, 1);
	assert_string_equal(pressure->limits[0].cgroup, "/job/m");
	assert_int_equal(pressure->limits[0].limit_bytes, 33554432);
	assert_int_equal(pressure->limits[0].reclaims, 7);
	assert_int_equal(pressure->limits[0].oom_kills, 1);
	assert_int_equal(pressure->limits[0].stall.some_ns, UNKNOWN_NS);
}

/* systemd removes a service's cgroup with its last process: what was read last counts. */
static void test_cgroup_gone(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;
	char command[128];

	(void)state;
	put("proc/self/mountinfo", V2_MOUNT);
	put("proc/77/cgroup", "0::/job\n");
	put_v2("/job", "50000 100000\n", "nr_periods 10\nnr_throttled 1\nthrottled_usec 100\n");
	watch = begin(77);
	put_v2("/job", "50000 100000\n", "nr_periods 20\nnr_throttled 8\nthrottled_usec 900\n");
	assert_false(pressure_watch_due(watch, 5 * SECOND + 999999999));
	assert_true(pressure_watch_due(watch, 6 * SECOND));
	pressure_watch_tick(watch, 6 * SECOND);
	snprintf(command, sizeof(command), "rm -r %s/sys/fs/cgroup/job", root);
	assert_int_equal(system(command), 0);
	pressure = end(watch);
	assert_int_equal(pressure->nquotas, 1);
	assert_int_equal(pressure->quotas[0].throttled_periods, 7);
	assert_int_equal(pressure->quotas[0].throttled_ns, 800000);
}

static void test_moved(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;

	(void)state;
	put("proc/self/mountinfo", V2_MOUNT);
	put("proc/77/cgroup", "0::/\n");
	watch = begin(77);
	put("proc/77/cgroup", "0::/late\n");
	put_v2("/late", "25000 50000\n", "nr_periods 4\nnr_throttled 4\nthrottled_usec 4\n");
	pressure_watch_add(watch, 77);
	pressure_watch_add(watch, 77);
	pressure_watch_add(watch, 78);
	put_v2("/late", "25000 50000\n", "nr_periods 9\nnr_throttled 7\nthrottled_usec 5\n");
	pressure = end(watch);
	assert_int_equal(pressure->nquotas, 1);
	assert_float_equal(pressure->quotas[0].cpus, 0.5, 1e-9);
	assert_int_equal(pressure->quotas[0].periods, 5);
	assert_int_equal(pressure->quotas[0].throttled_periods, 3);
}

/* From inside a container the host's part is not to be seen: unknown, and said. */
static void test_hidden(void **state)
{
	static const char *const mounts[] = {
		"31 23 0:28 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
		"31 23 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n", ""};
	static const char *const cgroups[] = {"0::/docker/10\n", "0::/../host\n", "0::/docker/1\n"};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct pressure *pressure;

		put("proc/self/mountinfo", mounts[i]);
		put("proc/77/cgroup", cgroups[i]);
		session_free(&session);
		pressure = end(begin(77));
		assert_int_equal(pressure->nquotas, -1);
		assert_int_equal(session.capability.nmissing, 1);
		assert_non_null(strstr(session.capability.missing[0].what, "quota"));
	}
}

/* The part of the hierarchy that is mounted, as docker does without a cgroup namespace. */
static void test_bind_mounted(void **state)
{
	struct cgroup_mounts *mounts;
	struct cgroup_place place;

	(void)state;
	put("proc/self/mountinfo", "31 23 0:28 /docker/1 /mnt/cg ro - cgroup2 cgroup2 rw\n");
	put("proc/77/cgroup", "0::/docker/1/a\n");
	mounts = cgroup_mounts_read(root);
	assert_non_null(mounts);
	assert_int_equal(cgroup_find(mounts, 77, CGROUP_CPU, &place), 0);
	assert_string_equal(place.path, "/a");
	assert_string_equal(place.mount + strlen(root), "/mnt/cg");
	cgroup_place_free(&place);
	assert_int_equal(cgroup_find(mounts, 78, CGROUP_CPU, &place), -ESRCH);
	cgroup_mounts_free(mounts);
}

#define VMSTAT(...) put("proc/vmstat", __VA_ARGS__)

static void test_vm_events(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;
	const long page = sysconf(_SC_PAGESIZE);

	(void)state;
	VMSTAT("nr_free_pages 1\npgpgin 100\npgpgout 200\npswpin 7\npswpout 9\nallocstall_dma 1\n"
	       "allocstall_normal 10\nallocstall_movable 100\npgfault 1000\npgmajfault 10\n"
	       "pgscan_direct 50\npgscan_direct_throttle 5\npgsteal_direct 40\npgscan_kswapd 3\n"
	       "workingset_refault_anon 1\nworkingset_refault_file 2\n");
	put("proc/meminfo", "MemTotal:        8000 kB\nMemFree: 1 kB\nMemAvailable: 3000 kB\n");
	watch = begin(77);
	put("proc/meminfo", "MemTotal:        8000 kB\nMemFree: 1 kB\nMemAvailable: 1000 kB\n");
	VMSTAT("nr_free_pages 1\npgpgin 105\npgpgout 211\npswpin 20\npswpout 10\nallocstall_dma 2\n"
	       "allocstall_normal 12\nallocstall_movable 104\npgfault 1511\npgmajfault 23\n"
	       "pgscan_direct 81\npgscan_direct_throttle 900\npgsteal_direct 69\npgscan_kswapd 3\n"
	       "workingset_refault_anon 20\nworkingset_refault_file 25\n");
	pressure_watch_tick(watch, 7 * SECOND);
	put("proc/meminfo", "MemTotal:        8000 kB\nMemFree: 1 kB\nMemAvailable: 2000 kB\n");
	pressure = end(watch);
	assert_int_equal(pressure->vm[VM_FAULTS], 511);
	assert_int_equal(pressure->vm[VM_MAJOR_FAULTS], 13);
	assert_int_equal(pressure->vm[VM_PAGED_IN_BYTES], 5 * 1024);
	assert_int_equal(pressure->vm[VM_PAGED_OUT_BYTES], 11 * 1024);
	assert_int_equal(pressure->vm[VM_SWAPPED_IN_BYTES], 13 * page);
	assert_int_equal(pressure->vm[VM_SWAPPED_OUT_BYTES], 1 * page);
	assert_int_equal(pressure->vm[VM_ALLOCATION_STALLS], 7);
	assert_int_equal(pressure->vm[VM_DIRECT_SCANNED], 31);
	assert_int_equal(pressure->vm[VM_DIRECT_RECLAIMED], 29);
	assert_int_equal(pressure->vm[VM_KSWAPD_SCANNED], 0);
	assert_int_equal(pressure->vm[VM_REFAULTS_FILE], 23);
	assert_int_equal(pressure->vm[VM_REFAULTS_ANON], 19);
	assert_int_equal(pressure->total_bytes, 8000 * 1024);
	assert_int_equal(pressure->available_min_bytes, 1000 * 1024);
	assert_int_equal(pressure->nseries, 3);
	assert_int_equal(pressure->series[1].t_ns, 2 * SECOND);
	assert_int_equal(pressure->series[1].count[VM_FAULTS], 511);
}

/* Linux 4.4 to 4.9: stalls in one line, reclaim by zone, no split of refaults. */
static void test_vm_old(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;

	(void)state;
	VMSTAT("pgscan_direct_dma 0\npgscan_direct_normal 10\npgscan_direct_movable 5\n"
	       "allocstall 3\nworkingset_refault 7\n");
	watch = begin(77);
	VMSTAT("pgscan_direct_dma 1\npgscan_direct_normal 30\npgscan_direct_movable 7\n"
	       "allocstall 5\nworkingset_refault 18\n");
	pressure = end(watch);
	assert_int_equal(pressure->vm[VM_DIRECT_SCANNED], 23);
	assert_int_equal(pressure->vm[VM_ALLOCATION_STALLS], 2);
	assert_int_equal(pressure->vm[VM_REFAULTS_FILE], 11);
	assert_int_equal(pressure->vm[VM_REFAULTS_ANON], UNKNOWN_COUNT);
	assert_int_equal(pressure->vm[VM_FAULTS], UNKNOWN_COUNT);
}

static void test_stalls(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;

	(void)state;
	/* no "full" line before 5.13; an empty file is what psi=0 gives */
	put("proc/pressure/cpu", "some avg10=4.90 avg60=1.62 avg300=1.28 total=2180905828\n");
	put("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"
				    "full avg10=0.00 avg60=0.00 avg300=0.00 total=2\n");
	put("proc/pressure/io", "");
	watch = begin(77);
	put("proc/pressure/cpu", "some avg10=4.90 avg60=1.62 avg300=1.28 total=2181905831\n");
	put("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=18\n"
				    "full avg10=0.00 avg60=0.00 avg300=0.00 total=2\n");
	pressure = end(watch);
	assert_int_equal(pressure->stalls[STALL_CPU].some_ns, 1000003000);
	assert_int_equal(pressure->stalls[STALL_CPU].full_ns, UNKNOWN_NS);
	assert_int_equal(pressure->stalls[STALL_MEMORY].some_ns, 13000);
	assert_int_equal(pressure->stalls[STALL_MEMORY].full_ns, 0);
	assert_int_equal(pressure->stalls[STALL_IO].some_ns, UNKNOWN_NS);
}

static void test_swaps(void **state)
{
	struct pressure *pressure;

	(void)state;
	put("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
			  "/dev/zram0                              partition\t635108\t\t1024\t\t5\n"
			  "/mnt/\033swap\\040file                  file\t\t4194300\t\t0\t\t-2\n"
			  "/dev/nvme0n1p3                          partition\t100\t\t7\t\t-3\n"
			  "garbage\n");
	pressure = end(begin(77));
	assert_int_equal(pressure->nswaps, 3);
	assert_int_equal(pressure->swaps[0].kind, SWAP_ZRAM);
	assert_int_equal(pressure->swaps[0].size_bytes, 635108LL * 1024);
	assert_int_equal(pressure->swaps[0].used_bytes, 1024 * 1024);
	assert_int_equal(pressure->swaps[1].kind, SWAP_FILE);
	assert_null(strchr(pressure->swaps[1].name, '\033'));
	assert_int_equal(pressure->swaps[2].kind, SWAP_DISK);
}

/* Nothing there at all: everything is unknown and nothing is 0. */
static void test_nothing(void **state)
{
	struct pressure *pressure;

	(void)state;
	pressure = end(begin(77));
	for (int i = 0; i < VM_EVENTS; i++)
		assert_int_equal(pressure->vm[i], UNKNOWN_COUNT);
	for (int i = 0; i < STALL_RESOURCES; i++)
		assert_int_equal(pressure->stalls[i].some_ns, UNKNOWN_NS);
	assert_int_equal(pressure->available_min_bytes, UNKNOWN_COUNT);
	assert_int_equal(pressure->nswaps, -1);
	assert_int_equal(pressure->nquotas, -1);
	assert_int_equal(pressure->nlimits, -1);
	assert_int_equal(pressure->rt_runtime_us, UNKNOWN_COUNT);
	assert_int_equal(pressure->nseries, 0);
}

static void test_garbage(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;

	(void)state;
	put("proc/self/mountinfo", V2_MOUNT);
	put("proc/77/cgroup", "\n:\n::\nx\n0::/\033[31m\xff\n");
	put_v2("/\033[31m\xff", "99999999999999999999 1\n",
	       "nr_periods -\nnr_throttled 99999999999999999999\nthrottled_usec "
	       "9223372036854775807\n");
	VMSTAT("pgfault\npgmajfault x\npswpin 9223372036854775807\npgpgin -5\npgpgout 9");
	put("proc/pressure/cpu", "some total=\nfull avg10=1 total=12x");
	put("proc/pressure/memory", "some avg10=0\nfull avg10=0 total=7\n");
	put("proc/sys/kernel/sched_rt_runtime_us", "-1\n");
	watch = begin(77);
	put_v2("/\033[31m\xff", "50000 100000\n", "nr_periods 5\n");
	VMSTAT("pgfault\npgmajfault x\npswpin 0\npgpgin 5\npgpgout 8");
	pressure = end(watch);
	assert_int_equal(pressure->nquotas, 1);
	assert_string_equal(pressure->quotas[0].cgroup, "/\\x1b[31m\\xff");
	assert_int_equal(pressure->quotas[0].periods, UNKNOWN_COUNT);
	assert_true(isnan(cpu_quota_throttled(&pressure->quotas[0])));
	assert_int_equal(pressure->vm[VM_FAULTS], UNKNOWN_COUNT);
	assert_int_equal(pressure->vm[VM_MAJOR_FAULTS], UNKNOWN_COUNT);
	assert_int_equal(pressure->vm[VM_SWAPPED_IN_BYTES], UNKNOWN_COUNT);
	assert_int_equal(pressure->vm[VM_PAGED_IN_BYTES], UNKNOWN_COUNT);
	assert_int_equal(pressure->vm[VM_PAGED_OUT_BYTES], UNKNOWN_COUNT);
	assert_int_equal(pressure->stalls[STALL_CPU].some_ns, UNKNOWN_NS);
	assert_int_equal(pressure->stalls[STALL_CPU].full_ns, UNKNOWN_NS);
	assert_int_equal(pressure->stalls[STALL_MEMORY].some_ns, UNKNOWN_NS);
	assert_int_equal(pressure->stalls[STALL_MEMORY].full_ns, 0);
	assert_int_equal(pressure->rt_runtime_us, -1);
}

/* A day keeps as much as four minutes, and its last count is still the whole. */
static void test_long_series(void **state)
{
	struct pressure_watch *watch;
	struct pressure *pressure;
	int ticks = 0;

	(void)state;
	VMSTAT("pgfault 0\n");
	watch = begin(77);
	VMSTAT("pgfault 86399\n");
	for (int64_t t = 1; t < 86400; t++) {
		if (pressure_watch_due(watch, (5 + t) * SECOND)) {
			pressure_watch_tick(watch, (5 + t) * SECOND);
			ticks++;
		}
	}
	pressure_watch_end(watch, 86405 * SECOND, &session);
	pressure_watch_free(watch);
	pressure = &session.pressure;
	assert_true(ticks < 2000);
	assert_in_range(pressure->nseries, VM_SERIES / 2, VM_SERIES + 1);
	assert_int_equal(pressure->series[0].t_ns, 0);
	for (size_t i = 1; i < pressure->nseries; i++)
		assert_true(pressure->series[i].t_ns > pressure->series[i - 1].t_ns);
	assert_int_equal(pressure->vm[VM_FAULTS], 86399);
	assert_int_equal(pressure->series[pressure->nseries - 1].t_ns, 86400 * SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, drop_root)
		TEST(test_v2_nested),	 TEST(test_v2_memory),	 TEST(test_v1_hybrid),
		TEST(test_cgroup_gone),	 TEST(test_moved),	 TEST(test_hidden),
		TEST(test_bind_mounted), TEST(test_vm_events),	 TEST(test_vm_old),
		TEST(test_stalls),	 TEST(test_swaps),	 TEST(test_nothing),
		TEST(test_garbage),	 TEST(test_long_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
