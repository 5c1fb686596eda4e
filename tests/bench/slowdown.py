# SPDX-License-Identifier: GPL-2.0-only
"""How much slower whole programs run while they are traced: the median of interleaved pairs.

Usage: slowdown.py TEGRATRACE WORKLOADS ROUNDS SECONDS"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

TOOL, WORKLOADS, ROUNDS, SECONDS = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]

# Name, command, and what counts as its speed.
LOADS = {
    "demo pipeline, cpu-bound": (["demo_pipeline", "scenario=cpu-bound"], "fps"),
    "10,000 switches/s": (["pingpong", "burn_us=157"], "rounds"),
}
WAYS = {
    "all probes": [],
    "without stacks": ["--without=stacks"],
    "without irq": ["--without=irq"],
    "without samples": ["--without=samples"],
    "without faults": ["--without=faults"],
    "without block": ["--without=block"],
    "without system": ["--without=system"],
    "accounts only": ["--without=block,faults,samples,cuda,irq,stacks,system"],
    "--cuda all": ["--cuda=all"],
    "rung tracepoint": ["--rung=tracepoint"],
    "rung perf": ["--rung=perf"],
}


def speed(load, prefix):
    """Of one run; the workload says it itself."""
    (program, *args), key = LOADS[load]
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, FAKE_GPU_STATE=f"{folder}/gpu")
        out = subprocess.run([*prefix, f"{WORKLOADS}/{program}", *args, f"secs={SECONDS}"], env=env,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    return json.loads(out.splitlines()[0])["truth"][key]


def main():
    for load in LOADS:
        print(f"{load}")
        for way, options in WAYS.items():
            trace = [TOOL, "-q", "--json=/dev/null", *options, "--"]
            pairs = [(speed(load, []), speed(load, trace)) for _ in range(ROUNDS)]
            slower = statistics.median(alone / traced - 1 for alone, traced in pairs)
            print(f"  {way:18} {100 * slower:+6.2f} %", flush=True)


main()
