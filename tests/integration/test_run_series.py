# SPDX-License-Identifier: GPL-2.0-only
"""tegratrace run: several runs side by side, and where their files go."""
import json
import os
import re
import signal
import sqlite3
import statistics
import subprocess

import pytest

import harness
from harness import TEGRATRACE, run_tool, wait_for, workload

FULL_ONLY = ("test_duration_bounds_each_run", "test_same_verdict_is_said", "test_recording_that_is_cut_off",
             "test_warm_up_for_a_time", "test_names_that_are_given_get_the_number",
             "test_json_on_stdout_is_one_object_a_run", "test_child_that_ignores_sigterm",
             "test_no_run_has_the_last_ones_children_beside_it[0.4s]")


@pytest.fixture(name="out")
def fixture_out(tmp_path):
    return tmp_path / "out"


def times_of(out, pattern="*.ttr"):
    """From the recordings themselves, with SQL of our own."""
    times = []
    for number in range(1, 1 + len(list(out.glob(pattern)))):
        path = next(out.glob(f"*-{number}.ttr"))
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        times.append(database.execute("SELECT end_ns - start_ns FROM session").fetchone()[0])
        database.close()
    return times


def seconds(text):
    value, unit = text.split()
    return float(value) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


def row(text, name):
    """median, least, most of a row of the comparison."""
    line = next(line for line in text.splitlines() if line.strip().startswith(name))
    return re.findall(r"[\d.]+ (?:s|ms|us)\b", line)[:3]


def test_repeats(out, tmp_path):
    """Runs of different lengths: median, least and most are those of the recordings."""
    count = tmp_path / "count"
    script = f"n=$(cat {count} 2>/dev/null); echo $((n + 1)) >{count}; sleep 0.$(((n % 3 + 1) * 3))"
    told = tmp_path / "summary.json"
    told.write_text("made before, and longer " * 999, encoding="ascii")
    result = run_tool("run", f"--out={out}", "--warmup=2", "--repeat=3", f"--summary={told}", "--", "sh", "-c", script)
    assert result.status == 0
    assert count.read_text(encoding="ascii") == "5\n"
    assert sorted(path.name for path in out.glob("*.ttr")) == ["sh-1.ttr", "sh-2.ttr", "sh-3.ttr"]
    times = times_of(out)
    # The third, first and second length: warm-up was none of them.
    assert times[0] > 0.9e9 and times[1] > 0.3e9 and times[2] > 0.6e9
    wanted = [statistics.median(times), min(times), max(times)]
    assert [seconds(text) for text in row(result.text, "time")] == pytest.approx([ns / 1e9 for ns in wanted], rel=0.0006)
    assert all(f"sh-{number}.ttr" in result.text for number in (1, 2, 3))
    assert f"of run {1 + times.index(sorted(times)[1])}" in result.text
    assert result.text.count("\n  measured  ") == 1 and "checklist" in result.text
    summary = harness.parse_json(told.read_bytes())
    assert summary["schema"] == "tegratrace-summary/1" and summary["command"] == ["sh", "-c", script]
    assert [run["time_s"] for run in summary["runs"]] == pytest.approx([ns / 1e9 for ns in times], rel=1e-5)
    assert [run["recording"] for run in summary["runs"]] == [f"{out}/sh-{number}.ttr" for number in (1, 2, 3)]
    compared = summary["compared"]
    assert [compared["time_s"][name] for name in ("median", "min", "max")] == pytest.approx(
        [ns / 1e9 for ns in wanted], rel=1e-5)
    assert compared["runs"] == compared["time_s"]["runs"] == 3 and compared["same_class"]
    assert compared["middle_run"] == 1 + times.index(sorted(times)[1])
    assert compared["classes"] == {"insufficient-data": 3} and compared["iteration_s"] == {
        "runs": 0, "median": None, "min": None, "max": None}
    for number in (1, 2, 3):
        assert f"run {number} of 3: " in result.err
        assert run_tool("report", out / f"sh-{number}.ttr").status == 0


