# SPDX-License-Identifier: GPL-2.0-only
"""on-CPU + run-queue + off-CPU + stopped + unknown == wall, to the nanosecond, on every thread."""
import pytest

from harness import S, identity_errors, switches
from loads import STEADY, each_load


@pytest.mark.parametrize("load", each_load())
def test_identity(shared, rung, load):
    report = shared(load, rung).report
    assert report["threads"]
    assert not identity_errors(report)


@pytest.mark.parametrize("load", STEADY)
def test_steady_threads_fill_the_window(shared, rung, load):
    result = shared(load, rung)
    expected = {t["tid"] for t in result.truth["threads"]}
    if load == "stopped":
        expected -= {result.truth["pid"]}
    assert {row["tid"] for row in result.rows} == expected
    for row in result.rows:
        assert not row["exited"]
        assert row["wall_ns"] == result.report["window"]["duration_ns"]
        assert row["identity_error_ns"] == 0


@pytest.mark.parametrize("load", each_load())
def test_threads_are_all_counted(shared, rung, load):
    result = shared(load, rung)
    assert result.losses["threads_untracked"] == 0
    assert sum(row["folded"] for row in result.rows) == result.report["threads_seen"]


def test_migrations_moved_threads(shared, rung):
    truth = shared("migrate", rung).truth["truth"]
    if truth["cpus"] < 2:
        pytest.skip("one CPU: nothing can move")
    assert truth["self_moved"] > truth["self_affinity_set"] / 2


def test_a_switch_storm_is_counted(shared, rung, record_property):
    result = shared("pingpong", rung)
    gaps = sum(result.losses[loss]
               for loss in ("gaps_switch_out", "gaps_switch_in", "events_lost"))
    books = result.truth["threads"][1:]
    counted = sum(switches(result.row(t["name"])) for t in books)
    kernels = sum(t["end"][key] - t["begin"][key] for t in books for key in ("nvcsw", "nivcsw"))
    record_property("switches_per_s", kernels * S // result.truth["duration_ns"])
    assert kernels >= 2 * result.truth["truth"]["rounds"]
    assert kernels - gaps <= counted <= kernels + 2 * len(books)
