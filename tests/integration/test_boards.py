# SPDX-License-Identifier: GPL-2.0-only
"""Whole boards as folders: live runs without tegrastats, throttling that happens during the run."""
import json
import os
import pathlib
import shutil
import subprocess
import threading

import pytest

import harness

BOARDS = pathlib.Path("tests/fixtures/boards").resolve()
FULL_ONLY = ("test_a_few_oc3_events_are_normal", "test_a_cpu_clock_that_jitters_is_not_held_back",
             "test_a_loaded_clock_below_its_cap_is_not_locked", "test_the_mode_caps_the_dram_clock")


class Board:
    """A copy that a test may change while tegratrace reads it."""

    def __init__(self, folder, name):
        self.root = folder / name
        shutil.copytree(BOARDS / name, self.root, symlinks=True)

    def write(self, pattern, text):
        paths = sorted(self.root.glob(pattern))
        assert paths, pattern
        for path in paths:
            path.write_text(f"{text}\n", encoding="ascii")

    def cooling(self, kind, state):
        for path in self.root.glob("sys/class/thermal/cooling_device*"):
            if (path / "type").read_text(encoding="ascii").strip() == kind:
                (path / "cur_state").write_text(f"{state}\n", encoding="ascii")
                return
        raise AssertionError(kind)

    def zone(self, kind, celsius):
        for path in self.root.glob("sys/class/thermal/thermal_zone*"):
            if (path / "type").read_text(encoding="ascii").strip() == kind:
                (path / "temp").write_text(f"{int(celsius * 1000)}\n", encoding="ascii")
                return
        raise AssertionError(kind)

    def gpu_load(self, percent):
        self.write("sys/**/load", int(percent * 10))

    def run(self, pid, seconds=3, change=None, args=()):
        """The report of a live run; change() happens in the middle of it."""
        env = {**os.environ, "TEGRATRACE_ROOT": str(self.root)}
        timer = threading.Timer(seconds / 2, change) if change else None
        if timer:
            timer.start()
        done = subprocess.run([harness.TEGRATRACE, "-q", "--json", "-p", str(pid), "-d",
                               str(seconds), *args], capture_output=True, env=env, check=True,
                              timeout=harness.LIMIT)
        if timer:
            timer.join()
        return harness.parse_report(done.stdout)


@pytest.fixture(name="board")
def fixture_board(tmp_path):
    return lambda name: Board(tmp_path, name)


@pytest.mark.parametrize("name", sorted(path.name for path in BOARDS.iterdir() if path.is_dir()))
def test_every_board_gives_a_report(board, sleeper, name):
    report = board(name).run(sleeper.pid, 1)
    assert report["host"]["module"]
    assert report["tegra"]["source"] is None or report["tegra"]["source"].startswith("sysfs")
    assert report["verdict"]["class"] not in ("thermal-throttled", "power-throttled")


def test_samples_come_from_sysfs(board, sleeper):
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(43)
    report = fixture.run(sleeper.pid, 2)
    assert report["tegra"]["state"] == "live"
    assert report["tegra"]["gpu"]["busy"] == pytest.approx(0.43, abs=0.005)
    assert report["tegra"]["samples"] >= 10
    assert report["host"]["power_mode"] == "MAXN_SUPER"


def test_under_voltage(board, sleeper):
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(99)
    before = int(next(fixture.root.glob("sys/class/hwmon/*/oc1_event_cnt")).read_text("ascii"))
    report = fixture.run(sleeper.pid, 4, lambda: fixture.write(
        "sys/class/hwmon/*/oc1_event_cnt", before + 3))
    verdict = report["verdict"]
    assert verdict["class"] == "power-throttled"
    assert "3 events" in verdict["headline"] and "under-voltage" in verdict["headline"]


def test_a_few_oc3_events_are_normal(board, sleeper):
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(99)
    before = int(next(fixture.root.glob("sys/class/hwmon/*/oc3_event_cnt")).read_text("ascii"))
    report = fixture.run(sleeper.pid, 4, lambda: fixture.write(
        "sys/class/hwmon/*/oc3_event_cnt", before + 31))
    # 31 x 1.07 ms x 1/2 of 4 s: 0.4 %
    assert report["verdict"]["class"] == "compute-bound"


def test_thermal_throttling(board, sleeper):
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(99)

    def heat():
        fixture.zone("gpu-thermal", 99.5)
        fixture.cooling("gpu-throttle-alert", 1)

    report = fixture.run(sleeper.pid, 4, heat)
    assert report["verdict"]["class"] == "thermal-throttled"
    assert "gpu-throttle-alert" in json.dumps(report["verdict"])


@pytest.mark.parametrize("what", ("heat", "fan", "surface"))
def test_no_false_alarm(board, sleeper, what):
    """Heat alone, a fan at full speed and the surface notice are no throttling."""
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(99)
    if what == "heat":
        fixture.zone("gpu-thermal", 98)
        fixture.zone("tj-thermal", 98)
    elif what == "fan":
        fixture.cooling("pwm-fan", 3)
    else:
        fixture.zone("tj-thermal", 75)
        fixture.cooling("hot-surface-alert", 1)
    verdict = fixture.run(sleeper.pid, 2)["verdict"]
    assert verdict["class"] == "compute-bound"
    assert ("a small margin" in json.dumps(verdict["evidence"])) == (what == "heat")


