# SPDX-License-Identifier: GPL-2.0-only
"""tegratrace diagnose: verdicts, CSV and samples from plain tegrastats logs."""
import csv
import io
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess

import pytest

import harness

CORPUS = pathlib.Path(os.environ.get("TEGRATRACE_CORPUS", "../shared/corpus"))
LINE = ("07-26-2026 21:18:15 RAM 3437/7620MB (lfb 10x4MB) SWAP 0/3810MB (cached 0MB) "
        "CPU [0%@960,18%@960,0%@960,0%@960,off,off] EMC_FREQ 6%@2133 GR3D_FREQ {gpu}%@[{mhz}] "
        "APE 200 cpu@49.312C gpu@49.843C tj@{tj}C VDD_IN 5320mW/4794mW "
        "VDD_CPU_GPU_CV 1317mW/1052mW VDD_SOC 1637mW/1514mW\n")
SEED_HEADER = ("timestamp,ram_used,ram_total,swap_used,swap_total,emc_usage,emc_freq,gpu_usage,"
               "gpu_freq,cpu0_freq,cpu1_freq,cpu2_freq,cpu3_freq,cpu4_freq,cpu5_freq,tj_temp,"
               "power_total")

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus at {CORPUS}")


def diagnose(*args, data=None, preexec_fn=None):
    return subprocess.run([harness.TEGRATRACE, "diagnose", *map(str, args)], input=data,
                          capture_output=True, timeout=harness.LIMIT, check=False,
                          preexec_fn=preexec_fn)


def judge(data):
    result = diagnose("--json", "-", data=data)
    assert result.returncode == 0, result.stderr
    return harness.parse_report(result.stdout)


def cases():
    path = CORPUS / "verdict/cases.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if "tegrastats" in case["given"]]


@needs_corpus
def test_there_are_cases():
    assert len(cases()) >= 10


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_public_case(case):
    report = judge("".join(line + "\n" for line in case["given"]["tegrastats"]).encode())
    verdict = report["verdict"]
    assert verdict["class"] in [case["expected"], *case["also_ok"]]
    assert verdict["class"] not in case["must_not"]
    # A handful of lines never speaks with a firm voice.
    if len(case["given"]["tegrastats"]) < 10:
        assert verdict["confidence"] <= 0.3


def logs():
    return sorted((CORPUS / "tegrastats/logs").glob("*.log")) if CORPUS.is_dir() else []


@pytest.mark.parametrize("log", logs(), ids=lambda log: log.stem)
def test_public_log(log):
    """No false alarm in any of them, whatever else: none throttled, none swapped."""
    report = judge(log.read_bytes())
    assert report["verdict"]["class"] not in ("thermal-throttled", "power-throttled",
                                              "memory-pressure", "io-bound")
    if "user" in log.stem and report["tegra"]["emc"]["busy"] is None:
        assert report["verdict"]["confidence"] <= 0.5
    if "idle" in log.stem:
        assert report["verdict"]["class"] == "insufficient-data"
    text = diagnose(log).stdout.decode()
    assert len(text.splitlines()) <= 25
    assert max(map(len, text.splitlines())) <= 100


def test_clock_below_the_largest_is_capped():
    report = judge(LINE.format(gpu=98, mhz=407, tj=49).encode() * 60)
    assert report["verdict"]["class"] == "clock-capped"
    # Orin Nano 8GB: 625 of 407 MHz, and two cores off are its 7W, with 4 of 8 SMs; the GPU's 98 of
    # 99 % scale with that.
    speedup = 624.75 / 407 * 2
    assert report["verdict"]["gain_bound"] == pytest.approx(
        1 / (1 / 99 + 98 / 99 / speedup), rel=0.01)
    assert "4 of 8 SMs" in report["verdict"]["headline"]


def test_no_roof_and_no_gain_without_the_number_of_sms():
    """407 MHz with all but one core is no power mode of an Orin Nano 8GB."""
    line = LINE.format(gpu=98, mhz=407, tj=49).replace(",off,off", ",0%@960,off")
    args = ("--model", "resnet50", "--latency", "25", "-")
    known = diagnose(*args, data=line.replace(",0%@960,off", ",off,off").encode() * 60)
    assert b"% of the FP16" in known.stdout
    verdict = judge(line.encode() * 60)["verdict"]
    assert verdict["class"] == "clock-capped" and verdict["gain_bound"] is None
    text = diagnose(*args, data=line.encode() * 60).stdout.decode()
    assert "?     point on the roofline: how many SMs" in text and "nan" not in text


