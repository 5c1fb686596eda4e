# SPDX-License-Identifier: GPL-2.0-only
"""Threads and processes that are born, die and exec inside the window."""
import sys

import pytest

from harness import identity_errors, parse_report, run_tool, trace_load

FULL_ONLY = ("test_no_follow_leaves_a_missed_process_out",
             "test_thread_without_an_event_of_its_birth_is_found")

# With sleeps this short the microseconds from the kernel's clock reading to its event add up.
NEAR = 0.95


@pytest.mark.slow
@pytest.mark.parametrize("load", ("churn",))
def test_every_short_thread_is_seen(shared, rung, load):
    result = shared(load, rung)
    truth, report = result.truth["truth"], result.report
    makers = result.truth["args"]["makers"]
    assert truth["created"] == 20011
    assert report["threads_seen"] == 20011 + makers + 1
    assert report["losses"]["threads_untracked"] == 0
    short = [row for row in report["threads"] if row["group"] == "short"]
    assert sum(row["folded"] for row in short) == 20011
    assert len(report["threads"]) < 2000
    oncpu = sum(row["oncpu_ns"] + row["unknown_ns"] for row in short)
    asleep = sum(row["offcpu_ns"] for row in short)
    assert oncpu >= truth["short_cpu_ns"] * NEAR
    assert asleep >= truth["requested_sleep_ns"] * 0.98


@pytest.mark.parametrize("how", ("thread", "leader", "orphan"))
def test_exec_goes_on_under_the_leaders_tid(shared, rung, how):
    result = shared(f"exec-{how}", rung)
    report, pid = result.report, result.truth["pid"]
    phase1 = result.truth["truth"]["phase1"]
    heirs = [row for row in report["threads"] if row["tid"] == pid and not row["exited"]]
    assert len(heirs) == 1
    # The account of the thread that exec'ed, which lived before the window began.
    assert heirs[0]["wall_ns"] == report["window"]["duration_ns"]
    assert heirs[0]["pid"] == pid
    others = [row for row in report["threads"] if row["tid"] == phase1["exec_tid"]]
    assert others == (heirs if how == "leader" else [])
    # The old leader is a row of its own, ended by the exec.
    ended = [row for row in report["threads"] if row["tid"] == pid and row["exited"]]
    assert len(ended) == (0 if how == "leader" else 1)


@pytest.mark.parametrize("how", ("thread", "leader", "orphan"))
def test_threads_of_both_programs_are_accounted(shared, rung, how):
    result = shared(f"exec-{how}", rung)
    for i in range(3):
        before, after = result.row(f"p1-work-{i}"), result.row(f"p2-work-{i}")
        assert before["exited"] and not after["exited"]
        books = result.thread(f"p2-work-{i}")
        assert after["tid"] == books["tid"]
        burned = books["end"]["cpu_ns"] - books["begin"]["cpu_ns"]
        assert after["oncpu_ns"] + after["unknown_ns"] >= burned * NEAR
        assert before["oncpu_ns"] > 0
    assert not any(row["comm"].startswith("p1-") for row in result.rows if not row["exited"])


def test_vforked_children_are_followed(shared, rung):
    result = shared("vfork", rung)
    truth = result.truth["truth"]
    assert truth["spawned"] == 503 and truth["failed"] == 0
    makers = result.truth["args"]["n"]
    assert result.report["threads_seen"] == 503 + makers + 1
    # Their parents were asleep in vfork and waitpid for all of the children's time.
    for i in range(makers):
        books, row = result.thread(f"vforker-{i}"), result.row(f"vforker-{i}")
        # asleep before its load and after it, too
        outside = result.report["window"]["duration_ns"] - (books["end"]["ns"] - books["begin"]["ns"])
        asleep = row["offcpu_ns"] + row["runq_wake_ns"] + row["runq_preempt_ns"] - outside
        waited, cpu = books["vfork_ns"] + books["waitpid_ns"], books["end"]["cpu_ns"] - books["begin"]["cpu_ns"]
        missing = waited - cpu - asleep - row["unknown_ns"] - result.taken_from(-1)
        assert missing <= 0.03 * waited
        assert asleep > waited * 0.5