def test_the_mode_caps_the_gpu(board, sleeper):
    """AGX Orin 64GB in its default mode: 8 of 16 SMs at 612 of 1300.5 MHz."""
    fixture = board("agx-orin-64gb-r36")
    fixture.gpu_load(99)
    for path in fixture.root.glob("sys/class/devfreq/*gpu*/cur_freq"):
        path.write_text("612000000\n", encoding="ascii")
    fixture.write("sys/kernel/debug/cactmon/mc_all", 3199000 * 10 // 100)
    verdict = fixture.run(sleeper.pid, 2)["verdict"]
    assert verdict["class"] == "clock-capped"
    assert verdict["gain_bound"] == pytest.approx(1300.5 / 612 * 2, rel=0.02)
    assert "nvpmodel -m 3" in " ".join(verdict["next_steps"])


def texts(verdict):
    return json.dumps([verdict["headline"], verdict["evidence"], verdict["next_steps"]])


def test_firmware_holds_the_cpus_at_a_quarter(board, sleeper):
    """An over-current at boot can latch the CPU clock: only cpuinfo_cur_freq shows it."""
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(99)
    fixture.write("sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_cur_freq", 1728000 // 4)
    report = fixture.run(sleeper.pid, 3)
    assert report["verdict"]["class"] == "power-throttled"
    assert report["tegra"]["throttle"]["cpu_clock_share"] == pytest.approx(0.25)
    assert "75 % slower than asked for" in report["verdict"]["headline"]
    assert any(rule["name"] == "cpu-clock-held-back" and rule["fired"]
               for rule in report["verdict"]["rules"])


def test_a_cpu_clock_that_jitters_is_not_held_back(board, sleeper):
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(99)
    fixture.write("sys/devices/system/cpu/cpu*/cpufreq/cpuinfo_cur_freq", 1728000 * 98 // 100)
    verdict = fixture.run(sleeper.pid, 3)["verdict"]
    assert verdict["class"] == "compute-bound" and "asked for" not in texts(verdict)


def test_a_clock_that_follows_low_load_is_no_fault(board, sleeper):
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(30)
    fixture.write("sys/class/devfreq/*gpu*/cur_freq", 306000000)
    verdict = fixture.run(sleeper.pid, 2)["verdict"]
    assert verdict["class"] not in ("clock-capped", "thermal-throttled", "power-throttled")
    assert "GPU at 306 of 1020 MHz at 30 % load: the governor follows" in texts(verdict)
    assert "jetson_clocks" not in texts(verdict)


def test_a_loaded_clock_below_its_cap_is_not_locked(board, sleeper):
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(99)
    fixture.write("sys/class/devfreq/*gpu*/cur_freq", 510000000)
    verdict = fixture.run(sleeper.pid, 2)["verdict"]
    assert verdict["class"] == "clock-capped"
    assert "1020 allowed in mode MAXN_SUPER: not locked" in texts(verdict)
    assert verdict["next_steps"][0].startswith("sudo jetson_clocks")


def test_the_mode_caps_the_dram_clock(board, sleeper):
    """15W of an Orin Nano Super: EMC at 2133 of 3199 MHz, 80 % of it busy; MAXN_SUPER is mode 2."""
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(99)
    fixture.write("sys/kernel/nvpmodel_clk_cap/emc", 2133000000)
    fixture.write("sys/kernel/debug/bpmp/debug/clk/emc/rate", 2133000000)
    fixture.write("sys/kernel/debug/cactmon/mc_all", 2133000 * 80 // 100)
    verdict = fixture.run(sleeper.pid, 2)["verdict"]
    assert verdict["class"] == "memory-bandwidth-bound"
    assert verdict["contributing"] == ["clock-capped"]
    assert "DRAM clock capped at 2133 MHz" in texts(verdict)
    assert "1.5x the DRAM bandwidth" in verdict["next_steps"][0]
    assert "nvpmodel -m" in verdict["next_steps"][0]


def test_a_loaded_clock_that_falls_at_the_trip(board, sleeper):
    """No cooling device shows it, as when the firmware does it."""
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(99)
    fixture.zone("gpu-thermal", 99.5)
    fixture.write("sys/class/devfreq/*gpu*/cur_freq", 510000000)
    verdict = fixture.run(sleeper.pid, 2)["verdict"]
    assert verdict["class"] == "thermal-throttled"
    assert "50 % below its cap" in verdict["headline"]


def test_fast_gpu_load_shows_its_cost(board, sleeper):
    fixture = board("orin-nano-super-r36")
    fixture.gpu_load(61)
    tegra = fixture.run(sleeper.pid, 2, args=("--gpu-hz", "1000"))["tegra"]
    assert tegra["gpu"]["busy"] == pytest.approx(0.61, abs=0.001)
    assert tegra["gpu"]["busy_samples"] > 5 * tegra["samples"]
    assert "us each" in tegra["note"]


def test_roofline_of_a_live_run(board, sleeper):
    """YOLOv8n, 8.9 GFLOP in 4.43 ms: 12 % of 16.7 TFLOP/s."""
    fixture = board("orin-nano-super-r36")
    roofline = fixture.run(sleeper.pid, 1, args=("--model", "yolov8n", "--precision", "fp16",
                                                 "--latency", "4.43"))["roofline"]
    assert roofline["peak_flops"] == pytest.approx(16712e9, rel=0.01)
    assert roofline["point"]["flops"] == pytest.approx(8.9e9 / 4.43e-3, rel=0.01)


def test_given_ceilings_serve_an_unknown_board(board, sleeper):
    roofline = board("future-board").run(
        sleeper.pid, 1, args=("--gflop", "10", "--latency", "10", "--bytes", "100M",
                              "--peak-flops", "4T", "--peak-bw", "100G"))["roofline"]
    assert roofline["peak_flops"] == 4e12 and roofline["peak_bw"] == 1e11
    assert roofline["ridge"] == pytest.approx(40)
    # 1 of 4 TFLOP/s and 10 of 100 GB/s
    assert roofline["point"]["intensity"] == pytest.approx(100)
    assert roofline["point"]["bound"] == "under-utilised"
