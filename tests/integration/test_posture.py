# SPDX-License-Identifier: GPL-2.0-only
"""Kernels and machines that lack something: said, and worked around."""
import shutil
import subprocess

import pytest

from harness import LIMIT, Load, RUNGS, Trace, in_mounts, run_tool, trace_load

NO_BTF = "mount -t tmpfs none /sys/kernel/btf"
NO_TRACEFS = """
for place in /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug; do
    while umount -l $place 2>/dev/null; do :; done
done"""
TRACEFS = "mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing"
UNSUPPORTED = 5


def traces(folder, rung, prefix):
    """A short load is accounted as anywhere."""
    result = trace_load(folder, rung, "hog", "n=2", "secs=0.5", prefix=prefix)
    for i in range(2):
        books, row = result.thread(f"hog-{i}"), result.row(f"hog-{i}")
        cpu = books["end"]["cpu_ns"] - books["begin"]["cpu_ns"]
        assert row["oncpu_ns"] + row["unknown_ns"] >= cpu * 0.98
    return result.report


def test_without_btf_it_takes_tracepoints(tmp_path):
    report = traces(tmp_path, "auto", in_mounts(NO_BTF))
    assert report["capability"]["rung"] == "tracepoint"
    missing = [m for m in report["capability"]["missing"] if "btf" in m["what"].lower()]
    assert missing and "/sys/kernel/btf" in missing[0]["why"]
    assert all(row["identity_error_ns"] == 0 for row in report["threads"])


def test_with_btf_it_takes_btf(tmp_path):
    report = traces(tmp_path, "auto", ())
    assert report["capability"]["rung"] == "btf"
    assert all(row["identity_error_ns"] == 0 for row in report["threads"])


def test_without_btf_the_btf_rung_refuses(sleeper):
    result = run_tool("--rung", "btf", "-p", sleeper.pid, prefix=in_mounts(NO_BTF))
    assert result.status == UNSUPPORTED and result.text == ""
    assert "btf" in result.error_line().lower()


@pytest.mark.parametrize("tracefs", ("mounted", "not mounted"))
def test_tracefs(tmp_path, tracefs):
    script = TRACEFS if tracefs == "mounted" else NO_TRACEFS
    report = traces(tmp_path, "tracepoint", in_mounts(script))
    assert not [m for m in report["capability"]["missing"] if "tracefs" in m["what"]]


def test_stock_jetson(tmp_path):
    """No BTF, tracefs not mounted, little memory to lock."""
    prefix = ("prlimit", "--memlock=65536:65536", *in_mounts(f"{NO_BTF}\n{NO_TRACEFS}"))
    assert traces(tmp_path, "auto", prefix)["capability"]["rung"] == "tracepoint"


@pytest.mark.parametrize("rung", RUNGS)
def test_little_memory_to_lock(tmp_path, rung):
    traces(tmp_path, rung, ("prlimit", "--memlock=65536:65536"))


def test_other_perf_users_still_see_the_events(tmp_path):
    """A classic tracepoint program that returns 0 hides the event from all of them."""
    if not shutil.which("perf"):
        pytest.skip("no perf here")
    with Load(tmp_path, "pingpong", "secs=60") as load:
        with Trace(tmp_path, "-p", str(load.pid), rung="tracepoint") as trace:
            trace.wait_attached()
            load.go()
            perf = subprocess.run(
                [*in_mounts(TRACEFS), "perf", "stat", "-x,", "-a", "-e", "sched:sched_switch",
                 "sleep", "0.5"], capture_output=True, text=True, timeout=LIMIT, check=False)
            assert perf.returncode == 0, perf.stderr
            result = trace.stop()
    counts = [line.split(",")[0] for line in perf.stderr.splitlines() if "sched_switch" in line]
    assert len(counts) == 1 and int(counts[0]) > 1000, perf.stderr
    assert result.row("ping")["switches"]["voluntary"] > 1000
