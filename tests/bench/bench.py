# SPDX-License-Identifier: GPL-2.0-only
"""What the parts of the benchmark in Python share. No part in here."""
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

LIMIT = 60


def result(what, value, unit, at_most=None, peer="", unclear=""):
    """A line of the table at the end of tools/bench.sh; `unclear`: why the target cannot be judged."""
    bound = ("", "") if at_most is None else ("at-most", str(at_most))
    with open(os.environ["BENCH_SUMMARY"], "a", encoding="utf-8") as out:
        print(what, value, unit, *bound, peer, unclear, sep="\t", file=out)


def have(program):
    """A missing peer is said and not fatal."""
    if shutil.which(program):
        return True
    print(f"  {program}: not installed")
    return False


def wait_for(what, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {LIMIT} s for {what}")
        time.sleep(0.01)


@contextlib.contextmanager
def background(*argv, **popen):
    # pylint: disable=consider-using-with
    process = subprocess.Popen(argv, **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                                        "stderr": subprocess.DEVNULL, **popen})
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()


def interrupt(process):
    """The end that peers expect, whatever they then print."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Load:
    """A workload that is up and waits for go()."""

    def __init__(self, folder, program, *args):
        self.ready, self.start = f"{folder}/ready", f"{folder}/go"
        for path in (self.ready, self.start):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        env = dict(os.environ, FAKE_GPU_STATE=f"{folder}/gpu")
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen([program, *args, f"ready={self.ready}", f"go={self.start}"],
                                        env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.pid = self.process.pid

    def __enter__(self):
        wait_for("the workload", lambda: os.path.exists(self.ready) or self.process.poll() is not None)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def go(self):
        with open(self.start, "w", encoding="ascii"):
            pass

    def end(self):
        """What it says of itself."""
        return json.loads(self.process.communicate()[0].splitlines()[0])


def folder():
    return tempfile.TemporaryDirectory()


median = statistics.median
