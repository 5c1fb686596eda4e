# SPDX-License-Identifier: GPL-2.0-only
"""How the live page puts the points of one event behind those before."""
import json
import shutil
import subprocess

import pytest

SCRIPT = """
import {grown} from './src/report/page/live.js';
import {readFileSync} from 'node:fs';
console.log(JSON.stringify(JSON.parse(readFileSync(0)).reduce(grown)));
"""


def grown(*events):
    if not shutil.which("node"):
        pytest.skip("no node: apt-get install nodejs")
    done = subprocess.run(["node", "--input-type=module", "-e", SCRIPT], input=json.dumps(events),
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def points(*times, interval_ms=100, **lists):
    """One series; a list is of the board unless it is of `host`."""
    host = lists.pop("host", {"t_ms": []})
    return {"interval_ms": interval_ms, "t_ms": list(times), **lists, "host": host, "phases": [{"name": "whole run"}]}


def test_a_cpu_that_is_left_out_is_unknown_meanwhile():
    """It was off for one event, and another came up; board and host have an axis each."""
    series = grown(
        points(0, 100, host={"t_ms": [10], "cpus": {"0": [.5], "1": [.25]}}),
        points(200, host={"t_ms": [20, 30], "cpus": {"0": [.6, .7]}, "offcpu": {"timer": [1, 2]}}),
        points(host={"t_ms": [40], "cpus": {"0": [.8], "1": [.75], "2": [1]}}))
    assert series["t_ms"] == [0, 100, 200]
    assert series["host"] == {"t_ms": [10, 20, 30, 40],
                              "cpus": {"0": [.5, .6, .7, .8], "1": [.25, None, None, .75], "2": [None, None, None, 1]},
                              "offcpu": {"timer": [None, 1, 2, None]}}


def test_a_curve_of_the_board_that_is_left_out():
    series = grown(points(0, gpu_busy=[.1], temps={"hottest": [40]}), points(100, 200, interval_ms=200),
                   points(300, gpu_busy=[.4], temps={"hottest": [50]}))
    assert series["gpu_busy"] == [.1, None, None, .4] and series["temps"]["hottest"] == [40, None, None, 50]
    assert series["interval_ms"] == 100 and series["phases"] == [{"name": "whole run"}]


def test_the_first_points_of_a_page_without_curves():
    """As a page begins: no times yet, and no host."""
    series = grown({"t_ms": [], "temps": {}, "host": None}, points(5, gpu_mhz=[600], host={"t_ms": [5], "oncpu": [1]}))
    assert series["gpu_mhz"] == [600] and series["host"] == {"t_ms": [5], "oncpu": [1]}
