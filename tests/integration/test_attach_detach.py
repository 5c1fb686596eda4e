# SPDX-License-Identifier: GPL-2.0-only
"""Attached and detached over and over: nothing stays behind, and nobody else loses an event.

ATTACH_RUNS says how often, 20 by default; make check-attach does it 200 times.
"""
import contextlib
import ctypes
import itertools
import os
import socket
import struct
import time

import pytest

from harness import (LIMIT, Load, RUNGS, Trace, background, fd_links, parse_report, run_tool,
                     wait_for, workload)
from test_endings import objects
from test_samples import build

RUNS = int(os.environ.get("ATTACH_RUNS", "20"))
LEAKING_RUNS = 20
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
PERF_TYPE_TRACEPOINT = 2
KINDS = "prog", "map", "link"
LIBC = ctypes.CDLL(None, use_errno=True)

# Half a minute, and the kernel matrix has the like.
FULL_ONLY = True


class Counter:
    """As perf stat -e sched:sched_switch -t TID: how often that thread left a CPU."""

    def __init__(self, tid):
        with open("/sys/kernel/tracing/events/sched/sched_switch/id", encoding="ascii") as file:
            number = int(file.read())
        attr = struct.pack("=IIQ", PERF_TYPE_TRACEPOINT, 128, number).ljust(128, b"\0")
        self.fd = LIBC.syscall(PERF_EVENT_OPEN, attr, tid, -1, -1, 0)
        assert self.fd >= 0, os.strerror(ctypes.get_errno())

    def close(self):
        count, = struct.unpack("=Q", os.read(self.fd, 8))
        os.close(self.fd)
        return count


def kernels_switches(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8", errors="replace") as file:
        return sum(int(line.split()[1]) for line in file if "voluntary_ctxt_switches" in line)


def kernel_bytes():
    """What the kernel holds for itself, its pages for maps among it."""
    with open("/proc/meminfo", encoding="ascii") as file:
        kib = {line.split(":")[0]: int(line.split()[1]) for line in file}
    return 1024 * sum(kib[name] for name in ("SUnreclaim", "VmallocUsed", "Percpu"))


def perf_events():
    """Those that there are, or None before they had a cache of their own (5.13)."""
    with open("/proc/slabinfo", encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("perf_event ")), None)


def footprint(tmp_path, pid):
    """Bytes in the kernel of one that is attached."""
    before = kernel_bytes()
    with Trace(tmp_path / "one", "-p", str(pid)) as trace:
        trace.wait_attached()
        held = kernel_bytes() - before
        trace.stop()
    return held


def gone(condition, limit):
    try:
        return wait_for("it to go", condition, limit)
    except TimeoutError:
        return False


def left_behind(one, attach, runs, limit):
    """What of it stays, by name, after `attach` ran so often; `one` is what one of these takes in the kernel.
    Others may trace here meanwhile: what they have loaded goes away when they end."""
    start = {kind: max(objects(kind), default=0) for kind in KINDS}
    events, bytes_before = perf_events(), kernel_bytes()
    attach()
    ours = {kind: {n for n in objects(kind) if n > start[kind]} for kind in KINDS}
    left = {kind for kind in KINDS
            if not gone(lambda k=kind: not ours[k] & set(objects(k)), limit)}
    # The kernel counts those that it keeps at hand as made.
    if events is not None and not gone(lambda: perf_events() - events < max(128, runs / 2), limit):
        left.add("event")
    if not gone(lambda: kernel_bytes() - bytes_before < max(2 * one, one * runs / 20), limit):
        left.add("memory")
    return left


def attach_often(load, runs, rungs=RUNGS, env=None):
    for _, rung in zip(range(runs), itertools.cycle(rungs)):
        result = run_tool("-q", "--rung", rung, "-p", load.pid, "-d", "0.02", "--json", env=env)
        assert result.status == 0, result.err
        assert parse_report(result.text.encode())["losses"]["identity_violations"] == 0


def test_nothing_stays_behind(tmp_path):
    with Load(tmp_path, "pingpong", "secs=3600") as load:
        one = footprint(tmp_path, load.pid)
        assert one > 1 << 20
        threads = {name: tid for name, tid in load.ready["tids"].items() if tid != load.pid}
        assert len(threads) == 2

        def attach():
            switches = {tid: (Counter(tid), kernels_switches(load.pid, tid))
                        for tid in threads.values()}
            load.go()
            attach_often(load, RUNS)
            last = {t["tid"]: t["final"] for t in load.end()["threads"]}
            for tid, (counter, before) in switches.items():
                count, real = counter.close(), last[tid]["nvcsw"] + last[tid]["nivcsw"] - before
                assert real > 100 * RUNS and abs(count - real) <= 4, (count, real)

        assert left_behind(one, attach, RUNS, LIMIT) == set()


@contextlib.contextmanager
def unread_socket(path):
    """Takes what is sent to it, and holds it until the end."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(LEAKING_RUNS)
        yield


# Kind, how many a run, the rung, and what has to be found to be left. A map that stays takes its memory along.
LEAKS = (("map", 1, "btf", {"map"}), ("prog", 1, "tracepoint", {"prog"}),
         ("link", 1, "btf", {"link", "prog"}), ("event", 1000, "perf", {"event"}),
         ("map", 1000, "tracepoint", {"map", "memory"}))


@pytest.mark.parametrize("kind, most, rung, found", LEAKS)
def test_what_is_left_is_found(tmp_path, kind, most, rung, found):
    """That the test above can fail: descriptors are sent where nobody reads them."""
    shim, path = build(tmp_path / "leak.so", "leak"), tmp_path / "socket"
    env = {"LD_PRELOAD": str(shim), "LEAK": kind, "LEAK_MAX": str(most), "LEAK_SOCKET": str(path)}
    with Load(tmp_path / "load", "pingpong", "secs=3600") as load, unread_socket(path):
        one = footprint(tmp_path, load.pid)
        load.go()
        left = left_behind(one, lambda: attach_often(load, LEAKING_RUNS, (rung,), env),
                           LEAKING_RUNS, 2)
    assert found <= left


@pytest.mark.parametrize("command", ("/bin/true", f"{workload('cuda_linked')} iters=1 launches=3"))
def test_descriptors_do_not_grow_with_processes(tmp_path, command):
    """Of one long run, as children of the target come and go."""
    with background("sh", "-c", f"while :; do {command} >{tmp_path}/out; done") as shell, \
         Trace(tmp_path / "trace", "--cuda", "all", "-p", str(shell.pid)) as trace:
        trace.wait_attached()
        seen = []
        for _ in range(4):
            time.sleep(1.5)
            seen.append(len(fd_links(trace.pid)))
        report = trace.stop().report
    born = report["threads_seen"]
    assert born > 20
    assert max(seen) - min(seen) < 8 and seen[-1] - seen[0] < born / 4, (seen, born)
