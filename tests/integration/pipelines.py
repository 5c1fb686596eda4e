# SPDX-License-Identifier: GPL-2.0-only
"""Runs of demo_pipeline amid its work, and whether other load left its limit what it is by construction."""
import bisect
import struct
import time

import pytest

from harness import FAKE_TEGRASTATS, Load, Trace

TRIES = 3
GPU_IS_LIMIT = 0.93  # busier than that, by its own book; the rule says 0.90
STARVED = 0.15  # a stage, by the kernel's books; the rule path-waits-for-cpu says 0.20
BOOK = struct.Struct("<QI4xQQ")  # of fakegpu.h


def read_book(path):
    """(a moment, the time that the GPU had been busy by then)"""
    while True:
        data = path.read_bytes()
        now = time.monotonic_ns()
        _, seq, until, submitted = BOOK.unpack_from(data)
        if not seq & 1 and path.read_bytes()[:BOOK.size] == data[:BOOK.size]:
            return now, submitted - max(0, until - now)


def gpu_share(readings, window):
    """Of the window, give or take the time between two readings."""
    times = [now for now, _ in readings]
    first, last = (bisect.bisect_left(times, window[end]) for end in ("start_ns", "end_ns"))
    (t0, busy0), (t1, busy1) = readings[first], readings[min(last, len(readings) - 1)]
    return (busy1 - busy0) / (t1 - t0)


def run_queue_share(truth):
    """The largest of a stage, by the kernel's own books: other load had the CPUs."""
    shares = []
    for thread in truth["threads"][1:]:
        begin, end = thread["begin"], thread["end"]
        waited = end["schedstat"]["runq_ns"] - begin["schedstat"]["runq_ns"]
        shares.append(waited / (end["ns"] - begin["ns"]))
    return max(shares)


def run_pipeline(folder, rung, *args, seconds="1.7"):
    """A window amid its run, as one attaches to a program; above other load, which is noise."""
    folder.mkdir(exist_ok=True)
    book, readings = folder / "gpu", []
    env = {"FAKE_GPU_STATE": str(book)}
    with Load(folder, "demo_pipeline", *args, "secs=600", env=env, nice=-20) as load:
        load.go()
        with Trace(folder, "-p", str(load.pid), f"--tegrastats={FAKE_TEGRASTATS}", "--interval",
                   "50", "-d", seconds, rung=rung, env=env) as trace:
            while trace.process.poll() is None:
                readings.append(read_book(book))
                time.sleep(0.01)
            result = trace.finish()
        assert result.status == 0, result.err
        result.truth = load.end()
    result.gpu_share = gpu_share(readings, result.report["window"])
    return result


def run_undisturbed(folder, rung, *args, starved=STARVED, gpu_is_limit=False, **more):
    """Other load makes another truth; then nothing can be asserted. Where the GPU is the limit it is that
    no more when each frame comes a few per cent late."""
    for i in range(TRIES):
        result = run_pipeline(folder / str(i), rung, *args, **more)
        if gpu_is_limit and result.gpu_share < GPU_IS_LIMIT:
            continue
        if run_queue_share(result.truth) < starved:
            return result
    pytest.skip(f"other load held the pipeline up, {TRIES} times in a row")
    return None
