# SPDX-License-Identifier: GPL-2.0-only
"""doctor says what works here and why the rest does not."""
import glob
import gzip
import os
import re

import pytest

from harness import FAKE_TEGRASTATS, RUNGS, in_mounts, parse_json, run_tool

# As stock JetPack 6 is built, and the same without tracing programs as JetPack 5.
JETPACK6 = """CONFIG_64BIT=y
CONFIG_BPF_SYSCALL=y
CONFIG_BPF_EVENTS=y
CONFIG_EVENT_TRACING=y
CONFIG_DEBUG_INFO_REDUCED=y
# CONFIG_PSI is not set
CONFIG_UPROBE_EVENTS=y
CONFIG_FTRACE=y
"""
WITHOUT_BTF = in_mounts("mount -t tmpfs none /sys/kernel/btf")
WITHOUT_CAPABILITIES = ("setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin,-sys_ptrace")


def report(*args, **more):
    result = run_tool("doctor", "--json", *args, **more)
    assert result.err == ""
    doctor = parse_json(result.text.encode())
    assert doctor["schema"] == "tegratrace-doctor/1"
    assert all(check["what"] and check["text"] for check in doctor["checks"])
    return result.status, doctor


def by_name(doctor):
    return {check["what"]: check for check in doctor["checks"]}


def checks(*args, **more):
    status, doctor = report(*args, **more)
    return status, by_name(doctor)


@pytest.fixture
def board(tmp_path):
    """board(config): the environment of a board whose kernel was built with that configuration."""
    def make(config, compress=gzip.compress):
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc" / "config.gz").write_bytes(compress(config.encode()))
        return {"TEGRATRACE_ROOT": str(tmp_path)}
    return make


def test_text():
    result = run_tool("doctor")
    assert result.status == 0 and result.err == ""
    for rung in RUNGS:
        lines = [line for line in result.text.splitlines() if f"rung {rung} " in line]
        assert len(lines) == 1 and lines[0].split()[0] == "ok"
    assert max(map(len, result.text.splitlines())) <= 100


def test_json():
    status, found = checks()
    assert status == 0
    for rung in RUNGS:
        assert found[f"rung {rung}"]["ok"]
    assert found["root"]["ok"]


def test_without_btf():
    status, found = checks(prefix=WITHOUT_BTF)
    assert status == 0
    assert not found["rung btf"]["ok"] and found["rung tracepoint"]["ok"]
    assert any("/sys/kernel/btf" in check["text"] for check in found.values() if not check["ok"])


def test_tegrastats_there(tmp_path):
    env = {"FAKE_GPU_STATE": str(tmp_path / "gpu")}
    status, found = checks(f"--tegrastats={FAKE_TEGRASTATS}", env=env)
    assert status == 0 and found["tegrastats"]["ok"]


@pytest.mark.parametrize("delay, interval, least", ((0, 1000, 1), (.6, 100, .7)))
def test_tegrastats_is_waited_for(tmp_path, delay, interval, least):
    """It prints its first line an interval after it has begun, and may begin late."""
    late = tmp_path / "tegrastats"
    late.write_text(f'#!/bin/sh\nsleep {delay}\nexec {FAKE_TEGRASTATS} "$@"\n')
    late.chmod(0o755)
    found = checks(f"--tegrastats={late}", f"--interval={interval}", env={"FAKE_GPU_STATE": str(tmp_path / "gpu")})[1]
    assert found["tegrastats"]["ok"], found["tegrastats"]
    waited = float(re.search(r"[1-9] samples? in ([\d.]+) s", found["tegrastats"]["text"]).group(1))
    assert least - .05 <= waited < 2 * interval / 1000 + 1.1


@pytest.mark.parametrize("command, least, most", (("true", 0, .9), ("sleep 60", 1.02, 2)))
def test_tegrastats_that_prints_nothing(command, least, most):
    """One that ended is not waited for; another 2 intervals and a second."""
    found = checks(f"--tegrastats={command} #", "--interval=10")[1]
    assert not found["tegrastats"]["ok"]
    waited = float(re.search(r"0 samples in ([\d.]+) s", found["tegrastats"]["text"]).group(1))
    assert least - .05 <= waited <= most


