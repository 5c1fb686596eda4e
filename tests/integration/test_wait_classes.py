# SPDX-License-Identifier: GPL-2.0-only
"""What threads wait for and who ends it, beside what the threads measured themselves."""
import contextlib
import glob
import os
import sys

import pytest

from harness import (BPF_RUNGS, Load, Trace, edges_of, identity_errors, parse_report, run_tool, runq_ns,
                     trace_load)
from loads import short_waits_agree
from test_system import cpu_stat

SYNC = ("cond-take", "cond-give", "sem-take", "sem-give", "relay-a", "relay-b", "relay-c",
        "mutex-want", "mutex-hold", "pi-want", "pi-hold", "spin-want", "spin-hold", "rw-want",
        "rw-hold", "wr-want", "wr-hold", "pool-0", "pool-1", "pool-2", "pool-idle", "pool-feed",
        "bar-0", "bar-1", "bar-late", "cond-timeout")
IPC = ("pipe-in", "pipe-peer", "event-in", "event-peer", "unix-in", "unix-peer", "poll-in",
       "poll-peer", "epoll-in", "epoll-peer", "sig-in", "sig-peer", "pipe-kid", "kid-peer",
       "tcp-in", "tcp-peer", "epoll-tcp", "etcp-peer", "pty-in", "pty-peer", "pipe-far",
       "event-far", "unix-far", "nap", "nap-abs", "epoll-timeout", "epoll-timer", "sig-timeout",
       "child-wait")
DISK = ("direct-read", "cold-read", "cold-mmap", "sync-write", "loader", "consumer", "swap-in")
GIL = ("gil-hold", "gil-want")
FULL_ONLY = ("test_stacks_of_disk_waits_begin_in_user_space[raw]",
             "test_a_waker_that_had_just_read_passes_the_disk_on")

LOADS = {"waits-sync": SYNC, "waits-ipc": IPC, "waits-disk": DISK, "gil": GIL}
THREADS = [pytest.param(load, name, id=name) for load, names in LOADS.items() for name in names]

# The kernel sees nothing that tells this from waiting for a thread; the holder is named all the same.
LOOKS_LIKE_THREAD = ("gil-want",)
# Without the arguments of system calls nor do these, but for what the kernel itself queues.
BY_ARGUMENTS = ("mutex-want", "spin-want", "rw-want", "wr-want")

# Who may end a wait for a disk: the device's interrupt, or a kernel thread on its behalf.
DEVICE_SIDE = ("irq", "softirq", "kernel")


def waits(result, name):
    """The truth of a thread: its kinds of wait."""
    kinds = result.truth["truth"]["waits"].get(name)
    if not kinds:
        pytest.skip(f"no {name} here: {result.truth['truth'].get('swap_why')}")
    if name == "swap-in" and not result.truth["truth"]["major_faults"][name]:
        pytest.skip("the pages were not swapped out")
    return kinds


def loaded_ns(result, name):
    books = result.thread(name)
    return books["end"]["ns"] - books["begin"]["ns"]


def acceptable(rung, name, kind):
    alike = name in LOOKS_LIKE_THREAD or (rung not in BPF_RUNGS and name in BY_ARGUMENTS)
    return ("lock", "thread") if kind["class"] == "lock" and alike else (kind["class"],)


def waited(row, classes):
    return sum(row["wait"][name] or 0 for name in classes)


def unseen_ns(result, name, kind):
    """Of sleeps that ended in the load, but whose wakeup was missed and is said to be: an interrupt's,
    where it came in the middle of a program of this or any other tracer. The one missed may be that of
    the longest waits, so only their number is bounded. What woke a relay is then not passed on."""
    names = (name, kind["waker"]) if kind["by"] == "thread" and kind["class"] == "disk" else (name,)
    unseen = [e for each in names for e in edges_of(result.report, result.row(each))
              if e["waker"]["kind"] == "none" and e["class"] != "thread"]
    assert sum(e["count"] for e in unseen) <= 3 + 0.1 * kind["calls"], brief(unseen)
    return sum(e["ns"] for e in unseen)


def ended_by(edges, kind, result):
    """Those edges whose waker is the one of the truth, by name, kind and id."""
    tids = {**result.truth["tids"],
            **{o["name"]: o["pid"] for o in result.truth["truth"].get("foreign", [])}}
    found = [e for e in edges if e["waker"]["kind"] == kind["by"]]
    if kind["waker"]:
        found = [e for e in found if e["waker"]["name"] == kind["waker"]]
        if kind["waker"] in tids:
            assert {e["waker"]["tid"] for e in found} <= {tids[kind["waker"]]}
    return found


