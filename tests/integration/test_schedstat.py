# SPDX-License-Identifier: GPL-2.0-only
"""Agreement with the kernel's own books of a thread, on loads of more than a second."""
import pytest

from harness import runq_ns, trace_load

FULL_ONLY = ("test_agrees_with_the_kernel[btf-pipeline-0]", "test_agrees_with_the_kernel[tracepoint-pipeline-0]")

LOADS = {
    "hog-3": ("hog-1", "hog", "n=3"),
    "hog-2": ("hog-0", "hog", "n=2"),
    "preempted": ("hog", "preempted"),
    "pipeline": ("preproc-0", "demo_pipeline", "scenario=cpu-bound"),
    "spinyield": ("hog-0", "spinyield"),
}

EVENT_NS = 5000  # or more: event_ns()

# Unknown time that is tolerated, as a share of the load.
# On perf every switch is read, so a missed one is placed as exactly as with type data.
UNKNOWN = {"btf": 0.002, "tracepoint": 0.02, "perf": 0.002}

# The kernel leaves interrupts out, and on perf each of them writes events: they take longer.
ON_CPU = {"btf": 0.01, "tracepoint": 0.01, "perf": 0.03}


def kernels_own(result, name):
    """Two readings of the kernel's books, each with the time of the load that it misses."""
    books = result.thread(name)
    read = {key: books["end"]["schedstat"][key] - books["begin"]["schedstat"][key]
            for key in ("oncpu_ns", "runq_ns")}
    # A thread can only read its books once it runs: its first wait for a CPU is over then.
    missed = max(0, books["begin"]["ns"] - result.truth["start_ns"])
    return {"tegratrace's reading": (result.row(name)["schedstat"], 0),
            "its own reading": (read, missed)}


@pytest.fixture(scope="module", name="event_ns")
def fixture_event_ns(tmp_path_factory):
    """event_ns(rung): by how much two clocks may be apart at a switch of this machine: three times the CPU
    time that a traced one takes where nothing but switches happens, with warm caches."""
    known = {}

    def measure(rung):
        if rung not in known:
            result = trace_load(tmp_path_factory.mktemp(rung), rung, "pingpong", "secs=0.3")
            pair = [result.thread(name) for name in ("ping", "pong")]
            cpu, switched = (sum(t["end"][key] - t["begin"][key] for t in pair for key in keys)
                             for keys in (("cpu_ns",), ("nvcsw", "nivcsw")))
            known[rung] = max(EVENT_NS, 3 * cpu / switched)
        return known[rung]

    return measure


@pytest.mark.parametrize("repeat", range(3))
@pytest.mark.parametrize("load", LOADS)
def test_agrees_with_the_kernel(tmp_path, rung, load, repeat, event_ns):
    name, program, *args = LOADS[load]
    state = {"FAKE_GPU_STATE": str(tmp_path / f"gpu{repeat}")}
    result = trace_load(tmp_path, rung, program, *args, "secs=2", env=state)
    row, length = result.row(name), result.truth["duration_ns"]
    unknown = row["unknown_ns"]
    assert unknown < UNKNOWN[rung] * length
    # Interrupts and steal time are ours but not the kernel's.
    taken = result.taken_from(result.thread(name)["cpu"])
    for reading, (kernel, missed) in kernels_own(result, name).items():
        on_cpu, queued = row["oncpu_ns"] - kernel["oncpu_ns"], runq_ns(row) - kernel["runq_ns"]
        slack = ON_CPU[rung] * kernel["oncpu_ns"] + unknown
        assert -slack <= on_cpu <= slack + taken, (reading, on_cpu, unknown, taken)
        # The kernel reads its clock some microseconds before the event: that counts where the
        # queue is nearly always empty.
        slack = 0.03 * kernel["runq_ns"] + event_ns(rung) * row["runq"]["count"] + unknown
        assert -slack <= queued <= slack + missed, (reading, queued, kernel["runq_ns"], unknown)
