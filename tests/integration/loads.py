# SPDX-License-Identifier: GPL-2.0-only
"""The loads that several tests look at: each runs once on each rung."""
import pytest

from harness import trace_load

# Above others in priority where the shares are known by construction: other load is noise.
LOADS = {
    "sleepers": (-20, "sleepers", "secs=1"),
    "hog": (-20, "hog", "n=3", "secs=2"),
    "pingpong": (-20, "pingpong", "secs=2"),
    "preempted": (-20, "preempted", "secs=2"),
    "migrate": (0, "migrate"),
    "stopped": (-20, "stopped"),
    "churn": (0, "churn", "total=20011", "secs=10"),
    "vfork": (0, "vfork_storm"),
    "forkers": (0, "forkers"),
    "exec-thread": (0, "exec_thread", "secs=0.5"),
    "exec-leader": (0, "exec_thread", "leader=1", "secs=0.5"),
    "waits-sync": (-20, "waits_sync"),
    "waits-ipc": (-20, "waits_ipc"),
    "waits-disk": (-20, "waits_disk", "swap=file"),
    "fast-disk": (-20, "waits_disk", "reads=0", "writes=0", "count=2003"),
    "gil": (-20, "gil.py"),
    "gil-timeout": (-20, "gil.py", "hold_ms=0", "interval_ms=5"),
    "exec-orphan": (0, "exec_thread", "orphan=1", "orphan_ms=307", "secs=0.5"),
}

# Neither born nor ended in the window
STEADY = ("sleepers", "hog", "pingpong", "preempted", "migrate", "stopped")

# These must have had their core to themselves, or nearly: real-time load goes above any nice.
ALONE = {"hog": ("hog-0", "hog-1", "hog-2"), "preempted": ("hog", "fifo")}
TRIES = 3


def each_load():
    return [pytest.param(name, marks=pytest.mark.slow) if name == "churn" else name
            for name in LOADS]


def had_the_core(result, names):
    threads = [result.thread(name) for name in names]
    cpu = sum(t["end"]["cpu_ns"] - t["begin"]["cpu_ns"] for t in threads)
    return cpu > 0.985 * result.truth["duration_ns"]


def run_load(folder, rung, name):
    nice, *load = LOADS[name]
    for i in range(TRIES):
        result = trace_load(folder / str(i), rung, *load, nice=nice)
        result.undisturbed = name not in ALONE or had_the_core(result, ALONE[name])
        if result.undisturbed:
            break
    return result


def short_waits_agree(result, name):
    """Thousands of waits of some 40 us, so what a switch costs counts: it is a part of the rest of each turn,
    all CPU time, and as slow as that. On top comes what the thread could not tell, as it was kept from running
    while it read its books, and a turn for each missed event: a sleep with no wakeup holds the wait for a CPU too."""
    row, truth, books = result.row(name), result.truth["truth"], result.thread(name)
    kind, loaded_ns = truth["waits"][name][0], books["end"]["ns"] - books["begin"]["ns"]
    missed_ns = row["unknown_ns"] + row["gaps"] * loaded_ns / kind["calls"]
    slack_ns = 0.15 * (loaded_ns - kind["off_ns"]) + truth["unsure_ns"][name] + missed_ns
    assert row["wait"][kind["class"]] == pytest.approx(kind["off_ns"], abs=slack_ns)