def test_children_and_grandchildren_are_followed(shared, rung):
    result = shared("forkers", rung)
    family = {t["pid"]: t for t in result.truth["threads"]}
    assert len(family) == 5 + 15 + 1
    assert {row["pid"] for row in result.rows} == set(family)
    for row in result.rows:
        books = family[row["pid"]]
        assert row["comm"] == books["name"]
        burned = books.get("burned_cpu_ns", 0)
        assert row["oncpu_ns"] + row["unknown_ns"] >= burned * NEAR
        assert row["exited"] == (row["pid"] != result.truth["pid"])


def test_no_follow_leaves_the_family_out(tmp_path, rung):
    result = trace_load(tmp_path, rung, "forkers", options=["--no-follow"])
    assert [row["pid"] for row in result.rows] == [result.truth["pid"]]
    assert result.report["threads_seen"] == 1


def test_no_follow_still_traces_threads(tmp_path, rung):
    result = trace_load(tmp_path, rung, "churn", "total=101", "secs=0.3", options=["--no-follow"])
    assert result.report["threads_seen"] == 101 + 3 + 1


BEGIN = """
import subprocess, sys, threading, time
def begin(name, seconds):
    def body():
        with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as file:
            file.write(name)
        time.sleep(seconds)
    thread = threading.Thread(target=body)
    thread.start()
    return thread
"""

# Eight slots: main and seven that end soon. "late" is born then, "lost" comes and goes.
FULL = BEGIN + """
early = [begin(f"early-{i}", 0.6) for i in range(7)]
time.sleep(0.2)
late, lost = begin("late", 4), begin("lost", 0.3)
late.join()
"""

# The same, and what is born then is a process with a thread of its own.
CHILD = BEGIN + """
begin("deep", 4).join()
"""
FULL_AT_FORK = BEGIN + f"""
early = [begin(f"early-{{i}}", 0.6) for i in range(7)]
time.sleep(0.2)
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}])
print(child.pid, flush=True)
child.wait()
"""


def test_thread_without_an_event_of_its_birth_is_found(tmp_path, rung):
    """Here for want of a slot. What it did until then is unknown, not guessed."""
    result = run_tool("-q", "--rung", rung, "--max-threads=8", f"--json={tmp_path}/report", "--", sys.executable, "-c",
                      FULL)
    assert result.status == 0
    report = parse_report((tmp_path / "report").read_bytes())
    late = next(row for row in report["threads"] if row["comm"] == "late")
    assert late["exited"] and 4e9 < late["wall_ns"] < 6e9
    # The slots of the early ones are free two looks after their end, and it is looked for once a second.
    assert 0.3e9 < late["unknown_ns"] < 0.7 * late["wall_ns"]
    assert late["offcpu_ns"] > 0.25 * late["wall_ns"] and late["oncpu_ns"] < 0.1 * late["wall_ns"]
    assert not identity_errors(report)
    assert "lost" not in [row["comm"] for row in report["threads"]]
    assert report["losses"]["threads_untracked"] == 2


def test_process_without_an_event_of_its_birth_is_found(tmp_path, rung):
    """And its threads, of whose births no event came either, as nobody in it was traced."""
    result = run_tool("-q", "--rung", rung, "--max-threads=8", f"--json={tmp_path}/report", "--", sys.executable, "-c",
                      FULL_AT_FORK)
    assert result.status == 0, result.err
    report = parse_report((tmp_path / "report").read_bytes())
    pid = int(result.text.split()[0])
    family = [row for row in report["threads"] if row["pid"] == pid]
    assert len(family) == 2
    deep = next(row for row in family if row["comm"] == "deep")
    for row in family:
        assert row["exited"] and 3.9e9 < row["wall_ns"] < 6e9
        assert 0 < row["unknown_ns"] < 0.7 * row["wall_ns"]
        assert row["offcpu_ns"] > 0.25 * row["wall_ns"] and row["oncpu_ns"] < 0.1 * row["wall_ns"]
    assert deep["tid"] != pid
    assert not identity_errors(report)


def test_no_follow_leaves_a_missed_process_out(tmp_path, rung):
    result = run_tool("-q", "--rung", rung, "--max-threads=8", "--no-follow", f"--json={tmp_path}/report", "--",
                      sys.executable, "-c", FULL_AT_FORK)
    assert result.status == 0, result.err
    report = parse_report((tmp_path / "report").read_bytes())
    assert int(result.text.split()[0]) not in {row["pid"] for row in report["threads"]}
