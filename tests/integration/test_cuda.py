# SPDX-License-Identifier: GPL-2.0-only
"""
Calls of the CUDA driver library, here the stand-in of tests/workloads/fakecuda: known numbers of
calls, and waits whose length the workload takes itself.
"""
import collections
import os
import shutil
import subprocess
import sys
import time

import pytest

from harness import (BUILD, Load, Trace, background, identity_errors, in_mounts, parse_json,
                     parse_report, run_tool, runq_ns, trace_load, wait_for, workload)
from traces import chrome_async, parent, read_perfetto, title

NEEDS_BPF = True

FOLDER = f"{BUILD}/tests/workloads"
LIBRARY = f"{FOLDER}/libcuda.so.1"
ALL = ("--cuda", "all")
COUNTS = ("sync_calls", "polls", "launches", "graph_launches", "copies", "copy_bytes")

# Only waits: cuda_app's other phases are short of them.
WAITS_ONLY = ("events=0", "ctx=0", "polls=0", "htod=0", "dtoh=0", "copies=0", "launches=0",
              "graphs=0", "waits=0")

FULL_ONLY = ("test_timeline_that_is_full_costs_the_sums_nothing",
             "test_wait_under_way_at_the_end[btf-spinning]", "test_wait_under_way_at_the_end[tracepoint-spinning]",
             "test_one_event_for_each_probe")

TRIES = 3
LONGEST_WAIT_NS = 2 * 2003000  # the other thread's kernel may be in front


def environment(folder, wait="blocking", path=FOLDER, **more):
    return {"FAKE_GPU_STATE": str(folder / "gpu"), "FAKE_CUDA_WAIT": wait,
            "LD_LIBRARY_PATH": path, **more}


def run(folder, rung, *args, program="cuda_app", options=ALL, wait="blocking", **more):
    folder.mkdir(exist_ok=True)
    return trace_load(folder, rung, program, *args, options=options, nice=-20,
                      env=environment(folder, wait, **more))


@pytest.fixture(scope="session", name="both")
def fixture_both(tmp_path_factory):
    """both(rung, wait): cuda_app with two threads, once each."""
    results = {}

    def get(rung, wait):
        if (rung, wait) not in results:
            folder = tmp_path_factory.mktemp(f"cuda-{rung}-{wait}")
            results[rung, wait] = run(folder, rung, "threads=2", "inside=1", wait=wait)
        return results[rung, wait]

    return get


def counts_differ(result, names):
    wrong = []
    for name in names:
        row, truth = result.row(name)["cuda"], result.thread(name)
        wrong += [(name, key, row[key], truth[key]) for key in COUNTS if row[key] != truth[key]]
    return wrong


def calls(result, kind):
    return result.report["cuda"]["calls"][kind]["calls"]


WAITS = ("blocking", "spinning")
WORKERS = ("infer-0", "infer-1")


@pytest.mark.parametrize("wait", WAITS)
def test_every_call_is_counted(both, rung, wait):
    """64-bit byte counts in third, fourth and fifth arguments among them."""
    result = both(rung, wait)
    assert not counts_differ(result, WORKERS)
    cuda = result.report["cuda"]
    assert cuda["state"] == "attached" and cuda["mode"] == "all" and cuda["note"] is None
    assert cuda["library"] == LIBRARY and cuda["libraries"] == 1
    assert [calls(result, kind) for kind in
            ("stream_sync", "event_sync", "ctx_sync", "copy_sync", "launch", "graph_launch",
             "copy_async", "other")] == [2 * n for n in
            (101, 31, 13, 17 + 19, 1009 + 101 + 31 + 13 + 5, 53, 211, 31 + 5 + 23)]
    # cuMemcpyDtoH_v2 ends with a jump to cuStreamSynchronize, and has a second name.
    assert (cuda["nested"], cuda["lost"], cuda["cut"]) == (2 * 19, 0, 0)
    assert result.row("cuda_app")["cuda"]["sync_calls"] == 0
    assert not identity_errors(result.report)


