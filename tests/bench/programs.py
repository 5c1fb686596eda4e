# SPDX-License-Identifier: GPL-2.0-only
"""What the programs of one probe take for one event, by the kernel's statistics of BPF programs, beside
peers that look at the same event; and, where the load can tell, what the event costs in all.

Usage: programs.py TEGRATRACE WORKLOADS ROUNDS MS"""
import contextlib
import json
import os
import re
import subprocess
import sys
import time

import bench

TOOL, WORKLOADS, ROUNDS, SECONDS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) / 1e3
STATS = "/proc/sys/kernel/bpf_stats_enabled"
BPFTOOL = subprocess.run(["tools/find-bpftool.sh"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()

# From its first program to all of them; and for a peer that has none.
SETTLE_S = 0.7
SETTLE_OTHER_S = 1.5
ALL = "block,faults,samples,cuda,irq,stacks,system"


def held(pid):
    """Numbers of the BPF programs that a process holds, by themselves or by their links."""
    numbers = set()
    for entry in os.scandir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError), open(entry.path, encoding="ascii") as lines:
            numbers.update(int(line.split()[1]) for line in lines if line.startswith("prog_id:"))
    return numbers


def programs(process):
    """Name, ns and runs of each BPF program of a process, by its number."""
    if not process:
        return {}
    own = held(process.pid)
    out = subprocess.run([BPFTOOL, "-j", "prog", "show"], stdout=subprocess.PIPE, check=True).stdout
    return {prog["id"]: (prog.get("name", ""), prog.get("run_time_ns", 0), prog.get("run_cnt", 0))
            for prog in json.loads(out) if prog["id"] in own}


def set_statistics(on):
    with open(STATS, "w", encoding="ascii") as switch:
        switch.write("1" if on else "0")


@contextlib.contextmanager
def statistics_on():
    set_statistics(True)
    try:
        yield
    finally:
        set_statistics(False)


def tracer(command, pid):
    """In the background, attached; without one nothing."""
    if not command:
        return contextlib.nullcontext()
    return bench.background(*(arg.format(pid=pid) for arg in command))


def wait_attached(process, command):
    if command[0] == "perf":
        time.sleep(SETTLE_OTHER_S)
    else:
        bench.wait_for(command[0], lambda: process.poll() is not None or held(process.pid))
        time.sleep(SETTLE_S)
    if process.poll() is not None:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}")


class OneLoad:
    """A workload that runs until it is stopped."""

    def __init__(self, folder, name, *args):
        self.load = bench.Load(folder, f"{WORKLOADS}/{name}", *args, "secs=600")
        self.pid = self.load.pid

    def __enter__(self):
        self.load.__enter__()
        self.load.go()
        return self

    def __exit__(self, *error):
        self.load.__exit__(*error)


class Faults(OneLoad):
    """Of anonymous memory, touched again and again."""

    title, event = "page fault", "fault"
    own = r"fault"
    ways = {
        "tegratrace": [TOOL, "-q", "--json=/dev/null", f"--without={ALL.replace('faults,', '')}", "-p", "{pid}"],
        "bpftrace, count by thread": ["bpftrace", "-e", "software:page-faults:1 {{ @[tid] = count(); }}"],
        "perf record -d": ["perf", "record", "-q", "-d", "-e", "page-faults", "-c", "1", "-o", "/dev/null", "-p", "{pid}"],
    }

    def __init__(self, folder):
        super().__init__(folder, "fault_load", "copied=0", "cold=0", f"rounds={1 << 20}", f"file={folder}/data")

    def books(self):
        """Faults and CPU ns of all of its threads."""
        faults = ns = 0
        for task in os.scandir(f"/proc/{self.pid}/task"):
            with open(f"{task.path}/stat", encoding="ascii") as stat:
                faults += int(stat.read().rpartition(")")[2].split()[7])
            with open(f"{task.path}/schedstat", encoding="ascii") as schedstat:
                ns += int(schedstat.read().split()[0])
        return faults, ns

    def measure(self):
        """Events, and CPU ns of each in all."""
        faults, ns = self.books()
        time.sleep(SECONDS)
        more_faults, more_ns = self.books()
        return more_faults - faults, (more_ns - ns) / (more_faults - faults)


