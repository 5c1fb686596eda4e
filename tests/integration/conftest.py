# SPDX-License-Identifier: GPL-2.0-only
import os
import signal
import zlib

import pytest

import harness
import loads

# Fixtures that hold no measurement.
KEPT = ("ready", "runs_of_loads", "tmp_path_factory")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than 10 s")
    # Under nohup: what is ignored stays so over exec, and tegratrace keeps to it.
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def _repeated(item):
    return getattr(item, "execution_count", 1) > 1


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """A repeated test measures anew: what tests of its module share is made again for it."""
    if not _repeated(item):
        return
    for name, definitions in item._fixtureinfo.name2fixturedefs.items():
        if definitions[-1].scope != "function" and name not in KEPT:
            definitions[-1].finish(item._request)


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


def _without_rung(item):
    """The same for the variants of a test on all rungs."""
    params = sorted((key, str(value)) for key, value in item.callspec.params.items() if key != "rung")
    return item.module.__name__, item.originalname, tuple(params)


def _chosen(variants):
    """Of the variants of one test: by name, so always the same one, and half of all on each rung. What
    shares a load goes to the same rung."""
    params = variants[0].callspec.params
    load = next((str(params[key]) for key in ("load", "scenario", "probe") if key in params), None)
    name = load or variants[0].module.__name__ + variants[0].originalname
    rung = harness.BPF_RUNGS[zlib.crc32(name.encode()) % len(harness.BPF_RUNGS)]
    return next((item for item in variants if item.callspec.params["rung"] == rung), variants[0])


def pytest_collection_modifyitems(config, items):
    """CHECK=full runs all; without it what only repeats, on another rung or once more, is left out, and
    modules, or tests of them, that say FULL_ONLY."""
    if os.environ.get("CHECK") == "full":
        return
    left_out, variants = set(), {}
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        only = getattr(item.module, "FULL_ONLY", ())
        names = {item.name, getattr(item, "originalname", None)}
        if only is True or names & set(only or ()) or params.get("repeat", 0) > 0:
            left_out.add(item)
        elif params.get("rung") in harness.RUNGS:
            variants.setdefault(_without_rung(item), []).append(item)
    for same in variants.values():
        kept = [_chosen(same)]
        if getattr(same[0].module, "BOTH_RUNGS", False):
            kept = [item for item in same if item.callspec.params["rung"] in harness.BPF_RUNGS]
        left_out.update(item for item in same if item not in kept)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def runs_of_loads():
    return {}


@pytest.fixture
def shared(request, tmp_path_factory, runs_of_loads):
    """shared(name, rung): the one run of a load of the table; a new one where the test is repeated."""
    known = {} if _repeated(request.node) else runs_of_loads

    def run(name, on_rung):
        key = name, on_rung
        if key not in known:
            folder = tmp_path_factory.mktemp(f"{name}-{on_rung}")
            try:
                known[key] = loads.run_load(folder, on_rung, name)
            except Exception as error:  # pylint: disable=broad-except
                known[key] = error
        if isinstance(known[key], Exception):
            raise known[key]
        return known[key]

    return run


@pytest.fixture
def sleeper():
    """A process that only sleeps."""
    with harness.background("sleep", "600") as process:
        yield process