@pytest.mark.parametrize("wait", WAITS)
def test_time_in_waits(both, rung, wait):
    """
    A probe is where the kernel likes to preempt: on a loaded machine that falls before the call
    for us, and into it for the workload, which takes the time outside.
    """
    result = both(rung, wait)
    for name in WORKERS:
        row, truth = result.row(name), result.thread(name)
        cuda, queued_ns = row["cuda"], runq_ns(row)
        assert 0.97 * truth["sync_ns"] - queued_ns < cuda["sync_ns"] <= truth["sync_ns"]
        # A pause of the virtual machine between two queries looks like work there.
        queued_ns += result.taken_from(-1)
        assert 0.97 * truth["poll_ns"] - queued_ns < cuda["poll_ns"] <= truth["poll_ns"]
        assert cuda["launch_ns"] < truth["launch_ns"]


@pytest.mark.parametrize("wait", WAITS)
def test_spinning_is_told_from_sleeping(both, rung, wait):
    """
    What the call itself costs, a trap at each end, is the thread's but not all of it inside. From its
    wakeup on, the kernel's clock of a thread may run, which waits in the queue for us. A thread that
    came in unseen, which the kernel now and then has no event for, is found running by the next
    call. Interrupts and steal time are on-CPU for us, but not in the thread's own clock.
    """
    result = both(rung, wait)
    for name in WORKERS:
        row, truth = result.row(name), result.thread(name)
        spin_ns, sync_ns = row["cuda"]["spin_ns"], row["cuda"]["sync_ns"]
        least_ns, most_ns = (truth[key] + truth["poll_cpu_ns"]
                             for key in ("inside_cpu_ns", "sync_cpu_ns"))
        slack_ns = max(0.03 * most_ns, 5e6)
        unseen_ns, taken_ns = row["gaps"] * LONGEST_WAIT_NS, result.taken_from(-1)
        woken_ns = runq_ns(row) if wait == "blocking" else 0
        assert spin_ns == row["gpu_spin_ns"] <= row["oncpu_ns"]
        assert least_ns - slack_ns - unseen_ns - woken_ns <= spin_ns, row
        assert spin_ns <= most_ns + slack_ns + taken_ns, row
        in_sync_ns = spin_ns - truth["poll_cpu_ns"]
        if wait == "blocking":
            assert in_sync_ns < 0.05 * sync_ns + taken_ns
        else:
            assert in_sync_ns + runq_ns(row) + unseen_ns > 0.9 * sync_ns


def call_sums(trace):
    """By thread and by kind: calls, their ns and bytes; those of a thread never at once."""
    sums = collections.defaultdict(collections.Counter)
    for told in trace.slices:
        if title(trace, told.track) != "CUDA calls":
            continue
        assert told.inside == 0
        tid = title(trace, parent(trace, told.track))
        for key in (tid, told.name), (None, told.name):
            sums[key].update(calls=told.facts.get("calls", 1), events=1, ns=told.ns,
                             bytes=told.facts.get("bytes", 0))
    return sums


SYMBOLS = {"stream_sync": "cuStreamSynchronize", "ctx_sync": "cuCtxSynchronize",
           "event_sync": "cuEventSynchronize", "copy_sync": "cuMemcpy", "query": "cuStreamQuery",
           "launch": "cuLaunchKernel", "graph_launch": "cuGraphLaunch",
           "copy_async": "cuMemcpyAsync", "other": "other calls"}
