# SPDX-License-Identifier: GPL-2.0-only
"""Rung perf: where bpf(2) is refused; rings that overflow; what it reads is what perf would."""
import time

import pytest

from harness import (Load, RUNGS, S, Trace, identity_errors, run_tool, runq_ns, switches,
                     trace_load, workload)

TINY_RINGS = {"TEGRATRACE_RING_KB": "16"}
PERMISSION, UNSUPPORTED = 3, 5
TRIES = 3


def refusing(error, *calls):
    return (workload("refuse"), error, ",".join(calls))


@pytest.mark.parametrize("error", ("EPERM", "ENOSYS"))
def test_where_bpf_is_refused_it_takes_perf(tmp_path, error):
    result = trace_load(tmp_path, "auto", "hog", "n=2", "secs=0.5", prefix=refusing(error, "bpf"))
    capability = result.report["capability"]
    assert capability["rung"] == "perf"
    missing = {m["what"]: m["why"] for m in capability["missing"]}
    assert "bpf(2)" in missing["rung btf"] and "bpf(2)" in missing["rung tracepoint"]
    assert "block I/O" in missing
    assert not identity_errors(result.report)
    for name in "hog-0", "hog-1":
        books, row = result.thread(name), result.row(name)
        cpu = books["end"]["cpu_ns"] - books["begin"]["cpu_ns"]
        assert row["oncpu_ns"] + row["unknown_ns"] >= cpu * 0.98


@pytest.mark.parametrize("rung", RUNGS)
def test_a_forced_rung_is_not_replaced(sleeper, rung):
    prefix = refusing("EPERM", "bpf", "perf_event_open")
    result = run_tool("--rung", rung, "-p", sleeper.pid, prefix=prefix)
    assert result.status == PERMISSION and result.text == ""
    assert ("perf events" if rung == "perf" else "bpf(2)") in result.error_line()


def test_without_perf_events_it_says_so(sleeper):
    prefix = refusing("ENOSYS", "perf_event_open")
    result = run_tool("--rung", "perf", "-p", sleeper.pid, prefix=prefix)
    assert result.status == UNSUPPORTED
    assert "perf_event_open" in result.error_line()


def test_full_rings_are_counted_and_the_time_is_unknown(tmp_path):
    result = trace_load(tmp_path, "perf", "pingpong", "secs=1", env=TINY_RINGS)
    report = result.report
    assert not identity_errors(report)
    assert report["losses"]["events_lost"] > 1000
    assert "scheduler events lost" in result.text
    for name in "ping", "pong":
        row, books = result.row(name), result.thread(name)
        cpu = books["end"]["cpu_ns"] - books["begin"]["cpu_ns"]
        kernels = sum(books["end"][key] - books["begin"][key] for key in ("nvcsw", "nivcsw"))
        # What was not seen is not made up: neither switches nor time.
        assert switches(row) < kernels
        assert row["oncpu_ns"] <= cpu * 1.1
        assert row["unknown_ns"] > 0
        assert row["oncpu_ns"] + row["unknown_ns"] >= cpu * 0.98
        # All three parts of its life that the kernel keeps books of fit into what is known or not.
        queued = row["schedstat"]["runq_ns"]
        assert runq_ns(row) + row["unknown_ns"] >= queued * 0.97
        # The clocks of the two are apart by a part of what a switch takes, cold or warm.
        switch_ns = max(5000, 3 * cpu / kernels)
        assert runq_ns(row) <= queued * 1.1 + switch_ns * row["runq"]["count"]
    # Who slept all the time did, and no loss of others' events makes that doubtful.
    idle = result.row("pingpong")
    assert idle["offcpu_ns"] >= 0.9 * idle["wall_ns"] or idle["unknown_ns"] > 0


def test_threads_born_and_gone_during_a_loss_are_found(tmp_path):
    result = trace_load(tmp_path, "perf", "churn", "total=8009", "secs=1",
                        env={"TEGRATRACE_RING_KB": "8"})
    assert not identity_errors(result.report)
    assert result.losses["events_lost"] > 0
    living = {row["tid"] for row in result.rows if not row["exited"]}
    # The makers and the leader, and nobody who has ended.
    assert living == {t["tid"] for t in result.truth["threads"]}


def test_nothing_is_lost_in_rings_of_the_usual_size(tmp_path):
    # A real-time load elsewhere may keep the reader from its CPU for longer than a ring lasts.
    for i in range(TRIES):
        result = trace_load(tmp_path / str(i), "perf", "pingpong", "secs=1")
        if not result.losses["events_lost"]:
            break
    assert result.losses["events_lost"] == 0
    assert result.row("ping")["unknown_ns"] < 0.01 * S


def test_its_own_cost_is_shown(tmp_path):
    with Load(tmp_path, "pingpong", "secs=60") as load:
        with Trace(tmp_path, "-p", str(load.pid), rung="perf") as trace:
            trace.wait_attached()
            load.go()
            time.sleep(0.3)
            result = trace.stop()
    overhead = result.report["overhead"]
    assert overhead["events"] > 0 and overhead["cpu_share"] > 0
    assert overhead["ns_per_switch"] is None
