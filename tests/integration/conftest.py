# SPDX-License-Identifier: GPL-2.0-only
import os
import subprocess

import pytest

import harness

# Loads that several tests look at; each runs once on each rung.
# Above others in priority where the shares are known by construction: other load is noise.
SHARED_LOADS = {
    "sleepers": (-20, "sleepers", "secs=1"),
    "hog": (-20, "hog", "n=3", "secs=2"),
    "pingpong": (-20, "pingpong", "secs=2"),
    "preempted": (-20, "preempted", "secs=2"),
    "migrate": (0, "migrate"),
    "stopped": (-20, "stopped"),
    "churn": (0, "churn", "total=20011", "secs=10"),
    "vfork": (0, "vfork_storm"),
    "forkers": (0, "forkers"),
    "exec-thread": (0, "exec_thread", "secs=0.5"),
    "exec-leader": (0, "exec_thread", "leader=1", "secs=0.5"),
    "exec-orphan": (0, "exec_thread", "orphan=1", "orphan_ms=307", "secs=0.5"),
}


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than 10 s")


def pytest_collection_modifyitems(items):
    for item in items:
        if "churn" in item.callspec.params.values() if hasattr(item, "callspec") else False:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def ready():
    if os.geteuid():
        pytest.exit("real BPF programs are loaded: run as root", 3)
    if not os.access(harness.TEGRATRACE, os.X_OK):
        pytest.exit(f"no {harness.TEGRATRACE}: run make all workloads", 3)


@pytest.fixture(params=harness.RUNGS)
def rung(request):
    return request.param


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """shared(name, rung): the one run of a load of the table."""
    results = {}

    def run(name, on_rung):
        key = name, on_rung
        if key not in results:
            nice, *load = SHARED_LOADS[name]
            folder = tmp_path_factory.mktemp(f"{name}-{on_rung}")
            try:
                results[key] = harness.trace_load(folder, on_rung, *load, nice=nice)
            except Exception as error:  # pylint: disable=broad-except
                results[key] = error
        if isinstance(results[key], Exception):
            raise results[key]
        return results[key]

    return run


@pytest.fixture
def sleeper():
    """A process that only sleeps."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()
