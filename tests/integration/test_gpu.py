# SPDX-License-Identifier: GPL-2.0-only
"""GPU samples, and a tegrastats that fails: it costs samples, never the run."""
import os
import subprocess

import pytest

from harness import FAKE_TEGRASTATS, background, parse_json, parse_report, run_tool, workload

LOGS = os.path.join(os.environ.get("TEGRATRACE_CORPUS", "../shared/corpus"), "tegrastats/logs")
LOG = os.path.join(LOGS, "orin-nano-8gb_r36_user_tensorrt-resnet18.log")
FULL_ONLY = ("test_it_fails[die_after:0-died-0]", "test_it_fails[hang_after:0-silent-0]")


def run_pipeline(folder, *options, scenario="cpu-bound", secs="1.5", mode="ok", **popen):
    env = {"FAKE_GPU_STATE": str(folder / "gpu"), "FAKE_TEGRASTATS_MODE": mode}
    result = run_tool("-q", *options, f"--json={folder}/report", "--", workload("demo_pipeline"),
                      f"scenario={scenario}", f"secs={secs}", env=env, **popen)
    assert result.status == 0, result.err
    result.report = parse_report((folder / "report").read_bytes())
    result.truth = parse_json(result.text.splitlines()[0].encode())
    return result


def spawned(*options):
    return (f"--tegrastats={FAKE_TEGRASTATS}", "--interval", "50", *options)


@pytest.mark.parametrize("scenario", ("cpu-bound", "balanced"))
def test_gpu_load_is_the_pipelines(tmp_path, scenario):
    result = run_pipeline(tmp_path, *spawned(), scenario=scenario)
    tegra, gpu = result.report["tegra"], result.report["tegra"]["gpu"]
    assert tegra["state"] == "live" and tegra["rejected"] == 0 and tegra["note"] is None
    assert gpu["busy"] == pytest.approx(result.truth["truth"]["gpu_busy_share"], abs=0.03)
    assert gpu["busy_samples"] == tegra["samples"] > 15
    assert gpu["busy_min"] <= gpu["busy"] <= gpu["busy_max"]
    assert gpu["clock_mhz"] == 624 and tegra["emc"]["clock_mhz"] == 2133
    assert tegra["emc"]["busy"] == 0.23
    assert tegra["temps"]["cpu"]["max"] == 48.2
    assert tegra["power"]["VDD_IN"]["mean"] == 8123
    # Not printed by it, so unknown and not 0.
    assert gpu["cap_mhz"] is None and gpu["max_mhz"] is None


