# SPDX-License-Identifier: GPL-2.0-only
"""The timeline and the traces made of it, read by protoc and json, against the accounts."""
import collections
import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from harness import FAKE_TEGRASTATS, LIMIT, Load, Trace, identity_errors, run_tool, switches

PARTS = {"Running": "oncpu_ns", "Runnable": "runq_wake_ns",
         "Runnable (Preempted)": "runq_preempt_ns", "Sleeping": "offcpu_ns",
         "Stopped": "stopped_ns", "Unknown": "unknown_ns"}
BPF_RUNGS = ("btf", "tracepoint")
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4

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


def us_in_ns(text):
    us, ns = text.split(".")
    assert len(ns) == 3
    return int(us) * 1000 + int(ns)


def chrome_events(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=str)["traceEvents"]


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


def decode(path):
    """Packets by the public numbers of their fields: protoc without any description."""
    if not shutil.which("protoc"):
        pytest.skip("no protoc to read it with: apt-get install protobuf-compiler")
    with open(path, "rb") as file:
        text = subprocess.run(["protoc", "--decode_raw"], stdin=file, check=True,
                              capture_output=True, timeout=LIMIT).stdout.decode()
    stack = [[]]
    for line in text.splitlines():
        opens = re.fullmatch(r" *(\d+) \{", line)
        value = re.fullmatch(r" *(\d+): (.*)", line)
        if opens:
            inner = []
            stack[-1].append((int(opens[1]), inner))
            stack.append(inner)
        elif value:
            stack[-1].append((int(value[1]), value[2]))
        else:
            assert line.strip() == "}"
            stack.pop()
    assert len(stack) == 1 and all(number == 1 for number, _ in stack[0])
    return [packet for _, packet in stack[0]]


def one(message, number, default=None):
    found = [value for field, value in message if field == number]
    assert len(found) <= 1
    return found[0] if found else default


def tracks_and_events(packets):
    tracks, names, events = {}, {}, []
    for packet in packets:
        assert one(packet, 10) == "1"
        track, event, interned = one(packet, 60), one(packet, 11), one(packet, 12)
        if track:
            assert one(track, 1) not in tracks
            tracks[one(track, 1)] = track
        for _, name in interned or ():
            names[one(name, 1)] = one(name, 2).strip('"')
        if event:
            assert one(event, 11) in tracks  # described before it is used
            events.append((int(one(packet, 8)), event))
    return tracks, names, events


def test_perfetto_balance_order_and_sums(demo):
    result, paths = demo
    tracks, names, events = tracks_and_events(decode(paths["perfetto"]))
    times = [at for at, _ in events]
    assert times == sorted(times) and times[0] >= result.report["window"]["start_ns"]
    assert times[-1] <= result.report["window"]["end_ns"]
    open_at, sums = {}, collections.defaultdict(collections.Counter)
    for at, event in events:
        track, kind = one(event, 11), int(one(event, 9))
        if kind == BEGIN:
            assert track not in open_at
            open_at[track] = at, names[one(event, 10)]
        elif kind == END:
            begun, name = open_at.pop(track)
            tid = int(one(one(tracks[track], 4), 2))
            sums[tid][part_of(name)] += at - begun
    assert not open_at
    check_sums(result, sums)


def test_perfetto_tracks_hang_together(demo):
    result, paths = demo
    tracks, _, events = tracks_and_events(decode(paths["perfetto"]))
    processes = {uuid: one(one(track, 3), 1) for uuid, track in tracks.items() if one(track, 3)}
    threads = {uuid: track for uuid, track in tracks.items() if one(track, 4)}
    for track in threads.values():
        assert processes[one(track, 5)] == one(one(track, 4), 1)  # its process is its parent
    assert {row["tid"] for row in result.rows if row["tid"]} <= \
        {int(one(one(track, 4), 2)) for track in threads.values()}
    counted = {one(event, 11) for _, event in events if one(event, 9) == str(COUNTER)}
    titles = {one(tracks[uuid], 2).strip('"') for uuid in counted}
    assert {"GPU load", "GPU clock", "EMC load", "Input power", "Hottest zone"} <= titles
    assert all(one(tracks[uuid], 8) for uuid in counted)
    verdicts = [one(event, 23).strip('"') for _, event in events
                if one(event, 9) == str(INSTANT) and
                one(tracks[one(event, 11)], 2, "") == '"Verdict"']
    assert verdicts == [result.report["verdict"]["class"]]


def test_perfetto_flows_lead_from_a_running_thread_to_a_runnable_one(demo):
    _, paths = demo
    _, names, events = tracks_and_events(decode(paths["perfetto"]))
    flows = {}
    for at, event in events:
        flow = one(event, 47)
        if flow and flow not in flows:
            assert one(event, 9) == str(INSTANT)
            flows[flow] = at, one(event, 11)
        elif flow:
            begun, waker = flows.pop(flow)
            assert names[one(event, 10)] == "Runnable"
            assert begun == at and waker != one(event, 11)
    assert not flows


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
        with Trace(tmp_path, "-p", str(load.pid), "--timeline=1", "--chrome",
                   tmp_path / "chrome") as trace:
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
    missing = {entry["what"] for entry in result.report["capability"]["missing"]}
    assert "timeline" in missing
