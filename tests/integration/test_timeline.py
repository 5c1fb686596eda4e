# SPDX-License-Identifier: GPL-2.0-only
"""The timeline and the traces made of it, read by protoc and json, against the accounts."""
import collections
import os
import signal

import pytest

from harness import FAKE_TEGRASTATS, Load, Trace, identity_errors, run_tool, switches
from traces import chrome_events, one, read_perfetto, title, us_in_ns

PARTS = {"Running": "oncpu_ns", "Runnable": "runq_wake_ns",
         "Runnable (Preempted)": "runq_preempt_ns", "Sleeping": "offcpu_ns",
         "Stopped": "stopped_ns", "Unknown": "unknown_ns"}
BPF_RUNGS = ("btf", "tracepoint")

# Half a minute of traces.
FULL_ONLY = True


def part_of(name):
    return PARTS["Sleeping" if name.startswith("Sleeping") else name]


def traced(folder, rung, *load, options=()):
    paths = {form: folder / form for form in ("perfetto", "chrome", "run.ttr")}
    with Load(folder, *load) as loaded:
        with Trace(folder, "-p", str(loaded.pid), "--timeline", *options, "-o", paths["run.ttr"],
                   "--perfetto", paths["perfetto"], "--chrome", paths["chrome"],
                   rung=rung) as trace:
            trace.wait_attached()
            loaded.go()
            loaded.wait_done()
            result = trace.stop()
    return result, paths


