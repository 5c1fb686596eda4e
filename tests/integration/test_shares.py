# SPDX-License-Identifier: GPL-2.0-only
"""Workloads whose shares are known by construction."""
import pytest

from harness import runq_ns, switches
from loads import TRIES


def load_ns(result):
    return result.truth["duration_ns"]


def gaps_of(result):
    return sum(result.losses[loss] for loss in ("gaps_switch_out", "gaps_switch_in", "events_lost"))


def kernel_switches(thread, key):
    """By the end of its load, and by its own end: the window ends between the two."""
    return tuple(thread[at][key] - thread["begin"][key] for at in ("end", "final"))


def ran(result, name, cpu_ns):
    """What is stated as unknown, after a missed event, may have been on-CPU or not. Interrupts and steal time
    are on-CPU, but not in the thread's books."""
    row = result.row(name)
    assert row["oncpu_ns"] <= cpu_ns * 1.02 + result.taken_from(result.thread(name)["cpu"])
    assert row["oncpu_ns"] + row["unknown_ns"] >= cpu_ns * 0.98


def need_the_core(result):
    """Other load on this machine may have taken it: no fault of the accounts."""
    if not result.undisturbed:
        pytest.skip(f"other load took part of the core, {TRIES} times in a row")


def test_hogs_share_one_core(shared, rung):
    result = shared("hog", rung)
    need_the_core(result)
    for i in range(3):
        row = result.row(f"hog-{i}")
        assert row["oncpu_ns"] / load_ns(result) == pytest.approx(1 / 3, abs=0.02)
        assert runq_ns(row) / load_ns(result) == pytest.approx(2 / 3, abs=0.02)
        assert row["runq_preempt_ns"] > row["runq_wake_ns"]


def test_sleepers_sleep_as_asked(shared, rung):
    result = shared("sleepers", rung)
    for i in range(7):
        row, books = result.row(f"sleep-{i}"), result.thread(f"sleep-{i}")
        assert books["count"] == books["count_planned"]
        assert row["offcpu_ns"] >= books["requested_sleep_ns"]
        # Less the time asleep before and after: no more than was measured from inside.
        outside = result.report["window"]["duration_ns"] - (
            books["end"]["ns"] - books["begin"]["ns"])
        assert row["offcpu_ns"] - outside <= books["measured_sleep_ns"]
        # Every sleep, and the one of the hold; one more where the start or a lock took one.
        voluntary = row["switches"]["voluntary"]
        assert books["count"] <= voluntary <= books["count"] + 3
        assert row["oncpu_ns"] < 0.1 * row["wall_ns"]


def test_a_preempted_hog(shared, rung):
    result = shared("preempted", rung)
    need_the_core(result)
    hog, thief = result.row("hog"), result.row("fifo")
    books, truth = result.thread("fifo"), result.truth["truth"]
    assert truth["policy"] == "fifo"
    assert hog["switches"]["involuntary"] + gaps_of(result) >= books["wakeups"]
    assert hog["runq_preempt_ns"] >= books["burned_ns"] * 0.98
    ran(result, "fifo", truth["stolen_ns"])
    # What the core had to give went to the two.
    both = sum(row["oncpu_ns"] + row["unknown_ns"] for row in (hog, thief))
    assert both / load_ns(result) == pytest.approx(1, abs=0.02)
    # The thief preempts and is not preempted.
    assert runq_ns(thief) / load_ns(result) < 0.02


def test_pingpong_fills_its_core(shared, rung):
    result = shared("pingpong", rung)
    ping, pong = result.row("ping"), result.row("pong")
    assert result.truth["truth"]["one_cpu"]
    # While one runs the other does not, so both together run no longer than the load.
    both = ping["oncpu_ns"] + pong["oncpu_ns"]
    assert both <= load_ns(result) * 1.01
    for row in ping, pong:
        books = result.thread(row["comm"])
        cpu = books["end"]["cpu_ns"] - books["begin"]["cpu_ns"]
        slack = 0.02 * load_ns(result)
        assert cpu - slack <= row["oncpu_ns"] <= cpu + slack + result.taken_from(books["cpu"])


@pytest.mark.parametrize("load", ("sleepers", "hog", "pingpong", "preempted", "migrate"))
def test_switches_are_the_kernels(shared, rung, load):
    result = shared(load, rung)
    lost = gaps_of(result)
    for books in result.truth["threads"][1:]:
        row = result.row(books["name"])
        least = sum(kernel_switches(books, key)[0] for key in ("nvcsw", "nivcsw"))
        most = sum(kernel_switches(books, key)[1] for key in ("nvcsw", "nivcsw"))
        assert least - lost <= switches(row) <= most + 2
        for kind, key in ("voluntary", "nvcsw"), ("involuntary", "nivcsw"):
            low, high = kernel_switches(books, key)
            slack = lost + 2 + (high - low)
            assert low - slack <= row["switches"][kind] <= high + slack


def test_run_queue_histogram_counts_every_delay(shared, rung):
    for load in "hog", "pingpong", "sleepers":
        for row in shared(load, rung).rows:
            runq = row["runq"]
            assert sum(runq["hist"]) == runq["count"]
            if runq["count"]:
                assert runq["p50_ns"] <= runq["p99_ns"] <= runq["max_ns"]
                assert runq["max_ns"] <= runq_ns(row)


def test_stopped_time(shared, rung):
    result = shared("stopped", rung)
    least = result.truth["truth"]["stopped_at_least_ns"]
    most = result.truth["truth"]["stopped_at_most_ns"]
    slack = max(5_000_000, least * 0.02)
    for name in "stop-run", "stop-nap", "stop-leader", "stop-wait":
        assert least - slack <= result.row(name)["stopped_ns"] <= most + slack
    cpu = result.thread("stop-run")
    ran(result, "stop-run", cpu["end"]["cpu_ns"] - cpu["begin"]["cpu_ns"])
    assert result.row("stop-wait")["offcpu_ns"] + most + slack >= load_ns(result)