class Samples(OneLoad):
    """Of a thread that computes all the time: 99 a second."""

    title, event = "sample of a stack, 99 Hz", "sample"
    own = r"sample"
    ways = {
        "tegratrace": [TOOL, "-q", "--json=/dev/null", f"--without={ALL.replace('samples,', '')}", "-p", "{pid}"],
        "tegratrace --user-stacks": [TOOL, "-q", "--json=/dev/null", "--user-stacks",
                                     f"--without={ALL.replace('samples,', '')}", "-p", "{pid}"],
        "bpftrace, both stacks": ["bpftrace", "-e", "profile:hz:99 /pid == {pid}/ {{ @[tid, ustack, kstack] = count(); }}"],
    }

    def __init__(self, folder):
        super().__init__(folder, "hog", "n=1")

    def measure(self):
        time.sleep(SECONDS)
        return None, None


class Requests:
    """Small direct reads of a file by fio."""

    title, event = "block request", "request"
    own = r"block|rq|merge|bio"
    ways = {
        "tegratrace": [TOOL, "-q", "--json=/dev/null", f"--without={ALL.replace('block,', '')}", "-p", "{pid}"],
        "biolatency -D": ["biolatency", "-D", "1000"],
        "bpftrace, issue to completion": ["bpftrace", "-e", """
            tracepoint:block:block_rq_issue {{ @at[args->dev, args->sector] = nsecs; }}
            tracepoint:block:block_rq_complete /@at[args->dev, args->sector]/ {{
                @us[args->dev] = hist((nsecs - @at[args->dev, args->sector]) / 1000);
                delete(@at[args->dev, args->sector]); }}"""],
    }

    def __init__(self, folder):
        # Not in memory: a folder of tmpfs has no device.
        self.file = f"/var/tmp/tegratrace-bench.{os.getpid()}"
        self.fio = bench.background("fio", "--name=bench", f"--filename={self.file}", "--size=64m", "--rw=randread", "--bs=4k",
                                    "--direct=1", "--ioengine=psync", "--thread", "--time_based", "--runtime=600", cwd=folder)
        self.pid = None

    def __enter__(self):
        self.pid = self.fio.__enter__().pid
        bench.wait_for("fio", lambda: os.path.exists(self.file) and self.reads() and self.busy_reading())
        return self

    def __exit__(self, *error):
        self.fio.__exit__(*error)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.file)

    def reads(self):
        device = os.stat(self.file).st_dev
        with open(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/stat", encoding="ascii") as stat:
            return int(stat.read().split()[0])

    def busy_reading(self):
        before = self.reads()
        time.sleep(0.2)
        return self.reads() - before > 20

    def measure(self):
        before, busy = self.reads(), busy_ns()
        time.sleep(SECONDS)
        events = self.reads() - before
        return events, (busy_ns() - busy) / events


def busy_ns():
    """Of all CPUs."""
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _, _, irq, softirq, *_ = map(int, stat.readline().split()[1:])
    return (user + nice + system + irq + softirq) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def one(kind, folder, command):
    """ns of the programs for one event, and CPU ns of the event in all; None: not to be told."""
    with kind(folder) as load, tracer(command, load.pid) as process:
        if process:
            wait_attached(process, command)
        # The statistics add two readings of the clock to each run of a program.
        _, whole = load.measure()
        with statistics_on():
            begin = programs(process)
            events, _ = load.measure()
            end = programs(process)
        if process:
            bench.interrupt(process)
    own = kind.own if command and command[0] == TOOL else ""
    ns = runs = 0
    for number in set(end) & set(begin):
        if re.search(own, end[number][0]):
            ns += end[number][1] - begin[number][1]
            runs += end[number][2] - begin[number][2]
    events = events or runs
    return ns / events if runs else None, whole


def show(what, found):
    ns = [value for value, _ in found if value is not None]
    whole = [value for _, value in found if value is not None]
    print(f"  {what:32}" + (f" {bench.median(ns):8.0f}" if ns else f" {'-':>8}")
          + (f" {bench.median(whole):10.0f}" if whole else f" {'-':>10}"), flush=True)
    return bench.median(ns) if ns else None


def main():
    for kind in (Requests, Faults, Samples):
        if kind is Requests and not bench.have("fio"):
            continue
        print(f"{kind.title:34} {'programs':>8} {'all of it':>10}")
        ways = {"untraced": None, **{name: command for name, command in kind.ways.items()
                                     if command[0] == TOOL or bench.have(command[0])}}
        found = {name: [] for name in ways}
        with bench.folder() as folder:
            for _ in range(ROUNDS):
                for name, command in ways.items():
                    found[name].append(one(kind, folder, command))
        ns = {name: show(name, values) for name, values in found.items()}
        peer = next((f"{name} {value:.0f} ns" for name, value in ns.items() if value and "tegratrace" not in name), "")
        if ns["tegratrace"]:
            bench.result(f"programs: a {kind.event}", f"{ns['tegratrace']:.0f}", "ns", peer=peer)


main()
