# SPDX-License-Identifier: GPL-2.0-only
"""With any one source left out the rest works, and the output says what is unknown."""
import pytest

from harness import Load, Trace
from loads import trace_load

# What the report calls it when it is missing.
NAMES = {
    "block": "block I/O",
    "faults": "page faults by mapping",
    "samples": "on-CPU samples",
    "irq": "interrupts",
    "stacks": "kernel stacks",
    "system": "pressure and other processes",
}


@pytest.mark.parametrize("probe", NAMES)
def test_one_left_out(tmp_path, rung, probe):
    with Load(tmp_path, "sleepers", "secs=600") as load:
        load.go()
        with Trace(tmp_path, "-p", str(load.pid), "-d", "1", f"--without={probe}", "-v",
                   rung=rung) as trace:
            result = trace.finish()
        load.end()
    assert result.status == 0, result.err
    report = result.report
    assert NAMES[probe] in [missing["what"] for missing in report["capability"]["missing"]]
    assert all(row["identity_error_ns"] == 0 for row in report["threads"])
    sleeper = next(row for row in report["threads"] if row["comm"] == "sleep-3")
    others = report["block"], report["faults"], report["samples"], report["pressure"]
    unknown = {"block": 0, "faults": 1, "samples": 2, "system": 3}.get(probe)
    for i, part in enumerate(others):
        if i != unknown:
            assert part is not None
    if unknown is not None and probe != "system":
        assert others[unknown] is None
    # Sleeping for a timer is told by the waker, and on the btf rung by the call alone, too.
    if probe != "stacks" and not (probe == "irq" and rung == "tracepoint"):
        assert sleeper["wait"]["timer"] >= 0.9 * sleeper["offcpu_ns"]


def test_all_left_out(tmp_path, rung):
    result = trace_load(tmp_path, rung, "sleepers", "secs=1.2",
                        options=["--without=" + ",".join([*NAMES, "cuda"])])
    missing = [missing["what"] for missing in result.report["capability"]["missing"]]
    assert set(NAMES.values()) <= set(missing)
    assert all(row["identity_error_ns"] == 0 for row in result.report["threads"])