@needs_corpus
def test_the_roof_of_a_mode_with_half_of_the_sms():
    log = CORPUS / "tegrastats/logs/orin-nano-super_r36_root_yolov8s-fp16-7w.log"
    # 4 SMs x 128 lanes x 2 x 408 MHz
    assert "(FP32 417 GFLOP/s" in diagnose(log).stdout.decode()


def test_a_gpu_that_is_a_little_busy_is_used():
    """8 % of the time at 114 of 625 MHz is 1.5 % of all it could do: but it does work."""
    line = LINE.replace("18%@960", "98%@960")
    used = judge(line.format(gpu=8, mhz=114, tj=49).encode() * 60)["verdict"]
    assert used["class"] == "cpu-bound"
    assert "the GPU is busy 8 %" in used["headline"]
    unused = judge(line.format(gpu=1, mhz=114, tj=49).encode() * 60)["verdict"]
    assert unused["class"] == "no-gpu-use"


def test_dram_bounds_what_a_larger_clock_gives():
    line = LINE.format(gpu=99, mhz=407, tj=49)
    fed = judge(line.replace("EMC_FREQ 6%", "EMC_FREQ 72%").encode() * 60)["verdict"]
    assert fed["class"] == "clock-capped"
    # EMC at the 2133 MHz that is this module's largest
    assert fed["gain_bound"] == pytest.approx(1 / 0.72, rel=0.01)
    assert fed["gain_limit"] == "DRAM bandwidth"
    assert "up to 1.4x" in json.dumps(fed["next_steps"])
    unknown = judge(line.replace("EMC_FREQ 6%@2133 ", "").encode() * 60)["verdict"]
    assert unknown["class"] == "clock-capped" and unknown["confidence"] <= 0.5
    assert "compute or DRAM is not known" in unknown["headline"]


def test_the_module_of_a_jetpack_5_xavier_nx_is_known():
    """Its carve-outs leave 6834 of 8192 MB."""
    line = ("RAM 2274/6834MB (lfb 27x4MB) SWAP 542/3417MB (cached 2MB) "
            "CPU [19%@1907,10%@1907,9%@1907,8%@1907,off,off] EMC_FREQ 20%@1600 "
            "GR3D_FREQ 99%@[1109] VIC_FREQ 115 APE 150 AUX@36.5C CPU@40C thermal@37.85C "
            "AO@37.5C GPU@38C PMIC@50C VDD_IN 5542mW/5542mW VDD_CPU_GPU_CV 1594mW/1594mW "
            "VDD_SOC 1234mW/1234mW\n")
    evidence = json.dumps(judge(line.encode() * 20)["verdict"]["evidence"])
    assert "the board is a Jetson Xavier NX" in evidence


def test_heat_with_a_steady_clock_is_no_throttling():
    report = judge(LINE.format(gpu=98, mhz=620, tj=98.9).encode() * 60)
    assert report["verdict"]["class"] == "compute-bound"


def test_no_word_on_a_trip_point_that_is_not_known():
    line = b"RAM 100/999MB (lfb 1x4MB) CPU [1%@100] EMC_FREQ 5%@204 GR3D_FREQ 98%@306 CPU@48C\n"
    assert "trip point" not in json.dumps(judge(line * 60)["verdict"]["evidence"])
    known = LINE.format(gpu=98, mhz=620, tj=60).encode() * 60
    assert "below its trip point" in json.dumps(judge(known)["verdict"]["evidence"])


def test_a_clock_that_falls_at_the_trip_point_is_throttling():
    cool, hot = LINE.format(gpu=98, mhz=620, tj=80), LINE.format(gpu=98, mhz=410, tj=99.2)
    report = judge(cool.encode() * 40 + hot.encode() * 40)
    assert report["verdict"]["class"] == "thermal-throttled"
    assert report["verdict"]["share"] == pytest.approx(1 - 410 / 620, abs=0.01)


AGX_XAVIER_LINE = (
    "RAM 3437/31919MB (lfb 10x4MB) SWAP 0/15959MB (cached 0MB) CPU [50%@2265,18%@2265,0%@2265,"
    "0%@2265,0%@2265,0%@2265,0%@2265,0%@2265] EMC_FREQ 30%@2133 GR3D_FREQ 98%@{mhz} APE 150 "
    "AUX@80C CPU@85C thermal@84C AO@79C GPU@{gpu_c}C GPU 9000/9000 CPU 3000/3000 "
    "SOC 4000/4000 CV 0/0 VDDRQ 1500/1500 SYS5V 3000/3000\n")