@pytest.mark.parametrize("load, name", THREADS)
def test_share_of_each_class(shared, rung, load, name):
    result = shared(load, rung)
    row, loaded = result.row(name), loaded_ns(result, name)
    # Before its load and after it the thread waits for the main thread.
    outside = result.report["window"]["duration_ns"] - loaded
    for kind in waits(result, name):
        classes = acceptable(rung, name, kind)
        found = waited(row, classes)
        extra = outside if "thread" in classes else 0
        # An event that was missed and said to be: one of these sleeps may be 4 % of all.
        lost = row["unknown_ns"] + row["wait"]["other"]
        if kind["by"] != "thread" or kind["class"] == "disk":
            lost += unseen_ns(result, name, kind)
        assert found >= kind["off_ns"] - 0.03 * loaded - lost, (kind, row)
        assert found <= kind["off_ns"] + 0.03 * loaded + extra, (kind, row["wait"])


@pytest.mark.parametrize("load, name", THREADS)
def test_hardly_any_wait_is_other(shared, rung, load, name):
    result = shared(load, rung)
    waits(result, name)
    row = result.row(name)
    assert row["wait"]["other"] <= 0.05 * row["offcpu_ns"], row["wait"]


def brief(edges):
    return [(e["class"], e["waker"]["kind"], e["waker"]["name"], e["ns"], e["count"])
            for e in edges]


@pytest.mark.parametrize("load, name", THREADS)
def test_who_ended_the_waits(shared, rung, load, name):
    result = shared(load, rung)
    row, loaded = result.row(name), loaded_ns(result, name)
    edges = edges_of(result.report, row)
    for kind in waits(result, name):
        mine = [e for e in edges if e["class"] in acceptable(rung, name, kind)]
        if not kind["by"]:
            found = sum(e["ns"] for e in mine if e["waker"]["kind"] in DEVICE_SIDE)
            lost = row["unknown_ns"] + unseen_ns(result, name, kind)
            assert found >= kind["off_ns"] - 0.03 * loaded - lost, (kind, brief(mine))
            continue
        found = ended_by(mine, kind, result)
        if name.startswith("bar-"):
            # Beside other load the last one at the barrier is now and then another.
            assert sum(e["ns"] for e in found) > 0.7 * kind["off_ns"], (kind, brief(mine))
            continue
        # Wakeups that were missed, and are said to be: nobody is named for those.
        lost = row["wait"]["other"] + row["unknown_ns"]
        assert lost <= 0.05 * loaded, (kind, row)
        if kind["class"] in ("timer", "disk"):
            lost += unseen_ns(result, name, kind)
        total = sum(e["ns"] for e in found)
        assert kind["off_ns"] - 0.03 * loaded - lost <= total, (kind, brief(mine))
        assert total <= kind["off_ns"] + 0.03 * loaded, (kind, brief(mine))
        if kind["sleeps"] is not None:
            slack = 3 + row["gaps"] + 0.05 * kind["sleeps"]
            assert abs(sum(e["count"] for e in found) - kind["sleeps"]) <= slack, (kind, brief(mine))


@pytest.mark.parametrize("name", ("direct-read", "cold-read", "cold-mmap", "loader"))
def test_waits_too_short_for_a_stack_have_their_class(shared, rung, name):
    result = shared("fast-disk", rung)
    row, kind = result.row(name), waits(result, name)[0]
    short_waits_agree(result, name)
    assert row["wait"]["other"] <= 0.05 * kind["off_ns"]


@pytest.mark.parametrize("load", (*LOADS, "fast-disk"))
def test_edges_add_up(shared, rung, load):
    """What no edge explains is in "other", of threads of whose sleeps an event was missed."""
    result = shared(load, rung)
    assert result.losses["edges_dropped"] == 0
    for row in result.rows:
        if row["tid"] is None:
            continue
        edges = edges_of(result.report, row)
        assert {e["pid"] for e in edges} <= {row["pid"]}
        assert {e["group"] for e in edges} <= {row["group"]}
        by_class = {name: sum(e["ns"] for e in edges if e["class"] == name) for name in row["wait"]}
        missing = {name: (ns or 0) - by_class[name] for name, ns in row["wait"].items()
                   if (ns or 0) != by_class[name]}
        assert sum(ns or 0 for ns in row["wait"].values()) == row["offcpu_ns"]
        assert not missing or (row["gaps"] and set(missing) == {"other"}), (row["comm"], missing)
        assert all(0 <= e["max_ns"] <= e["ns"] and e["count"] for e in edges)


@pytest.mark.parametrize("name", ("pool-0", "pool-1", "pool-2", "pool-idle", "cond-take", "sem-take",
                                  "relay-b", "relay-c", "bar-0", "bar-1"))
