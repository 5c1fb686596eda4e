# SPDX-License-Identifier: GPL-2.0-only
import os

import pytest

import harness
import loads


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than 10 s")


@pytest.fixture(scope="session", autouse=True)
def ready():
    if os.geteuid():
        pytest.exit("real BPF programs are loaded: run as root", 3)
    if not os.access(harness.TEGRATRACE, os.X_OK):
        pytest.exit(f"no {harness.TEGRATRACE}: run make all workloads", 3)


def pytest_generate_tests(metafunc):
    own = any("rung" in str(mark.args[0])
              for mark in metafunc.definition.iter_markers("parametrize"))
    if "rung" in metafunc.fixturenames and not own:
        bpf_only = getattr(metafunc.module, "NEEDS_BPF", False)
        metafunc.parametrize("rung", harness.BPF_RUNGS if bpf_only else harness.RUNGS,
                             scope="function")


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """shared(name, rung): the one run of a load of the table."""
    results = {}

    def run(name, on_rung):
        key = name, on_rung
        if key not in results:
            folder = tmp_path_factory.mktemp(f"{name}-{on_rung}")
            try:
                results[key] = loads.run_load(folder, on_rung, name)
            except Exception as error:  # pylint: disable=broad-except
                results[key] = error
        if isinstance(results[key], Exception):
            raise results[key]
        return results[key]

    return run


@pytest.fixture
def sleeper():
    """A process that only sleeps."""
    with harness.background("sleep", "600") as process:
        yield process
