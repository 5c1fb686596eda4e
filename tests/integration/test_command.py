# SPDX-License-Identifier: GPL-2.0-only
"""-- COMMAND: held until the window is open, its own exit status passed through."""
import os
import signal
import subprocess
import sys

import pytest

from harness import (FAKE_TEGRASTATS, LIMIT, TEGRATRACE, background, is_running, parse_json, parse_report, pids_in,
                     run_tool, wait_for, workload)

FULL_ONLY = ("test_blocked_signal_ends_the_run_all_the_same[2]", "test_under_nohup_the_terminals_end_is_none_of_the_run[words1]")


@pytest.mark.parametrize("status", (0, 1, 7, 125, 255))
def test_exit_status_passes_through(rung, status):
    result = run_tool("-q", "--rung", rung, "--json", "--", "sh", "-c", f"exit {status}")
    assert result.status == status
    report = parse_report(result.text.encode())
    assert report["command_exit"] == {"code": status, "signal": None}
    assert report["ended_by"] == "target-exit"


@pytest.mark.parametrize("number", (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV))
def test_killed_command(number):
    result = run_tool("-q", "--json", "--", "sh", "-c", f"kill -{int(number)} $$")
    assert result.status == 128 + number
    report = parse_report(result.text.encode())
    assert report["command_exit"] == {"code": None, "signal": number}


def test_command_not_found():
    result = run_tool("-q", "--", "no-such-command-here")
    assert result.status == 127 and "no-such-command-here" in result.error_line()


@pytest.mark.parametrize("what", ("a file without x", "a folder"))
def test_command_not_executable(tmp_path, what):
    path = tmp_path
    if what != "a folder":
        path = tmp_path / "data"
        path.write_text("data")
    result = run_tool("-q", "--", path)
    assert result.status == 126 and str(path) in result.error_line()


def test_its_output_stays_where_it_was():
    result = run_tool("-q", "--", "sh", "-c", "echo to-out; echo to-err >&2")
    assert result.status == 0
    assert result.text.startswith("to-out\n") and result.err == "to-err\n"


@pytest.mark.parametrize("options", ((), ("--delay", "0.2")))
def test_its_name_is_that_of_its_program(tmp_path, options):
    """Not of tegratrace, which it was a copy of until its exec."""
    (tmp_path / "infer").symlink_to("/bin/sleep")
    report = parse_report(run_tool("-q", "--json", *options, "--", tmp_path / "infer", "0.5").text.encode())
    assert [target["comm"] for target in report["targets"]] == ["infer"]


def test_with_json_stdout_is_one_object_only():
    result = run_tool("-q", "--json", "--", "sh", "-c", "echo to-out; echo to-err >&2")
    report = parse_report(result.text.encode())
    assert report["schema"] == "tegratrace/1"
    assert result.text.count("\n") == 1 or result.text.endswith("}\n")
    assert "to-out\n" in result.err and "to-err\n" in result.err
    # The text report goes there too.
    assert report["verdict"]["headline"][:20] in result.err


def test_with_a_json_file_stdout_keeps_text_and_output(tmp_path):
    result = run_tool("-q", f"--json={tmp_path}/r", "--", "echo", "to-out")
    assert result.text.startswith("to-out\n") and "measured" in result.text
    parse_report((tmp_path / "r").read_bytes())


def test_all_of_the_command_is_seen(rung, tmp_path):
    with open(tmp_path / "truth", "wb") as out:
        result = run_tool("-q", "--rung", rung, f"--json={tmp_path}/r", "--",
                          workload("hog"), "n=2", "secs=0.5", stdout=out)
    assert result.status == 0
    report = parse_report((tmp_path / "r").read_bytes())
    truth = parse_json((tmp_path / "truth").read_bytes().splitlines()[0])
    assert report["threads_seen"] == 3
    rows = {row["tid"]: row for row in report["threads"]}
    assert set(rows) == {t["tid"] for t in truth["threads"]}
    for thread in truth["threads"][1:]:
        row = rows[thread["tid"]]
        assert row["exited"] and row["comm"] == thread["name"]
        cpu = thread["final"]["cpu_ns"]
        assert row["oncpu_ns"] + row["unknown_ns"] >= cpu * 0.98


def test_duration_ends_a_longer_command(rung):
    result = run_tool("-q", "--rung", rung, "-d", "1", "--json", "--", "sh", "-c",
                      "echo pid $$; exec sleep 600")
    assert result.status == 0
    report = parse_report(result.text.encode())
    assert report["ended_by"] == "duration"
    assert report["window"]["duration_ns"] >= 1_000_000_000
    pid = next(line.split()[1] for line in result.err.splitlines() if line.startswith("pid "))
    # It took its command along.
    assert subprocess.run(["kill", "-0", pid], stderr=subprocess.DEVNULL, check=False).returncode


def end(pids):
    for pid in filter(is_running, pids):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("exec_with_a_child", (False, True))
def test_duration_ends_the_commands_children(tmp_path, exec_with_a_child):
    """One more, of whoever became tegratrace by exec, is not the command's."""
    before = f"sleep 600 2>&- & echo $! >{tmp_path}/other; exec " if exec_with_a_child else "exec "
    script = f"exec >/dev/null 2>&1; sleep 600 & echo $! >>{tmp_path}/pids; setsid sleep 600 & echo $! >>{tmp_path}/pids; sleep 600; true"
    (tmp_path / "other").touch()
    try:
        result = run_tool("-c", f'{before}"$@"', "sh", TEGRATRACE, "-q", "-d", "0.5", "--", "sh", "-c", script,
                          program="sh", stdout=subprocess.DEVNULL)
        assert result.status == 0 and result.err == ""
        assert not any(map(is_running, pids_in(tmp_path / "pids")))
        assert all(map(is_running, pids_in(tmp_path / "other")))
    finally:
        end(pids_in(tmp_path / "pids") + pids_in(tmp_path / "other"))


