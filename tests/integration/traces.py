# SPDX-License-Identifier: GPL-2.0-only
"""Reads traces: Perfetto by protoc and public field numbers, Chrome as JSON. No test in here."""
import collections
import json
import re
import shutil
import subprocess

import pytest

from harness import LIMIT

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4

# On a track from start_ns for ns, which an instant has not; `inside` so many slices.
Event = collections.namedtuple("Event", "track name start_ns ns facts inside flow")
Trace = collections.namedtuple("Trace", "tracks slices instants counters")


def us_in_ns(text):
    us, ns = text.split(".")
    assert len(ns) == 3
    return int(us) * 1000 + int(ns)


def chrome_events(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=str)["traceEvents"]


def chrome_async(path, category):
    """Asynchronous slices: begin and end of each, paired as they nest by their id."""
    stacks, slices = collections.defaultdict(list), []
    for event in chrome_events(path):
        if event.get("cat") != category or event["ph"] not in "be":
            continue
        stack = stacks[event["id"]]
        if event["ph"] == "b":
            stack.append(event)
            continue
        begun = stack.pop()
        assert (begun["name"], begun["pid"], begun["tid"]) == \
            (event["name"], event["pid"], event["tid"])
        start_ns = us_in_ns(begun["ts"])
        slices.append(Event(begun["tid"], begun["name"], start_ns, us_in_ns(event["ts"]) - start_ns,
                            begun["args"], len(stack), None))
    assert not any(stacks.values())
    return slices


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


def string(message, number):
    return one(message, number, '""')[1:-1]


def facts_of(event):
    facts = {}
    for field, annotation in event:
        if field == 4:
            value = one(annotation, 4)
            facts[string(annotation, 10)] = string(annotation, 6) if value is None else int(value)
    return facts


def title(trace, uuid):
    """Of a track: what it is called, or its thread's id."""
    thread = one(trace.tracks[uuid], 4)
    return int(one(thread, 2)) if thread else string(trace.tracks[uuid], 2)


def parent(trace, uuid):
    return one(trace.tracks[uuid], 5)


def read_perfetto(path):
    """In order of time, begins and ends in balance, each track described before it is used."""
    trace = Trace({}, [], [], [])
    names, stacks, last = {}, collections.defaultdict(list), 0
    for packet in decode(path):
        assert one(packet, 10) == "1"
        track, event, interned = one(packet, 60), one(packet, 11), one(packet, 12)
        if track:
            assert one(track, 1) not in trace.tracks
            assert one(track, 5) is None or one(track, 5) in trace.tracks
            trace.tracks[one(track, 1)] = track
        for _, name in interned or ():
            names[one(name, 1)] = string(name, 2)
        if not event:
            continue
        at, uuid, kind = int(one(packet, 8)), one(event, 11), int(one(event, 9))
        assert uuid in trace.tracks and at >= last
        last = at
        if kind == END:
            begun = stacks[uuid].pop()
            trace.slices.append(begun._replace(ns=at - begun.start_ns))
            continue
        name = names[one(event, 10)] if one(event, 10) else string(event, 23)
        told = Event(uuid, name, at, None, facts_of(event) if one(event, 44) is None else {},
                     len(stacks[uuid]), one(event, 47))
        if kind == BEGIN:
            stacks[uuid].append(told)
        else:
            (trace.instants if kind == INSTANT else trace.counters).append(told)
    assert not any(stacks.values())
    return trace
