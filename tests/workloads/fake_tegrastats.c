/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints what tegrastats prints as root on an Orin Nano 8GB with JetPack 6, with the load of the
 * GPU of fakegpu.h: its exact busy share since the line before (at most 99, like the real one), and
 * with this machine's own CPU load and memory.
 *
 *   --interval MS   between lines, default 1000      --logfile FILE   instead of stdout
 *   --stop          as of a tegrastats in the background: there is none, so nothing is done
 *
 * Environment; a VALUE may change over the lines: "1020*10,306" is 1020 for ten lines, then 306.
 *   FAKE_TEGRASTATS_MODE    ok | die_after:N | hang_after:N | garbage | slow
 *   FAKE_TEGRASTATS_GPU_MHZ VALUE, 624        FAKE_TEGRASTATS_CPU_MHZ VALUE, 1510
 *   FAKE_TEGRASTATS_EMC     VALUE in %, 23    FAKE_TEGRASTATS_EMC_MHZ VALUE, 2133
 *   FAKE_TEGRASTATS_TEMP    VALUE in C, 48.2: the hottest zone; the others are a little cooler
 *   FAKE_TEGRASTATS_VDD_IN, _VDD_CPU_GPU_CV, _VDD_SOC   VALUE in mW, 8123, 3121, 2099
 */
#include "workload.h"
#include "fakegpu.h"

#define MAX_CPUS 128
#define MAX_LINE 16384

struct cpu_time {
	bool online;
	uint64_t busy, total;
};

struct meminfo {
	unsigned int total, used, swap_total, swap_used, swap_cached; /* MB */
};

enum mode { MODE_OK, MODE_DIE, MODE_HANG, MODE_GARBAGE, MODE_SLOW };

static const char *const rails[] = {"VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC"};
static const double rail_defaults[] = {8123, 3121, 2099};

#define NRAILS (sizeof(rails) / sizeof(rails[0]))

static enum mode mode;
static unsigned long mode_lines;
static unsigned long line_no;
static uint64_t interval_ns = WL_NSEC;
static double rail_sum[NRAILS];
static struct cpu_time cpus[MAX_CPUS];
static int ncpus;
static struct fakegpu *gpu;
static uint64_t gpu_busy, gpu_when;
static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static double value(const char *name, double def)
{
	unsigned long line = line_no, count;
	char key[64], *end;
	const char *text;
	double v;

	snprintf(key, sizeof(key), "FAKE_TEGRASTATS_%s", name);
	text = getenv(key);
	if (!text || !*text)
		return def;
	for (;; text = end + 1) {
		v = strtod(text, &end);
		if (end == text)
			wl_die(WL_USAGE, "%s: not a list of numbers", key);
		count = *end == '*' ? strtoul(end + 1, &end, 10) : ULONG_MAX;
		if (line < count || *end != ',')
			return v;
		line -= count;
	}
}

/* what is measured */

static void read_cpu(const char *line)
{
	uint64_t v[8] = {0};
	unsigned int cpu, i;
	struct cpu_time *c;
	int skip = 0;

	if (sscanf(line, "cpu%u%n", &cpu, &skip) != 1 || cpu >= MAX_CPUS)
		return;
	sscanf(line + skip,
	       "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
	       " %" SCNu64,
	       &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
	c = &cpus[cpu];
	c->online = true;
	c->busy = c->total = 0;
	for (i = 0; i < 8; i++) {
		c->total += v[i];
		/* all but idle and iowait */
		if (i != 3 && i != 4)
			c->busy += v[i];
	}
	if ((int)cpu >= ncpus)
		ncpus = (int)cpu + 1;
}

static void read_cpus(void)
{
	char line[4096];
	FILE *f = fopen("/proc/stat", "re");
	int i;

	for (i = 0; i < ncpus; i++)
		cpus[i].online = false;
	while (f && fgets(line, sizeof(line), f) && !strncmp(line, "cpu", 3))
		read_cpu(line);
	if (f)
		fclose(f);
}

static struct meminfo read_meminfo(void)
{
	unsigned long total = 0, avail = 0, stotal = 0, sfree = 0, scached = 0, kb;
	FILE *f = fopen("/proc/meminfo", "re");
	char line[256], key[64];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63[^:]: %lu", key, &kb) != 2)
			continue;
		total = strcmp(key, "MemTotal") ? total : kb;
		avail = strcmp(key, "MemAvailable") ? avail : kb;
		stotal = strcmp(key, "SwapTotal") ? stotal : kb;
		sfree = strcmp(key, "SwapFree") ? sfree : kb;
		scached = strcmp(key, "SwapCached") ? scached : kb;
	}
	if (f)
		fclose(f);
	return (struct meminfo){
		.total = (unsigned int)(total / 1024),
		.used = (unsigned int)((total - avail) / 1024),
		.swap_total = (unsigned int)(stotal / 1024),
		.swap_used = (unsigned int)((stotal - sfree) / 1024),
		.swap_cached = (unsigned int)(scached / 1024),
	};
}