def test_iterations_are_compared(out, tmp_path):
    """A second, and mean, from the recordings with SQL of our own."""
    env = {"FAKE_GPU_STATE": str(tmp_path / "gpu"), "LD_LIBRARY_PATH": f"{harness.BUILD}/tests/workloads"}
    result = run_tool("run", "-q", f"--out={out}", "--repeat=2", "--iter=app_iteration", "--", workload("cuda_app"),
                      "iters=150", "kernel_us=4000", env=env)
    assert result.status == 0
    rates, means = [], []
    for number in (1, 2):
        database = sqlite3.connect(f"file:{out}/cuda_app-{number}.ttr?mode=ro", uri=True)
        count, mean, ns = database.execute(
            "SELECT iterations, iterations_mean_ns, end_ns - start_ns FROM cuda, session").fetchone()
        database.close()
        assert count > 50
        rates.append(count / (ns / 1e9))
        means.append(mean / 1e9)
    line = next(line for line in result.text.splitlines() if line.strip().startswith("iterations a second"))
    shown = [float(number) for number in re.findall(r"[\d.]+", line)[:3]]
    assert shown == pytest.approx([statistics.median(rates), min(rates), max(rates)], rel=0.0006)
    assert [seconds(text) for text in row(result.text, "iteration, mean")] == pytest.approx(
        [statistics.median(means), min(means), max(means)], rel=0.0006)


def test_report_is_that_of_the_recording(out):
    result = run_tool("run", "-q", f"--out={out}", "--", "sh", "-c", "sleep 0.2")
    assert result.status == 0
    report = run_tool("report", out / "sh-1.ttr").text
    assert result.text.startswith(report)
    for name in ("data captured", "what saturates first", "clocks steady", "temperature safe", "point on the roofline"):
        assert name in result.text[len(report):]


def test_failing_run_is_the_last(out, tmp_path):
    count = tmp_path / "count"
    script = f"n=$(cat {count} 2>/dev/null); echo $((n + 1)) >{count}; sleep 0.1; [ \"$n\" != 1 ] || exit 9"
    result = run_tool("run", "-q", f"--out={out}", "--repeat=4", f"--summary={tmp_path}/told", "--", "sh", "-c", script)
    assert result.status == 9 and count.read_text(encoding="ascii") == "2\n"
    assert len(times_of(out)) == 2
    assert "does not count: exit status 9" in result.text
    summary = harness.parse_json((tmp_path / "told").read_bytes())
    assert [(run["end"], run["exit_status"]) for run in summary["runs"]] == [("whole", 0), ("failed", 9)]
    assert summary["asked"] == 4 and summary["compared"]["runs"] == summary["compared"]["time_s"]["runs"] == 1
    # Only the first one is in the median.
    assert seconds(row(result.text, "time")[0]) == pytest.approx(times_of(out)[0] / 1e9, rel=0.0006)


def test_differing_verdicts_are_said(out, tmp_path):
    """Each second run computes, the others sleep."""
    count = tmp_path / "count"
    script = (f"n=$(cat {count} 2>/dev/null); echo $((n + 1)) >{count}; "
              f"if [ $((n % 2)) = 1 ]; then exec {workload('hog')} n=1 secs=1.2; else exec sleep 0.4; fi")
    result = run_tool("run", "-q", f"--out={out}", "--repeat=3", f"--summary={tmp_path}/told",
                      "--tegrastats", harness.FAKE_TEGRASTATS, "--", "sh", "-c", script)
    assert result.status == 0
    classes = [json.loads(run_tool("report", "--json", out / f"sh-{number}.ttr").text)["verdict"]["class"]
               for number in (1, 2, 3)]
    assert classes[0] == classes[2] != classes[1]
    assert "the runs differ, so none of these is sure" in result.text
    assert f"{classes[0]} in 2 (run 1, 3)" in result.text and f"{classes[1]} in 1 (run 2)" in result.text
    assert "share of the limit" not in result.text
    compared = harness.parse_json((tmp_path / "told").read_bytes())["compared"]
    assert compared["classes"] == {classes[0]: 2, classes[1]: 1}
    assert not compared["same_class"] and compared["share"] is None


def test_same_verdict_is_said(out):
    result = run_tool("run", "-q", f"--out={out}", "--repeat=2", "--", "sleep", "0.2")
    assert result.status == 0
    assert "insufficient-data in all runs" in result.text


def test_warm_up_for_a_time(out, tmp_path):
    """Runs as long as there is time, the last one cut short; then the measured one."""
    count = tmp_path / "count"
    script = f"echo >>{count}; [ $(wc -l <{count}) != 2 ] || exec sleep 600; exec sleep 0.1"
    result = run_tool("run", f"--out={out}", "--warmup=1.5s", "--", "sh", "-c", script)
    assert result.status == 0
    assert len(count.read_text(encoding="ascii")) == 3
    assert len(times_of(out)) == 1


def test_duration_bounds_each_run(out, tmp_path):
    count = tmp_path / "count"
    result = run_tool("run", "-q", f"--out={out}", "-d", "0.3", "--warmup=1", "--repeat=2", "--", "sh", "-c",
                      f"echo >>{count}; exec sleep 600")
    assert result.status == 0 and len(count.read_text(encoding="ascii")) == 3
    assert all(0.3e9 <= ns < 600e9 for ns in times_of(out))


