# SPDX-License-Identifier: GPL-2.0-only
"""Recordings: a run again, whatever ended it, and nothing else in the folder touched."""
import collections
import contextlib
import csv
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import pytest

from harness import (FAKE_TEGRASTATS, LIMIT, PARTS, S, Load, Trace, background,
                     in_mounts, parse_report, run_tool, wait_for)

FAILED, USAGE, NO_TARGET = 1, 2, 4
# make bench has the cost too
FULL_ONLY = ("test_recording_costs_little", "test_killed_on_a_slow_disk",
             *(f"test_every_rung_can_be_read_back[{rung}]" for rung in ("btf", "raw", "tracepoint")))

# Of a file, as code/slow_disk.c notes it.
Call = collections.namedtuple("Call", "t_ns thread priority len")


def query(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute(sql).fetchall()


def report(path, *options, **run):
    result = run_tool("report", path, *options, **run)
    assert result.status == 0, result.err
    return result


@pytest.fixture(scope="module", name="demo")
def fixture_demo(tmp_path_factory):
    """One live run of the demo with everything on, and its recording."""
    folder = tmp_path_factory.mktemp("recording")
    options = ("-o", f"{folder}/run.ttr", "-v", "--explain", "--user-stacks",
               "--folded", f"{folder}/folded", "--csv", f"{folder}/csv",
               "--tegrastats", f"{FAKE_TEGRASTATS} --interval 100")
    with Load(folder, "demo_pipeline", "secs=4", "reads=1") as load:
        with Trace(folder, "-p", str(load.pid), *options) as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            live = trace.stop()
    return folder, live


def test_text_is_the_live_text(demo):
    folder, live = demo
    assert report(folder / "run.ttr", "-v", "--explain").text == live.text
    assert "identity" in live.text and len(live.text) > 2000


def test_json_is_the_live_json(demo):
    folder, live = demo
    again = parse_report(report(folder / "run.ttr", "--json").text.encode())
    assert again == live.report
    assert again["edges"] and again["stacks"] and again["samples"] and again["tegra"]["samples"]


def test_other_forms_are_the_live_ones(demo):
    folder, _ = demo
    result = report(folder / "run.ttr", "--folded", folder / "folded2", "--csv", folder / "csv2",
                    f"--json={folder}/json2")
    assert result.text == ""  # forms were named, and the text is none of them
    assert (folder / "folded2").read_bytes() == (folder / "folded").read_bytes() != b""
    for name in ("timeseries.csv", "threads.csv", "edges.csv"):
        assert (folder / "csv2" / name).read_bytes() == (folder / "csv" / name).read_bytes()


def test_csv_is_what_the_json_has(demo):
    folder, live = demo
    with open(folder / "csv" / "threads.csv", newline="", encoding="utf-8") as lines:
        rows = {int(row["tid"]): row for row in csv.DictReader(lines)}
    assert set(rows) == {row["tid"] for row in live.rows}
    for row in live.rows:
        assert all(int(rows[row["tid"]][part]) == row[part] for part in PARTS)
    with open(folder / "csv" / "timeseries.csv", newline="", encoding="utf-8") as lines:
        points = list(csv.DictReader(lines))
    times = [float(point["t_s"]) for point in points]
    assert times == sorted(times)
    assert sum(point["gpu_busy_share"] != "" for point in points) == live.report["tegra"]["samples"]


def test_views_answer_the_common_questions(demo):
    folder, live = demo
    path = folder / "run.ttr"
    busiest = max(live.rows, key=lambda row: row["oncpu_ns"] + row["runq_wake_ns"]
                  + row["runq_preempt_ns"])
    assert query(path, "SELECT tid FROM top_threads LIMIT 1") == [(busiest["tid"],)]
    waits = dict(query(path, "SELECT class, ns FROM waits_by_class"))
    assert sum(waits.values()) == sum(row["offcpu_ns"] for row in live.rows)
    assert query(path, "SELECT max(ns) FROM largest_edges") == [
        (max(edge["ns"] for edge in live.report["edges"]),)]
    assert query(path, "SELECT sum(runq_ns) FROM runq_by_thread") == [
        (sum(row["runq_wake_ns"] + row["runq_preempt_ns"] for row in live.rows),)]


def test_series_add_up_to_the_accounts(demo):
    """The points' means times their spans; an event under way while a point is taken is off."""
    folder, live = demo
    oncpu, runq, asleep, spans, last = query(folder / "run.ttr", """
        SELECT sum(oncpu_cpus * span_ns), sum(runq_threads * span_ns),
               sum((off_gpu_threads + off_disk_threads + off_fault_threads + off_lock_threads + off_thread_threads +
                    off_process_threads + off_net_threads + off_device_threads + off_timer_threads +
                    off_child_threads + off_event_threads + off_other_threads) * span_ns),
               sum(span_ns), max(t_ns)
        FROM host_points""")[0]
    assert spans == last == live.report["window"]["duration_ns"]
    for mean, parts in ((oncpu, ("oncpu_ns",)), (runq, ("runq_wake_ns", "runq_preempt_ns")),
                        (asleep, ("offcpu_ns",))):
        whole = sum(row[part] for row in live.rows for part in parts)
        assert abs(mean - whole) < 0.02 * whole, parts
    lines = query(folder / "run.ttr", "SELECT line FROM tegrastats_lines ORDER BY row")
    assert len(lines) == live.report["tegra"]["samples"]
    assert all("GR3D_FREQ" in line for line, in lines)


def test_recording_of_a_version_that_knew_fewer_classes(demo, tmp_path):
    """What it lacks is unknown, and the rest is there."""
    folder, live = demo
    shutil.copy(folder / "run.ttr", tmp_path / "run.ttr")
    with contextlib.closing(sqlite3.connect(tmp_path / "run.ttr")) as old:
        for column in [name for _, name, *_ in old.execute("PRAGMA table_info(host_points)")
                       if name.startswith("off_") and name not in ("off_disk_threads", "off_other_threads")]:
            old.execute(f"ALTER TABLE host_points DROP COLUMN {column}")
        old.commit()
    result = report(tmp_path / "run.ttr", "--csv", tmp_path / "csv", "-v", "--explain")
    assert result.err == ""
    rows = [row for row in csv.DictReader((tmp_path / "csv/timeseries.csv").open()) if row["oncpu_cpus"]]
    assert rows and all(row["off_thread_threads"] == "" and row["off_other_threads"] for row in rows)
    assert report(tmp_path / "run.ttr", "-v", "--explain").text == live.text


def test_printed_schema_is_that_of_the_file(demo, tmp_path):
    folder, _ = demo
    schema = run_tool("report", "--schema").text
    with contextlib.closing(sqlite3.connect(tmp_path / "empty.db")) as empty:
        empty.executescript(schema)
        want = sorted(empty.execute("SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL"))
    assert sorted(query(folder / "run.ttr",
                        "SELECT name, sql FROM sqlite_schema WHERE sql NOT NULL")) == want
    assert query(folder / "run.ttr", "PRAGMA quick_check") == [("ok",)]
    strict = query(folder / "run.ttr", "SELECT strict FROM pragma_table_list "
                   "WHERE type = 'table' AND schema = 'main' AND name NOT LIKE 'sqlite_%'")
    assert len(strict) > 30 and set(strict) == {(1,)}


def test_one_file_that_anyone_can_read(demo, tmp_path):
    """No log beside it; on a medium that cannot be written too."""
    folder, live = demo
    assert not list(folder.glob("run.ttr-*"))
    shutil.copy(folder / "run.ttr", tmp_path / "run.ttr")
    prefix = in_mounts(f"mount --bind {tmp_path} {tmp_path}; mount -o remount,ro,bind {tmp_path}")
    assert report(tmp_path / "run.ttr", "-v", "--explain", prefix=prefix).text == live.text


def has_batches(path, least_ns):
    try:
        return query(path, "SELECT end_ns - start_ns FROM session")[0][0] >= least_ns
    except (sqlite3.Error, IndexError):
        return False


def test_killed(tmp_path):
    """SIGKILL after the second batch or later: what a second ago was measured is there."""
    path = tmp_path / "run.ttr"
    with Load(tmp_path, "demo_pipeline", "secs=60") as load:
        load.go()
        with Trace(tmp_path, "-p", str(load.pid), "-o", str(path),
                   "--tegrastats", f"{FAKE_TEGRASTATS} --interval 100") as trace:
            wait_for("batches", lambda: has_batches(path, 2.5 * S))
            trace.process.send_signal(signal.SIGKILL)
            trace.process.wait(LIMIT)
        tids = set(load.ready["tids"].values())
    result = report(path, "--json")
    data = parse_report(result.text.encode())
    assert "cut off" in result.err and len(result.err.splitlines()) == 1
    assert data["window"]["duration_ns"] >= 2.5 * S
    assert {row["tid"] for row in data["threads"]} >= tids
    assert all(row["identity_error_ns"] == 0 for row in data["threads"])
    assert data["tegra"]["samples"] >= 10
    assert data["verdict"]["class"]
    assert query(path, "SELECT count(*) FROM tegrastats_lines")[0][0] >= 10
    assert query(path, "SELECT sum(off_thread_threads) > 0.5 * sum(off_other_threads) FROM host_points") == [(1,)]
    assert query(path, "SELECT value FROM meta WHERE key = 'state'") == [("running",)]
    assert report(path).text.startswith(data["verdict"]["class"])


@pytest.fixture(name="slow_disk")
def fixture_slow_disk(tmp_path):
    """The environment of a program that waits 0.1 s for each sync, and what it does to each file."""
    source = os.path.join(os.path.dirname(__file__), "code/slow_disk.c")
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-fPIC", "-shared", "-o", tmp_path / "slow_disk.so",
                    source], check=True)
    env = {"LD_PRELOAD": f"{tmp_path}/slow_disk.so", "SLOW_DISK_MS": "100",
           "SLOW_DISK_LOG": f"{tmp_path}/calls"}

    def calls(what, file):
        lines = (line.split(maxsplit=5) for line in (tmp_path / "calls").read_text().splitlines())
        return [Call(int(line[0]), *line[2:4], int(line[4])) for line in lines
                if line[1] == what and line[5] == str(file)]

    return env, calls


