# SPDX-License-Identifier: GPL-2.0-only
"""Threads that a cgroup freezer holds, as `docker pause` does: stopped, not asleep. Truth: the freezer's files."""
import contextlib
import time

import pytest

import test_target_groups
from harness import S, Trace, background, identity_errors, wait_for, workload

# By its stack on one rung, by the thread's own state on the other.
BOTH_RUNGS = True
FULL_ONLY = ("test_v1_freezer", "test_frozen_thread_is_stopped_on_rung_raw")
FROZEN_S = 0.8
SLACK_NS = 0.02 * S
SPIN = "while :; do :; done"


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def holds(path, text):
    with open(path, encoding="ascii") as file:
        return text in file.read()


@contextlib.contextmanager
def started_in(folder, *programs):
    """Their processes, moved there before they do anything."""
    join = f"echo 0 > {folder}/cgroup.procs; exec \"$@\""
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(background("sh", "-ec", join, "sh", *program))
                     for program in programs]
        pids = {process.pid for process in processes}
        wait_for("them to be there", lambda: pids <= test_target_groups.members(folder))
        yield


def freeze(control, state, frozen, thawed):
    """(words to write and to find). Returns the shortest and longest time that they were held, in ns."""
    begin = time.monotonic_ns()
    write(control, frozen[0])
    wait_for("all to be frozen", lambda: holds(state, frozen[1]))
    held = time.monotonic_ns()
    time.sleep(FROZEN_S)
    let_go = time.monotonic_ns()
    write(control, thawed[0])
    wait_for("all to go on", lambda: holds(state, thawed[1]))
    return let_go - held, time.monotonic_ns() - begin


def frozen_run(tmp_path, rung, folder, *freezer):
    with Trace(tmp_path, "--cgroup", folder, rung=rung) as trace:
        trace.wait_attached()
        time.sleep(0.3)
        least, most = freeze(*freezer)
        time.sleep(0.3)
        result = trace.stop()
    assert not identity_errors(result.report)
    return result, least - SLACK_NS, most + SLACK_NS


def check_v2(tmp_path, rung):
    programs = ("sleep", "600"), ("sh", "-c", SPIN), (workload("pingpong"), "secs=60")
    with test_target_groups.cgroups(2, "paused") as (folder,), started_in(folder, *programs):
        result, least, most = frozen_run(tmp_path, rung, folder, f"{folder}/cgroup.freeze",
                                         f"{folder}/cgroup.events", ("1", "frozen 1"), ("0", "frozen 0"))
    # Rung perf walks long sleeps only, and those of "ping" take microseconds.
    for name in ("sleep", "sh") if rung == "perf" else ("sleep", "sh", "ping", "pong"):
        assert least <= result.row(name)["stopped_ns"] <= most, name
    assert result.row("sh")["offcpu_ns"] < SLACK_NS


def test_frozen_thread_is_stopped(tmp_path, rung):
    check_v2(tmp_path, rung)


def test_frozen_thread_is_stopped_on_rung_raw(tmp_path):
    check_v2(tmp_path, "raw")


def test_v1_freezer(tmp_path, rung, monkeypatch):
    """A thread that runs goes into it; since 6.1 one that sleeps sleeps on."""
    top = "/sys/fs/cgroup/freezer"
    if not test_target_groups.os.path.exists(f"{top}/tasks"):
        pytest.skip("no v1 freezer")
    monkeypatch.setattr(test_target_groups, "hierarchy", lambda version: top)
    with test_target_groups.cgroups(1, "paused") as (folder,), started_in(folder, ("sh", "-c", SPIN)):
        state = f"{folder}/freezer.state"
        result, least, most = frozen_run(tmp_path, rung, folder, state, state,
                                         ("FROZEN", "FROZEN"), ("THAWED", "THAWED"))
    assert least <= result.row("sh")["stopped_ns"] <= most
    assert result.row("sh")["offcpu_ns"] < SLACK_NS