def test_interrupted_run_does_not_count(out, tmp_path):
    """The second of three: the first one's report and numbers are there."""
    argv = [TEGRATRACE, "run", "-q", f"--out={out}", "--repeat=3", "--", "sh", "-c",
            f"if [ -e {tmp_path}/pid ]; then touch {tmp_path}/second; exec sleep 600; fi; "
            f"echo >{tmp_path}/pid; exec sleep 0.2"]
    with harness.background(*argv, stdout=subprocess.PIPE) as process:
        wait_for("the second run", (tmp_path / "second").exists)
        process.terminate()
        text = process.stdout.read().decode()
        assert process.wait(harness.LIMIT) == 0
    times = times_of(out)
    assert len(times) == 2 and "does not count: it was interrupted" in text
    assert seconds(row(text, "time")[0]) == pytest.approx(times[0] / 1e9, rel=0.0006)


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


# A child, one whose parent has ended, one in a session of its own; what is there from the runs before.
FAMILY = """exec >/dev/null 2>&1
    for pid in $(cat {0}/pids); do [ ! -e /proc/$pid ] || echo $pid >>{0}/beside; done
    sleep 600 & echo $! >>{0}/pids
    (sleep 600 & echo $! >>{0}/pids)
    setsid sleep 600 & echo $! >>{0}/pids
    sleep 600; true"""


@pytest.mark.parametrize("warmup", ("1", "0.4s"))
def test_no_run_has_the_last_ones_children_beside_it(out, tmp_path, warmup):
    """Of a launcher, which is all that is told to end by whoever knows its PID alone."""
    (tmp_path / "pids").touch()
    try:
        result = run_tool("run", f"--out={out}", "-d", "0.3", f"--warmup={warmup}", "--repeat=2", "--", "sh", "-c",
                          FAMILY.format(tmp_path))
        pids = harness.pids_in(tmp_path / "pids")
        assert result.status == 0 and len(pids) >= 9
        assert not (tmp_path / "beside").exists() and not any(map(harness.is_running, pids))
        assert "warning" not in result.err and "beside" not in result.err
    finally:
        kill_all(harness.pids_in(tmp_path / "pids"))


def test_child_that_ignores_sigterm(out, tmp_path):
    """It must not run beside the next one, so it gets SIGKILL in the end."""
    script = f"exec >/dev/null 2>&1; (trap '' TERM; echo >>{tmp_path}/ran; exec sleep 600) & echo $! >>{tmp_path}/pids; wait"
    try:
        result = run_tool("run", f"--out={out}", "-d", "0.3", "--warmup=1", "--", "sh", "-c", script)
        assert result.status == 0 and (tmp_path / "ran").read_text(encoding="ascii") == "\n\n"
        assert not any(map(harness.is_running, harness.pids_in(tmp_path / "pids")))
    finally:
        kill_all(harness.pids_in(tmp_path / "pids"))


def test_what_a_run_left_on_purpose_is_said(out, tmp_path):
    """It ended by itself, so what it left is not ended; the run beside it says so."""
    pid = tmp_path / "pids"
    script = f"[ -e {pid} ] || {{ setsid sleep 600 >&- 2>&- & echo $! >{pid}; }}; sleep 0.2"
    try:
        result = run_tool("run", f"--out={out}", "--warmup=1", "--", "sh", "-c", script)
        left, = harness.pids_in(pid)
        assert result.status == 0 and harness.is_running(left)
        assert f"still running beside run 1, started by one before: PID {left} (sleep)" in result.err
        missing = json.loads(run_tool("report", "--json", out / "sh-1.ttr").text)["capability"]["missing"]
        assert {"what": "undisturbed run", "why": f"{left} (sleep)"} in [
            {**entry, "why": entry["why"].rpartition("PID ")[2]} for entry in missing]
    finally:
        kill_all(harness.pids_in(pid))


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM))
def test_interrupted_before_anything_was_measured(out, tmp_path, number):
    argv = [TEGRATRACE, "run", "-q", f"--out={out}", "--delay=60", "--", "sh", "-c",
            f"exec >/dev/null 2>&1; sleep 600 & echo $! >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/pids; wait"]
    with harness.background(*argv, stderr=subprocess.PIPE) as process:
        wait_for("the command", (tmp_path / "pids").exists)
        process.send_signal(number)
        errors = process.stderr.read().decode()
        assert process.wait(harness.LIMIT) == 128 + number
    assert "nothing was measured" in errors
    assert not any(map(harness.is_running, harness.pids_in(tmp_path / "pids")))


