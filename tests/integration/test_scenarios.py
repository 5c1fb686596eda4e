# SPDX-License-Identifier: GPL-2.0-only
"""Each scenario of the demo gets the class that it is built for, and the one to blame is named."""
import pytest

from pipelines import STARVED, run_pipeline, run_undisturbed

FULL_ONLY = ("test_scenario[btf-gpu-blocking]", "test_scenario[tracepoint-gpu-blocking]")

# Who feeds the GPU is known from its calls of the driver's library, which here is a stand-in.
NEEDS_BPF = True

SECONDS = "2.5"
# Who waits for a lock waits also while its holder waits for a CPU: up to 1.5 times what the books say of one.
STARVED_BEHIND_A_LOCK = 0.10

# What runs in each, and what its verdict must say besides its class.
SCENARIOS = {
    "cpu-bound": (("scenario=cpu-bound",), "cpu-bound", "preproc-0"),
    "cpu-starved": (("scenario=cpu-starved",), "cpu-starved", "foreign_hog"),
    "io-bound": (("scenario=io-bound",), "io-bound", "capture"),
    "memory-pressure": (("scenario=memory-pressure",), "memory-pressure", "infer"),
    "lock": (("scenario=lock", "preprocs=1"), "lock-bound", "calibrator"),
    # Whoever waits behind another is woken by that one, not by the thread that held it longest.
    "lock-convoy": (("scenario=lock",), "lock-bound", "preproc"),
    "gpu-blocking": (("scenario=gpu-blocking", "gpu_us=30011"), "compute-bound", None),
    "gpu-spinning": (("scenario=gpu-spinning", "gpu_us=30011"), "compute-bound", None),
    "launch": (("scenario=launch",), "launch-bound", "infer"),
    "input-timer": (("scenario=input-limited",), "input-limited", "capture"),
    "input-net": (("scenario=input-limited", "input=net"), "input-limited", "capture"),
    "balanced": (("scenario=balanced",), "balanced", None),
    "idle": (("scenario=idle",), "insufficient-data", None),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(tmp_path, rung, scenario):
    args, expected, blamed = SCENARIOS[scenario]
    if scenario == "cpu-starved":
        result = run_pipeline(tmp_path, rung, *args, seconds=SECONDS)
    else:
        starved = STARVED_BEHIND_A_LOCK if expected == "lock-bound" else STARVED
        result = run_undisturbed(tmp_path, rung, *args, seconds=SECONDS, starved=starved,
                                 gpu_is_limit=scenario.startswith("gpu-"))
    if scenario == "launch" and result.truth["truth"]["gpu_via"] != "libcuda":
        pytest.skip("no stand-in for libcuda: a launch looks like any computing")
    found = result.report["verdict"]
    said = " ".join([found["headline"], *(e["text"] for e in found["evidence"])])
    assert found["class"] == expected, (said, result.truth["truth"])
    if blamed:
        assert blamed in said
    if expected != "insufficient-data":
        assert found["confidence"] >= 0.5, (said, found["raise"])


@pytest.mark.parametrize("scenario", ("gpu-spinning",))
def test_a_thread_that_spins_for_the_gpu_is_no_cpu_bottleneck(tmp_path, rung, scenario):
    """Even where the GPU is half idle, so that only the spinning can tell."""
    result = run_pipeline(tmp_path, rung, f"scenario={scenario}", "period_us=31013", seconds=SECONDS)
    if result.truth["truth"]["gpu_via"] != "libcuda":
        pytest.skip("no stand-in for libcuda: spinning looks like any computing")
    spun = result.row("infer")
    assert result.report["verdict"]["class"] != "cpu-bound"
    assert spun["gpu_spin_ns"] > 0.8 * spun["oncpu_ns"]
