# SPDX-License-Identifier: GPL-2.0-only
"""
Block I/O against fio's own report and the kernel's own books of the device. The device is a loop
device over a file on a real disk: only the test uses it, so its books are exact.
"""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from harness import (LIMIT, background, fd_links, identity_errors, parse_report, run_tool, runq_ns,
                     wait_for)
from traces import chrome_async, parent, read_perfetto, title

NEEDS_BPF = True

MIB = 1 << 20
SIZE = 64 * MIB
SECTOR = 512

# /sys/block/DEVICE/stat (Documentation/block/stat.rst)
STAT = ("reads", "read_merges", "read_sectors", "read_ms", "writes", "write_merges",
        "write_sectors", "write_ms", "in_flight", "io_ms", "queue_ms", "discards",
        "discard_merges", "discard_sectors", "discard_ms", "flushes", "flush_ms")


class Disk:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)

    def stat(self):
        with open(f"/sys/block/{self.name}/stat", encoding="ascii") as stat:
            return dict(zip(STAT, map(int, stat.read().split())))

    def settled(self):
        """The books once nothing is under way: udev and the page cache look at a new device too."""
        wait_for("an idle device", lambda: self.stat()["in_flight"] == 0)
        return self.stat()


def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, timeout=LIMIT, text=True).stdout