def test_a_zone_below_its_own_trip_is_not_at_that_of_another():
    """AGX Xavier: CPU 90, GPU 92.5, AUX 89 C; a GPU of 91 C is below its trip point."""
    cool = AGX_XAVIER_LINE.format(mhz=1377, gpu_c=80).encode() * 40
    verdict = judge(cool + AGX_XAVIER_LINE.format(mhz=905, gpu_c=91).encode() * 40)["verdict"]
    assert verdict["class"] != "thermal-throttled"
    assert "at its trip point" not in json.dumps(verdict["evidence"])
    verdict = judge(cool + AGX_XAVIER_LINE.format(mhz=905, gpu_c=92.5).encode() * 40)["verdict"]
    assert verdict["class"] == "thermal-throttled"


def test_the_steady_phase_makes_the_headline():
    idle, busy = LINE.format(gpu=0, mhz=306, tj=45), LINE.format(gpu=99, mhz=620, tj=60)
    report = judge(idle.encode() * 200 + busy.encode() * 60 + idle.encode() * 200)
    assert [phase["name"] for phase in report["phases"]] == ["idle", "steady", "idle"]
    assert report["phases"][1]["samples"] == pytest.approx(60, abs=4)
    assert report["verdict"]["class"] == "compute-bound"


@needs_corpus
def test_samples_have_the_corpus_keys():
    log = CORPUS / "tegrastats/logs/orin-nano-super_r36_root_resnet18-fp16-maxn.log"
    out = diagnose("--samples", log).stdout.decode().splitlines()
    assert len(out) == 315
    sample = json.loads(out[0])
    for key in ("date", "ram_used_mb", "cpu", "emc_pct", "gr3d_pct", "temps", "rails", "engines"):
        assert key in sample


def test_seed_csv():
    out = diagnose("--csv=seed", "-", data=LINE.format(gpu=98, mhz=407, tj=49.5).encode())
    header, row = out.stdout.decode().splitlines()
    assert header == SEED_HEADER
    assert row == ("2026-07-26 21:18:15,3437,7620,0,3810,6,2133,98,407,960,960,960,960,,,49.5,5320")


def test_own_and_jtop_csv():
    data = LINE.format(gpu=98, mhz=407, tj=49.5).encode() * 3
    own = list(csv.DictReader(io.StringIO(diagnose("--csv", "-", data=data).stdout.decode())))
    assert [row["sample"] for row in own] == ["0", "1", "2"]
    assert own[2]["busiest_core_pct"] == "18" and own[2]["cores_off"] == "2"
    jtop = list(csv.DictReader(io.StringIO(diagnose("--csv=jtop", "-", data=data).stdout.decode())))
    assert jtop[0]["CPU5"] == "OFF" and jtop[0]["CPU2"] == "18"
    assert float(jtop[0]["RAM"]) == pytest.approx(3437 / 7620, abs=1e-4)


def test_unknown_is_an_empty_cell():
    out = diagnose("--csv", "-", data=b"RAM 100/200MB (lfb 1x4MB) CPU [1%@100]\n")
    row = next(csv.DictReader(io.StringIO(out.stdout.decode())))
    assert row["gpu_pct"] == "" and row["emc_pct"] == "" and row["date"] == ""


@pytest.mark.parametrize("kind", ("missing", "folder", "empty", "gzip", "prose"))
def test_what_is_no_log_gets_one_clear_line(tmp_path, kind):
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "empty":
        path.touch()
    elif kind == "gzip":
        path.write_bytes(b"\x1f\x8b\x08\x00" + bytes(100))
    elif kind == "prose":
        path.write_text("it was slow\n" * 5, encoding="utf-8")
    result = diagnose(path)
    assert result.returncode == (4 if kind in ("missing", "folder") else 1)
    assert result.stdout == b""
    assert len(result.stderr.decode().splitlines()) == 1
    assert str(path) in result.stderr.decode()


def test_full_disk_and_closed_pipe():
    data = LINE.format(gpu=98, mhz=407, tj=49).encode() * 5000
    with open("/dev/full", "wb") as full:
        result = subprocess.run([harness.TEGRATRACE, "diagnose", "--csv", "-"], input=data,
                                stdout=full, stderr=subprocess.PIPE, check=False,
                                timeout=harness.LIMIT)
    assert result.returncode == 1
    assert b"tegratrace: error: " in result.stderr