def test_waiting_for_work_is_no_lock(shared, rung, name):
    result = shared("waits-sync", rung)
    assert (result.row(name)["wait"]["lock"] or 0) < 0.01 * loaded_ns(result, name)


@pytest.mark.parametrize("name", ("nap", "nap-abs", "epoll-timeout", "epoll-timer", "sig-timeout"))
def test_a_timer_is_not_blamed_on_whom_it_interrupted(shared, rung, name):
    result = shared("waits-ipc", rung)
    main = result.truth["pid"]
    blamed = sum(e["ns"] for e in edges_of(result.report, result.row(name))
                 if e["waker"]["kind"] in ("thread", "process") and e["waker"]["tid"] != main)
    assert blamed < 0.01 * loaded_ns(result, name)


def test_a_waker_that_had_just_read_passes_the_disk_on(shared, rung):
    result = shared("waits-disk", rung)
    truth = waits(result, "consumer")[0]
    relayed = [e for e in edges_of(result.report, result.row("consumer"))
               if e["waker"]["name"] == "loader" and e["class"] == "disk"]
    lost = unseen_ns(result, "consumer", truth)
    assert sum(e["ns"] for e in relayed) >= 0.9 * truth["off_ns"] - lost
    assert all(e["via"] for e in relayed)


@pytest.mark.parametrize("name, function", (
    ("direct-read", "dio_rw"), ("cold-mmap", "fault"), ("cond-take", "futex"),
    ("nap", "nanosleep"), ("tcp-in", "tcp_recvmsg"), ("child-wait", "wait")))
def test_stacks_are_of_the_wait(shared, rung, name, function):
    result = shared(next(load for load, names in LOADS.items() if name in names), rung)
    row = result.row(name)
    stacks = [s for s in result.report["stacks"]
              if s["tid"] == row["tid"] and s["class"] == waits(result, name)[0]["class"]]
    right = [s for s in stacks if any(function in frame for frame in s["frames"])]
    # Without type data a stack is taken before the length of the sleep is known: not of the first.
    least = 0.9 if rung == "btf" else 0.7
    assert sum(s["ns"] for s in right) > least * waits(result, name)[0]["off_ns"], stacks[:3]
    assert all(frame.endswith("_[k]") for s in right for frame in s["frames"])


@pytest.mark.parametrize("rung", ("raw", *BPF_RUNGS))
def test_stacks_of_disk_waits_begin_in_user_space(tmp_path, rung):
    result = trace_load(tmp_path, rung, "waits_disk", "count=17", options=("--user-stacks",), nice=-20)
    row, (wait,) = result.row("direct-read"), waits(result, "direct-read")
    right = [s for s in result.report["stacks"] if s["tid"] == row["tid"] and s["class"] == "disk"
             and s["frames"] and not s["frames"][0].endswith("_[k]") and "dio_rw" in "".join(s["frames"])]
    assert sum(s["ns"] for s in right) > (0.9 if rung == "btf" else 0.7) * wait["off_ns"]


def test_nearly_all_time_has_a_stack(shared, rung):
    founded = shared("waits-ipc", rung).report["waits"]
    assert founded["with_stack_ns"] >= (0.75 if rung == "btf" else 0.5) * founded["ns"]


@pytest.mark.parametrize("name", ("cold-mmap", "swap-in"))
def test_major_faults_are_counted_and_their_wait_is_the_class(shared, rung, name):
    result = shared("waits-disk", rung)
    waits(result, name)
    row = result.row(name)
    assert row["faults"]["major"] == result.truth["truth"]["major_faults"][name]


def test_python_waiting_for_its_lock_by_timeouts(shared, rung):
    """The interpreter's 5 ms time-out ends most of each wait and gil-hold the rest: all of it is the
    lock's, and gil-hold's."""
    result = shared("gil-timeout", rung)
    row, loaded = result.row("gil-want"), loaded_ns(result, "gil-want")
    lock, nap = waits(result, "gil-want")
    outside = result.report["window"]["duration_ns"] - loaded
    for found, asked in ((waited(row, ("lock",)), lock), (waited(row, ("timer",)), nap)):
        assert asked["off_ns"] - 0.03 * loaded <= found <= asked["off_ns"] + 0.03 * loaded + outside
    held = [e for e in edges_of(result.report, row) if "interpreter lock" in (e["site"] or "")
            and e["waker"]["name"] == "gil-hold"]
    # The main thread takes it now and then, too.
    assert sum(e["ns"] for e in held) >= 0.9 * waited(row, ("lock",)), brief(
        edges_of(result.report, row))
    assert sum(e["count"] for e in held) >= lock["calls"]


