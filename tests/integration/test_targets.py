# SPDX-License-Identifier: GPL-2.0-only
"""What is traced, and what is refused in one clear line."""
import itertools
import os
import shutil
import subprocess
import tempfile

import pytest

from harness import (BUILD, LIMIT, Load, RUNGS, TEGRATRACE, Trace, background, parse_report, run_tool,
                     wait_for)

USAGE, PERMISSION, NO_TARGET = 2, 3, 4

# The last PID but some; nothing has come that far on a machine just started.
FREE_PID = 4194001
INNER_PIDS = itertools.count(FREE_PID + 2)


def refused(status, *args, **more):
    result = run_tool(*args, **more)
    assert result.status == status, result.err
    assert result.text == ""
    return result.error_line()


def test_no_such_process():
    assert not os.path.exists(f"/proc/{FREE_PID}")
    assert str(FREE_PID) in refused(NO_TARGET, "-p", FREE_PID)


def test_one_of_several_does_not_exist(sleeper):
    assert str(FREE_PID) in refused(NO_TARGET, "-p", f"{sleeper.pid},{FREE_PID}")


def test_kernel_thread():
    assert "kernel thread" in refused(NO_TARGET, "-p", 2)


def test_itself():
    line = refused(NO_TARGET, prefix=("sh", "-c", f'exec {TEGRATRACE} -p $$'))
    assert "tegratrace itself" in line


def test_zombie():
    with background("true") as process:
        wait_for("its end", lambda: os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT))
        assert "ended" in refused(NO_TARGET, "-p", process.pid)


@pytest.mark.parametrize("word", ("garbage", "12x", "-5", "1.5", "0x10", "1,,2", "99999999999999"))
def test_not_a_pid(word):
    refused(USAGE, f"-p{word}")


def test_empty_list_as_of_a_pidof_that_found_nothing():
    assert "no such process" in refused(NO_TARGET, "-p", "")


def test_no_target():
    refused(USAGE)


def test_attach_and_command(sleeper, tmp_path):
    refused(USAGE, "-p", sleeper.pid, "--", "touch", tmp_path / "ran")
    assert not (tmp_path / "ran").exists()


def test_unknown_name():
    assert "no-such-name" in refused(NO_TARGET, "-n", "no-such-name")


def test_thread_id_traces_the_whole_process(tmp_path):
    with Load(tmp_path, "sleepers", "secs=0.3") as load:
        tid = load.ready["tids"]["sleep-3"]
        result = run_tool("-p", tid, "-d", "0.2", "--json")
        # The note says whose thread it is.
        notes = [line for line in result.err.splitlines() if str(tid) in line]
        assert any(str(load.pid) in line and "sleepers" in line for line in notes), result.err
        report = parse_report(result.text.encode())
        assert [t["pid"] for t in report["targets"]] == [load.pid]
        assert report["threads_seen"] == 8


def test_quiet_says_nothing(tmp_path):
    with Load(tmp_path, "sleepers", "secs=0.3") as load:
        result = run_tool("-q", "-p", load.ready["tids"]["sleep-3"], "-d", "0.2")
        assert result.status == 0 and result.err == ""


def comm_of(process):
    with open(f"/proc/{process.pid}/comm", encoding="ascii") as comm:
        return comm.read().strip()


def test_name_finds_every_process(tmp_path):
    own = shutil.copy("/bin/sleep", tmp_path / "tt-infer")
    with background(own, "600") as one, background(own, "600") as two:
        wait_for("both under their name", lambda: all(comm_of(p) == "tt-infer" for p in (one, two)))
        result = run_tool("-q", "-n", "tt-infer", "-d", "0.2", "--json")
    report = parse_report(result.text.encode())
    assert {t["pid"] for t in report["targets"]} == {one.pid, two.pid}
    assert {row["pid"] for row in report["threads"]} == {one.pid, two.pid}