def test_what_changes_shows(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_TEGRASTATS_GPU_MHZ", "1020*10,306")
    gpu = run_pipeline(tmp_path, *spawned()).report["tegra"]["gpu"]
    assert (gpu["clock_min_mhz"], gpu["clock_max_mhz"]) == (306, 1020)
    assert 306 < gpu["clock_mhz"] < 1020


@pytest.mark.parametrize("mode, state, samples", (("die_after:11", "died", 11),
                                                  ("hang_after:7", "silent", 7),
                                                  ("die_after:0", "died", 0),
                                                  ("hang_after:0", "silent", 0)))
def test_it_fails(tmp_path, mode, state, samples):
    # Two seconds without a line are silence.
    result = run_pipeline(tmp_path, *spawned(), mode=mode, secs="3" if samples else "2.5")
    tegra = result.report["tegra"]
    assert tegra["state"] == state and tegra["note"]
    # A sample or two may have come before the window.
    assert samples - 2 <= tegra["samples"] <= samples
    if samples == 0:
        assert tegra["gpu"]["busy"] is None and tegra["samples"] == 0
    assert result.report["threads_seen"] == 5


def test_garbage(tmp_path):
    result = run_pipeline(tmp_path, *spawned(), mode="garbage")
    tegra = result.report["tegra"]
    assert tegra["rejected"] == result.report["losses"]["tegra_rejected"] > 2
    # What is whole in between counts, and nothing else makes a number.
    assert 0 < tegra["samples"]
    for busy in "busy", "busy_min", "busy_max":
        assert 0 <= tegra["gpu"][busy] <= 1
    assert all(-50 < zone["max"] < 200 for zone in tegra["temps"].values())
    assert "\x1b" not in result.text and "<script>" not in "".join(tegra["temps"])


def test_slow_writer(tmp_path):
    """Lines that come in two pieces."""
    tegra = run_pipeline(tmp_path, *spawned(), mode="slow").report["tegra"]
    assert tegra["state"] == "live" and tegra["rejected"] == 0 and tegra["samples"] > 5


def test_no_such_tegrastats(tmp_path):
    result = run_pipeline(tmp_path, "--tegrastats=/no/such/tegrastats", secs="1")
    tegra = result.report["tegra"]
    assert tegra["state"] == "died" and tegra["note"] and tegra["samples"] == 0


def test_without_any_it_says_what_is_lacking(tmp_path):
    bare = {"PATH": "/usr/bin:/bin"}
    result = run_tool("-q", "--json", "--", workload("hog"), "n=1", "secs=1.2", env=bare)
    report = parse_report(result.text.encode())
    assert report["tegra"]["state"] == "none" and not report["tegra"]["samples"]
    assert report["tegra"]["gpu"]["busy"] is None
    assert "tegrastats" in result.err


def test_own_command_line(tmp_path):
    """Words behind the program are the user's; no interval is added then."""
    result = run_pipeline(tmp_path, f"--tegrastats={FAKE_TEGRASTATS} --interval 20")
    tegra = result.report["tegra"]
    assert tegra["state"] == "live" and 19 < tegra["interval_ms"] < 40


def test_recorded_log(tmp_path):
    if not os.path.exists(LOG):
        pytest.skip(f"no {LOG}: set TEGRATRACE_CORPUS")
    with open(LOG, encoding="utf-8") as log:
        lines = sum(1 for _ in log)
    result = run_pipeline(tmp_path, f"--tegra-log={LOG}", secs="1")
    tegra = result.report["tegra"]
    assert tegra["state"] == "recorded" and tegra["note"]
    assert tegra["samples"] + tegra["rejected"] == lines and tegra["samples"] > 0
    # A GPU load of another day is no evidence in this window's verdict.
    evidence = [e for e in result.report["verdict"]["evidence"] if e["source"] == "tegrastats"]
    assert result.report["verdict"]["class"] != "compute-bound", evidence


def live(folder, *options, **popen):
    tegra = run_pipeline(folder, *options, **popen).report["tegra"]
    assert tegra["state"] == "live" and tegra["rejected"] == 0
    assert tegra["samples"] > 10 and 35 < tegra["interval_ms"] < 150
    return tegra


def fake(folder, **popen):
    return background(FAKE_TEGRASTATS, "--interval", "50",
                      env={**os.environ, "FAKE_GPU_STATE": str(folder / "gpu")}, **popen)


def test_fifo(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    # For reading too: the open for writing alone would wait for tegratrace.
    writer = os.open(tmp_path / "fifo", os.O_RDWR)
    with fake(tmp_path, stdout=writer):
        live(tmp_path, f"--tegra-log={tmp_path}/fifo")
    os.close(writer)


def test_stdin(tmp_path):
    with fake(tmp_path, stdout=subprocess.PIPE) as tegrastats:
        live(tmp_path, "--tegra-log=-", stdin=tegrastats.stdout)


def test_log_that_another_writes(tmp_path):
    with open(tmp_path / "log", "wb") as log:
        with fake(tmp_path, stdout=log):
            live(tmp_path, f"--tegra-log={tmp_path}/log")


@pytest.mark.parametrize("log", ("/no/such/log", "/"))
def test_no_such_log(log, sleeper):
    result = run_tool("-q", f"--tegra-log={log}", "-p", sleeper.pid, "-d", "1")
    assert result.status == 2 and log in result.error_line()
