# SPDX-License-Identifier: GPL-2.0-only
"""Beside the target: CPU quotas and memory limits of cgroups, pressure, other processes."""
import contextlib
import os
import resource
import subprocess
import sys
import time

import pytest

from harness import (LAST_CPU, Load, S, Trace, background, in_mounts, parse_report, remove_cgroup, run_tool,
                     wait_for)

PERIOD_US = 100000
TICK = 1 / os.sysconf("SC_CLK_TCK")


def read(*path):
    with open(os.path.join(*path), encoding="ascii") as file:
        return file.read()


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="ascii") as file:
        file.write(str(text))


def hierarchy(controller):
    """(version, folder), or a skip where this machine lets nobody make a cgroup."""
    for name in controller, "cpu,cpuacct":
        if controller in name.split(",") and os.path.exists(f"/sys/fs/cgroup/{name}/cgroup.procs"):
            return 1, f"/sys/fs/cgroup/{name}"
    top = "/sys/fs/cgroup"
    try:
        if controller in read(top, "cgroup.controllers").split():
            write(f"+{controller}", top, "cgroup.subtree_control")
            return 2, top
    except OSError:
        pass
    return pytest.skip(f"no cgroup hierarchy with the {controller} controller")


@contextlib.contextmanager
def cgroup(controller):
    """A new cgroup and one in it: (version, folder, inner folder)."""
    version, top = hierarchy(controller)
    folder = f"{top}/tegratrace-test-{os.getpid()}"
    inner = f"{folder}/inner"
    try:
        os.makedirs(inner)
    except OSError as error:
        pytest.skip(f"cannot make a cgroup in {top}: {error}")
    try:
        yield version, folder, inner
    finally:
        for each in inner, folder:
            remove_cgroup(each)


def set_quota(version, folder, cpus):
    if version == 1:
        write(PERIOD_US, folder, "cpu.cfs_period_us")
        write(int(cpus * PERIOD_US), folder, "cpu.cfs_quota_us")
    else:
        write(f"{int(cpus * PERIOD_US)} {PERIOD_US}", folder, "cpu.max")


def cpu_stat(folder):
    """Periods, throttled periods, throttled ns: the kernel's own words."""
    stat = dict(line.split() for line in read(folder, "cpu.stat").splitlines())
    ns = stat.get("throttled_time") or int(stat["throttled_usec"]) * 1000
    return int(stat["nr_periods"]), int(stat["nr_throttled"]), int(ns)


def test_quota(tmp_path, rung):
    """The limit is one level up; cpu.stat is read just outside of the window, on both sides."""
    with cgroup("cpu") as (version, folder, inner), \
            Load(tmp_path, "hog", "n=2", "secs=60", nice=-20) as load:
        set_quota(version, folder, 0.3)
        write(load.pid, inner, "cgroup.procs")
        load.go()
        wait_for("the quota to be used up", lambda: cpu_stat(folder)[1] > 2)
        outer = cpu_stat(folder)
        with Trace(tmp_path, "-p", str(load.pid), rung=rung) as trace:
            trace.wait_attached()
            inside = cpu_stat(folder)
            wait_for("20 periods", lambda: cpu_stat(folder)[1] >= inside[1] + 20)
            inside = [b - a for a, b in zip(inside, cpu_stat(folder))]
            result = trace.stop()
        outer = [b - a for a, b in zip(outer, cpu_stat(folder))]
        write(-1, folder, "cpu.cfs_quota_us") if version == 1 else write("max", folder, "cpu.max")
        load.end()
    quotas = result.report["pressure"]["cpu_quotas"]
    assert [q["cgroup"] for q in quotas] == [folder[folder.rindex("/"):]]
    quota = quotas[0]
    assert quota["version"] == version and quota["pid"] == load.pid
    assert quota["cpus"] == pytest.approx(0.3)
    for key, low, high in zip(("periods", "throttled_periods", "throttled_ns"), inside, outer):
        assert low <= quota[key] <= high, key
    assert quota["throttled_share"] == pytest.approx(
        quota["throttled_periods"] / quota["periods"], abs=1e-5)
    # Two threads on one CPU are held back together: each waits for as long as the quota is used up.
    for row in result.rows:
        if row["comm"].startswith("hog-"):
            waited = row["runq_wake_ns"] + row["runq_preempt_ns"]
            assert waited > 0.9 * quota["throttled_ns"]
    assert "quota" in result.text and "0.30 CPUs" in result.text