def test_list_of_processes(tmp_path):
    with Load(tmp_path / "a", "sleepers", "n=2", "secs=1") as one, \
         Load(tmp_path / "b", "hog", "n=1", "secs=1") as two:
        with Trace(tmp_path, "-p", f"{one.pid},{two.pid}", "-d", "0.4") as trace:
            trace.wait_attached()
            one.go()
            two.go()
            report = trace.finish().report
    assert report["ended_by"] == "duration"
    assert {row["pid"] for row in report["threads"]} == {one.pid, two.pid}
    assert report["threads_seen"] == 3 + 2


def nested_pid(process):
    """Of the sleep inside, as the host sees it."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
                fields = dict(line.split(":\t", 1) for line in status if ":\t" in line)
        except OSError:
            continue
        pids = fields.get("NSpid", "").split()
        if len(pids) > 1 and int(pids[-1]) == process.inner:
            return int(pid)
    return None


@pytest.fixture
def container():
    """A process in a PID namespace, under a PID that the host has not."""
    inner = next(INNER_PIDS)
    script = f"echo {inner - 1} > /proc/sys/kernel/ns_last_pid; sleep 600 & wait"
    with background("unshare", "-fp", "--kill-child", "--mount-proc", "sh", "-c",
                    script) as process:
        process.inner = inner
        process.outer = wait_for("the process inside", lambda: nested_pid(process))
        yield process


def test_pid_of_inside_a_container(container):
    assert not os.path.exists(f"/proc/{container.inner}")
    result = run_tool("-p", container.inner, "-d", "0.2", "--json")
    assert result.status == 0, result.err
    report = parse_report(result.text.encode())
    assert [t["pid"] for t in report["targets"]] == [container.outer]
    assert str(container.outer) in result.err.splitlines()[0]


def test_host_pid_of_a_process_in_a_container(container):
    result = run_tool("-q", "-p", container.outer, "-d", "0.2", "--json")
    assert result.status == 0, result.err
    report = parse_report(result.text.encode())
    assert [t["pid"] for t in report["targets"]] == [container.outer]
    assert report["threads"][0]["offcpu_ns"] == report["threads"][0]["wall_ns"]


def test_inside_a_container_it_says_so():
    line = refused(NO_TARGET, "-p", 1, prefix=("unshare", "-fp", "--mount-proc"))
    assert "--pid=host" in line or "host" in line


@pytest.fixture
def for_nobody():
    """The program where anyone may run it; pytest's own folders are root's alone."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield shutil.copy(f"{BUILD}/tegratrace", folder)


@pytest.mark.parametrize("forced", RUNGS)
@pytest.mark.parametrize("target", ("attach", "command"))
def test_not_root(for_nobody, sleeper, target, forced, tmp_path):
    """Without a forced rung it polls /proc: test_proc_rung.py."""
    args = ["-p", sleeper.pid] if target == "attach" else ["--", "touch", tmp_path / "ran"]
    line = refused(PERMISSION, "--rung", forced, *args, program=for_nobody,
                   prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
    assert "sudo" in line or "root" in line
    assert not (tmp_path / "ran").exists()


def test_usage_errors_of_options():
    for args in (["--rung", "fast", "-p", "1"], ["-d", "0", "-p", "1"], ["-d", "x", "-p", "1"],
                 ["--interval", "0", "-p", "1"], ["--no-such-option"], ["stray"]):
        result = run_tool(*args)
        assert result.status == USAGE, args
        assert result.text == "" and result.err


def test_unknown_probe_names_the_known():
    for probe in ("disk", "", "block,", "block,,irq", "Block"):
        result = run_tool("--without", probe, "-p", "1")
        assert result.status == USAGE, probe
        assert "block, faults, samples, cuda, irq, stacks, system" in result.err


def test_help_and_version_need_no_root(for_nobody):
    for option in "--help", "--version", "--usage", "--json-schema":
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", for_nobody, option],
                              capture_output=True, timeout=LIMIT, check=True)
        assert done.stdout and not done.stderr