def test_configuration_of_this_kernel():
    """Against a reading of it by other means."""
    if not os.path.exists("/proc/config.gz"):
        pytest.skip("this kernel has no /proc/config.gz")
    with gzip.open("/proc/config.gz", "rt") as file:
        truth = dict(re.findall(r"^(CONFIG_\w+)=(.*)$", file.read(), re.M))
    config = report()[1]["kernel_config"]
    assert config["source"] == "/proc/config.gz" and config["whole"]
    assert len(config["options"]) > 12
    assert config["options"] == {name: truth.get(name, "n") for name in config["options"]}


def test_option_behind_a_missing_rung(board):
    env = board(JETPACK6)
    status, found = checks(prefix=WITHOUT_BTF, env=env)
    assert status == 0
    assert found["rung btf"]["lacking"] == ["CONFIG_DEBUG_INFO_BTF"]
    assert found["rung tracepoint"]["lacking"] == []
    text = run_tool("doctor", prefix=WITHOUT_BTF, env=env).text
    assert "CONFIG_DEBUG_INFO_BTF is off (it cannot be with CONFIG_DEBUG_INFO_REDUCED)" in " ".join(text.split())


@pytest.mark.parametrize("config, said", [
    (JETPACK6 + "CONFIG_IRQ_TIME_ACCOUNTING=y\n", "kept apart"),
    (JETPACK6 + "# CONFIG_IRQ_TIME_ACCOUNTING is not set\n", "part of a thread's time"),
    ("", "not known"),
])
def test_interrupt_time(board, config, said):
    """Who compares on-CPU time with the kernel's books must know whether they have the same in them."""
    found = checks(env=board(config))[1]["interrupt time"]
    assert found["ok"] and found["text"].startswith(said)


@pytest.mark.parametrize("damage", (lambda data: gzip.compress(data)[:-20], lambda data: b"\x1f\x8b",
                                    lambda data: b"no configuration"))
def test_damaged_configuration(board, damage):
    """Then nothing is said to be off."""
    _, doctor = report(prefix=WITHOUT_BTF, env=board(JETPACK6, damage))
    found = by_name(doctor)
    assert not found["kernel configuration"]["ok"] and not doctor["kernel_config"]["whole"]
    assert all(check["lacking"] == [] for check in doctor["checks"])
    assert doctor["kernel_config"]["options"]["CONFIG_DEBUG_INFO_BTF"] is None


def test_events_of_every_program():
    """Each tracepoint that a program attaches to is looked at, and no other."""
    wanted = set()
    for path in glob.glob("bpf/*.bpf.c"):
        with open(path, encoding="utf-8") as file:
            wanted.update(re.findall(r'SEC\("(?:tracepoint|tp)/(\w+/\w+)"\)', file.read()))
    assert len(wanted) > 10
    events = {}
    for check in report()[1]["checks"]:
        assert all(check.get("events", {}).values()) == check["ok"] or "events" not in check
        events.update(check.get("events", {}))
    assert set(events) == wanted
    for event, there in events.items():
        assert there == os.path.exists(f"/sys/kernel/tracing/events/{event}")


def test_without_tracefs_mounted():
    """A detached mount stands in for it."""
    status, found = checks(prefix=in_mounts("mount -t tmpfs none /sys/kernel/tracing"))
    assert status == 0
    assert found["scheduler tracepoints"]["ok"]


def test_without_capabilities():
    status, doctor = report(prefix=WITHOUT_CAPABILITIES)
    found = by_name(doctor)
    assert status == 5
    assert not any(found[f"rung {rung}"]["ok"] for rung in RUNGS)
    assert "CAP_BPF CAP_PERFMON CAP_SYS_PTRACE" in found["capabilities"]["text"]
    assert doctor["next"] == found["capabilities"]["remedy"] and "--privileged" in doctor["next"]


def test_not_root():
    status, doctor = report(prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
    assert status == 3
    assert doctor["next"] == "sudo tegratrace doctor"
    assert not by_name(doctor)["root"]["ok"]


def test_hidden_symbols(tmp_path):
    (tmp_path / "two").write_text("2\n")
    hide = in_mounts(f"mount --bind {tmp_path}/two /proc/sys/kernel/kptr_restrict")
    status, doctor = report(prefix=hide)
    assert status == 0
    assert doctor["next"] == "sudo sysctl kernel.kptr_restrict=1"


def test_unknown_words():
    result = run_tool("doctor", "everything")
    assert result.status == 2 and "unknown word 'everything'" in result.err