WAIT_SYMBOLS = ("cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "cuMemcpy")


def test_timeline_adds_up_to_the_calls(tmp_path, rung):
    """Also those that a thread's end or the window's cut. A loop of queries is one slice."""
    files = {form: tmp_path / form for form in ("perfetto", "chrome", "run.ttr")}
    result = run(tmp_path, rung, "threads=2", "jumps=3", "doomed=2",
                 options=(*ALL, "--timeline", "--perfetto", str(files["perfetto"]), "--chrome",
                          str(files["chrome"]), "-o", str(files["run.ttr"])))
    assert result.losses["timeline_lost"] == 0 and result.report["cuda"]["cut"] == 4
    sums = call_sums(read_perfetto(files["perfetto"]))
    for name, kind in result.report["cuda"]["calls"].items():
        told = sums[None, SYMBOLS[name]]
        assert told["calls"] == kind["calls"] > 0, name
        assert told["ns"] == kind["ns"], name
        assert kind["bytes"] in (told["bytes"], None)
    for row in result.rows:
        if row["tid"]:
            assert sum(sums[row["tid"], symbol]["ns"] for symbol in WAIT_SYMBOLS) == \
                row["cuda"]["sync_ns"]
    assert sums[None, "cuStreamQuery"]["events"] < 50 < sums[None, "cuStreamQuery"]["calls"]
    calls_told = chrome_async(files["chrome"], "cuda")
    assert sum(event.facts.get("calls", 1) for event in calls_told) == \
        sum(kind["calls"] for kind in result.report["cuda"]["calls"].values())
    assert sum(event.ns for event in calls_told if event.name == "cuStreamSynchronize") == \
        result.report["cuda"]["calls"]["stream_sync"]["ns"]
    again = run_tool("report", files["run.ttr"], "--chrome", tmp_path / "again")
    assert again.status == 0 and (tmp_path / "again").read_bytes() == files["chrome"].read_bytes()


def test_timeline_that_is_full_costs_the_sums_nothing(tmp_path, rung):
    result = run(tmp_path, rung, "launches=40009", options=(*ALL, "--timeline=1", "--perfetto",
                                                            str(tmp_path / "perfetto")))
    assert not counts_differ(result, ["infer-0"])
    assert result.losses["timeline_lost"] > 40009 - 1_000_000 // 40
    assert not identity_errors(result.report)
    sums = call_sums(read_perfetto(tmp_path / "perfetto"))
    kept = sum(told["events"] for (tid, _), told in sums.items() if tid is None)
    assert 0 < kept < 1_000_000 // 40


def test_text_names_the_wait(tmp_path, rung):
    result = run(tmp_path, rung, *WAITS_ONLY, "launches=1009", wait="spinning")
    line = next(line for line in result.text.splitlines() if line.startswith("  gpu calls"))
    assert "infer-N: " in line and "in cuStreamSynchronize, spinning; 1110 launches" in line


def test_sync_alone_leaves_work_unprobed(tmp_path, rung):
    result = run(tmp_path, rung, options=())
    row, truth = result.row("infer-0")["cuda"], result.thread("infer-0")
    assert row["sync_calls"] == truth["sync_calls"] and row["polls"] == truth["polls"]
    assert {row[key] for key in ("launches", "graph_launches", "launch_ns", "copies",
                                 "copy_bytes")} == {None}
    assert calls(result, "launch") is None and calls(result, "copy_sync") == 17 + 19


def test_linked_at_the_start(tmp_path, rung):
    result = run(tmp_path, rung, program="cuda_linked", path="")
    assert not counts_differ(result, ["infer-0"])
    assert result.report["cuda"]["attached_ns"] == 0


def test_loaded_later_where_it_was_expected(tmp_path, rung):
    """Probed before it is loaded: the first call counts."""
    result = run(tmp_path, rung, "settle_ms=0")
    assert not counts_differ(result, ["infer-0"])
    assert result.report["cuda"]["attached_ns"] == 0


def test_loaded_later_from_elsewhere(tmp_path, rung):
    """Found in the maps; its folder's name is hostile."""
    folder = tmp_path / "a\033]0;x\007b"
    folder.mkdir()
    shutil.copy(LIBRARY, folder)
    result = run(tmp_path, rung, f"lib={folder}/libcuda.so.1", "settle_ms=1500", path="")
    assert not counts_differ(result, ["infer-0"])
    cuda = result.report["cuda"]
    assert cuda["attached_ns"] > 0 and cuda["library"].endswith("a\\x1b]0;x\\x07b/libcuda.so.1")


def test_deleted_library(tmp_path):
    shutil.copy(LIBRARY, tmp_path)
    env = environment(tmp_path, path=str(tmp_path))
    with Load(tmp_path, "cuda_app", *WAITS_ONLY, env=env, nice=-20) as load:
        os.unlink(tmp_path / "libcuda.so.1")
        shutil.copy(LIBRARY, tmp_path)  # another file under the same name
        with Trace(tmp_path, "-p", str(load.pid), env=env) as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            result = trace.stop()
        result.truth = load.finish()
    row = result.row("infer-0")["cuda"]
    assert row["sync_calls"] == result.thread("infer-0")["sync_calls"] == 101


def test_started_command(tmp_path, rung):
    """From the first call of a command's life to its last."""
    report = tmp_path / "report"
    result = run_tool("-q", "--rung", rung, *ALL, f"--json={report}", "--",
                      workload("cuda_app"), env=environment(tmp_path))
    assert result.status == 0, result.err
    result.report = parse_report(report.read_bytes())
    result.truth = parse_json(result.text.splitlines()[0].encode())
    assert not counts_differ(result, ["infer-0"])


def test_container(tmp_path, rung):
    """The library lies under a path that only the target's mount namespace has."""
    prefix = in_mounts(f"mount -t tmpfs none /mnt && cp {LIBRARY} /mnt/")
    env = environment(tmp_path, path="/mnt")
    assert not os.path.exists("/mnt/libcuda.so.1")
    with Load(tmp_path, "cuda_app", env=env, nice=-20, prefix=prefix) as load:
        with Trace(tmp_path, "-p", str(load.pid), *ALL, rung=rung) as trace:
            trace.wait_attached()
            load.go()
            load.wait_done()
            result = trace.stop()
        result.truth = load.finish()
    assert result.report["cuda"]["library"] == "/mnt/libcuda.so.1"
    assert not counts_differ(result, ["infer-0"])


def test_processes_of_the_target(tmp_path, rung):
    result = run(tmp_path, rung, "threads=2", "process=1")
    assert not counts_differ(result, WORKERS)
    assert len({result.row(name)["pid"] for name in WORKERS}) == 2


def test_child_born_in_the_window(tmp_path, rung):
    result = run(tmp_path, rung, "child=1")
    row, truth = result.row("child")["cuda"], result.thread("infer-0")
    assert [row[key] for key in COUNTS] == [truth[key] for key in COUNTS]
    assert result.row("infer-0")["cuda"]["sync_calls"] == 0


def test_foreign_process_with_the_same_library(tmp_path, rung):
    env = environment(tmp_path)
    with background(workload("cuda_app"), "iters=100003", "kernel_us=101", stdout=subprocess.DEVNULL,
                    env={**os.environ, **env}):
        result = run(tmp_path, rung, "kernel_us=503")
    assert not counts_differ(result, ["infer-0"])
    assert calls(result, "stream_sync") == 101


def test_left_without_a_return(tmp_path, rung):
    """Seven longjmps, the last of which only the next call shows; two threads that end inside."""
    result = run(tmp_path, rung, "jumps=7", "doomed=2")
    cuda = result.report["cuda"]
    assert (cuda["lost"], cuda["cut"]) == (7, 2)
    assert not counts_differ(result, ["infer-0"])
    doomed = [row for row in result.rows if row["comm"] == "doomed"]
    assert len(doomed) == 2
    for row in doomed:
        assert row["exited"] and row["cuda"]["sync_calls"] == 1
        assert 53e6 <= row["cuda"]["sync_ns"] <= row["wall_ns"]
        assert row["cuda"]["spin_ns"] < 0.1 * row["cuda"]["sync_ns"]


@pytest.mark.parametrize("wait", WAITS)
def test_wait_under_way_at_the_end(tmp_path, rung, wait):
    env = environment(tmp_path, wait)
    with Load(tmp_path, "cuda_app", *WAITS_ONLY, "iters=0", "hang_ms=5003", env=env,
              nice=-20) as load:
        with Trace(tmp_path, "-p", str(load.pid), rung=rung, env=env) as trace:
            trace.wait_attached()
            load.go()
            time.sleep(1.5)
            result = trace.stop()
        result.truth = load.finish()
    row, truth = result.row("infer-0"), result.thread("infer-0")
    # The one call ends just before the thread reads the clock for its end: back from there.
    begin_ns = truth["end"]["ns"] - truth["sync_ns"]
    length_ns = result.report["window"]["end_ns"] - begin_ns
    loaded_ns = result.report["window"]["end_ns"] - truth["begin"]["ns"]
    assert result.report["cuda"]["cut"] == row["cuda"]["sync_calls"] == 1
    # A trap, and a wait for a CPU in it, may come before the call for us and in it for the workload.
    assert 0.99 * length_ns - runq_ns(row) < row["cuda"]["sync_ns"] <= loaded_ns
    if wait == "spinning":
        # What a missed switch hides is in the account from the kernel's books.
        least = 0.5 if row["gaps"] else 0.97
        assert least * row["oncpu_ns"] < row["cuda"]["spin_ns"] <= row["oncpu_ns"]
    else:
        assert row["cuda"]["spin_ns"] < 0.03 * length_ns


def test_query_that_jumps_to_another(tmp_path, rung):
    """The time between two queries counts once, though both functions are probed."""
    result = run(tmp_path, rung, "polls=31", "kernel_us=10007", FAKE_CUDA_QUERY_JUMPS="1")
    cuda, truth = result.row("infer-0")["cuda"], result.thread("infer-0")
    assert not counts_differ(result, ["infer-0"])
    assert result.report["cuda"]["nested"] == 19 + truth["polls"]
    taken_ns = result.taken_from(-1)
    assert 0.97 * truth["poll_ns"] - runq_ns(result.row("infer-0")) - taken_ns < cuda["poll_ns"] <= truth["poll_ns"]


def test_one_event_for_each_probe(tmp_path):
    """As on kernels before 6.6."""
    result = run(tmp_path, "tracepoint", "jumps=3", TEGRATRACE_UPROBES="events")
    assert not counts_differ(result, ["infer-0"])
    assert result.report["cuda"]["lost"] == 3 and result.report["cuda"]["nested"] == 19


def iterations(result):
    return result.report["cuda"]["iterations"]


@pytest.mark.parametrize("syncs, kernel_us", ((1, 20011), (3, 7019)))
def test_iterations_by_their_rhythm(tmp_path, rung, syncs, kernel_us):
    """Other load breaks a rhythm; by the thread's own clock it was one, or nothing can be asserted."""
    # k kernels of 1, 2, .. k times the length; waking up and launching make it longer
    least_ns = 1000 * kernel_us * syncs * (syncs + 1) // 2 + 211000
    for i in range(TRIES):
        result = run(tmp_path / str(i), rung, *WAITS_ONLY, "iters=53", f"syncs={syncs}",
                     f"kernel_us={kernel_us}", "work_us=211", options=())
        books = result.thread("infer-0")
        loaded_ns = books["end"]["ns"] - books["begin"]["ns"]
        if loaded_ns < 1.08 * 53 * least_ns:
            break
    else:
        pytest.skip(f"other load held the iterations up, {TRIES} times in a row")
    found = iterations(result)
    assert found["source"] == "waits", found["note"]
    assert (found["count"], found["waits_each"]) == (53, syncs)
    # the mean is of what lies between two waits, all of it under load
    assert least_ns < found["mean_ns"] <= loaded_ns * syncs / (53 * syncs - 1)
    # None is shorter, so the median is off the least by no more than twice what the mean is; by a bucket, too.
    assert 0.9 * least_ns < found["p50_ns"] < 1.1 * (2 * found["mean_ns"] - least_ns)


def test_no_rhythm_is_said(tmp_path):
    found = iterations(run(tmp_path, "auto", *WAITS_ONLY, "kernel_us=211", "uneven=1"))
    assert found["source"] is None and found["count"] is None and "--iter" in found["note"]


@pytest.mark.parametrize("spec, program", (("app_iteration", "cuda_app"),
                                           ("app_iteration@cuda_linked", "cuda_linked"),
                                           ("usdt:cuda_app:iteration", "cuda_app"),
                                           ("cuStreamSynchronize@libcuda.so", "cuda_app")))
def test_iterations_by_a_probe(tmp_path, rung, spec, program):
    """The tracepoint fires only while its semaphore is up."""
    result = run(tmp_path, rung, *WAITS_ONLY, "threads=2", program=program,
                 options=("--iter", spec, "--cuda", "off"))
    found = iterations(result)
    assert (found["source"], found["count"], found["waits_each"]) == ("probe", 202, None)
    assert found["mean_ns"] > 2003000
    assert result.report["cuda"]["state"] == "off" and result.row("infer-0")["cuda"] is None


def run_command(folder, rung, *command, spec="app_iteration"):
    """Of a command that iterates as soon as it runs, 101 times for each of its two threads."""
    path = folder / "report"
    result = run_tool("-q", "--rung", rung, "--cuda", "off", "--iter", spec, f"--json={path}", "--",
                      *command, env=environment(folder))
    assert result.status == 0, result.err
    return parse_report(path.read_bytes())["cuda"]["iterations"]


@pytest.mark.parametrize("spec", ("app_iteration", "app_iteration@cuda_app", "usdt:cuda_app:iteration",
                                  f"app_iteration@{os.path.abspath(FOLDER)}/cuda_app"))
def test_the_first_iteration_of_a_command_counts(tmp_path, rung, spec):
    """All of them are over before the next look."""
    found = run_command(tmp_path, rung, workload("cuda_app"), *WAITS_ONLY, "threads=2", spec=spec)
    assert (found["count"], found["attached_ns"], found["note"]) == (202, 0, None)


def test_a_program_that_another_turns_into_is_probed(tmp_path, rung):
    """What came before is not counted, and that is said."""
    found = run_command(tmp_path, rung, "sh", "-c", 'sleep 0.7; exec "$0" "$@"', workload("cuda_app"), *WAITS_ONLY,
                        "threads=2", "kernel_us=10007")
    assert 0.7e9 < found["attached_ns"] < 2e9 and "probed after" in found["note"]
    missed_ns = (202 - found["count"]) / 2 * found["mean_ns"]
    assert 0 < found["count"] <= 202 and missed_ns < found["attached_ns"] - 0.7e9 + 0.1e9


@pytest.mark.parametrize("spec", ("no_such_function", "usdt:cuda_app:nothing",
                                  "app_iteration@libnothing.so"))
def test_iteration_probe_that_is_not_there(tmp_path, spec):
    result = run(tmp_path, "auto", *WAITS_ONLY, options=("--iter", spec))
    found = iterations(result)
    assert found["source"] is None and found["note"].startswith("--iter: ")
    assert any(m["what"] == "iterations" for m in result.report["capability"]["missing"])
    assert result.row("infer-0")["cuda"]["sync_calls"] == 101


@pytest.mark.parametrize("options", (("--cuda", "most"), ("--iter", "usdt:x"), ("--iter", "@lib"),
                                     ("--iter", "")))
def test_bad_options(options):
    assert run_tool(*options, "-p", "1").status == 2


def test_without_the_library(tmp_path, rung, sleeper):
    env = {"LD_LIBRARY_PATH": str(tmp_path)}
    with Trace(tmp_path, "-p", str(sleeper.pid), rung=rung, env=env) as trace:
        trace.wait_attached()
        result = trace.stop()
    cuda, row = result.report["cuda"], result.row("sleep")
    assert cuda["state"] == "absent" and "libcuda.so.1" in cuda["note"]
    assert row["cuda"] is None and row["gpu_spin_ns"] is None
    assert any(m["what"] == "GPU calls" for m in result.report["capability"]["missing"])
    assert "no process of the target has libcuda.so.1" in result.text


def test_file_without_the_functions(tmp_path):
    shutil.copy(f"/proc/{os.getpid()}/exe", tmp_path / "libcuda.so.1")
    load = f"import mmap, time; f = open('{tmp_path}/libcuda.so.1', 'rb'); " \
           "m = mmap.mmap(f.fileno(), 4096, prot=mmap.PROT_READ); time.sleep(600)"
    with background(sys.executable, "-c", load) as process:
        def mapped():
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
                return "libcuda" in maps.read()

        wait_for("the mapping", mapped)
        with Trace(tmp_path, "-p", str(process.pid)) as trace:
            trace.wait_attached()
            result = trace.stop()
    assert result.report["cuda"]["state"] == "failed"
    assert "none of the CUDA driver's functions" in result.report["cuda"]["note"]
    assert all(row["cuda"] is None for row in result.rows)


def test_off(tmp_path):
    result = run(tmp_path, "auto", *WAITS_ONLY, options=("--cuda", "off"))
    assert result.report["cuda"]["state"] == "off" and result.row("infer-0")["cuda"] is None
    assert not any(m["what"] == "GPU calls" for m in result.report["capability"]["missing"])


def test_cost_is_shown(tmp_path):
    result = run(tmp_path, "auto", options=(*ALL, "-v"))
    assert result.report["cuda"]["ns_per_call"] > 100
    assert result.report["overhead"]["cpu_share"] > 0
    assert "a probed call costs about" in " ".join(result.text.split())
