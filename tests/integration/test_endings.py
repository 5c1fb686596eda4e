# SPDX-License-Identifier: GPL-2.0-only
"""However a run ends: a full report, or nothing left behind."""
import os
import random
import signal
import subprocess
import time

import pytest

from harness import (FAKE_TEGRASTATS, LIMIT, TEGRATRACE, Load, Trace, identity_errors, is_running, parse_json,
                     state_of, wait_for)

FULL_ONLY = tuple(f"test_killed_it_leaves_nothing_behind[{rung}-{at}]" for rung in ("btf", "tracepoint") for at in (4, 5))

PROGRAMS = {"sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "task_newtask",
            "sched_process_exec", "sched_process_exit"}
MAPS = {"tid_slots", "threads", "free_slots"}


def complete(result, ended_by, threads):
    assert result.status == 0, result.err
    assert result.err == ""
    assert result.report["ended_by"] == ended_by
    assert result.report["threads_seen"] == threads
    assert len(result.rows) == threads
    assert not identity_errors(result.report)
    assert "measured" in result.text


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
def test_signal(tmp_path, rung, number):
    with Load(tmp_path, "hog", "secs=60") as load:
        with Trace(tmp_path, "-p", str(load.pid), rung=rung) as trace:
            trace.wait_attached()
            load.go()
            time.sleep(0.2)
            trace.process.send_signal(number)
            complete(trace.finish(), "interrupt", 4)
        assert load.alive()


def test_target_exits(tmp_path, rung):
    with Load(tmp_path, "hog", "secs=0.3") as load:
        with Trace(tmp_path, "-p", str(load.pid), rung=rung) as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            load.finish()
            result = trace.finish()
    complete(result, "target-exit", 4)
    assert all(row["exited"] for row in result.rows)


def test_target_is_killed(tmp_path, rung):
    with Load(tmp_path, "hog", "secs=60") as load:
        with Trace(tmp_path, "-p", str(load.pid), rung=rung) as trace:
            trace.wait_attached()
            load.go()
            time.sleep(0.3)
            load.process.kill()
            result = trace.finish()
        load.process.wait(LIMIT)
    complete(result, "target-exit", 4)
    assert all(row["exited"] for row in result.rows)
    assert sum(row["oncpu_ns"] for row in result.rows) > 0


def test_one_of_two_targets_is_killed(tmp_path, rung):
    with Load(tmp_path / "a", "hog", "n=1", "secs=60") as one, \
         Load(tmp_path / "b", "sleepers", "n=1", "secs=60") as two:
        with Trace(tmp_path, "-p", f"{one.pid},{two.pid}", rung=rung) as trace:
            trace.wait_attached()
            one.go()
            two.go()
            one.process.kill()
            one.process.wait(LIMIT)
            time.sleep(0.2)
            assert trace.process.poll() is None
            result = trace.stop()
    complete(result, "interrupt", 4)
    assert {row["pid"] for row in result.rows if row["exited"]} == {one.pid}


def objects(kind):
    """id -> name. bpftool fails where one goes away while it lists them: once more."""
    for left in reversed(range(10)):
        done = subprocess.run(["bpftool", "-j", kind, "show"], check=not left, capture_output=True,
                              timeout=LIMIT)
        if not done.returncode:
            break
    return {o["id"]: o.get("name") for o in parse_json(done.stdout)}


def held_by(*pids):
    """The ids of the BPF objects behind their descriptors."""
    held = {"prog": set(), "map": set(), "link": set()}
    for info in (f"/proc/{pid}/fdinfo/{fd}" for pid in pids for fd in names_in(f"/proc/{pid}/fd")):
        try:
            with open(info, encoding="ascii") as lines:
                fields = [line.split(":") for line in lines if "_id:" in line]
        except OSError:
            continue  # it has ended, or may not be looked at
        for key, value in fields:
            held.get(key[:-3], set()).add(int(value))
    return held


def names_in(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(child) for child in children.read().split()]


def left_over(held, before):
    """Also of what it had opened but not yet shown: named as ours, and nobody's."""
    left = []
    for kind, names in ("prog", PROGRAMS), ("map", MAPS), ("link", set()):
        shown = objects(kind)
        others = held_by(*filter(str.isdigit, os.listdir("/proc")))[kind]
        for number, name in shown.items():
            stray = name in names and number not in others | before[kind]
            if number in held[kind] or stray:
                left.append((kind, number, name))
    return left


@pytest.mark.parametrize("moment", range(7))
def test_killed_it_leaves_nothing_behind(tmp_path, rung, moment):
    before = {kind: set(objects(kind)) for kind in ("prog", "map", "link")}
    pins = names_in("/sys/fs/bpf")
    chance = random.Random(f"{rung} {moment}")
    env = {"FAKE_GPU_STATE": str(tmp_path / "gpu")}
    with Load(tmp_path, "pingpong", "secs=60", env=env) as load:
        load.go()
        with Trace(tmp_path, "-p", str(load.pid), f"--tegrastats={FAKE_TEGRASTATS}", rung=rung,
                   env=env) as trace:
            # The first moments while it starts, the later ones under load.
            if moment >= 4:
                trace.wait_attached()
            time.sleep(chance.uniform(0, 0.04) + 0.04 * moment)
            trace.process.send_signal(signal.SIGSTOP)
            held, children = held_by(trace.pid), children_of(trace.pid)
            trace.process.kill()
            trace.process.wait(LIMIT)
        assert moment < 4 or len(children) == 1
        assert moment < 4 or rung == "perf" or held["link"]
        wait_for("its programs and maps to go", lambda: not left_over(held, before), 30)
        wait_for("its tegrastats to go", lambda: not any(map(is_running, children)), 30)
        assert load.alive()
    assert names_in("/sys/fs/bpf") == pins


def is_held(pid):
    """Asleep before its exec; who has been let go is awake."""
    try:
        return state_of(pid) == "S" and os.path.samefile(f"/proc/{pid}/exe", TEGRATRACE)
    except FileNotFoundError:
        return False


def test_killed_it_takes_a_held_command_along(tmp_path):
    """The command that it had not let go yet must not run untraced."""
    held = 0
    for i in range(5):
        ran = tmp_path / f"ran{i}"
        with Trace(tmp_path, "--", "touch", str(ran)) as trace:
            wait_for("the held command", lambda: children_of(trace.pid), 30)
            trace.process.send_signal(signal.SIGSTOP)
            wait_for("it to stop", lambda: state_of(trace.pid) in "TZ", 30)
            children = children_of(trace.pid)
            all_held = bool(children) and all(map(is_held, children))
            trace.process.kill()
            trace.process.wait(LIMIT)
        wait_for("the command to end", lambda: not any(map(is_running, children)), 30)
        held += all_held
        assert not (all_held and ran.exists())
    if not held:
        pytest.skip("each had been let go before it could be stopped")