@pytest.mark.parametrize("own, status", ((0, 1), (7, 7)))
def test_command_that_ends_within_the_delay(out, own, status):
    """125 is for a command that has not run."""
    result = run_tool("run", "-q", f"--out={out}", "--delay=60", "--repeat=2", "--", "sh", "-c", f"exit {own}")
    assert result.status == status and "the target ended within the delay" in result.error_line()


def test_names_that_are_given_get_the_number(tmp_path):
    result = run_tool("run", "-q", f"--out={tmp_path}/out", "-o", tmp_path / "my.ttr", f"--json={tmp_path}/my.json",
                      f"--csv={tmp_path}/csv", "--repeat=2", "--", "sleep", "0.1")
    assert result.status == 0
    assert {"my-1.ttr", "my-2.ttr", "my-1.json", "my-2.json", "csv-1", "csv-2"} <= set(os.listdir(tmp_path))
    for number in (1, 2):
        harness.parse_report((tmp_path / f"my-{number}.json").read_bytes())
    result = run_tool("run", "-q", f"--out={tmp_path}/out", "-o", tmp_path / "one.ttr", "--", "true")
    assert result.status == 0 and (tmp_path / "one.ttr").exists()


def test_json_on_stdout_is_one_object_a_run(out):
    result = run_tool("run", "-q", f"--out={out}", "--json", "--repeat=2", "--", "sh", "-c", "echo out; sleep 0.1")
    assert result.status == 0
    for line in result.text.splitlines():
        harness.parse_report(line.encode())
    assert result.text.count("\n") == 2 and "checklist" in result.err


def test_dated_folder_of_the_invoking_user(tmp_path):
    env = {"SUDO_UID": "65534", "SUDO_GID": "65534"}
    for _ in range(2):
        assert run_tool("run", "-q", "--", "sleep", "0.1", env=env, cwd=tmp_path).status == 0
    folders = list(tmp_path.iterdir())
    assert len(folders) == 2 and all(re.fullmatch(r"tegratrace-\d{8}-\d{6}(-\d+)?", path.name) for path in folders)
    for folder in folders:
        names = {path.name for path in folder.iterdir()}
        assert names >= {"sleep-1.ttr"} and names <= {"sleep-1.ttr", "sleep-1.html"}
        assert all(path.stat().st_uid == 65534 for path in (folder, *folder.iterdir()))


def test_folder_that_is_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "there")
    result = run_tool("run", f"--out={tmp_path}/out", "--", "touch", tmp_path / "ran")
    assert result.status == 125 and "cannot write" in result.error_line() and not (tmp_path / "ran").exists()


def test_recording_that_is_cut_off(out):
    """A full disk costs the recording of the run; that nothing is known of it is said."""
    script = f"""mkdir -p {out}
        mount -t tmpfs -o size=4m none {out}
        head -c 3900k /dev/zero >{out}/filler
        """
    result = run_tool("run", "-q", f"--out={out}", "--repeat=2", "--", "sh", "-c", "sleep 0.1",
                      prefix=harness.in_mounts(script))
    assert result.status == 1
    assert "not known: it could not be recorded" in result.text and "no run counts" in result.text
    assert "is not complete" in result.err


@pytest.mark.parametrize("path", ("/nonexistent/summary", "/"))
def test_summary_that_cannot_be_written(out, tmp_path, path):
    """Said before anything is measured, with no folder left."""
    result = run_tool("run", f"--out={out}", f"--summary={path}", "--", "touch", tmp_path / "ran")
    assert result.status == 125 and f"cannot write {path}" in result.error_line()
    assert not (tmp_path / "ran").exists() and not out.exists()


@pytest.mark.parametrize("args, words", ((("--repeat=0",), "--repeat"), (("--warmup=x",), "--warmup"), (("--warmup=-1s",), "--warmup"),
                                         (("--live", "--repeat=2"), "--live"), ((), "no command"), (("-p", "1"), "'p'"),
                                         (("true",), "behind --"), (("--restore-clocks",), "without a command")))
def test_command_line(args, words):
    command = () if words in ("no command", "'p'", "behind --") else ("--", "true")
    result = run_tool("run", *args, *command)
    assert result.status == 2 and words in result.err


def test_options_of_live_runs(out):
    result = run_tool("run", "-q", f"--out={out}", "--rung", "tracepoint", "--without", "block", "--model=resnet50",
                      "--latency=2", "--peak-flops=10T", "--peak-bw=68G", "--cuda=off", "--", "sleep", "0.3")
    assert result.status == 0
    report = json.loads(run_tool("report", "--json", out / "sleep-1.ttr").text)
    assert report["capability"]["rung"] == "tracepoint" and report["block"] is None
    assert report["roofline"]
    assert re.search(r"pass  point on the roofline: \d+ GFLOP/s", result.text)
