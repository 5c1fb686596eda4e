# SPDX-License-Identifier: GPL-2.0-only
"""Rung proc: without root, from /proc alone; sampled, and said to be."""
import os
import shutil
import subprocess
import tempfile

import pytest

from harness import (BUILD, LAST_CPU, LIMIT, Load, Trace, cpu_taken_ns, identity_errors, parse_json,
                     parse_report, run_tool, runq_ns, taken_since, trace_load, workload)

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
TICK_NS = 10_000_000


@pytest.fixture(scope="module")
def programs():
    """The program and loads where anyone may run them."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for path in (f"{BUILD}/tegratrace", workload("hog"), workload("sleepers")):
            shutil.copy(path, folder)
        yield folder


@pytest.mark.parametrize("load", (("hog", "n=3", "secs=2"), ("sleepers", "secs=2"),
                                  ("stopped",), ("migrate",), ("pingpong", "secs=1")),
                         ids=lambda load: load[0])
def test_identity_and_the_kernels_books(tmp_path, load):
    result = trace_load(tmp_path, "proc", *load, nice=-20)
    assert not identity_errors(result.report)
    assert result.report["capability"]["rung"] == "proc"
    expected = {t["tid"] for t in result.truth["threads"]}
    if load[0] == "stopped":
        expected -= {result.truth["pid"]}
    assert {row["tid"] for row in result.rows} == expected
    for row in result.rows:
        assert row["wall_ns"] == result.report["window"]["duration_ns"]
        books = next(t for t in result.truth["threads"] if t["tid"] == row["tid"])
        # The thread's own reading lies in the window, tegratrace's last one after it; books are late
        # by up to a tick.
        for key, polled in ("oncpu_ns", row["oncpu_ns"]), ("runq_ns", runq_ns(row)):
            least = books["end"]["schedstat"][key] - books["begin"]["schedstat"][key]
            assert 0.97 * least - TICK_NS <= polled <= 1.03 * row["schedstat"][key] + TICK_NS


def test_stopped_time_is_no_sleep(tmp_path):
    result = trace_load(tmp_path, "proc", "stopped", nice=-20)
    least = result.truth["truth"]["stopped_at_least_ns"]
    most = result.truth["truth"]["stopped_at_most_ns"]
    for name in "stop-run", "stop-nap", "stop-wait":
        # Off by the time between two looks at either end.
        assert least * 0.5 <= result.row(name)["stopped_ns"] <= most * 1.5


def test_a_runnable_thread_does_not_sleep(tmp_path):
    result = trace_load(tmp_path, "proc", "hog", "n=2", "secs=2", nice=-20)
    held = result.report["window"]["duration_ns"] - result.truth["duration_ns"]
    for name in "hog-0", "hog-1":
        # What interrupts and the host take is in none of the kernel's books of a thread.
        taken = result.taken_from(result.thread(name)["cpu"])
        assert result.row(name)["offcpu_ns"] <= held + taken + 0.05 * result.truth["duration_ns"]


def test_what_it_cannot_know_is_null(tmp_path):
    result = trace_load(tmp_path, "proc", "sleepers", "secs=1")
    for row in result.rows:
        assert all(value is None for value in row["runq"].values())
    assert all(edge["waker"]["kind"] == "none" for edge in result.report["edges"])
    whats = {m["what"] for m in result.report["capability"]["missing"]}
    assert {"exact accounts", "block I/O"} <= whats


def test_sleep_is_classed_by_its_site(tmp_path):
    result = trace_load(tmp_path, "proc", "sleepers", "secs=2", nice=-20)
    rows = [result.row(f"sleep-{i}") for i in range(7)]
    timer = sum(row["wait"]["timer"] for row in rows)
    assert timer >= 0.5 * sum(row["offcpu_ns"] for row in rows)


def test_threads_born_later_are_seen(tmp_path):
    with open(tmp_path / "truth", "wb") as out:
        done = run_tool("-q", "--rung", "proc", f"--json={tmp_path}/r", "--", workload("hog"),
                        "n=2", "secs=1", stdout=out)
    assert done.status == 0
    report = parse_report((tmp_path / "r").read_bytes())
    assert not identity_errors(report)
    rows = {row["comm"]: row for row in report["threads"]}
    truth = parse_json((tmp_path / "truth").read_bytes().splitlines()[0])
    for thread in truth["threads"][1:]:
        row = rows[thread["name"]]
        assert row["exited"] and row["tid"] == thread["tid"]
        assert row["oncpu_ns"] + row["unknown_ns"] >= thread["final"]["cpu_ns"] * 0.98


def test_children_born_later_are_seen(tmp_path):
    script = "sleep 0.3; sh -c 'sleep 5 & sleep 5' & exec sleep 5"
    result = run_tool("-q", "--rung", "proc", "-d", "2.5", f"--json={tmp_path}/r", "--", "sh", "-c", script)
    assert result.status == 0, result.err
    report = parse_report((tmp_path / "r").read_bytes())
    assert not identity_errors(report)
    asleep = [row for row in report["threads"] if row["comm"] == "sleep" and not row["exited"]]
    assert len({row["pid"] for row in asleep}) == 3


def test_a_thread_gone_before_its_first_look_is_not_kept(tmp_path):
    """Threads of less than 1 ms, so that many end between being found and being looked at."""
    with Load(tmp_path, "churn", "total=20011", "secs=10") as load:
        load.go()
        result = run_tool("-q", "--rung", "proc", "-d", "2", f"--json={tmp_path}/r", "-p", load.pid)
        assert result.status == 0, result.err
    report = parse_report((tmp_path / "r").read_bytes())
    assert not identity_errors(report)
    assert all(row["comm"] for row in report["threads"])
    lasting = {load.pid, *load.ready["tids"].values()}
    living = {row["tid"] for row in report["threads"] if not row["exited"]}
    # At the most those that live at this moment besides.
    assert lasting <= living and len(living - lasting) <= 3


def test_without_root_it_polls_and_says_so(programs):
    before = cpu_taken_ns()
    result = run_tool("-d", "1", "--json", "--", f"{programs}/hog", "n=1", "secs=60",
                      program=f"{programs}/tegratrace", prefix=NOBODY, cwd="/")
    taken = taken_since(before)[LAST_CPU]
    assert result.status == 0, result.err
    notes = [line for line in result.err.splitlines() if line.startswith("tegratrace: ")]
    assert len(notes) >= 1 and "sudo" in notes[0] and "/proc" in notes[0]
    report = parse_report(result.text.splitlines()[-1].encode())
    assert report["capability"]["rung"] == "proc"
    assert not identity_errors(report)
    hog = next(row for row in report["threads"] if row["comm"] == "hog-0")
    # What interrupts and the host take is in none of the kernel's books of a thread.
    assert hog["oncpu_ns"] + runq_ns(hog) + taken > 0.7 * hog["wall_ns"]
    assert hog["offcpu_ns"] < 0.1 * hog["wall_ns"] + taken
    assert report["verdict"]["confidence"] <= 0.6


def test_without_root_it_attaches_to_an_own_process(programs):
    with subprocess.Popen([*NOBODY, "sleep", "600"], cwd="/") as process:
        result = run_tool("-q", "-d", "0.5", "--json", "-p", process.pid,
                          program=f"{programs}/tegratrace", prefix=NOBODY, cwd="/")
        process.kill()
    assert result.status == 0, result.err
    row = parse_report(result.text.encode())["threads"][0]
    assert row["offcpu_ns"] == row["wall_ns"]
    assert row["wait"]["timer"] == row["wall_ns"]


def test_neither_bpf_nor_perf(tmp_path):
    prefix = (workload("refuse"), "EPERM", "bpf,perf_event_open")
    with Load(tmp_path, "hog", "n=1", "secs=60") as load:
        load.go()
        result = run_tool("-q", "-d", "0.5", "--json", "-p", load.pid, prefix=prefix)
    assert result.status == 0, result.err
    assert parse_report(result.text.encode())["capability"]["rung"] == "proc"


def test_it_ends_with_its_target(tmp_path):
    with Load(tmp_path, "hog", "secs=0.3") as load:
        with Trace(tmp_path, "-p", str(load.pid), rung="proc") as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            load.finish()
            assert trace.process.wait(LIMIT) == 0
            result = trace.finish()
    assert result.report["ended_by"] == "target-exit"
    assert not identity_errors(result.report)