@pytest.fixture(scope="module", params=BPF_RUNGS)
def demo(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    result, paths = traced(folder, request.param, "demo_pipeline", "secs=2", "reads=1",
                           options=("--tegrastats", f"{FAKE_TEGRASTATS} --interval 100"))
    assert result.losses["timeline_lost"] == 0
    return result, paths


def check_sums(result, sums):
    """Threads that ended in the window are folded into rows without a tid."""
    exact = 0
    for row in result.rows:
        parts = {part: sums[row["tid"]][part] for part in PARTS.values()}
        account = {part: row[part] for part in parts}
        if not row["tid"]:
            continue
        assert sum(parts.values()) == row["wall_ns"]
        if parts["unknown_ns"]:  # the account tells it apart by the kernel's own books
            del parts["unknown_ns"]
            assert all(account[part] >= ns for part, ns in parts.items())
        else:
            assert parts == account
            exact += 1
    assert exact


def test_chrome_slices_add_up_to_the_accounts(demo):
    result, paths = demo
    sums = collections.defaultdict(collections.Counter)
    ends = {}
    for event in chrome_events(paths["chrome"]):
        if event["ph"] == "X":
            start, length = us_in_ns(event["ts"]), us_in_ns(event["dur"])
            assert start >= ends.get(event["tid"], 0)  # no two states at once
            ends[event["tid"]] = start + length
            sums[event["tid"]][part_of(event["name"])] += length
    check_sums(result, sums)


def test_chrome_flows_begin_and_end(demo):
    _, paths = demo
    flows = collections.defaultdict(list)
    for event in chrome_events(paths["chrome"]):
        if event["ph"] in "sf":
            flows[event["id"]].append((event["ph"], event["ts"]))
    assert flows
    for (start, at), (finish, when) in flows.values():
        assert (start, finish) == ("s", "f") and at == when


@pytest.fixture(name="trace")
def fixture_trace(demo):
    return read_perfetto(demo[1]["perfetto"])


def states(trace):
    """Those of the threads' own tracks."""
    return [told for told in trace.slices if one(trace.tracks[told.track], 4)]


def test_perfetto_balance_order_and_sums(demo, trace):
    result, _ = demo
    window = result.report["window"]
    everything = trace.slices + trace.instants + trace.counters
    assert min(told.start_ns for told in everything) >= window["start_ns"]
    assert max(told.start_ns + (told.ns or 0) for told in everything) <= window["end_ns"]
    sums = collections.defaultdict(collections.Counter)
    for told in states(trace):
        assert told.inside == 0  # no two states at once
        sums[title(trace, told.track)][part_of(told.name)] += told.ns
    check_sums(result, sums)


def test_perfetto_tracks_hang_together(demo, trace):
    result, _ = demo
    processes = {uuid: one(one(track, 3), 1) for uuid, track in trace.tracks.items()
                 if one(track, 3)}
    threads = {uuid: track for uuid, track in trace.tracks.items() if one(track, 4)}
    for track in threads.values():
        assert processes[one(track, 5)] == one(one(track, 4), 1)  # its process is its parent
    assert {row["tid"] for row in result.rows if row["tid"]} <= \
        {int(one(one(track, 4), 2)) for track in threads.values()}
    counted = {told.track for told in trace.counters}
    assert {"GPU load", "GPU clock", "EMC load", "Input power", "Hottest zone"} <= \
        {title(trace, uuid) for uuid in counted}
    assert all(one(trace.tracks[uuid], 8) for uuid in counted)
    verdicts = [told for told in trace.instants if title(trace, told.track) == "Verdict"]
    assert [told.name for told in verdicts] == [result.report["verdict"]["class"]]
    assert verdicts[0].facts["timeline_lost"] == 0


def test_perfetto_flows_lead_from_a_running_thread_to_a_runnable_one(trace):
    wakes = {told.flow: told for told in trace.instants if told.flow}
    assert wakes and {told.name for told in wakes.values()} == {"wakes"}
    woken = [told for told in trace.slices if told.flow]
    assert {told.flow for told in woken} == set(wakes) and len(woken) == len(wakes)
    for told in woken:
        assert told.name == "Runnable" and told.start_ns == wakes[told.flow].start_ns
        assert told.track != wakes[told.flow].track


def test_the_recording_gives_the_same_traces(demo, tmp_path):
    _, paths = demo
    result = run_tool("report", paths["run.ttr"], "--perfetto", tmp_path / "perfetto",
                      "--chrome", tmp_path / "chrome")
    assert result.status == 0
    for form in ("perfetto", "chrome"):
        assert (tmp_path / form).read_bytes() == paths[form].read_bytes()


def test_without_a_timeline_there_are_counters_and_accounts(tmp_path):
    with Load(tmp_path, "hog", "secs=1") as load:
        with Trace(tmp_path, "-p", str(load.pid), "--chrome", tmp_path / "chrome") as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            result = trace.stop()
    assert result.losses["timeline_lost"] is None
    events = chrome_events(tmp_path / "chrome")
    assert not [event for event in events if event["ph"] in "Xsf"]
    accounts = {event["tid"]: event["args"] for event in events if event["name"] == "account"}
    for row in result.rows:
        assert accounts[row["tid"]]["oncpu_ns"] == row["oncpu_ns"]
    assert any(event["ph"] == "C" for event in events)


def slices_of(folder):
    return sum(event["ph"] == "X" for event in chrome_events(folder / "chrome"))


@pytest.mark.parametrize("rung", BPF_RUNGS)
def test_a_full_ring_is_counted_and_costs_nothing_else(rung, tmp_path):
    with Load(tmp_path, "pingpong", "count=300000") as load:
        with Trace(tmp_path, "-p", str(load.pid), "--timeline", "--chrome", tmp_path / "chrome",
                   rung=rung) as trace:
            trace.wait_attached()
            os.kill(trace.pid, signal.SIGSTOP)  # the ring holds 420,000
            load.go()
            load.wait_done()
            os.kill(trace.pid, signal.SIGCONT)
            result = trace.stop()
    assert result.losses["timeline_lost"] > 0
    assert not identity_errors(result.report)
    kept = slices_of(tmp_path)
    # each switch ends an interval on the CPU, and a later one in the queue
    total = kept + result.losses["timeline_lost"]
    switched = sum(switches(row) for row in result.rows)
    assert 2 * switched - 2 * len(result.rows) <= total
    assert kept > 100000


def test_the_memory_allowed_is_kept(tmp_path):
    with Load(tmp_path, "pingpong", "count=20000") as load:
        with Trace(tmp_path, "-p", str(load.pid), "--timeline=1", "--without", "block,faults,cuda",
                   "--chrome", tmp_path / "chrome") as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            result = trace.stop()
    assert slices_of(tmp_path) == 1_000_000 // 40
    assert result.losses["timeline_lost"] > 40000


@pytest.mark.parametrize("rung", ("perf", "proc"))
def test_rungs_without_it_say_so(rung, tmp_path):
    with Load(tmp_path, "sleepers", "secs=1") as load:
        with Trace(tmp_path, "-p", str(load.pid), "--timeline", rung=rung) as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            result = trace.stop()
    missing = {entry["what"]: entry["why"] for entry in result.report["capability"]["missing"]}
    assert "intervals, block requests, faults or CUDA calls" in missing["timeline"]


def test_probes_that_are_off_have_no_events(tmp_path):
    with Load(tmp_path, "demo_pipeline", "secs=1", "reads=1") as load:
        with Trace(tmp_path, "-p", str(load.pid), "--timeline", "--without", "block,faults,cuda",
                   "--chrome", tmp_path / "chrome", "-o", tmp_path / "run.ttr") as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            result = trace.stop()
    assert result.losses["timeline_lost"] == 0
    categories = {event.get("cat") for event in chrome_events(tmp_path / "chrome")}
    assert "state" in categories and not categories & {"block", "cuda", "fault"}
