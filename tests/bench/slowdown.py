# SPDX-License-Identifier: GPL-2.0-only
"""How much slower whole programs run while they are traced, for each feature apart and beside peers.
A run alone lies next to each traced one, and the median of the pairs counts.

Usage: slowdown.py TEGRATRACE WORKLOADS ROUNDS MS"""
import json
import os
import subprocess
import sys

import bench

TOOL, WORKLOADS, ROUNDS, SECONDS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) / 1e3

# Name, command, what counts as its speed, and the slowdown aimed at in percent.
LOADS = {
    "demo pipeline, cpu-bound": (["demo_pipeline", "scenario=cpu-bound"], "fps", 1),
    "10,000 switches/s": (["pingpong", "burn_us=157"], "rounds", 2),
}
WITHOUT = "block,faults,samples,cuda,irq,stacks,system"
WAYS = {
    "all probes": [],
    "accounts only": [f"--without={WITHOUT}"],
    **{f"accounts + {name}": ["--without=" + ",".join(p for p in WITHOUT.split(",") if p != name)]
       for name in WITHOUT.split(",")},
    "all, --cuda all": ["--cuda=all"],
    "all, --timeline": ["--timeline"],
    "all, --user-stacks": ["--user-stacks"],
    "all, rung tracepoint": ["--rung=tracepoint"],
    "all, rung perf": ["--rung=perf"],
}
PEERS = {
    "perf record -F 99 -g": ["perf", "record", "-q", "-F", "99", "-g", "-o", "/dev/null", "--"],
    "perf sched record": ["perf", "sched", "record", "-q", "-o", "/dev/null", "--"],
}
# Traced runs for one alone: neighbours in time, so that the machine's drift is in both.
APART = 3


def speed(load, prefix):
    """Of one run; the workload says it itself."""
    (program, *args), key, _ = LOADS[load]
    with bench.folder() as folder:
        env = dict(os.environ, FAKE_GPU_STATE=f"{folder}/gpu")
        out = subprocess.run([*prefix, f"{WORKLOADS}/{program}", *args, f"secs={SECONDS}"], env=env,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    done = next(json.loads(line)["truth"][key] for line in out.splitlines() if line.startswith(b"{"))
    # A short run on a busy machine may get nowhere.
    return max(done, 1)


def prefixes():
    found = {way: [TOOL, "-q", "--json=/dev/null", *options, "--"] for way, options in WAYS.items()}
    if bench.have("perf"):
        found.update(PEERS)
    return found


def measure(load, ways):
    """Percent by way, and how far the runs alone of one round are apart."""
    slower, apart = {way: [] for way in ways}, []
    for _ in range(ROUNDS):
        alone = None
        for i, (way, prefix) in enumerate(ways.items()):
            if i % APART == 0:
                before, alone = alone, speed(load, [])
                apart += [abs(alone / before - 1)] if before else []
            slower[way].append(alone / speed(load, prefix) - 1)
    return {way: 100 * bench.median(values) for way, values in slower.items()}, 100 * bench.median(apart)


def main():
    ways = prefixes()
    for load, (_, _, target) in LOADS.items():
        print(load, flush=True)
        found, noise = measure(load, ways)
        for way, percent in found.items():
            print(f"  {way:22} {percent:+6.2f} %", flush=True)
        print(f"  runs alone differ by   {noise:6.2f} %")
        # A median of several rounds is better than one pair, but not by more than this.
        unclear = "" if noise < 2 * target else f"unclear: runs alone differ by {noise:.1f} %"
        bench.result(f"slowdown: {load}, all probes", f"{found['all probes']:+.2f}", "%", target, unclear=unclear)


main()