@contextlib.contextmanager
def loop_device(folder):
    image = folder / "disk.img"
    with open(image, "wb") as file:
        for _ in range(SIZE // MIB):
            file.write(os.urandom(MIB))
        os.fsync(file.fileno())
    path = run("losetup", "--find", "--show", "--direct-io=on", str(image)).strip()
    try:
        yield Disk(path)
    finally:
        run("losetup", "--detach", path)
        image.unlink()


@pytest.fixture(scope="module", name="disk")
def fixture_disk(tmp_path_factory):
    try:
        with loop_device(tmp_path_factory.mktemp("disk")) as disk:
            yield disk
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no loop device to be had here: {error}")


@pytest.fixture(name="mounted")
def fixture_mounted(disk, tmp_path):
    run("mkfs.ext4", "-q", "-F", disk.path)
    run("mount", disk.path, str(tmp_path))
    try:
        yield tmp_path
    finally:
        run("umount", str(tmp_path))


def trace(folder, rung, *command, options=()):
    """The whole life of a command."""
    path = folder / "report.json"
    result = run_tool("--rung", rung, "-q", f"--json={path}", *options, "--", *command)
    assert result.status == 0, result.err
    result.report = parse_report(path.read_bytes())
    assert result.report["capability"]["rung"] == rung
    assert not identity_errors(result.report)
    return result


def fio(folder, rung, disk, *args):
    """fio traced on the bare device; the result, and fio's own account."""
    return trace_fio(folder, rung, disk, (), *args)


def trace_fio(folder, rung, disk, options, *args):
    out = folder / "fio.json"
    result = trace(folder, rung, "fio", "--name=job", f"--filename={disk.path}", f"--size={SIZE}",
                   "--direct=1", "--allow_mounted_write=1", "--randrepeat=1", "--invalidate=0",
                   "--output-format=json", f"--output={out}", *args, options=options)
    text = out.read_text()
    return result, json.loads(text[text.index("{"):])["jobs"]


def rows(report, disk, op=None, submitter=None):
    return [row for row in report["block"] if row["device"] == disk.name and
            op in (None, row["op"]) and submitter in (None, row["submitter"])]


def total(found, *keys):
    """The sum over rows of a member, or of a member of one."""
    values = []
    for row in found:
        for key in keys:
            row = row[key]
        values.append(row)
    return sum(values)


def threads_io(report, key):
    return sum(row["io"][key] for row in report["threads"])


def threads_agree(report):
    """What the threads submitted is what the devices got from the target, to the nanosecond."""
    target = [row for row in report["block"] if row["submitter"] == "target"]
    reads = [row for row in target if row["op"] == "read"]
    writes = [row for row in target if row["op"] == "write"]
    assert threads_io(report, "reads") == total(reads, "count")
    assert threads_io(report, "writes") == total(writes, "count")
    assert threads_io(report, "read_bytes") == total(reads, "bytes")
    assert threads_io(report, "write_bytes") == total(writes, "bytes")
    assert threads_io(report, "queue_ns") == total(reads + writes, "queue", "sum_ns")
    assert threads_io(report, "device_ns") == total(reads + writes, "device_lat", "sum_ns")


def histograms_agree(report):
    for row in report["block"]:
        for delay in row["queue"], row["device_lat"]:
            assert sum(delay["hist"]) == delay["count"] <= row["count"]
            assert delay["count"] == 0 or delay["p50_ns"] <= delay["p99_ns"] <= delay["max_ns"]


# Prime numbers of requests of at most the device's 128 segments of a page: each is one request.
JOBS = {
    "read-4k": (1009, "read", ("--rw=randread", "--bs=4k", "--ioengine=psync")),
    "write-16k-deep": (2003, "write", ("--rw=randwrite", "--bs=16k", "--ioengine=libaio",
                                       "--iodepth=16")),
    "read-512k-deep": (61, "read", ("--rw=randread", "--bs=512k", "--ioengine=libaio",
                                    "--iodepth=4")),
    "read-512-threads": (499, "read", ("--rw=randread", "--bs=512", "--ioengine=psync", "--thread",
                                       "--numjobs=3")),
}


@pytest.mark.parametrize("job", JOBS)
def test_requests_equal_fios(disk, rung, tmp_path, job):
    number, op, args = JOBS[job]
    result, jobs = fio(tmp_path, rung, disk, *args, f"--number_ios={number}")
    mine = rows(result.report, disk, op, "target")
    assert [job[op]["total_ios"] for job in jobs] == [number] * len(jobs)
    assert total(mine, "count") == number * len(jobs)
    assert total(mine, "bytes") == sum(job[op]["io_bytes"] for job in jobs)
    other_op = "write" if op == "read" else "read"
    assert total(rows(result.report, disk, other_op, "target"), "bytes") == 0
    threads_agree(result.report)
    histograms_agree(result.report)
    assert result.losses["block_dropped"] == 0


def test_each_thread_has_its_own(disk, rung, tmp_path):
    result, jobs = fio(tmp_path, rung, disk, "--rw=randread", "--bs=4k", "--ioengine=psync",
                       "--thread", "--number_ios=307", "--name=second", f"--filename={disk.path}",
                       f"--size={SIZE}", "--direct=1", "--rw=randwrite", "--bs=8k", "--thread",
                       "--ioengine=psync", "--number_ios=211")
    assert [job["read"]["total_ios"] for job in jobs] == [307, 0]
    reader = max(result.rows, key=lambda row: row["io"]["reads"])
    writer = max(result.rows, key=lambda row: row["io"]["writes"])
    assert (writer["io"]["writes"], writer["io"]["write_bytes"]) == (211, 211 * 8192)
    assert reader["io"]["writes"] == 0 and reader["tid"] != writer["tid"]
    # fio's program file lies on another disk, and a page of it may have to be read
    elsewhere = threads_io(result.report, "reads") - 307
    assert total(rows(result.report, disk, "read", "target"), "count") == 307
    assert 307 <= reader["io"]["reads"] <= 307 + elsewhere
    threads_agree(result.report)


def test_file_on_a_real_disk(rung, tmp_path):
    """Its bytes, exactly; its requests may be more than fio's: the file lies in several pieces."""
    path, out = tmp_path / "file", tmp_path / "fio.json"
    path.write_bytes(os.urandom(32 * MIB))
    args = ("fio", "--name=job", f"--filename={path}", "--rw=randread", "--bs=64k", "--direct=1",
            "--ioengine=psync", "--number_ios=401", "--size=32m", "--invalidate=0",
            "--output-format=json", f"--output={out}")
    run("sync", str(path))
    for _ in range(3):
        # a page of fio's program file or of the file's own map may have to be read once
        result = trace(tmp_path, rung, *args)
        row = max(result.rows, key=lambda row: row["io"]["reads"])
        if row["io"]["read_bytes"] == 401 * 65536:
            break
    job = json.loads(out.read_text())["jobs"][0]["read"]
    assert row["io"]["read_bytes"] == job["io_bytes"] == 401 * 65536
    assert 401 <= row["io"]["reads"] < 2 * 401
    threads_agree(result.report)


def test_latency_beside_fios(disk, rung, tmp_path):
    """
    fio's clat is from its call to its return: the request's delays, then the wait of the thread for a
    CPU, and what it ran itself, all of which we see: no less, at any speed. What is outside, from the
    completion to the wakeup, is small.
    """
    result, jobs = fio(tmp_path, rung, disk, "--rw=randread", "--bs=512k",
                       "--ioengine=psync", "--loops=5", "--number_ios=613")
    row = max(result.rows, key=lambda row: row["io"]["reads"])
    clat_ns = jobs[0]["read"]["clat_ns"]
    # of the row's own reads some may be pages of fio's program file, on another disk
    mine = rows(result.report, disk, "read", "target")
    inside = total(mine, "queue", "sum_ns") + total(mine, "device_lat", "sum_ns")
    outside = clat_ns["mean"] * clat_ns["N"]
    assert inside <= outside
    # a request whose completion the rung missed has no delays
    inside *= total(mine, "count") / total(mine, "device_lat", "count")
    waited, ran = runq_ns(row), row["oncpu_ns"]
    assert inside + waited + ran >= 0.95 * outside, (inside / outside, waited / outside,
                                                     ran / outside)


def equals_the_books(report, disk, before, after):
    books = {key: after[key] - before[key] for key in STAT}
    mine = {op: rows(report, disk, op) for op in ("read", "write", "discard", "flush")}
    assert total(mine["read"], "count") == books["reads"]
    assert total(mine["read"], "bytes") == books["read_sectors"] * SECTOR
    assert total(mine["write"], "bytes") == books["write_sectors"] * SECTOR
    assert total(mine["discard"], "count") == books["discards"]
    assert total(mine["discard"], "bytes") == books["discard_sectors"] * SECTOR
    assert total(mine["flush"], "count") == books["flushes"]
    return books, mine


def test_mix_equals_the_devices_books(disk, rung, tmp_path):
    """Reads, writes, trims and flushes; the books count an empty write for each wish to flush."""
    before = disk.settled()
    result, jobs = fio(tmp_path, rung, disk, "--rw=randrw", "--rwmixread=50", "--bs=4k",
                       "--ioengine=libaio", "--iodepth=8", "--number_ios=1511", "--fsync=37",
                       "--stonewall", "--name=trim", f"--filename={disk.path}", "--rw=randtrim",
                       "--bs=64k", "--ioengine=psync", "--direct=1", "--number_ios=101",
                       f"--size={SIZE}", "--allow_mounted_write=1")
    books, mine = equals_the_books(result.report, disk, before, disk.settled())
    assert books["flushes"] > 10 and books["discards"] >= 101
    asked = books["writes"] - total(mine["write"], "count")
    assert asked >= books["flushes"]
    assert total(rows(result.report, disk, "flush", "target"), "count") == books["flushes"]
    assert total(rows(result.report, disk, "write", "target"), "bytes") == \
        jobs[0]["write"]["io_bytes"]
    threads_agree(result.report)


BIOLATENCY = shutil.which("biolatency")


@pytest.mark.skipif(not BIOLATENCY, reason="no biolatency (package libbpf-tools)")
def test_totals_equal_biolatencys(disk, rung, tmp_path):
    """Its histogram holds as many requests of the device; it may miss completions as well."""
    disk.settled()
    with background(BIOLATENCY, "-d", disk.name, "--milliseconds", stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL) as peer:
        wait_for("biolatency to attach",
                 lambda: any("bpf" in link and "link" in link or "perf_event" in link
                             for link in fd_links(peer.pid)))
        time.sleep(0.5)
        result, _ = fio(tmp_path, rung, disk, "--rw=randread", "--bs=64k", "--ioengine=psync",
                        "--number_ios=503")
        peer.send_signal(signal.SIGINT)
        text = peer.communicate(timeout=LIMIT)[0].decode()
    theirs = sum(map(int, re.findall(r"^ *\d+ -> \d+ +: (\d+)", text, re.MULTILINE)))
    mine = rows(result.report, disk)
    assert total(mine, "count") >= 503
    assert 0.97 * total(mine, "count") <= theirs <= 1.01 * total(mine, "count"), text


@pytest.mark.parametrize("direction", ("up", "down"))
def test_merged_requests_equal_the_devices_books(disk, rung, tmp_path, direction):
    """Neighbours submitted together, in ascending order (back merges) or descending (front)."""
    before = disk.settled()
    step = "" if direction == "up" else ":-8k"
    result, jobs = fio(tmp_path, rung, disk, f"--rw=read{step}", "--bs=4k", "--ioengine=libaio",
                       "--iodepth=32", "--iodepth_batch_submit=16", "--iodepth_batch_complete=16",
                       "--offset=32m", "--number_ios=1024", "--size=16m")
    books, mine = equals_the_books(result.report, disk, before, disk.settled())
    assert books["read_merges"] > 100, "nothing was merged: the test shows nothing"
    assert total(mine["read"], "bytes") == jobs[0]["read"]["io_bytes"]
    assert total(mine["read"], "count") < jobs[0]["read"]["total_ios"]
    assert result.losses["block_unmatched"] == 0
    # one that was lost sight of when its first sector changed would be nobody's
    assert total(rows(result.report, disk, "read", "target"), "count") == books["reads"]


WRITER = """
import os, sys
how, path, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
fd = os.open(path, os.O_RDWR | os.O_CREAT)
block = os.urandom(1 << 20)
for _ in range(size >> 20):
    os.write(fd, block)
if how == "fsync":
    os.fsync(fd)
elif how == "sync":
    os.sync()
"""


def write_buffered(folder, rung, how, path):
    return trace(folder, rung, sys.executable, "-c", WRITER, how, str(path), str(13 * MIB))


def test_fsync_writes_are_the_threads(disk, mounted, rung, tmp_path_factory):
    result = write_buffered(tmp_path_factory.mktemp("out"), rung, "fsync", mounted / "file")
    assert threads_io(result.report, "write_bytes") >= 13 * MIB
    mine = total(rows(result.report, disk, "write", "target"), "bytes")
    assert 13 * MIB <= mine < 15 * MIB
    assert total(rows(result.report, disk, "flush"), "count") >= 1


def test_writeback_is_no_threads(disk, mounted, rung, tmp_path_factory):
    """sync(2) has kworkers write: to the device it is all the same, to the thread it is not."""
    result = write_buffered(tmp_path_factory.mktemp("out"), rung, "sync", mounted / "file")
    assert 13 * MIB <= total(rows(result.report, disk, "write", "other"), "bytes")
    assert total(rows(result.report, disk, "write", "target"), "bytes") < MIB
    assert threads_io(result.report, "write_bytes") < MIB


def op_and_device(trace, told):
    return told.name, title(trace, told.track)


def block_sums(trace):
    """By operation and device: requests, bytes, ns in the device, and in the queue before it."""
    sums = collections.defaultdict(collections.Counter)
    lanes = [told for told in trace.slices if parent(trace, told.track) and
             title(trace, parent(trace, told.track)) == "Block I/O"]
    inside = {(told.track, told.start_ns + told.ns): told for told in lanes if told.inside}
    for told in lanes:
        if told.inside:
            assert told.name == "in the device" and told.inside == 1
            continue
        device_ns = inside.pop((told.track, told.start_ns + told.ns)).ns
        facts = told.facts
        assert facts["device_ns"] == device_ns
        assert facts["queue_ns"] == told.ns - device_ns
        sums[op_and_device(trace, told)].update(
            count=1, bytes=facts["bytes"], device_ns=device_ns, queue_ns=told.ns - device_ns)
        if told.name in ("read", "write"):
            sums[facts["tid"]].update(io_ns=told.ns)
    assert not inside
    return sums


def test_timeline_adds_up_to_the_histograms(disk, rung, tmp_path):
    """
    Of a command from its start: every request lies inside the window. Deep, so that lanes are many.
    Where the kernel skipped a completion, neither has its delay; counts and bytes are of the issue.
    """
    files = {form: tmp_path / form for form in ("perfetto", "chrome", "run.ttr")}
    result, _ = trace_fio(tmp_path, rung, disk, ("--timeline", "--perfetto", files["perfetto"],
                                                 "--chrome", files["chrome"], "-o",
                                                 files["run.ttr"]),
                          "--rw=randrw", "--rwmixread=50", "--bs=16k", "--ioengine=libaio",
                          "--iodepth=16", "--number_ios=1009", "--fsync=37")
    assert result.losses["timeline_lost"] == 0
    told = read_perfetto(files["perfetto"])
    sums, mine = block_sums(told), [row for row in result.report["block"]
                                    if row["submitter"] == "target"]
    for row in mine:
        of_row = sums[row["op"], row["device"]]
        assert (of_row["count"], of_row["device_ns"], of_row["queue_ns"]) == (
            row["device_lat"]["count"], row["device_lat"]["sum_ns"], row["queue"]["sum_ns"]), row
        skipped = row["count"] - row["device_lat"]["count"]
        assert of_row["bytes"] == row["bytes"] or (skipped and of_row["bytes"] < row["bytes"])
        assert 2 * skipped < row["count"] or row["count"] < 100
    assert {"read", "write", "flush"} <= {row["op"] for row in mine}
    for row in result.rows:
        if row["tid"]:
            assert sums[row["tid"]]["io_ns"] == row["io"]["queue_ns"] + row["io"]["device_ns"]
    asynchronous = chrome_async(files["chrome"], "block")
    assert sum(event.ns for event in asynchronous if event.inside) == \
        total(mine, "device_lat", "sum_ns")
    assert sum(event.ns for event in asynchronous if not event.inside) == \
        total(mine, "device_lat", "sum_ns") + total(mine, "queue", "sum_ns")
    again = run_tool("report", files["run.ttr"], "--perfetto", tmp_path / "again")
    assert again.status == 0 and (tmp_path / "again").read_bytes() == \
        files["perfetto"].read_bytes()


@pytest.mark.slow
def test_counts_stay_exact_at_a_high_rate(disk, rung, tmp_path):
    """Where completions interrupt a program some delays are missed, and counted; no request is."""
    result, jobs = fio(tmp_path, rung, disk, "--rw=randread", "--bs=4k", "--ioengine=libaio",
                       "--iodepth=64", "--loops=9", "--number_ios=100003")
    mine = rows(result.report, disk, "read", "target")
    assert total(mine, "count") == jobs[0]["read"]["total_ios"]
    assert total(mine, "bytes") == jobs[0]["read"]["io_bytes"]
    delays = total(mine, "device_lat", "count")
    assert 0.9 * total(mine, "count") <= delays <= total(mine, "count")
    threads_agree(result.report)


def test_without_block(rung, tmp_path):
    result = trace(tmp_path, rung, "dd", "if=/dev/zero", f"of={tmp_path}/file", "bs=64k",
                   "count=32", "conv=fsync", options=("--without", "block"))
    assert result.report["block"] is None
    assert all(value is None for row in result.rows for value in row["io"].values())
    assert result.losses["block_unmatched"] is None
    assert any(missing["what"] == "block I/O" and "--without" in missing["why"]
               for missing in result.report["capability"]["missing"])
    assert result.report["threads_seen"] >= 1 and "disk  " not in result.text


def test_the_text_names_disk_and_thread(disk, rung, tmp_path):
    result, _ = fio(tmp_path, rung, disk, "--rw=randread", "--bs=512k", "--ioengine=libaio",
                    "--iodepth=16", "--number_ios=127")
    assert f"{disk.name} read 127 x 512 KiB, queue " in result.text
    assert "by fio (100 %)" in result.text
