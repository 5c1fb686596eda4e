# SPDX-License-Identifier: GPL-2.0-only
"""Loads that put themselves under limits of the machine leave nothing behind, even when killed."""
import glob
import signal

import pytest

from harness import Load, wait_for

KILLED = (("waits_disk", "swap=file"), ("hog", "n=1", "quota=20"),
          ("demo_pipeline", "scenario=memory-pressure"), ("demo_pipeline", "scenario=io-bound"))


def left_of(pid):
    """Its cgroups, its swap, its files."""
    with open("/proc/swaps", encoding="ascii") as swaps:
        swapping = [line for line in swaps if f"-{pid} " in line]
    return (glob.glob(f"/sys/fs/cgroup/**/tegratrace-load-{pid}", recursive=True) + swapping +
            glob.glob(f"/var/tmp/tegratrace-*-{pid}"))


@pytest.mark.parametrize("load", KILLED, ids=("disk and swap", "quota", "memory", "reads"))
@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGTERM))
def test_a_load_that_is_killed_cleans_up(tmp_path, load, how):
    with Load(tmp_path, *load, "secs=600", env={"FAKE_GPU_STATE": str(tmp_path / "gpu")}) as running:
        running.go()
        if not left_of(running.pid):
            pytest.skip("no limits can be set here")
        running.process.send_signal(how)
        (tmp_path / "hold").touch()
        running.process.wait(30)
        wait_for("all to be undone", lambda: not left_of(running.pid), 30)
