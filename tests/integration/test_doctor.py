# SPDX-License-Identifier: GPL-2.0-only
"""doctor says what works here and why the rest does not."""
import pytest

from harness import FAKE_TEGRASTATS, RUNGS, in_mounts, parse_json, run_tool


def checks(*args, **more):
    result = run_tool("doctor", "--json", *args, **more)
    assert result.err == ""
    doctor = parse_json(result.text.encode())
    assert doctor["schema"] == "tegratrace-doctor/1"
    assert all(check["what"] and check["text"] for check in doctor["checks"])
    return result.status, {check["what"]: check for check in doctor["checks"]}


def test_text():
    result = run_tool("doctor")
    assert result.status == 0 and result.err == ""
    for rung in RUNGS:
        lines = [line for line in result.text.splitlines() if f"rung {rung} " in line]
        assert len(lines) == 1 and lines[0].split()[0] == "ok"
    assert max(map(len, result.text.splitlines())) <= 200


def test_json():
    status, found = checks()
    assert status == 0
    for rung in RUNGS:
        assert found[f"rung {rung}"]["ok"]
    assert found["root"]["ok"]


def test_without_btf():
    status, found = checks(prefix=in_mounts("mount -t tmpfs none /sys/kernel/btf"))
    assert status == 0
    assert not found["rung btf"]["ok"] and found["rung tracepoint"]["ok"]
    assert any("/sys/kernel/btf" in check["text"] for check in found.values() if not check["ok"])


def test_tegrastats_there(tmp_path):
    env = {"FAKE_GPU_STATE": str(tmp_path / "gpu")}
    status, found = checks(f"--tegrastats={FAKE_TEGRASTATS}", env=env)
    assert status == 0 and found["tegrastats"]["ok"]


@pytest.mark.parametrize("options", ((), ("--json",)))
def test_full_disk(options):
    with open("/dev/full", "wb") as full:
        result = run_tool("doctor", *options, stdout=full)
    assert result.status == 1