def test_slow_disk_holds_nothing_up(sleeper, slow_disk, tmp_path):
    """The thread that measures syncs nothing, and writes no batch at the priority of its readings."""
    env, calls = slow_disk
    path, log = tmp_path / "run.ttr", tmp_path / "run.ttr-wal"
    result = run_tool("-q", f"--json={tmp_path}/json", "-o", path, "-d", "2.2", "-p", sleeper.pid,
                      "--tegrastats", f"{FAKE_TEGRASTATS} --interval 20", env=env)
    assert result.status == 0, result.err
    window = parse_report((tmp_path / "json").read_bytes())["window"]

    def during(what, file):
        return [call for call in calls(what, file)
                if window["start_ns"] <= call.t_ns < window["end_ns"]]

    for file in path, log, tmp_path:
        assert not [call for call in during("sync", file) if call.thread == "main"], file
    batches = [call for call in during("write", log) if call.thread == "main"]
    assert batches and not [call for call in batches if call.priority == "raised"]
    # The database is written after its log was synced, and the log is cut after the database was.
    synced_log, synced, cuts = during("sync", log), during("sync", path), during("cut", log)
    copied = [call for call in during("write", path) if call.thread == "other"]
    assert synced_log[0].t_ns < copied[0].t_ns < synced[0].t_ns < cuts[0].t_ns
    assert calls("sync", tmp_path)[0].t_ns < synced[0].t_ns
    # Though lines come all the time.
    assert all(call.len == 0 for call in cuts)
    assert query(path, "SELECT count(*) > 50 FROM tegrastats_lines") == [(1,)]
    assert report(path).text == result.text


