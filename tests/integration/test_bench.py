# SPDX-License-Identifier: GPL-2.0-only
"""That the benchmark runs and says something of each part. What it measures no test asks."""
import pathlib
import re
import subprocess

import pytest

from harness import BUILD, LIMIT, full_env, in_mounts

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# A minute.
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
# Where it is on the machine, no program can be found there any more.
HIDE_PEERS = "for peer in bpftrace perf offcputime biolatency; do ! at=$(command -v $peer) || mount --bind /dev/null $at; done"


def bench(*parts, prefix=()):
    return subprocess.run([*prefix, "tools/bench.sh", *parts], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, env=full_env({"BUILD": BUILD, "ROUNDS": "1", "MS": "200"}), timeout=4 * LIMIT, check=False)


@pytest.mark.parametrize("peers", (True, False), ids=("peers", "no peers"))
@pytest.mark.parametrize("part", FIGURES)
def test_part(part, peers):
    done = bench(part, prefix=() if peers else in_mounts(HIDE_PEERS))
    assert done.returncode == 0, done.stderr
    if not peers:
        assert "not installed" in done.stdout or part in ("live",)
    table = done.stdout.split("== against the targets ==")[1]
    for figure in FIGURES[part]:
        assert re.search(rf"^{part}: {figure}.* [-+]?\d[\d.]* ", table, re.M), (figure, table)


def test_no_such_part():
    done = bench("nothing")
    assert done.returncode == USAGE and "nothing" in done.stderr and "switch" in done.stderr
