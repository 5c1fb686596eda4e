# SPDX-License-Identifier: GPL-2.0-only
"""The flame graph as a picture: sound XML whatever the names, and widths that are the folded stacks."""
import collections
import xml.etree.ElementTree as ET

import pytest

import harness

SVG = "{http://www.w3.org/2000/svg}"

# What XML itself trips over, U+FFFF among them; in a thread name there is room for 15 bytes.
NAMES = ["<b>&amp;\"'", "]]></title>", "<!--", "-->\uffff\ufffe", "\u202egnp.exe", "\x1b[31m\x01red", "a;b c"]

SCRIPT = f"""
import os, threading, time
def named(name):
    with open(f"/proc/self/task/{{threading.get_native_id()}}/comm", "wb") as comm:
        comm.write(name.encode()[:15])
    end = time.monotonic() + 1
    while time.monotonic() < end:
        sum(range(20000))
        time.sleep(0.01)
threads = [threading.Thread(target=named, args=(name,)) for name in {NAMES!r}]
[t.start() for t in threads]
[t.join() for t in threads]
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flames")
    result = harness.run_tool("-q", "--flamegraph", folder / "graph.svg", "--folded", folder / "folded",
                              "-o", folder / "run.ttr", "--", "/usr/bin/python3", "-c", SCRIPT)
    assert result.status == 0, result.err
    return folder


@pytest.fixture(scope="module")
def frames(drawn):
    """(x, y, width, us, title, class) of every frame."""
    found = []
    for group in ET.parse(drawn / "graph.svg").getroot().iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        found.append((float(rect.get("x")), float(rect.get("y")), float(rect.get("width")),
                      int(group.get("data-us")), group.find(f"{SVG}title").text, rect.get("class")))
    return found


def stacks(drawn):
    for line in (drawn / "folded").read_text().splitlines():
        frames, _, us = line.rpartition(" ")
        yield frames.split(";"), int(us)


def rows(frames):
    """Frames by depth, the root first."""
    by_y = collections.defaultdict(list)
    for frame in frames:
        by_y[frame[1]].append(frame)
    return [sorted(by_y[y]) for y in sorted(by_y, reverse=True)]


def test_nothing_but_shapes_and_text(drawn):
    """No name became an element, and nothing is fetched."""
    text = (drawn / "graph.svg").read_text()
    assert {element.tag for element in ET.fromstring(text.encode()).iter()} == {
        SVG + tag for tag in ("svg", "style", "g", "title", "rect", "text")}
    assert "href" not in text and "url(" not in text
    assert not any(ord(c) < 32 and c != "\n" for c in text)


def test_sums_are_those_of_the_folded_stacks(drawn, frames):
    """Of the whole, of each thread group and of each kind of time."""
    total = sum(us for _, us in stacks(drawn))
    root, groups, states = rows(frames)[:3]
    assert [frame[3] for frame in root] == [total] and total > 0
    assert root[0][2] == pytest.approx(1180, abs=0.01)
    for depth, row in ((1, groups), (2, states)):
        wanted = collections.Counter()
        for names, us in stacks(drawn):
            wanted[tuple(names[:depth])] += us
        seen = sorted(us for us in wanted.values() if us * 1180 / total >= 0.05)
        assert sorted(frame[3] for frame in row) == seen
        assert sum(frame[2] for frame in row) == pytest.approx(sum(seen) * 1180 / total, abs=0.5)
    for _, _, width, us, _, _ in frames:
        assert width == pytest.approx(us * 1180 / total, abs=0.002)


def test_every_frame_stands_on_one_that_holds_it(frames):
    for below, above in zip(rows(frames), rows(frames)[1:]):
        for x, _, width, us, _, kind in above:
            base = [f for f in below if f[0] <= x + 0.002 and x + width <= f[0] + f[2] + 0.002]
            assert len(base) == 1 and base[0][3] >= us
            assert base[0][5] in (kind, "group", "root")
        for left, right in zip(above, above[1:]):
            assert left[0] + left[2] <= right[0] + 0.002


def test_titles_and_colours(drawn, frames):
    titles = {title for _, _, _, _, title, _ in frames}
    assert any(title.startswith("<b>&amp:\"' (") for title in titles)
    assert any(title.startswith("a:b_c (") for title in titles)
    states = {title.rpartition(" (")[0]: kind for _, _, _, _, title, kind in rows(frames)[2]}
    assert states["on-CPU"] == "work" and states["off-CPU:timer"] == "idle"


def test_recording_gives_the_same(drawn):
    result = harness.run_tool("report", "--flamegraph", drawn / "again.svg", drawn / "run.ttr")
    assert result.status == 0, result.err
    assert (drawn / "again.svg").read_bytes() == (drawn / "graph.svg").read_bytes()


def test_no_stacks(tmp_path):
    result = harness.run_tool("-q", "--rung=proc", "--without=samples,stacks", "--flamegraph", tmp_path / "graph.svg",
                              "--", "sleep", "0.2")
    assert result.status == 0, result.err
    assert "no stacks were taken" in "".join(ET.parse(tmp_path / "graph.svg").getroot().itertext())
