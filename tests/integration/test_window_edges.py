# SPDX-License-Identifier: GPL-2.0-only
"""Threads that end just outside of the window: their time in it is known."""
import os
import signal
import subprocess

import pytest

from harness import BPF_RUNGS, Load, identity_errors, parse_report, run_tool, wait_for

FULL_ONLY = ("test_sleeper_killed_after_the_window_slept[raw]", "test_sleeper_killed_after_the_window_slept[proc]",
             "test_leader_that_ended_before_the_window_has_no_row[raw]",
             "test_exec_after_a_leader_that_ended_before_the_window")


def slow_source(folder, at_end="sleep 0.3"):
    """A tegrastats that takes its time to end, before /proc is read for the last time."""
    script = folder / "slow"
    script.write_text(f"#!/bin/sh\ntrap '{at_end}; exit' TERM\nwhile :; do sleep 0.1; done\n")
    script.chmod(0o755)
    return script


def trace(folder, rung, pid, *options):
    result = run_tool("-q", "--rung", rung, f"--json={folder}/report", "-p", pid, *options)
    assert result.status == 0, result.err
    report = parse_report((folder / "report").read_bytes())
    assert not identity_errors(report)
    return report


def test_threads_that_end_after_the_window_keep_name_and_state(tmp_path, rung):
    """About 20 at a time live for 60 ms each: all that are there at the end have ended before /proc is read."""
    with Load(tmp_path, "churn", "total=2003", "secs=6", "sleep_us=60000") as load:
        load.go()
        report = trace(tmp_path, rung, load.pid, "-d", "0.7", "--tegrastats", slow_source(tmp_path))
    makers = {f"maker-{i}" for i in range(3)}
    # One that just began still has the name of its maker.
    assert {row["comm"] for row in report["threads"]} == makers | {"short", "churn"}
    living = [row for row in report["threads"] if not row["exited"]]
    assert len(living) > 3 + 1 + 10
    # In a virtual machine perf events, and now and then a tracepoint, get lost: where that shows.
    whole = [row for row in living if not row["gaps"]]
    assert len(whole) > len(living) / 2
    assert sum(row["unknown_ns"] for row in whole) == 0
    if rung == "btf":
        assert sum(row["unknown_ns"] for row in report["threads"]) == 0


@pytest.mark.parametrize("rung", (*BPF_RUNGS, "raw", "perf", "proc"))
def test_sleeper_killed_after_the_window_slept(tmp_path, sleeper, rung):
    """No event of it lies in the window, and none of it is left in /proc: the kill wakes it."""
    source = slow_source(tmp_path, f"kill -9 {sleeper.pid}; sleep 0.1")
    with subprocess.Popen(("sleep", "600")) as other:
        report = trace(tmp_path, rung, f"{other.pid},{sleeper.pid}", "-d", "0.5", "--tegrastats", source)
        other.kill()
    assert sleeper.wait() == -signal.SIGKILL
    row, = (row for row in report["threads"] if row["tid"] == sleeper.pid)
    assert row["comm"] == "sleep" and not row["exited"]
    assert row["offcpu_ns"] == row["wall_ns"] == report["window"]["duration_ns"]


def has_ended(tid):
    with open(f"/proc/{tid}/stat", encoding="ascii") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("rung", (*BPF_RUNGS, "raw", "perf", "proc"))
def test_leader_that_ended_before_the_window_has_no_row(tmp_path, rung):
    with Load(tmp_path, "exec_thread", "orphan=1", "p1_ms=10", "orphan_ms=60000") as load:
        load.go()
        wait_for("the leader's end", lambda: has_ended(load.pid))
        report = trace(tmp_path, rung, load.pid, "-d", "0.5")
        tids = {int(tid) for tid in os.listdir(f"/proc/{load.pid}/task")}
        load.process.kill()
    assert {row["tid"] for row in report["threads"]} == tids - {load.pid}
    assert all(row["wall_ns"] == report["window"]["duration_ns"] for row in report["threads"])
    assert report["threads_seen"] == len(tids) - 1
    assert report["losses"]["threads_untracked"] == 0


def test_exec_after_a_leader_that_ended_before_the_window(tmp_path, rung):
    """The thread that execs goes on under the leader's id, with its own account from the begin on."""
    with Load(tmp_path, "exec_thread", "orphan=1", "p1_ms=10", "orphan_ms=1507", "secs=60") as load:
        load.go()
        wait_for("the leader's end", lambda: has_ended(load.pid))
        report = trace(tmp_path, rung, load.pid, "-d", "2.5")
        load.process.kill()
    row, = (row for row in report["threads"] if row["tid"] == load.pid)
    assert not row["exited"] and row["wall_ns"] == report["window"]["duration_ns"]
    # It slept until the exec.
    assert row["offcpu_ns"] > 0.7 * row["wall_ns"]
