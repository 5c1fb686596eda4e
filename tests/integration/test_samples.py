# SPDX-License-Identifier: GPL-2.0-only
"""On-CPU samples: whose CPU time is burned where, and is it work. Truth: shares by construction."""
import collections
import math
import os
import subprocess

import pytest

from harness import Load, background, parse_json, run_tool, trace_load, wait_for, workload

NEEDS_BPF = True

CODE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "code")
HZ = 99
SIGMAS = 5
FULL_ONLY = ("test_spinning_in_the_driver_is_not_work[stacks]",)


def build(path, source, *flags):
    subprocess.run(["gcc", "-O2", "-g", "-fPIC", "-shared", "-fno-omit-frame-pointer", *flags,
                    "-o", path, f"{CODE}/{source}.c"], check=True)
    return path


def burn(folder, library, *args, options=(), env=None, rung="auto"):
    return trace_load(folder, rung, "burner", f"lib={library}", "secs=4", *args, options=options,
                      env=env, nice=-20)


def sites(result, group="burner-N", **wanted):
    return [s for s in result.report["samples"] if s["group"] == group
            and all(s[key] == value for key, value in wanted.items())]


def count(rows):
    return sum(row["samples"] for row in rows)


def expect_share(part, whole, share):
    """As a binomial variable of that many draws."""
    bound = SIGMAS * math.sqrt(share * (1 - share) / whole) + 0.01
    assert abs(part / whole - share) < bound, (part, whole, share)


@pytest.fixture(scope="session")
def burned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("burned")
    library = build(folder / "libburn.so.7", "burn_lib")
    options = "-v", "--user-stacks", f"--folded={folder}/folded"
    return burn(folder, library, options=options), folder


def test_share_by_function(burned):
    result, _ = burned
    library = sites(result, library="libburn.so.7")
    decode, convert = (count(sites(result, function=f)) for f in ("tt_decode", "tt_convert"))
    assert count(library) > 100
    expect_share(decode, decode + convert, 2 / 3)
    # All but the loop around it and interrupts.
    assert count(library) > 0.95 * count(sites(result))
    assert {site["kind"] for site in library} == {"work"}


def test_samples_are_cpu_time(burned):
    result, _ = burned
    row = result.row("burner-0")
    expected = row["oncpu_ns"] * HZ / 1e9
    assert abs(row["oncpu_samples"]["total"] - expected) < SIGMAS * math.sqrt(expected)
    assert row["oncpu_samples"]["total"] == count(sites(result))
    assert row["oncpu_samples"]["spin"] == row["oncpu_samples"]["gpu_spin"] == 0
    assert result.losses["samples_dropped"] == 0


def test_idle_thread_has_none(burned):
    result, _ = burned
    row = result.row("idler-0")
    assert row["oncpu_samples"]["total"] <= 1
    assert count(sites(result, "idler-N")) == row["oncpu_samples"]["total"]


def test_folded_stacks(burned):
    result, folder = burned
    weight = collections.Counter()
    for line in (folder / "folded").read_text().splitlines():
        stack, value = line.rsplit(" ", 1)
        assert " " not in stack
        frames = stack.split(";")
        assert len(frames) >= 2 and "" not in frames
        if frames[:2] == ["burner-N", "on-CPU"] and "tt_stage" in frames:
            weight[tuple(frames[frames.index("tt_stage"):])] += int(value)
    decode, convert = weight["tt_stage", "tt_decode"], weight["tt_stage", "tt_convert"]
    assert abs(decode - 1e6 / HZ * count(sites(result, function="tt_decode"))) < 0.05 * decode
    expect_share(decode * HZ / 1e6, (decode + convert) * HZ / 1e6, 2 / 3)


def test_names_outlive_their_file(tmp_path):
    """The library is deleted while it is mapped, and another one stands in its place."""
    library = build(tmp_path / "libburn.so.7", "burn_lib")
    result = burn(tmp_path / "run", library, "unlink=1", "secs=1")
    assert count(sites(result, library="libburn.so.7", function="tt_decode")) > 20


def test_names_from_another_mount_namespace(tmp_path):
    """What lies at that path here is another library."""
    good = build(tmp_path / "good.so", "burn_lib")
    seen = build(tmp_path / "libburn.so.7", "fake_driver")
    ready = tmp_path / "ready"
    with background("unshare", "-m", "sh", "-ec",
                    f"mount --bind {good} {seen}; exec nice -n -20 {workload('burner')} lib={seen} "
                    f"secs=60 ready={ready}", stdout=subprocess.DEVNULL):
        wait_for("the burner", ready.exists)
        result = run_tool("-p", parse_json(ready.read_bytes())["pid"], "-d", "2", "-q", "--json")
    assert result.status == 0, result.err
    report = parse_json(result.text.encode())
    assert count(s for s in report["samples"] if s["library"] == "libburn.so.7"
                 and s["function"] == "tt_decode") > 0.5 * count(report["samples"]) > 0