static int gpu_percent(void)
{
	uint64_t now, busy = fakegpu_busy(gpu, &now), percent = 0;

	/* Less than before: somebody has begun a new book. */
	if (busy >= gpu_busy && now > gpu_when)
		percent = ((busy - gpu_busy) * 100 + (now - gpu_when) / 2) / (now - gpu_when);
	gpu_busy = busy;
	gpu_when = now;
	return percent > 99 ? 99 : (int)percent;
}

/* one line, piece by piece */

static void put_head(FILE *f)
{
	struct meminfo m = read_meminfo();
	time_t now = time(NULL);
	char date[32];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%m-%d-%Y %H:%M:%S", &tm);
	fprintf(f, "%s RAM %u/%uMB (lfb 4x4MB) SWAP %u/%uMB (cached %uMB)", date, m.used, m.total,
		m.swap_used, m.swap_total, m.swap_cached);
}

static void put_cpus(FILE *f)
{
	struct cpu_time before[MAX_CPUS], *b, *c;
	int mhz = (int)value("CPU_MHZ", 1510), i;
	uint64_t total, busy;

	memcpy(before, cpus, sizeof(before));
	read_cpus();
	fputs(" CPU [", f);
	for (i = 0; i < ncpus; i++) {
		b = &before[i];
		c = &cpus[i];
		total = c->total > b->total ? c->total - b->total : 0;
		busy = c->busy > b->busy ? c->busy - b->busy : 0;
		fputs(i ? "," : "", f);
		if (!c->online)
			fputs("off", f);
		else
			fprintf(f, "%d%%@%d", total ? (int)(busy * 100 / total) : 0, mhz);
	}
	fputs("]", f);
}

static void put_engines(FILE *f)
{
	fprintf(f, " EMC_FREQ %d%%@%d", (int)value("EMC", 23), (int)value("EMC_MHZ", 2133));
	fprintf(f, " GR3D_FREQ %d%%@[%d]", gpu_percent(), (int)value("GPU_MHZ", 624));
	fputs(" NVDEC off NVJPG off NVJPG1 off VIC off OFA off APE 200", f);
}

static void put_temps(FILE *f)
{
	static const char *const zones[] = {"cpu", "soc2", "soc0", "gpu", "tj", "soc1"};
	static const double below[] = {0, 1.125, 1.312, 0.218, 0, 0.687};
	double top = value("TEMP", 48.2);
	size_t i;

	for (i = 0; i < sizeof(zones) / sizeof(zones[0]); i++)
		fprintf(f, " %s@%gC", zones[i], top - below[i]);
}

/* The average is over all lines of this process, as the real one's is. */
static void put_rails(FILE *f)
{
	double now;
	size_t i;

	for (i = 0; i < NRAILS; i++) {
		now = value(rails[i], rail_defaults[i]);
		rail_sum[i] += now;
		fprintf(f, " %s %.0fmW/%.0fmW", rails[i], now, rail_sum[i] / ((double)line_no + 1));
	}
}

static size_t make_line(char *buf, size_t size)
{
	FILE *f = fmemopen(buf, size, "w");
	long len;

	if (!f)
		wl_die(WL_FAIL, "no memory");
	put_head(f);
	put_cpus(f);
	put_engines(f);
	put_temps(f);
	put_rails(f);
	fputc('\n', f);
	len = ftell(f);
	fclose(f);
	return len > 0 ? (size_t)len : 0;
}

