# SPDX-License-Identifier: GPL-2.0-only
"""That the benchmark runs and says something of each part. What it measures no test asks."""
import os
import pathlib
import re
import subprocess

import pytest

from harness import BUILD, LIMIT, full_env

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Some minutes.
FULL_ONLY = True
USAGE = 2
# A figure in the table at the end, of each part that does not need programs that only make bench builds.
FIGURES = {
    "programs": ("a request", "a fault", "a sample"),
    "attach": ("btf", "tracepoint"),
    "memory": ("btf", "tracepoint"),
    "cuda": (),
    "slowdown": ("demo pipeline", "10,000 switches"),
    "recording": ("CPU time",),
    "live": ("no viewer", "5 viewers", "1 that never reads"),
}
PEERS = ("bpftrace", "perf", "offcputime", "biolatency", "fio")


def bench(*parts, **env):
    return subprocess.run(["tools/bench.sh", *parts], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=full_env({"BUILD": BUILD, "ROUNDS": "1", "MS": "200", **env}), timeout=4 * LIMIT, check=False)


def figures(part, done):
    assert done.returncode == 0, done.stderr
    table = done.stdout.split("== against the targets ==")[1]
    for figure in FIGURES[part]:
        assert re.search(rf"^{part}: {figure}.* [-+]?\d[\d.]* ", table, re.M), (figure, table)


@pytest.mark.parametrize("part", FIGURES)
def test_part(part):
    figures(part, bench(part))


@pytest.mark.parametrize("part", ("attach", "cuda"))
def test_missing_peers_are_said(tmp_path, part):
    for folder in ("/usr/sbin", "/usr/bin", "/sbin", "/bin"):
        for program in os.scandir(folder):
            if program.name not in PEERS and not os.path.lexists(tmp_path / program.name):
                (tmp_path / program.name).symlink_to(program.path)
    done = bench(part, PATH=str(tmp_path))
    figures(part, done)
    assert "bpftrace: not installed" in done.stdout


def test_no_such_part():
    done = bench("nothing")
    assert done.returncode == USAGE and "nothing" in done.stderr and "switch" in done.stderr
