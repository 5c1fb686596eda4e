# SPDX-License-Identifier: GPL-2.0-only
"""Pipelines whose limit is known by construction."""
import contextlib

import pytest

from harness import LAST_CPU, Load, trace_load
from pipelines import run_pipeline, run_queue_share, run_undisturbed

# Three runs: each rung, and the one it chooses.
RUNGS = ("btf", "tracepoint", "auto")
FULL_ONLY = ("test_cpu_bound[auto]", "test_compute_bound[auto]", "test_cpu_starved_by_other_processes[auto]",
             "test_idle", "test_balanced")


def verdict(result, expected):
    found = result.report["verdict"]
    assert found["class"] == expected, (found["headline"], result.truth["truth"])
    assert found["headline"] in " ".join(result.text.split())
    assert found["evidence"] and all(e["text"] for e in found["evidence"])
    return found


@pytest.mark.parametrize("rung", RUNGS)
def test_cpu_bound(tmp_path, rung):
    result = run_undisturbed(tmp_path, rung, "scenario=cpu-bound")
    found = verdict(result, "cpu-bound")
    tid = result.thread("preproc-0")["tid"]
    assert found["threads"] == [tid] and f"preproc-0/{tid}" in found["headline"]
    # All that infer waits for frames somebody computes them, or waits for a CPU to do so.
    infer = result.thread("infer")
    fed = infer["wait_in_ns"] / (infer["end"]["ns"] - infer["begin"]["ns"])
    queued = run_queue_share(result.truth)
    assert found["share"] == pytest.approx(fed, abs=queued + 0.03)
    assert found["next_steps"]


@pytest.mark.parametrize("rung", RUNGS)
def test_compute_bound(tmp_path, rung):
    """Of frames so long that what comes between two of them does not matter."""
    result = run_undisturbed(tmp_path, rung, "scenario=compute", "gpu_us=30011", gpu_is_limit=True)
    found = verdict(result, "compute-bound")
    # whole per cent at most 99, of intervals of 50 ms
    assert found["share"] == pytest.approx(result.gpu_share, abs=0.03)


@pytest.mark.parametrize("rung", RUNGS)
def test_cpu_starved_by_other_processes(tmp_path, rung):
    with contextlib.ExitStack() as stack:
        for i in range(3):
            folder = tmp_path / f"hog{i}"
            hog = stack.enter_context(Load(folder, "hog", "n=1", f"cpu={LAST_CPU}", "secs=600",
                                           nice=-20))
            hog.go()
        result = run_pipeline(tmp_path, rung, "scenario=cpu-starved", "hogs=0", f"cpu={LAST_CPU}")
    found = verdict(result, "cpu-starved")
    assert result.report["threads_seen"] == 5
    preproc = result.row("preproc-0")
    assert preproc["runq_wake_ns"] + preproc["runq_preempt_ns"] > preproc["oncpu_ns"]
    assert found["gain_bound"] > 1.2


@pytest.mark.parametrize("rung", ("btf", "tracepoint"))
def test_idle(tmp_path, rung):
    found = verdict(run_pipeline(tmp_path, rung, "scenario=idle"), "insufficient-data")
    assert found["confidence"] < 0.3 and found["raise"]


@pytest.mark.parametrize("rung", ("btf", "tracepoint"))
def test_balanced(tmp_path, rung):
    verdict(run_undisturbed(tmp_path, rung, "scenario=balanced"), "balanced")


def test_short_window_is_no_verdict(tmp_path):
    result = trace_load(tmp_path, "auto", "hog", "secs=0.2")
    verdict(result, "insufficient-data")


def test_rules_say_why(tmp_path):
    result = run_pipeline(tmp_path, "auto", "scenario=cpu-bound")
    rules = {rule["name"]: rule for rule in result.report["verdict"]["rules"]}
    assert rules
    for rule in rules.values():
        if rule["value"] is not None:
            above = rule["value"] >= rule["threshold"]
            assert rule["fired"] == (above == rule["at_least"])
