# SPDX-License-Identifier: GPL-2.0-only
"""CPU time that tegratrace itself takes for what it does beside measuring: writing a recording, or
serving the live page. By the kernel's books of the process, as the difference to the same run without;
and how much slower the traced pipeline gets.

Usage: own_cpu.py recording|live TEGRATRACE WORKLOADS ROUNDS MS"""
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import urllib.parse

import bench

PART, TOOL, WORKLOADS, ROUNDS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
SECONDS = max(1, int(sys.argv[5]) / 1e3)
URL = re.compile(r"http://\S+/")

# Percent of one CPU.
RECORDING_TARGET = 1


def connect(url, receive_bytes=None):
    """A viewer that has asked for the events; its socket."""
    where = urllib.parse.urlsplit(url)
    viewer = socket.socket()
    if receive_bytes:
        viewer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    viewer.connect((where.hostname, where.port))
    viewer.sendall(f"GET {where.path}events HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
    return viewer


def read_all(viewer):
    with contextlib.suppress(OSError):
        while viewer.recv(1 << 16):
            pass


class Viewers:
    """So many that read everything, and so many that never read."""

    def __init__(self, url, readers, silent):
        self.sockets = [connect(url) for _ in range(readers)]
        self.threads = [threading.Thread(target=read_all, args=(viewer,), daemon=True)
                        for viewer in self.sockets]
        self.sockets += [connect(url, 2048) for _ in range(silent)]
        for thread in self.threads:
            thread.start()

    def close(self):
        for viewer in self.sockets:
            with contextlib.suppress(OSError):
                viewer.shutdown(socket.SHUT_RDWR)
            viewer.close()
        for thread in self.threads:
            thread.join()


def address(path):
    with open(path, encoding="utf-8") as lines:
        found = URL.search(lines.read())
    return found and found.group()


def run(folder, tracer, viewers=None):
    """Percent of a CPU that the tracer took over the load, and the frames a second of the load."""
    errors = f"{folder}/err"
    with bench.Load(folder, f"{WORKLOADS}/demo_pipeline", f"secs={SECONDS}") as load, \
            open(errors, "wb") as err:
        # pylint: disable=consider-using-with
        process = subprocess.Popen([arg.format(pid=load.pid, folder=folder) for arg in tracer],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        seen = None
        if viewers:
            bench.wait_for("the address", lambda: address(errors))
            seen = Viewers(address(errors), *viewers)
        bench.wait_for("the tracer", lambda: attached(process))
        load.go()
        fps = load.end()["truth"]["fps"]
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if seen:
            seen.close()
    if process.returncode:
        raise RuntimeError(f"{tracer[0]} ended with {process.returncode}")
    return 100 * (usage.ru_utime + usage.ru_stime) / SECONDS, fps


def attached(process):
    """It waits: all that it does before the window is done, which takes some tenths of a second."""
    process.poll()
    if process.returncode is not None:
        raise RuntimeError(f"the tracer ended with {process.returncode}")
    with open(f"/proc/{process.pid}/wchan", encoding="ascii") as wchan:
        return "poll" in wchan.read()


def tegratrace(*options):
    return [TOOL, "-q", "--json=/dev/null", "--tegrastats",
            f"{WORKLOADS}/fake_tegrastats --interval 100", *options, "-p", "{pid}"]


# Name, command, viewers that read and that do not. The first is what the others are compared with.
WAYS = {
    "recording": [
        ("no recording", tegratrace(), None),
        ("-o", tegratrace("-o", "{folder}/run.ttr"), None),
        ("-o --timeline", tegratrace("-o", "{folder}/run.ttr", "--timeline"), None),
    ],
    "live": [
        ("not served", tegratrace(), None),
        ("--live, no viewer", tegratrace("--live"), (0, 0)),
        ("--live, 1 viewer", tegratrace("--live"), (1, 0)),
        ("--live, 5 viewers", tegratrace("--live"), (5, 0)),
        ("--live, 1 that never reads", tegratrace("--live"), (0, 1)),
    ],
}
# The same events of the same process.
PEER_NAME = "perf record, switches and wakeups"
PEER = ["perf", "record", "-q", "-o", "{folder}/perf.data", "-e", "sched:sched_switch,sched:sched_wakeup",
        "-p", "{pid}"]


def possible(ways):
    """Without those that this build has not."""
    if PART != "live":
        return ways
    done = subprocess.run([TOOL, "--live=nowhere", "-p", "1"], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    if b"--live takes" in done.stderr:
        return ways
    print(f"  {done.stderr.decode().strip()}")
    return []


def main():
    ways = possible(WAYS[PART])
    if PART == "recording" and bench.have("perf"):
        ways = [*ways, (PEER_NAME, PEER, None)]
    found = {name: [] for name, _, _ in ways}
    with bench.folder() as folder:
        for _ in range(ROUNDS):
            for name, command, viewers in ways:
                found[name].append(run(folder, command, viewers))
    base = next(iter(found.values()), None)
    peer = ""
    if PEER_NAME in found:
        peer = f"perf record {bench.median(cpu for cpu, _ in found[PEER_NAME]):.2f} % in all"
    for name, runs in found.items():
        whole = bench.median(cpu for cpu, _ in runs)
        more = bench.median(cpu - alone for (cpu, _), (alone, _) in zip(runs, base))
        slower = bench.median(100 * (alone / fps - 1) for (_, fps), (_, alone) in zip(runs, base))
        print(f"  {name:34} {whole:6.2f} % of a CPU, {more:+6.2f} more, slower by {slower:+.2f} %")
        if name == "-o":
            bench.result("recording: CPU time", f"{more:.2f}", "%", RECORDING_TARGET, peer)
        if PART == "live" and runs is not base:
            bench.result(f"live: {name[8:]}, CPU time", f"{more:.2f}", "%")


main()