/* printing, well or badly */

static void rest(uint64_t ns)
{
	struct timespec ts = wl_ts(ns);

	/* A signal ends it: the loop looks at stop. */
	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

static void put(const char *buf, size_t len)
{
	if (fwrite(buf, 1, len, stdout) != len || fflush(stdout))
		exit(WL_FAIL);
}

static void put_bytes(size_t len)
{
	unsigned int x = 2463534242U + (unsigned int)line_no;

	while (len--) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		putchar((int)(x & 0xff));
	}
}

static void put_long(void)
{
	int i;

	fputs("RAM 1/2MB ", stdout);
	for (i = 0; i < 100003; i++)
		putchar('x');
	putchar('\n');
}

static void put_garbage(const char *line, size_t len)
{
	static const char hostile[] = "<script>alert(1)</script>\",=cmd|' /C calc'!A0 "
				      "\033[2J\033]0;x\007 RAM %s%n/-1MB\n";
	static const char numbers[] = "RAM 99999999999999999999/0MB CPU [-1%@1e400,nan%@-inf,,off] "
				      "EMC_FREQ 999%@x GR3D_FREQ -5%@[] tj@1e9C VDD_IN 5mW/\n";

	switch (line_no % 7) {
	case 0:
		put(line, len);
		break;
	case 1:
		put_bytes(1009);
		break;
	case 2:
		put(line, len / 2); /* glued to the next */
		break;
	case 3:
		put("\r\n\n \0\n", 6);
		break;
	case 4:
		put_long();
		break;
	case 5:
		put(hostile, sizeof(hostile) - 1);
		break;
	case 6:
		put(numbers, sizeof(numbers) - 1);
		break;
	}
	fflush(stdout);
}

static void print_line(void)
{
	static char line[MAX_LINE];
	size_t len = make_line(line, sizeof(line));

	if (mode == MODE_GARBAGE) {
		put_garbage(line, len);
	} else if (mode == MODE_SLOW) {
		put(line, len / 2);
		rest(interval_ns);
		put(line + len / 2, len - len / 2);
	} else {
		put(line, len);
	}
	line_no++;
}

static void misbehave(void)
{
	if (mode == MODE_DIE && line_no >= mode_lines)
		exit(WL_FAIL);
	while (mode == MODE_HANG && line_no >= mode_lines && !stop)
		rest(WL_NSEC);
}

static void read_mode(void)
{
	const char *text = getenv("FAKE_TEGRASTATS_MODE");

	if (!text || !*text || !strcmp(text, "ok"))
		return;
	if (sscanf(text, "die_after:%lu", &mode_lines) == 1)
		mode = MODE_DIE;
	else if (sscanf(text, "hang_after:%lu", &mode_lines) == 1)
		mode = MODE_HANG;
	else if (!strcmp(text, "garbage"))
		mode = MODE_GARBAGE;
	else if (!strcmp(text, "slow"))
		mode = MODE_SLOW;
	else
		wl_die(WL_USAGE, "FAKE_TEGRASTATS_MODE=%s: unknown", text);
}

static void read_args(int argc, char **argv)
{
	long ms;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--stop")) {
			exit(0);
		} else if (!strcmp(argv[i], "--interval") && i + 1 < argc) {
			ms = strtol(argv[++i], NULL, 10);
			if (ms < 1 || ms > 86400000)
				wl_die(WL_USAGE, "--interval %s: not milliseconds", argv[i]);
			interval_ns = (uint64_t)ms * WL_MSEC;
		} else if (!strcmp(argv[i], "--logfile") && i + 1 < argc) {
			if (!freopen(argv[++i], "w", stdout))
				wl_die(WL_FAIL, "%s: %s", argv[i], strerror(errno));
		} else {
			wl_die(WL_USAGE, "[--interval MS] [--logfile FILE] [--stop]");
		}
	}
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};

	wl.program = "tegrastats";
	read_args(argc, argv);
	read_mode();
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	gpu = fakegpu_open();
	gpu_busy = fakegpu_busy(gpu, &gpu_when);
	read_cpus();
	while (!stop) {
		misbehave();
		rest(interval_ns);
		if (!stop)
			print_line();
	}
	return 0;
}