def test_two_million_lines_in_constant_memory():
    line = LINE.format(gpu=98, mhz=407, tj=49)
    command = f"yes '{line.rstrip()}' | head -n 2000000 | {harness.TEGRATRACE} diagnose --json -"

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (64 << 20, 64 << 20))

    out = subprocess.run(["sh", "-c", command], capture_output=True, check=True, preexec_fn=limit,
                         timeout=harness.LIMIT)
    report = harness.parse_report(out.stdout)
    assert report["tegra"]["samples"] == 2000000
    assert report["verdict"]["class"] == "clock-capped"


def written_by(gpu, watts, n, first=0):
    """Lines of one tegrastats, a second apart, with the mean of all that it has printed so far."""
    lines, total = [], 0
    for i in range(n):
        power = watts + 100 * (i * 7 % 11)
        total += power
        line = LINE.format(gpu=gpu, mhz=620, tj=60)
        line = line.replace("VDD_IN 5320mW/4794mW", f"VDD_IN {power}mW/{total // (i + 1)}mW")
        line = line.replace("VDD_CPU_GPU_CV 1317mW/1052mW VDD_SOC 1637mW/1514mW", "")
        lines.append(line.replace("21:18:15", f"21:{18 + (first + i) // 60}:{(first + i) % 60:02}"))
    return lines


def test_interleaved_writers_are_judged_apart():
    """Whatever a second tegrastats wrote in between, the verdict is that of the first alone."""
    mine, other = written_by(98, 5000, 60), written_by(12, 9000, 40, 20)
    mixed = mine[:20] + [line for pair in zip(other, mine[20:]) for line in pair]
    report, alone = judge("".join(mixed).encode()), judge("".join(mine).encode())
    assert report["verdict"] == alone["verdict"] and report["phases"] == alone["phases"]
    assert report["tegra"]["left_aside"] == 40 and report["tegra"]["samples"] == 100
    assert "2 tegrastats" in report["tegra"]["note"] and "60 lines of number 1" in \
        report["tegra"]["note"]
    assert len(diagnose("--samples", "-", data="".join(mixed).encode()).stdout.splitlines()) == 100


def test_a_restart_is_a_border_between_phases():
    lines = written_by(98, 5000, 30) + written_by(98, 9000, 50, 33)
    report = judge("".join(lines).encode())
    assert [phase["samples"] for phase in report["phases"]] == [30, 50]
    assert "1 more tegrastats runs" in report["tegra"]["note"]
    assert report["tegra"]["interval_ms"] == pytest.approx(1000)


@pytest.mark.parametrize("interval_ms", (100, 1000))
def test_power_is_attributed_to_the_phase_that_drew_it(interval_ms):
    """4 W idle, 9 W busy, 4 W idle, through a sensor that lags by 0.42 s."""
    load = [0] * 40 + [98] * 40 + [0] * 40
    drawn = [9000 if gpu else 4000 for gpu in load]
    shown, printed, keep = 4000, [], math.exp(-interval_ms / 420)
    for power in drawn:
        shown = power + (shown - power) * keep
        printed.append(round(shown))
    lines = [LINE.format(gpu=gpu, mhz=620, tj=60).split(" ", 2)[2]
             .replace("VDD_IN 5320mW/4794mW", f"VDD_IN {power}mW/0mW")
             for gpu, power in zip(load, printed)]
    out = diagnose("--json", "--interval", interval_ms, "-", data="".join(lines).encode())
    phases = harness.parse_report(out.stdout)["phases"]
    assert [phase["name"] for phase in phases] == ["idle", "steady", "idle"]
    at = 0
    for phase in phases:
        part = slice(at, at + phase["samples"])
        at += phase["samples"]
        assert phase["power_mw"] == pytest.approx(statistics.mean(drawn[part]), abs=2)
        assert phase["power_raw_mw"] == pytest.approx(statistics.mean(printed[part]), abs=0.01)
    if interval_ms == 100:
        assert abs(phases[2]["power_raw_mw"] - phases[2]["power_mw"]) > 300


