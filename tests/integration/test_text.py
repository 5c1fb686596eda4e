# SPDX-License-Identifier: GPL-2.0-only
"""The text report: short enough to paste, and inert whatever a thread is called."""
import os
import subprocess
import sys
import unicodedata

import pytest

from harness import (FAKE_TEGRASTATS, Load, Trace, background, parse_report, run_tool, wait_for,
                     workload)

FULL_ONLY = ("test_fits_after_churn",)

HOSTILE = (b"\x1b[31mred", b"\x1b]0;title\x07", b"\xff\xfe\x80\xc3bad", b'"quo\\te\'', b"new\nline",
           b"tab\there\r", b"<b>&amp;x", b"%s%n%x", b"\xe2\x80\xaecba", b"\xc2\x9b31m", b"\x7fdel",
           b" ", b"'; rm -rf x", b"\xf0\x9f\x98\x80smile")

# Threads under given names, each asleep; the leader keeps its own.
NAMED = """
import ctypes, sys, threading, time
libc = ctypes.CDLL(None)
def named(name):
    libc.prctl(15, name, 0, 0, 0)
    while True:
        time.sleep(0.01)
for word in sys.argv[1:]:
    threading.Thread(target=named, args=(bytes.fromhex(word),), daemon=True).start()
print("up", flush=True)
time.sleep(600)
"""


def harmless(text):
    bad = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co")}
    assert not bad, [hex(ord(c)) for c in bad]


def pasteable(text):
    lines = text.splitlines()
    assert 5 <= len(lines) <= 25, text
    assert max(map(len, lines)) <= 100, max(lines, key=len)
    harmless(text)


@pytest.mark.parametrize("load", ("sleepers", "hog", "pingpong", "vfork", "forkers", "stopped",
                                  "exec-orphan"))
def test_fits(shared, rung, load):
    pasteable(shared(load, rung).text)


@pytest.mark.slow
def test_fits_after_churn(shared, rung):
    pasteable(shared("churn", rung).text)


@pytest.mark.parametrize("options", ((), ("-v",), ("--explain",), ("-v", "--explain")))
def test_width(tmp_path, options):
    result = run_tool("-q", *options, f"--tegrastats={FAKE_TEGRASTATS}", "--interval", "20", "--",
                      workload("demo_pipeline"), "scenario=cpu-bound", "secs=1.2",
                      env={"FAKE_GPU_STATE": str(tmp_path / "gpu")})
    assert result.status == 0
    truth, text = result.text.split("\n", 1)
    assert truth.startswith("{")
    harmless(text)
    assert "preproc-0" in text
    if options == ():
        pasteable(text)
    if "-v" not in options:
        assert max(map(len, text.splitlines())) <= 100
    else:
        # Every thread, and the identity; its table may be wider.
        for name in "capture", "infer", "postproc", "demo_pipeline":
            assert name in text
        assert "identity" in text


def test_many_groups(tmp_path):
    with Load(tmp_path, "sleepers", "n=97", "secs=0.5") as load:
        with Trace(tmp_path, "-p", str(load.pid)) as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            pasteable(trace.stop().text)


@pytest.fixture
def hostile():
    words = [name.hex() for name in HOSTILE]
    with background(sys.executable, "-c", NAMED, *words, stdout=subprocess.PIPE) as process:
        process.stdout.readline()

        def named():
            return len(os.listdir(f"/proc/{process.pid}/task")) == len(HOSTILE) + 1

        wait_for("the threads", named)
        yield process


@pytest.mark.parametrize("options", ((), ("-v",)))
def test_hostile_thread_names(hostile, rung, options, tmp_path):
    result = run_tool("--rung", rung, *options, f"--json={tmp_path}/r", "-p", hostile.pid, "-d",
                      "1.2")
    assert result.status == 0
    harmless(result.text)
    harmless(result.err)
    if options == ():
        pasteable(result.text)
    report = parse_report((tmp_path / "r").read_bytes())
    names = {row["comm"] for row in report["threads"]}
    assert len(report["threads"]) == len(HOSTILE) + 1
    for shown in ("\\x1B[31mred", "\\x1B]0;title\\x07", '"quo\\te\'', "<b>&amp;x", "%s%n%x",
                  "new\\x0Aline"):
        assert shown.lower() in {name.lower() for name in names}, names
    for name in names:
        harmless(name)


def test_hostile_command_name(tmp_path):
    program = tmp_path / "in\x1b[31mfer"
    program.symlink_to("/bin/sleep")
    result = run_tool("-q", "--json", "--", program, "0.1")
    assert result.status == 0
    harmless(result.err)
    assert "\x1b" not in str(parse_report(result.text.encode()))
    missing = run_tool("-q", "--", f"{program}-not-there")
    assert missing.status == 127
    harmless(missing.error_line())


def test_status_line_only_on_a_terminal():
    result = run_tool("--", "sleep", "0.6")
    assert "\r" not in result.err and "\x1b" not in result.err + result.text
