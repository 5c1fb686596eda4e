# SPDX-License-Identifier: GPL-2.0-only
"""Page faults by thread and mapping. Truth: prime numbers of pages, each touched once."""
import collections
import contextlib
import os
import subprocess

import pytest

from harness import trace_load
from traces import read_perfetto, title

FULL_ONLY = ("test_ended_threads_keep_their_faults",)

ANON, COPIED, COLD = 1009, 499, 211
KINDS = ("anon", "copied", "cold", "swapped")
ZRAM = "/sys/block/zram0"


@pytest.fixture(scope="module", params=["btf", "tracepoint"])
def faulted(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    file = f"{folder}/data.bin"
    return trace_load(folder, request.param, "fault_load", "secs=2", f"anon={ANON}",
                      f"copied={COPIED}", f"cold={COLD}", f"file={file}",
                      options=("--timeline", "--perfetto", f"{folder}/perfetto")), file


def sites(result, comm, **wanted):
    tid = result.row(comm)["tid"]
    return [s for s in result.report["faults"]["sites"] if s["tid"] == tid
            and all(s[key] == value for key, value in wanted.items())]


def total(rows, key):
    return sum(row[key] for row in rows)


def test_anonymous_pages(faulted):
    result, _ = faulted
    assert total(sites(result, "anon", kind="anonymous"), "minor") == ANON
    assert result.thread("anon")["minor"] == ANON


def test_pages_of_a_cached_file(faulted):
    """Where memory is short the kernel has dropped some of them meanwhile, and counts them as read."""
    result, file = faulted
    copied = sites(result, "copied", kind="file", mapping=f"{file}.copied (deleted)")
    assert total(copied, "minor") + total(copied, "major") == COPIED
    assert total(copied, "major") <= result.thread("copied")["major"]


def test_pages_read_from_the_disk(faulted):
    result, file = faulted
    cold = sites(result, "cold", kind="file", mapping=f"{file}.cold (deleted)")
    assert total(cold, "major") == COLD
    # By the kernel's own count; more than these only where memory is short.
    in_all = sum(row["faults"]["major"] for row in result.rows)
    assert result.report["faults"]["file_reads"] == in_all >= COLD
    assert result.report["faults"]["swap_ins"] == 0


def test_same_as_the_kernels_books(faulted):
    result, _ = faulted
    for comm in KINDS:
        row, books = result.row(comm), result.thread(comm)
        for key in ("minor", "major"):
            assert total(sites(result, comm), key) == row["faults"][key] >= books[key]


def test_totals_and_series(faulted):
    faults = faulted[0].report["faults"]
    for key in ("minor", "major"):
        assert total(faults["sites"], key) == faults[key] == sum(faults["series"][key])
    assert faulted[0].losses["faults_dropped"] == 0


def test_timeline_adds_up_to_the_counts(faulted):
    """Major faults one by one, with what was slept in each on btf; minor ones gathered."""
    result, file = faulted
    assert result.losses["timeline_lost"] == 0
    trace = read_perfetto(os.path.dirname(file) + "/perfetto")
    told = {title(trace, one.track): collections.Counter() for one in trace.instants}
    waits = collections.defaultdict(list)
    for one in trace.instants:
        if one.name == "Minor faults":
            told[title(trace, one.track)]["minor"] += one.facts["count"]
        elif one.name == "Major fault":
            told[title(trace, one.track)]["major"] += 1
            waits[title(trace, one.track)].append(one.facts.get("wait_ns"))
    for comm in KINDS:
        row = result.row(comm)
        for key in ("minor", "major"):
            assert told[row["tid"]][key] == row["faults"][key]
    cold = result.row("cold")
    known = [ns for ns in waits[cold["tid"]] if ns is not None]
    if result.report["capability"]["rung"] == "btf":
        slept_ns = sum(cold["wait"].values()) - cold["wait"]["thread"]  # before its go, and after
        assert len(known) > 0.8 * COLD and 0.8 * slept_ns < sum(known) <= slept_ns
    else:
        assert not known


def test_memory_given_back(tmp_path):
    """Faulted in again and again while the process does not grow: said, with numbers."""
    result = trace_load(tmp_path, "auto", "fault_load", "secs=60", "anon=5003", "rounds=61",
                        "copied=0", "cold=0", f"file={tmp_path}/data", options=("-v",))
    faults = result.report["faults"]
    assert total(sites(result, "anon", kind="anonymous"), "minor") == 5003 * 62
    assert faults["anonymous"] >= 5003 * 62
    assert faults["rss_growth_bytes"] < 64 << 20
    assert any("anonymous minor/s" in line for line in result.text.splitlines()
               if line.startswith("  faults")), result.text


def test_ended_threads_keep_their_faults(tmp_path):
    result = trace_load(tmp_path, "auto", "churn", "total=211", "secs=5")
    ended = [row for row in result.rows if row["exited"]]
    assert ended and all(row["faults"]["minor"] is not None for row in ended)
    rows = sum(row["faults"]["minor"] for row in result.rows)
    assert rows == result.report["faults"]["minor"]
    assert total(result.report["faults"]["sites"], "minor") == rows


@contextlib.contextmanager
def zram_swap():
    with open("/proc/swaps", encoding="ascii") as swaps:
        used = "zram0" in swaps.read()
    if used or not os.path.exists(ZRAM):
        pytest.skip("no free zram device")
    try:
        with open(f"{ZRAM}/disksize", "w", encoding="ascii") as size:
            size.write("64M")
        subprocess.run(["mkswap", "/dev/zram0"], check=True, capture_output=True)
        subprocess.run(["swapon", "/dev/zram0"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"zram: {error}")
    try:
        yield
    finally:
        subprocess.run(["swapoff", "/dev/zram0"], check=False)
        with open(f"{ZRAM}/reset", "w", encoding="ascii") as reset:
            reset.write("1")


def test_swap_in_is_told_from_file_reads(tmp_path):
    with zram_swap():
        result = trace_load(tmp_path, "auto", "fault_load", "secs=2", "anon=0", "copied=0",
                            "cold=0", "swapped=307", f"file={tmp_path}/data")
    faults = result.report["faults"]
    books = result.thread("swapped")
    assert books["major"] > 0
    assert faults["swap_ins"] == total(sites(result, "swapped"), "major") == books["major"]
    assert faults["file_reads"] == 0


def test_without(tmp_path):
    result = trace_load(tmp_path, "auto", "hog", "secs=1", options=("--without", "faults"))
    assert result.report["faults"] is None
    assert result.row("hog-0")["faults"]["minor"] is not None
    assert "page faults by mapping" in [m["what"] for m in result.report["capability"]["missing"]]