def test_power_without_times_is_raw_only():
    line = LINE.format(gpu=98, mhz=620, tj=60).split(" ", 2)[2].encode()
    phase, = judge(line * 30)["phases"]
    assert phase["power_mw"] is None and phase["power_raw_mw"] == 5320
    assert "5.3 W raw" in diagnose("-", data=line * 30).stdout.decode()


def test_power_of_a_board_without_an_input_rail():
    """AGX Xavier: all six rails; the bare names GPU and CPU are rails here."""
    line = (b"RAM 1/31920MB (lfb 1x4MB) CPU [9%@1190] EMC_FREQ 0%@665 GR3D_FREQ 98%@670 "
            b"GPU@38C CPU@39C GPU 463/463 CPU 618/618 SOC 1545/1545 CV 1/1 VDDRQ 154/154 "
            b"SYS5V 1602/1602\n")
    phase, = judge(line * 30)["phases"]
    assert phase["power_raw_mw"] == 463 + 618 + 1545 + 1 + 154 + 1602


def checklist(report, name):
    return next(check for check in report["checklist"] if check["name"] == name)


CPU = "CPU [0%@960,18%@960,0%@960,0%@960,off,off]"


@pytest.mark.parametrize("number, data, figures", (
    (1, LINE.format(gpu=97, mhz=620, tj=60) * 60, ("GPU 97 % (from 90)", "DRAM 6 % (below 75")),
    (2, LINE.format(gpu=98, mhz=620, tj=60).replace("EMC_FREQ 6%", "EMC_FREQ 79%") * 60,
     ("DRAM 79 % (from 75, not 95)", "GPU 98 % (not 60-75)")),
    (3, LINE.format(gpu=98, mhz=620, tj=80) * 40 + LINE.format(gpu=98, mhz=410, tj=99.2) * 40,
     ("99.2 C (trip 99, not 85)", "GPU clock -34 % (from 5)")),
    (4, LINE.format(gpu=29, mhz=620, tj=60).replace(CPU, "CPU [9%@960,98%@960,0%@960,off]") * 60,
     ("GPU 29 %", "busiest 98 % (from 65)", "1.1 cores (from 1)")),
))
def test_the_four_typical_modes(number, data, figures):
    check = checklist(judge(data.encode()), "typical mode")
    assert check["result"] == "pass" and check["text"].startswith(f"{number} of 4, ")
    assert all(figure in check["text"] for figure in figures), check["text"]


@pytest.mark.parametrize("data, figures", (
    # What the usual figures would call throttling: 88-92 C, 40-60 %, a clock of 600 MHz.
    (LINE.format(gpu=55, mhz=612, tj=90), "busiest core 18 % (4 has 65)"),
    (LINE.format(gpu=98, mhz=407, tj=90), "at 407 of 625 MHz without heat"),
    (LINE.format(gpu=0, mhz=306, tj=45), "too little runs"),
))
def test_none_of_the_four(data, figures):
    report = judge(data.encode() * 60)
    check = checklist(report, "typical mode")
    assert check["result"] == "unknown" and check["text"].startswith("none: ")
    assert figures in check["text"]
    assert checklist(report, "temperature safe")["result"] == "pass"


def test_copied_figures_are_answered():
    """40 GFLOPS, 85 C and 102.4 GB/s, for an Orin Nano 8GB at 620 of 624.75 and 2133 MHz."""
    line = LINE.replace("off,off", "0%@960,0%@960")  # six cores: its 15W, with 8 SMs
    report = judge((line.format(gpu=98, mhz=620, tj=88) * 60).encode())
    # 8 SM x 128 FMA x 2 x 620 MHz = 1.27 TFLOP/s; 2133 MHz x 2 x 16 B = 68.3 GB/s
    assert "FP32 1.27 TFLOP/s, not 40 GFLOP/s" in \
        checklist(report, "point on the roofline")["text"]
    assert "throttles at 99 C, not at 85" in checklist(report, "temperature safe")["text"]
    assert "68.3 GB/s (not 102.4)" in checklist(report, "what saturates first")["text"]
    assert report["roofline_notes"] == []
    out = diagnose("--json", "--gflop", "7.7", "--latency", "25", "--precision", "fp32",
                   "--peak-flops", "40G", "--peak-bw", "102.4G", "-",
                   data=(line.format(gpu=98, mhz=620, tj=60) * 60).encode())
    report = harness.parse_report(out.stdout)
    notes = " ".join(report["roofline_notes"])
    assert report["roofline"]["point"]["bound"] == "impossible"
    assert "40 is the sparse INT8 TOPS" in notes and "FP32 1.27 TFLOP/s" in notes
    assert "this mode 68.3 GB/s" in notes and "under-utilised: 24 %" in notes