def test_names_of_a_command_that_ended(tmp_path):
    library = build(tmp_path / "libburn.so.7", "burn_lib")
    result = run_tool("-q", f"--json={tmp_path}/report", "--", "nice", "-n", "-20",
                      workload("burner"), f"lib={library}", "secs=2")
    assert result.status == 0, result.err
    report = parse_json((tmp_path / "report").read_bytes())
    row = next(row for row in report["threads"] if row["comm"] == "burner-0")
    mine = [s for s in report["samples"] if s["tid"] == row["tid"]]
    assert row["exited"] and count(mine) == row["oncpu_samples"]["total"] > 0
    assert count(s for s in mine if s["library"] == "libburn.so.7") > 0.9 * count(mine)


def test_without_perf_events(tmp_path):
    """The rest works, and what is unknown is said."""
    shim = build(tmp_path / "no_perf.so", "no_perf")
    with Load(tmp_path / "load", "hog", "secs=20", nice=-20) as load:
        load.go()
        result = run_tool("-p", load.pid, "-d", "1", "-q", "--json", "--rung", "btf",
                          env={"LD_PRELOAD": str(shim)})
    report = parse_json(result.text.encode())
    assert report["samples"] is None and report["faults"] is None
    assert sum(row["oncpu_ns"] for row in report["threads"]) > 0
    missing = {m["what"]: m["why"] for m in report["capability"]["missing"]}
    for what in ("on-CPU samples", "page faults by mapping"):
        assert "perf_event_paranoid" in missing[what]


def test_openmp_barrier_is_spinning(tmp_path):
    library = build(tmp_path / "libomp_load.so", "omp_barrier", "-fopenmp")
    result = burn(tmp_path / "run", library, options=("--user-stacks",),
                  env={"OMP_WAIT_POLICY": "active", "GOMP_SPINCOUNT": "infinite"})
    spins = [s for s in result.report["samples"] if s["kind"] == "spin"]
    assert {s["library"].split(".")[0] for s in spins} == {"libgomp"}
    workers = [r for r in result.rows if (r["oncpu_samples"] or {"total": 0})["total"] > 100]
    assert any(r["oncpu_samples"]["spin"] > 0.9 * r["oncpu_samples"]["total"] for r in workers)
    master = count(s for s in result.report["samples"] if s["function"] == "master_work")
    assert master > 50


@pytest.mark.parametrize("options", [(), ("--user-stacks",)], ids=["leaf", "stacks"])
def test_spinning_in_the_driver_is_not_work(tmp_path, options):
    """By the samples alone: the probes of its calls, which know better, are off."""
    library = build(tmp_path / "libcuda.so.1", "fake_driver", "-s")
    result = burn(tmp_path / "run", library, "first=1", "second=0",
                  options=("--cuda", "off", *options))
    row = result.row("burner-0")
    total, spin = row["oncpu_samples"]["total"], row["oncpu_samples"]["gpu_spin"]
    # Reading the clock is a leaf of its own: only the stack tells who reads it.
    assert spin > (0.95 if options else 0.6) * total
    assert row["gpu_spin_ns"] == pytest.approx(row["oncpu_ns"] * spin / total, rel=0.02)


def test_submitting_to_the_driver_is_work(tmp_path):
    library = build(tmp_path / "libcuda.so.1", "fake_driver", "-s")
    result = burn(tmp_path / "run", library, "first=0", "second=1")
    assert result.row("burner-0")["oncpu_samples"]["gpu_spin"] == 0
    assert count(sites(result, function="cuLaunchKernel", kind="work")) > 100


def test_yielding_is_spinning(tmp_path):
    result = trace_load(tmp_path, "auto", "spinyield", "secs=3", "hogs=0", nice=-20)
    samples = result.row("yielder-0")["oncpu_samples"]
    assert samples["spin"] > 0.8 * samples["total"] > 50


def test_without(tmp_path):
    result = trace_load(tmp_path, "auto", "hog", "secs=1", options=("--without", "samples"))
    assert result.report["samples"] is None
    assert all(row["oncpu_samples"] is None for row in result.rows)
    missing = {m["what"]: m["why"] for m in result.report["capability"]["missing"]}
    assert "--without" in missing["on-CPU samples"]


def test_hot_library_is_named(burned):
    result, _ = burned
    assert any("libburn.so.7" in line and "tt_decode" in line
               for line in result.text.splitlines()), result.text


def test_both_on_stdout_is_refused(sleeper):
    result = run_tool("-p", sleeper.pid, "--json", "--folded", "-")
    assert result.status == 2
    assert "--folded" in result.error_line()