def test_killed_on_a_slow_disk(sleeper, slow_disk, tmp_path):
    path = tmp_path / "run.ttr"
    with Trace(tmp_path / "trace", "-p", str(sleeper.pid), "-o", str(path), "--tegrastats",
               f"{FAKE_TEGRASTATS} --interval 20", env={**slow_disk[0], "SLOW_DISK_MS": "2000"}) as trace:
        wait_for("batches", lambda: has_batches(path, 3.5 * S))
        trace.process.send_signal(signal.SIGKILL)
        trace.process.wait(LIMIT)
    data = parse_report(report(path, "--json").text.encode())
    assert data["window"]["duration_ns"] >= 3.5 * S and data["tegra"]["samples"] > 100
    assert query(path, "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("rung", ("btf", "raw", "tracepoint", "perf", "proc"))
def test_every_rung_can_be_read_back(tmp_path, rung):
    """Whatever a rung does not know; with threads that have ended too."""
    options, prefix = ("--rung", rung), ()
    if rung == "raw":
        shutil.copyfile("/sys/kernel/btf/vmlinux", tmp_path / "kernel.btf")
        options, prefix = ("--btf", tmp_path / "kernel.btf"), in_mounts("mount -t tmpfs none /sys/kernel/btf")
    live = run_tool("-q", "-v", "--explain", "--timeline", *options, "-o", tmp_path / "run.ttr",
                    f"--json={tmp_path}/json", "--", "python3", "-c",
                    "import threading, time; threading.Thread(target=time.sleep, args=[0.4]).start(); time.sleep(0.8)",
                    prefix=prefix)
    assert live.status == 0, live.err
    data = parse_report((tmp_path / "json").read_bytes())
    assert data["capability"]["rung"] == rung
    assert [row for row in data["threads"] if row["exited"]]
    again = report(tmp_path / "run.ttr", "-v", "--explain")
    assert again.text == live.text and again.err == ""
    assert parse_report(report(tmp_path / "run.ttr", "--json").text.encode()) == data
    unknown = query(tmp_path / "run.ttr", "SELECT count(*) FROM threads WHERE runq_count IS NULL")
    assert unknown == [(len(data["threads"]) if rung == "proc" else 0,)]


def test_killed_before_anything(sleeper, tmp_path):
    path = tmp_path / "run.ttr"
    with Trace(tmp_path, "-p", str(sleeper.pid), "-o", str(path)) as trace:
        wait_for("the file", lambda: path.exists() and path.stat().st_size)
        trace.process.send_signal(signal.SIGKILL)
        trace.process.wait(LIMIT)
    result = run_tool("report", path)
    assert result.status in (0, FAILED)
    assert len(result.err.splitlines()) <= 1


def test_report_of_a_run_that_goes_on(sleeper, tmp_path):
    path = tmp_path / "run.ttr"
    with Trace(tmp_path, "-p", str(sleeper.pid), "-o", str(path)) as trace:
        wait_for("a batch", lambda: has_batches(path, 1))
        assert "still being written" in report(path).err
        assert trace.stop().text == report(path).text


def test_somebody_reads_at_the_end(sleeper, tmp_path):
    path = tmp_path / "run.ttr"
    with Trace(tmp_path, "-p", str(sleeper.pid), "-o", str(path)) as trace:
        wait_for("a batch", lambda: has_batches(path, 1))
        with contextlib.closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM threads").fetchall()
            live = trace.stop()
            assert report(path).text == live.text
    assert report(path).text == live.text


def test_two_runs_into_one_file(sleeper, tmp_path):
    path = tmp_path / "run.ttr"
    with Trace(tmp_path / "first", "-p", str(sleeper.pid), "-o", str(path)) as trace:
        wait_for("a batch", lambda: has_batches(path, 1))
        second = run_tool("-q", "-o", path, "-p", sleeper.pid, "-d", "0.2")
        assert second.status == USAGE and "another run" in second.error_line()
        assert trace.stop().text == report(path).text


def test_old_recording_is_replaced(sleeper, tmp_path):
    path = tmp_path / "run.ttr"
    for _ in range(2):
        live = run_tool("-q", "-o", path, "-p", sleeper.pid, "-d", "0.3")
        assert live.status == 0 and report(path).text == live.text


def test_old_recording_stays_when_the_run_cannot_begin(sleeper, tmp_path):
    path = tmp_path / "run.ttr"
    live = run_tool("-q", "-o", path, "-p", sleeper.pid, "-d", "0.3")
    assert run_tool("-q", "-o", path, "-p", 2 ** 22 - 2, "-d", "0.3").status == NO_TARGET
    assert report(path).text == live.text


def test_other_files_are_not_replaced(sleeper, tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("mine" * 100)
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE mine(x)")
    before = path.read_bytes(), (tmp_path / "other.db").read_bytes()
    for name in (path, tmp_path / "other.db"):
        result = run_tool("-q", "-o", name, "-p", sleeper.pid, "-d", "0.2")
        assert result.status == USAGE and "no recording" in result.error_line()
    assert (path.read_bytes(), (tmp_path / "other.db").read_bytes()) == before


@pytest.mark.parametrize("target", ("there", "not there"))
def test_symbolic_link(sleeper, tmp_path, target):
    if target == "there":
        (tmp_path / "target").write_text("mine")
    (tmp_path / "run.ttr").symlink_to(tmp_path / "target")
    result = run_tool("-q", "-o", tmp_path / "run.ttr", "-p", sleeper.pid, "-d", "0.2")
    assert result.status == USAGE
    if target == "there":
        assert (tmp_path / "target").read_text() == "mine"
    else:
        assert not (tmp_path / "target").exists()


def test_links_in_place_of_the_files_beside_it(sleeper, tmp_path):
    """SQLite writes a log beside the file: not through a link that waits there."""
    (tmp_path / "target").write_text("mine")
    for suffix in ("-wal", "-shm", "-journal"):
        (tmp_path / f"run.ttr{suffix}").symlink_to(tmp_path / "target")
    live = run_tool("-q", "-o", tmp_path / "run.ttr", "-p", sleeper.pid, "-d", "1.3")
    assert live.status == 0 and (tmp_path / "target").read_text() == "mine"
    assert report(tmp_path / "run.ttr").text == live.text


def test_linked_folder_is_fine(sleeper, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    run_tool("-q", "-o", tmp_path / "link" / "run.ttr", "-p", sleeper.pid, "-d", "0.2")
    report(tmp_path / "real" / "run.ttr")


@pytest.mark.parametrize("name", ("no/run.ttr", ".", "..", ""))
def test_bad_paths(sleeper, tmp_path, name):
    result = run_tool("-q", "-o", f"{tmp_path}/{name}", "-p", sleeper.pid)
    assert result.status == USAGE and result.text == "" and result.error_line()


def test_read_only_folder(sleeper, tmp_path):
    prefix = in_mounts(f"mount -t tmpfs -o ro none {tmp_path}")
    result = run_tool("-q", "-o", tmp_path / "run.ttr", "-p", sleeper.pid, prefix=prefix)
    assert result.status == USAGE and "Read-only" in result.error_line()


def test_command_does_not_run_without_its_recording(tmp_path):
    result = run_tool("-q", "-o", tmp_path / "no/run.ttr", "--", "touch", tmp_path / "ran")
    assert result.status == 125 and not (tmp_path / "ran").exists()


def test_belongs_to_the_user_behind_sudo(sleeper, tmp_path):
    env = {"SUDO_UID": "12345", "SUDO_GID": "23456"}
    path = tmp_path / "run.ttr"
    with Trace(tmp_path, "-p", str(sleeper.pid), "-o", str(path), "--csv", f"{tmp_path}/csv",
               env=env) as trace:
        wait_for("a batch", lambda: has_batches(path, 1))
        for name in ("run.ttr", "run.ttr-wal", "run.ttr-shm"):
            stat = os.stat(tmp_path / name)
            assert (stat.st_uid, stat.st_gid) == (12345, 23456), name
        trace.stop()
    for name in ("run.ttr", "csv", "csv/threads.csv"):
        stat = os.stat(tmp_path / name)
        assert (stat.st_uid, stat.st_gid) == (12345, 23456), name


def test_full_disk(tmp_path):
    """
    The disk fills up in the middle: the run ends with all that it measured. Its recording is whole
    when room for the end was found, else what was written before.
    """
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f"""mount -t tmpfs -o size=4m none {disk}
        (sleep 3; cat /dev/zero >{disk}/fill 2>/dev/null) & filler=$!
        "$@" || rc=$?
        wait $filler || true
        rm {disk}/fill; cp -a {disk} {tmp_path}/left
        exit ${{rc:-0}}"""
    with Load(tmp_path, "demo_pipeline", "secs=60") as load:
        load.go()
        result = run_tool("-q", "-o", disk / "run.ttr", f"--json={tmp_path}/json", "-d", "7",
                          "--tegrastats", f"{FAKE_TEGRASTATS} --interval 2", "-p", load.pid,
                          prefix=("unshare", "-m", "sh", "-ec", script, "sh"))
    lines = result.err.splitlines()
    assert [line for line in lines if "warning" in line and "full" in line], lines
    data = parse_report((tmp_path / "json").read_bytes())
    assert data["window"]["duration_ns"] >= 6.9 * S and "measured" in result.text
    left = parse_report(report(tmp_path / "left" / "run.ttr", "--json").text.encode())
    if result.status == 0:
        assert left == data
    else:
        assert result.status == FAILED and [line for line in lines if "kept" in line], lines
        assert 0 < left["window"]["duration_ns"] < data["window"]["duration_ns"]


def test_hostile_names(tmp_path):
    """Of a thread and of its folder, in every form."""
    program = tmp_path / "=cmd|'x'!A1"
    shutil.copy("/bin/sleep", program)
    with background(str(program), "60") as target:
        live = run_tool("-q", "-o", tmp_path / "run.ttr", "-p", target.pid, "-d", "0.3")
    assert report(tmp_path / "run.ttr").text == live.text
    report(tmp_path / "run.ttr", "--csv", tmp_path / "csv")
    with open(tmp_path / "csv" / "threads.csv", newline="", encoding="utf-8") as lines:
        row = next(csv.DictReader(lines))
    assert row["comm"] == "'=cmd|'x'!A1"


def test_name_that_is_no_text(tmp_path):
    script = "open('/proc/self/comm', 'wb').write(b'\\xff\\x1b[31m'); import time; time.sleep(60)"
    with background("python3", "-c", script) as target:
        wait_for("its name", lambda: b"\x1b" in open(f"/proc/{target.pid}/comm", "rb").read())
        live = run_tool("-q", "-v", "-o", tmp_path / "run.ttr", f"--json={tmp_path}/json", "-p",
                        target.pid, "-d", "0.3")
    assert report(tmp_path / "run.ttr", "-v").text == live.text
    assert report(tmp_path / "run.ttr", "--json").text == (tmp_path / "json").read_text()
    assert query(tmp_path / "run.ttr", "SELECT comm FROM threads") == [(b"\xff\x1b[31m",)]


def test_not_a_recording(tmp_path):
    (tmp_path / "text").write_text("x" * 5000)
    for path in (tmp_path / "text", tmp_path, "/dev/null", "/dev/zero", "/proc/self/mem"):
        result = run_tool("report", path)
        assert result.status == FAILED and "no recording" in result.error_line(), path
    assert run_tool("report", tmp_path / "none").status == NO_TARGET
    assert run_tool("report").status == USAGE


def test_cut_file(demo, tmp_path):
    folder, _ = demo
    whole = (folder / "run.ttr").read_bytes()
    for size in (0, 50, 4096, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut").write_bytes(whole[:size])
        result = run_tool("report", tmp_path / "cut")
        assert result.status == FAILED and result.text == "" and result.error_line()


def test_report_cannot_be_written(demo):
    folder, _ = demo
    with open("/dev/full", "wb") as full:
        result = run_tool("report", folder / "run.ttr", stdout=full)
    assert result.status == FAILED and "No space left" in result.error_line()


def test_reading_needs_no_root(demo):
    folder, live = demo
    with tempfile.TemporaryDirectory(dir="/tmp") as open_folder:
        os.chmod(open_folder, 0o755)
        shutil.copy(folder / "run.ttr", f"{open_folder}/run.ttr")
        os.chmod(f"{open_folder}/run.ttr", 0o644)
        result = report(f"{open_folder}/run.ttr", "-v", "--explain",
                        prefix=("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"))
    assert result.text == live.text


@pytest.mark.slow
def test_recording_costs_little(tmp_path):
    """CPU time of the same run with and without; the target's own load is the same."""
    used = []
    with Load(tmp_path, "demo_pipeline", "secs=60") as load:
        load.go()
        for options in ((), ("-o", str(tmp_path / "run.ttr"))):
            before = os.times()
            run_tool("-q", *options, "--tegrastats", f"{FAKE_TEGRASTATS} --interval 100",
                     "-p", load.pid, "-d", "10")
            after = os.times()
            used.append(after.children_user + after.children_system - before.children_user
                        - before.children_system)
            time.sleep(0.1)
    assert used[1] - used[0] < 0.15, used