def test_rows_of_a_terminal_are_joined_and_counted():
    """80 columns, numbers broken: the same samples as unwrapped, and the report says so."""
    log = "".join(LINE.format(gpu=gpu, mhz=620, tj=60) for gpu in range(90, 99))
    rows = "".join(line[at:at + 80] + "\n" for line in log.splitlines()
                   for at in range(0, len(line), 80))
    assert diagnose("--samples", "-", data=rows.encode()).stdout == \
        diagnose("--samples", "-", data=log.encode()).stdout
    report = judge(rows.encode())
    assert report["tegra"]["rejected"] == 0
    assert report["tegra"]["note"] == "9 records put together from lines wrapped at 80 columns"


@needs_corpus
def test_the_point_on_the_roofline():
    """ResNet-50, 8.18 GFLOP in 1.16 ms, against 33.4 TOPS INT8 at 1003 of 1020 MHz."""
    log = CORPUS / "tegrastats/logs/orin-nano-super_r36_root_resnet50-int8-maxn.log"
    out = diagnose("--json", "--model", "resnet50", "--precision", "int8", "--latency", "1.16", log)
    roofline = harness.parse_report(out.stdout)["roofline"]
    assert roofline["point"]["flops"] == pytest.approx(8.18e9 / 1.16e-3, rel=0.01)
    assert roofline["peak_flops"] == pytest.approx(33423e9 * 1003 / 1020, rel=0.01)
    assert roofline["point"]["bound"] == "under-utilised"


@pytest.mark.parametrize("option", (("--peak-flops", "16.7"), ("--peak-bw", "102"),
                                    ("--latency", "0"), ("--model", "yolov99"),
                                    ("--precision", "fp12"), ("--batch", "1.5")))
def test_workload_options_are_refused_alike(option):
    """One line and the same one, whichever command they are given to."""
    messages = set()
    for command in (["roofline", "--module", "nano"], ["diagnose", "-"], ["-p", "1"]):
        result = subprocess.run([harness.TEGRATRACE, *command, *option], input=b"",
                                capture_output=True, timeout=harness.LIMIT, check=False)
        assert result.returncode == 2 and result.stdout == b""
        messages.add(result.stderr)
    message, = messages
    assert len(message.splitlines()) == 1 and option[1] in message.decode()


def test_one_object_a_log_in_a_file(tmp_path):
    """As on standard output; what was in the file before is gone."""
    logs = [tmp_path / name for name in ("cold", "hot")]
    for log, tj in zip(logs, (49, 88)):
        log.write_text(LINE.format(gpu=98, mhz=407, tj=tj) * 20)
    (tmp_path / "json").write_text("x" * 1000000)
    (tmp_path / "none").write_text("no record\n")
    result = diagnose(f"--json={tmp_path}/json", *logs, tmp_path / "none")
    assert result.returncode == 1 and (tmp_path / "json").read_bytes() == diagnose("--json", *logs).stdout
    written = (tmp_path / "json").read_text().splitlines()
    assert [json.loads(line)["tegra"]["temps"]["tj"]["max"] for line in written] == [49, 88]


@pytest.mark.parametrize("options", (("--csv", "--json={}/x"), ("--samples", "--html={}/x"), ("--csv", "--png={}/x"),
                                     ("--samples", "--csv")))
def test_samples_instead_of_another_output(tmp_path, options):
    (tmp_path / "log").write_text(LINE.format(gpu=98, mhz=407, tj=49))
    result = diagnose(*(option.format(tmp_path) for option in options), tmp_path / "log")
    assert result.returncode == 2 and result.stdout == b"" and not (tmp_path / "x").exists()
    assert len(result.stderr.decode().splitlines()) == 1 and options[1].split("=")[0] in result.stderr.decode()


def test_the_log_is_no_output(tmp_path):
    (tmp_path / "log").write_text(LINE.format(gpu=98, mhz=407, tj=49))
    (tmp_path / "link").symlink_to(tmp_path / "log")
    result = diagnose(f"--json={tmp_path}/log", tmp_path / "link")
    assert result.returncode == 2 and b"same file" in result.stderr
    assert (tmp_path / "log").read_text() == LINE.format(gpu=98, mhz=407, tj=49)
