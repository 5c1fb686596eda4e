# SPDX-License-Identifier: GPL-2.0-only
"""Wait classes by time, against a process that says itself when it waited for what."""
import contextlib
import json
import sqlite3
import subprocess
import sys

from harness import LIMIT, S, TEGRATRACE, parse_report

# Asleep for its own timer, then for its child, which is not followed, then awake.
PROGRAM = """
import json, subprocess, time
now = time.monotonic_ns
time.sleep(0.2)
marks = [now()]
time.sleep(1.7)
marks.append(now())
child = subprocess.Popen(["sleep", "1.4"])
marks.append(now())
child.wait()
marks.append(now())
while now() < marks[-1] + 600_000_000:
    pass
print(json.dumps(marks))
"""
CLASSES = "gpu disk fault lock thread process net device timer child event other".split()


def points_of(path):
    columns = ", ".join(f"off_{name}_threads" for name in CLASSES)
    with contextlib.closing(sqlite3.connect(path)) as recording:
        rows = recording.execute(f"SELECT t_ns, span_ns, {columns} FROM host_points ORDER BY t_ns").fetchall()
    return [(t_ns - span_ns, t_ns, dict(zip(CLASSES, values))) for t_ns, span_ns, *values in rows]


def overlap(a, b, c, d):
    return max(0, min(b, d) - max(a, c))


def test_waits_lie_where_they_were(tmp_path, rung):
    run = subprocess.run([TEGRATRACE, "-q", "--rung", rung, "--no-follow", "-o", tmp_path / "run.ttr",
                          f"--json={tmp_path}/json", "--", sys.executable, "-S", "-c", PROGRAM],
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=True)
    report = parse_report((tmp_path / "json").read_bytes())
    begin_ns = report["window"]["start_ns"]
    marks = [mark - begin_ns for line in (run.stdout + run.stderr).splitlines() if line.startswith(b"[")
             for mark in json.loads(line)]
    points = points_of(tmp_path / "run.ttr")
    assert len(points) > 6
    for name, since, until in (("timer", marks[0], marks[1]), ("child", marks[2], marks[3])):
        for start, end, off in points:
            inside = overlap(start, end, since, until) / (end - start)
            if name == "timer" and start < marks[0]:
                continue  # the first sleep is of that class too
            assert abs(off[name] - inside) < 0.05, (name, start / S, end / S, off, inside)


def test_sums_are_those_of_the_threads(tmp_path, rung):
    with contextlib.ExitStack() as stack:
        load = subprocess.Popen([sys.executable, "-S", "-c", "import time\nwhile True: time.sleep(0.037)"],
                                stdin=subprocess.DEVNULL)
        stack.callback(load.wait)
        stack.callback(load.kill)
        subprocess.run([TEGRATRACE, "-q", "--rung", rung, "-o", tmp_path / "run.ttr", f"--json={tmp_path}/json",
                        "-p", str(load.pid), "-d", "1.3"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       timeout=LIMIT, check=True)
    report = parse_report((tmp_path / "json").read_bytes())
    points = points_of(tmp_path / "run.ttr")
    asleep = sum(row["offcpu_ns"] for row in report["threads"])
    for name in CLASSES:
        want = sum(row["wait"][name] for row in report["threads"])
        got = sum(off[name] * (end - start) for start, end, off in points)
        assert abs(got - want) < 0.001 * asleep, (name, got, want)