def test_no_quota(tmp_path):
    """Contention alone: no quota is blamed."""
    with cgroup("cpu") as (_, _, inner), Load(tmp_path, "hog", "n=3", "secs=60") as load:
        write(load.pid, inner, "cgroup.procs")
        load.go()
        with Trace(tmp_path, "-p", str(load.pid)) as trace:
            trace.wait_attached()
            time.sleep(1)
            result = trace.stop()
        load.end()
    assert result.report["pressure"]["cpu_quotas"] == []
    assert "quota" not in result.text


READER = """
import os, sys
buffer = bytearray(1 << 20)
file = open(sys.argv[1], "rb", buffering=0)
print("up", flush=True)
sys.stdin.readline()
while file.readinto(buffer):
    pass
print("read", flush=True)
sys.stdin.readline()
"""

MIB = 1 << 20


def uncached_file(path, size):
    with open(path, "wb") as file:
        file.write(os.urandom(MIB) * (size // MIB))
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def limit_hits(version, folder):
    if version == 1:
        return int(read(folder, "memory.failcnt"))
    events = dict(line.split() for line in read(folder, "memory.events").splitlines())
    return int(events["high"]) + int(events["max"])


def test_memory_limit(tmp_path):
    """A file twice as large as the limit is read: the group reclaims its own cache."""
    uncached_file(tmp_path / "file", 64 * MIB)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with cgroup("memory") as (version, folder, inner), \
            background(sys.executable, "-c", READER, str(tmp_path / "file"), **pipes) as reader:
        write(32 * MIB, folder, "memory.limit_in_bytes" if version == 1 else "memory.max")
        assert reader.stdout.readline() == b"up\n"
        write(reader.pid, inner, "cgroup.procs")
        with Trace(tmp_path, "-p", str(reader.pid)) as trace:
            trace.wait_attached()
            before = limit_hits(version, folder)
            reader.stdin.write(b"\n")
            reader.stdin.flush()
            assert reader.stdout.readline() == b"read\n"
            hits = limit_hits(version, folder) - before
            result = trace.stop()
        reader.kill()
        reader.wait()
    assert hits > 0
    limits = result.report["pressure"]["memory_limits"]
    limit = next(one for one in limits if one["cgroup"].endswith(folder[folder.rindex("/"):]))
    assert limit["limit_bytes"] == 32 * MIB
    assert limit["reclaims"] == hits
    assert limit["oom_kills"] == 0
    assert 0 < limit["used_bytes"] <= 32 * MIB
    assert f"{hits} times" in result.text


def test_other_process(tmp_path, sleeper):
    """A hog outside of the target, its CPU time by its own reading; the target is never listed."""
    with Load(tmp_path, "hog", "n=1", "secs=60", nice=-20) as other:
        with Trace(tmp_path, "-p", str(sleeper.pid)) as trace:
            trace.wait_attached()
            before = oncpu_ns(other.pid)
            other.go()
            time.sleep(1.5)
            least_s = (oncpu_ns(other.pid) - before) / S
            result = trace.stop()
        other.end()
    window_s = result.report["window"]["duration_ns"] / S
    top = result.report["top_processes"]
    assert 1 <= len(top) <= 5
    assert [p["cpu_share"] for p in top] == sorted((p["cpu_share"] for p in top), reverse=True)
    hog = next(p for p in top if p["pid"] == other.pid)
    assert hog["comm"] == "hog"
    # It has one thread; the kernel's ticks are of user and system time, each cut.
    assert least_s - 4 * TICK <= hog["cpu_share"] * window_s <= window_s + 4 * TICK


def oncpu_ns(pid):
    """Of the threads added up, as the scheduler has them."""
    return sum(int(read(f"/proc/{pid}/task", tid, "schedstat").split()[0])
               for tid in os.listdir(f"/proc/{pid}/task"))


def test_target_is_not_another(tmp_path):
    with Load(tmp_path, "hog", "n=1", "secs=60") as load:
        load.go()
        with Trace(tmp_path, "-p", str(load.pid)) as trace:
            trace.wait_attached()
            time.sleep(0.5)
            result = trace.stop()
        load.end()
    assert load.pid not in [p["pid"] for p in result.report["top_processes"]]


# Not the CPU that the other loads share; even so, what else runs there may hold it too.
CPU = min(os.sched_getaffinity(0))
TRIES = 3


def holders_of(result, comm):
    """The rows of one waiter; the share of each kind of holder in all that it waited for a CPU."""
    row = result.row(comm)
    rows = [one for one in result.report["cpu_holders"] if one["waiter"] == row["tid"]]
    waited = row["runq_wake_ns"] + row["runq_preempt_ns"]
    assert {one["waited_ns"] for one in rows} == {waited}
    assert sum(one["ns"] for one in rows) <= waited
    shares = {}
    for one in rows:
        assert one["share"] == pytest.approx(one["ns"] / waited, rel=1e-4, abs=1e-6)
        kind = one["holder"]["kind"]
        shares[kind] = shares.get(kind, 0) + one["share"]
    return rows, shares


def trace_for(folder, pid, rung, seconds):
    folder.mkdir(exist_ok=True)
    with Trace(folder, "-p", str(pid), rung=rung) as trace:
        trace.wait_attached()
        time.sleep(seconds)
        return trace.stop()


@pytest.mark.slow
def test_held_by_another_process(tmp_path, rung):
    """A real-time hog on the same CPU: the kernel lets others run for a twentieth of the time."""
    with Load(tmp_path / "own", "hog", "n=1", f"cpu={CPU}", "secs=60", nice=-20) as load, \
            Load(tmp_path / "other", "hog", "n=1", f"cpu={CPU}", "secs=60") as other:
        load.go()
        os.sched_setscheduler(other.ready["tids"]["hog-0"], os.SCHED_RR, os.sched_param(7))
        other.go()
        for i in range(TRIES):
            result = trace_for(tmp_path / str(i), load.pid, rung, 3.3)
            rows, shares = holders_of(result, "hog-0")
            # Of what was waited to the end: the last wait was not, and is a second at most.
            known = sum(shares.values())
            if known > 0.5 and shares["process"] > 0.97 * known:
                break
        other.end()
        load.end()
    assert known > 0.5
    assert shares["process"] > 0.97 * known
    holder = rows[0]["holder"]
    assert holder["pid"] == other.pid and holder["tid"] == other.ready["tids"]["hog-0"]
    assert (holder["name"], holder["process"]) == ("hog-0", "hog")
    assert (holder["policy"], holder["rt_priority"]) == ("rr", 7)
    assert f"hog (PID {other.pid}) (real-time priority 7)" in result.text


def test_held_by_its_own(tmp_path, rung):
    with Load(tmp_path, "hog", "n=2", f"cpu={CPU}", "secs=60", nice=-20) as load:
        load.go()
        for i in range(TRIES):
            result = trace_for(tmp_path / str(i), load.pid, rung, 1.5)
            rows, shares = holders_of(result, "hog-0")
            if shares["own"] > 0.9:
                break
        load.end()
    assert shares["own"] > 0.9
    assert rows[0]["holder"]["tid"] == load.ready["tids"]["hog-1"]


FAULTS = """
import mmap, sys
area = mmap.mmap(-1, 4099 * mmap.PAGESIZE)
area.madvise(mmap.MADV_NOHUGEPAGE)
sys.stdin.readline()
for page in range(4099):
    area[page * mmap.PAGESIZE] = 1
print("done", flush=True)
sys.stdin.readline()
"""


def test_paging_and_series(tmp_path):
    """A prime number of pages touched: no fewer faults; the series adds up to the whole."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with background(sys.executable, "-c", FAULTS, **pipes) as process:
        with Trace(tmp_path, "-p", str(process.pid)) as trace:
            trace.wait_attached()
            process.stdin.write(b"\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"done\n"
            time.sleep(1.2)
            result = trace.stop()
    pressure = result.report["pressure"]
    assert pressure["vm"]["faults"] >= 4099
    assert len(pressure["series"]) >= 2
    for event, count in pressure["vm"].items():
        if count is not None:
            assert sum(entry[event] for entry in pressure["series"]) == count, event
    total = sum(entry["duration_ns"] for entry in pressure["series"])
    assert total == pytest.approx(result.report["window"]["duration_ns"], rel=0.05)
    assert 0 < pressure["available_min_bytes"] <= pressure["total_bytes"]
    assert pressure["total_bytes"] == resource.getpagesize() * os.sysconf("SC_PHYS_PAGES")


def cpu_stall_ns():
    try:
        some = read("/proc/pressure/cpu").splitlines()[0]
    except OSError:
        return pytest.skip("this kernel keeps no pressure stall information")
    return int(some.rpartition("total=")[2]) * 1000


def test_cpu_stall(tmp_path):
    """Three hogs on one CPU: two always wait. The kernel's total, read on both sides of both ends."""
    cpu_stall_ns()
    with Load(tmp_path, "hog", "n=3", f"cpu={LAST_CPU}", "secs=60") as load:
        load.go()
        outer = cpu_stall_ns()
        with Trace(tmp_path, "-p", str(load.pid)) as trace:
            trace.wait_attached()
            inside = cpu_stall_ns()
            time.sleep(1.5)
            inside = cpu_stall_ns() - inside
            result = trace.stop()
        outer = cpu_stall_ns() - outer
        load.end()
    stall = result.report["pressure"]["stalls"]["cpu"]
    assert 0 < inside <= stall["some_ns"] <= outer


def test_without_stall_information(sleeper):
    if not os.path.isdir("/proc/pressure"):
        pytest.skip("there is none to hide")
    result = run_tool("-q", "-p", sleeper.pid, "-d", 0.3, "--json",
                      prefix=in_mounts("mount -t tmpfs none /proc/pressure"))
    assert result.status == 0
    report = parse_report(result.text.encode())
    unknown = {"some_ns": None, "full_ns": None}
    assert report["pressure"]["stalls"] == {"cpu": unknown, "memory": unknown, "io": unknown}
    assert report["pressure"]["vm"]["faults"] is not None
    missing = {one["what"]: one["why"] for one in report["capability"]["missing"]}
    assert "CONFIG_PSI" in missing["pressure stall information"]


def test_cgroups_hidden(sleeper):
    """As in a container that has no cgroup mount: unknown and said, not "no quota"."""
    result = run_tool("-q", "-p", sleeper.pid, "-d", 0.3, "--json",
                      prefix=in_mounts("umount -R /sys/fs/cgroup"))
    assert result.status == 0
    report = parse_report(result.text.encode())
    assert report["pressure"]["cpu_quotas"] is None
    assert "CPU quotas of cgroups" in [one["what"] for one in report["capability"]["missing"]]


def test_switched_off(sleeper, rung):
    result = run_tool("-q", "--rung", rung, "-p", sleeper.pid, "-d", 0.3, "--json",
                      "--without", "system")
    assert result.status == 0
    report = parse_report(result.text.encode())
    assert report["pressure"] is None and report["top_processes"] is None