def test_child_that_outlives_the_duration_is_said(tmp_path):
    script = f"(trap '' TERM; exec sleep 600 >&- 2>&-) & echo $! >{tmp_path}/pids; wait"
    try:
        result = run_tool("-q", "-d", "0.5", "--", "sh", "-c", script)
        pid, = pids_in(tmp_path / "pids")
        warnings = [line for line in result.err.splitlines() if "warning" in line]
        assert result.status == 0 and is_running(pid)
        assert len(warnings) == 1 and warnings[0].endswith(f"did not end on SIGTERM: PID {pid} (sleep)")
    finally:
        end(pids_in(tmp_path / "pids"))


def test_orphans_that_end_leave_no_zombies(tmp_path):
    script = f"for n in 1 2 3 4 5; do (sleep 0.1 & echo $! >>{tmp_path}/pids); done; sleep 600"
    (tmp_path / "pids").touch()
    with background(TEGRATRACE, "-q", "--", "sh", "-c", script, stdout=subprocess.DEVNULL) as process:
        wait_for("orphans", lambda: len(pids_in(tmp_path / "pids")) == 5)
        wait_for("their end", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids_in(tmp_path / "pids")), 10)
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 0


# What stays over exec, and that the command gets it back.
INHERITED = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1})
os.execv(sys.argv[1], sys.argv[1:])
"""
READ_SIGNALS = """
import signal
print([number for number in (signal.SIGCHLD, signal.SIGPIPE) if signal.getsignal(number) == signal.SIG_IGN])
print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())))
raise SystemExit(3)
"""


@pytest.mark.parametrize("words", ((), ("run", "--warmup=1", "--out")))
def test_signals_that_the_caller_ignores_or_blocks(tmp_path, words):
    """subprocess would give SIGPIPE back its default between them: they are set by the last to exec."""
    words = (*words, tmp_path / "out") if words else words
    plain = subprocess.run([sys.executable, "-c", INHERITED, sys.executable, "-c", READ_SIGNALS],
                           capture_output=True, check=False)
    result = run_tool("-c", INHERITED, TEGRATRACE, *words, "-q", "--", sys.executable, "-c", READ_SIGNALS,
                      program=sys.executable, timeout=20)
    assert plain.returncode == result.status == 3
    assert result.text.splitlines()[:2] == plain.stdout.decode().splitlines()[:2]


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_blocked_signal_ends_the_run_all_the_same(number):
    with background(sys.executable, "-c", INHERITED, TEGRATRACE, "-q", "--", "sh", "-c", "echo runs; exec sleep 5",
                    stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"runs\n"
        process.send_signal(number)
        assert process.wait(LIMIT) == 0


@pytest.mark.parametrize("words", ((), ("run", "--out=out")))
def test_under_nohup_the_terminals_end_is_none_of_the_run(tmp_path, words):
    command = ("sh", "-c", "echo runs; sleep 1; echo ends")
    with background("sh", "-c", "trap '' HUP; exec \"$@\"", "sh", TEGRATRACE, *words, "-q", "--", *command,
                    stdout=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout.readline() == b"runs\n"
        process.send_signal(signal.SIGHUP)
        assert process.stdout.readline() == b"ends\n"
        process.stdout.read()
        assert process.wait(LIMIT) == 0


def test_a_delay_leaves_the_beginning_out():
    # It burns a CPU for 1 s, then sleeps for 3 s. Begun after 1.5 s, the window has sleep alone.
    script = "timeout 1 sh -c 'while :; do :; done'; exec sleep 3"
    result = run_tool("-q", "--delay", "1.5", "--json", "--", "sh", "-c", script)
    assert result.status == 0
    report = parse_report(result.text.encode())
    assert report["window"]["duration_ns"] < 3_000_000_000
    assert report["ended_by"] == "target-exit"
    thread, = report["threads"]
    assert thread["comm"] == "sleep"
    assert thread["oncpu_ns"] < report["window"]["duration_ns"] * 0.1


@pytest.mark.parametrize("argv, status", [(("--", "true"), 1), (("--", "false"), 1), (("--", "sh", "-c", "exit 7"), 7),
                                          (("-p", None), 4)])
def test_what_ends_within_the_delay(argv, status):
    with background("sleep", "0.5") as process:
        argv = [word or str(process.pid) for word in argv]
        result = run_tool("-q", "--delay", "5", *argv)
    assert result.status == status
    assert result.err.splitlines()[-1].endswith(
        "the target ended within the delay of 5.0 s: nothing was measured")


def test_interrupted_within_the_delay(tmp_path):
    # The command is not left behind.
    note = tmp_path / "pid"
    script = f"timeout -s INT 1 {TEGRATRACE} -q --delay 60 -- sh -c 'echo $$ > {note}; exec sleep 600'"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert "interrupted before the window began" in done.stderr
    pid = note.read_text().strip()
    assert subprocess.run(["kill", "-0", pid], stderr=subprocess.DEVNULL, check=False).returncode


def test_signals_and_stdin_reach_the_command():
    script = "trap 'echo got; exit 3' TERM; kill -TERM $$; sleep 600"
    assert run_tool("-q", "--", "sh", "-c", script).status == 3
    done = run_tool("-q", f"--tegrastats={FAKE_TEGRASTATS}", "--", "cat", stdin=None, input=b"in\n")
    assert done.status == 0 and done.text.startswith("in\n")


def test_rest_of_the_line_is_the_commands():
    result = run_tool("-q", "--", "echo", "-p", "1", "--json")
    assert result.status == 0 and result.text.startswith("-p 1 --json\n")
