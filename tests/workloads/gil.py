#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Python threads and the interpreter's lock: gil-hold computes and so has it, gil-want wants it.

  secs=2        length of the load
  hold_ms=11    how long gil-hold computes before it lets go by itself, for 1 ms; 0: never
  interval_ms=1000   sys.setswitchinterval(): after so long without the lock, gil-want asks for it
  nap_ms=3      how long gil-want sleeps, then wanting the lock again

With the first defaults each wait of gil-want is ended by gil-hold. With hold_ms=0 interval_ms=5, as
Python has it by itself, each lasts until its time-out and then until gil-hold lets go at once.
Arguments, notes and truth are those of workload.h.
"""
import ctypes
import json
import os
import signal
import sys
import threading
import time

PR_SET_NAME, PR_SET_TIMERSLACK = 15, 29
LIBC = ctypes.CDLL(None)
MS = 1_000_000
HOLD_MAX_S = 61
NAMES = ("gil-hold", "gil-want")

args = {"secs": "2", "hold_ms": "11", "interval_ms": "1000", "nap_ms": "3", "ready": None,
        "go": None, "done": None, "hold": None}
up = {name: threading.Event() for name in NAMES}
stop = threading.Event()
go = threading.Event()
leave = threading.Event()
finished = threading.Barrier(3)


def name_thread(name):
    LIBC.prctl(PR_SET_NAME, name.encode())
    LIBC.prctl(PR_SET_TIMERSLACK, 1)


def snap(tid):
    with open(f"/proc/self/task/{tid}/schedstat", encoding="ascii") as books:
        oncpu, runq, slices = map(int, books.read().split())
    return {"ns": time.monotonic_ns(), "cpu_ns": time.thread_time_ns(),
            "schedstat": {"oncpu_ns": oncpu, "runq_ns": runq, "slices": slices}}


def compute(account):
    hold_ns = int(args["hold_ms"]) * MS
    while not stop.is_set():
        until = time.monotonic_ns() + (hold_ns or 1000 * MS)
        while time.monotonic_ns() < until and not stop.is_set():
            pass
        if hold_ns:
            time.sleep(0.001)
            account["timer_ns"] += MS
        account["calls"] += 1


def want(account):
    nap_ns = int(args["nap_ms"]) * MS
    while not stop.is_set():
        time.sleep(nap_ns / 1e9)
        account["timer_ns"] += nap_ns
        account["calls"] += 1


def thread_main(account, work):
    name_thread(account["name"])
    account["tid"] = threading.get_native_id()
    up[account["name"]].set()
    go.wait()
    account["begin"] = snap(account["tid"])
    work(account)
    account["end"] = snap(account["tid"])
    finished.wait()
    leave.wait()
    account["final"] = snap(account["tid"])


def note(key, content):
    if not args[key]:
        return
    with open(args[key] + ".tmp", "w", encoding="ascii") as out:
        out.write(json.dumps(content))
    os.rename(args[key] + ".tmp", args[key])


def wait_file(key):
    end = time.monotonic() + HOLD_MAX_S
    while args[key] and not os.path.exists(args[key]) and time.monotonic() < end:
        time.sleep(0.007)


def off_ns(account):
    """Wall time that the kernel's books leave over."""
    begin, end = account["begin"], account["end"]
    runq = end["schedstat"]["runq_ns"] - begin["schedstat"]["runq_ns"]
    return (end["ns"] - begin["ns"]) - (end["cpu_ns"] - begin["cpu_ns"]) - runq


def waits(hold, wanter):
    gil = off_ns(wanter) - wanter["timer_ns"]
    by_timer = {"class": "timer", "by": "timer", "waker": None, "sleeps": None}
    lock = {"class": "lock", "by": "thread", "waker": "gil-hold", "calls": wanter["calls"],
            "wait_ns": gil, "off_ns": gil, "sleeps": None}
    nap = {**by_timer, "calls": wanter["calls"], "wait_ns": wanter["timer_ns"],
           "off_ns": wanter["timer_ns"]}
    rest = {**by_timer, "calls": hold["calls"], "wait_ns": hold["timer_ns"],
            "off_ns": hold["timer_ns"]}
    return {"gil-hold": [rest], "gil-want": [lock, nap]}


def main():
    for arg in sys.argv[1:]:
        key, _, value = arg.partition("=")
        if key not in args:
            sys.exit(f"gil.py: unknown argument '{arg}'")
        args[key] = value
    name_thread("gil")
    signal.signal(signal.SIGTERM, lambda *unused: stop.set())
    sys.setswitchinterval(int(args["interval_ms"]) / 1000)
    accounts = [{"name": name, "pid": os.getpid(), "cpu": -1, "calls": 0, "timer_ns": 0}
                for name in NAMES]
    threads = [threading.Thread(target=thread_main, args=pair, daemon=True)
               for pair in zip(accounts, (compute, want))]
    for account, thread in zip(accounts, threads):
        thread.start()
        up[account["name"]].wait()
    tids = {"gil": os.getpid(), **{a["name"]: a["tid"] for a in accounts}}
    whole = {"program": "gil", "pid": os.getpid(), "tids": tids}
    note("ready", whole)
    wait_file("go")
    start_ns = time.monotonic_ns()
    go.set()
    # Not Event.wait() in this thread: it would want the lock too.
    signal.sigtimedwait([signal.SIGTERM], float(args["secs"]))
    stop.set()
    finished.wait()
    whole.update(start_ns=start_ns, end_ns=time.monotonic_ns())
    note("done", whole)
    wait_file("hold")
    leave.set()
    for thread in threads:
        thread.join()
    whole.update(args=args, duration_ns=whole["end_ns"] - start_ns,
                 truth={"waits": waits(*accounts)}, threads=accounts)
    print(json.dumps(whole))


main()