def throttled_ns(load):
    """The kernel's own words on the cgroup of a load: the time withheld, of periods that are over."""
    for top in ("cpu", "cpu,cpuacct", ""):
        found = glob.glob(f"/sys/fs/cgroup/{top}/**/tegratrace-load-{load.pid}/cpu.stat", recursive=True)
        if found:
            return cpu_stat(os.path.dirname(found[0]))[2]
    return None


def test_time_that_a_quota_withholds_is_run_queue_time(tmp_path, rung):
    """cpu.stat is read just outside of the window and just inside, on both sides."""
    with Load(tmp_path, "hog", "n=1", "quota=20", "secs=2", nice=-20) as load:
        outer = throttled_ns(load)
        with Trace(tmp_path, "-p", str(load.pid), rung=rung) as trace:
            trace.wait_attached()
            inner = throttled_ns(load)
            load.go()
            load.wait_done()
            inner = (inner, throttled_ns(load))
            result = trace.stop()
        outer = (outer, throttled_ns(load))
        result.truth = load.finish()
    assert not identity_errors(result.report)
    truth, row = result.truth["truth"], result.row("hog-0")
    if not truth["rationed"]:
        pytest.skip(f"no CPU quota can be set here: {truth['why']}")
    books = result.thread("hog-0")
    least, most = (books[at]["schedstat"]["runq_ns"] - books["begin"]["schedstat"]["runq_ns"]
                   for at in ("end", "final"))
    # It reads its books once it runs: the first wait for a CPU, throttled already, is over then.
    missed = books["begin"]["ns"] - result.truth["start_ns"]
    assert 0.97 * least <= runq_ns(row) <= 1.03 * most + missed
    name = f"tegratrace-load-{result.truth['pid']}"
    quota = next(q for q in result.report["pressure"]["cpu_quotas"] if q["cgroup"].endswith(name))
    assert quota["cpus"] == pytest.approx(0.2)
    if not truth["throttled_ns"]:
        pytest.skip("other load had the CPU, so the quota was not used up")
    assert inner[1] - inner[0] <= quota["throttled_ns"] <= outer[1] - outer[0]


def test_a_real_time_hog_of_another_process_is_named(tmp_path, rung):
    with contextlib.ExitStack() as stack:
        rival = stack.enter_context(Load(tmp_path / "rival", "hog", "n=1", "fifo=70", "secs=600"))
        load = stack.enter_context(Load(tmp_path / "load", "hog", "n=1", "secs=600", nice=-20))
        load.go()
        rival.go()
        with Trace(tmp_path, "-p", str(load.pid), "-d", "2", rung=rung) as trace:
            result = trace.finish()
        assert result.status == 0, result.err
        if not rival.end()["truth"]["fifo"]:
            pytest.skip("no SCHED_FIFO for this user")
        load.end()
    row = result.row("hog-0")
    window = result.report["window"]["duration_ns"]
    assert 0.6 * window < row["runq_preempt_ns"]
    holders = [h for h in result.report["cpu_holders"] if h["waiter"] == row["tid"]]
    first = max(holders, key=lambda h: h["ns"])
    assert first["holder"]["name"] == "fifo-hog-0" and first["holder"]["kind"] == "process"
    assert first["holder"]["policy"] == "fifo"
    # What other load took comes on top, so it is the largest part, not all.
    assert first["ns"] > 0.3 * row["runq_preempt_ns"]


REUSED_NUMBER = """
import ctypes, os, struct, time
libc = ctypes.CDLL(None)
fd = libc.timerfd_create(1, 0)
libc.timerfd_settime(fd, 0, struct.pack("4q", 0, 20_000_000, 0, 20_000_000), None)
for _ in range(50):
    os.read(fd, 8)
os.close(fd)
out, into = os.pipe()
assert out == fd
if not os.fork():
    for _ in range(50):
        time.sleep(0.02)
        os.write(into, b"x")
    os._exit(0)
for _ in range(50):
    os.read(out, 1)
"""


@pytest.mark.parametrize("rung", BPF_RUNGS)
def test_a_number_that_another_file_takes_over(rung):
    """A second of a timerfd, then one of a pipe under the same number; both are closed when it ends."""
    result = run_tool("-q", "--rung", rung, "--json", "--", sys.executable, "-c", REUSED_NUMBER)
    assert result.status == 0, result.err
    report = parse_report(result.text.encode())
    reads = [e for e in report["edges"] if e["site"] and e["site"].startswith("read")
             and e["waiter"] == report["targets"][0]["pid"]]
    by_site = {site: [sum(e["ns"] for e in reads if (e["site"], e["class"]) == (site, kind))
                      for kind in ("timer", "thread")] for site in {e["site"] for e in reads}}
    assert by_site["read timerfd"][0] == pytest.approx(1e9, rel=0.1), by_site
    assert by_site["read pipe"][1] == pytest.approx(1e9, rel=0.2), by_site
