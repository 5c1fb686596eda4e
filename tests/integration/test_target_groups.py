# SPDX-License-Identifier: GPL-2.0-only
"""Containers, cgroups and units as targets. Truth: cgroups made here, by their runtimes' names."""
import contextlib
import os
import subprocess

import pytest

from harness import background, parse_report, remove_cgroup, run_tool, wait_for, workload
from test_samples import build, count
from test_targets import NO_TARGET, USAGE, refused

ID = "5f3a" + "0123456789abcdef" * 3 + "fedcba987654"
OTHER = "5f3b" + ID[4:]
NAMES = ("docker-{}.scope", "docker/{}", "cri-containerd-{}.scope", "libpod-{}.scope",
         "kubepods.slice:cri-containerd:{}")
FULL_ONLY = ("test_cgroup_and_all_below[1]", *(f"test_container_by_its_id[{name}-1]" for name in NAMES))


def hierarchy(version):
    """The folder in which a cgroup of that version can be made, or a skip."""
    tops = {1: ("cpu", "memory", "freezer", "cpu,cpuacct"), 2: ("unified", "")}[version]
    for top in (os.path.join("/sys/fs/cgroup", name).rstrip("/") for name in tops):
        mark = f"{top}/cgroup.controllers" if version == 2 else f"{top}/tasks"
        if os.path.exists(mark) and os.access(top, os.W_OK):
            return top
    return pytest.skip(f"no cgroup hierarchy of version {version}")


@contextlib.contextmanager
def cgroups(version, *names):
    """New cgroups below one of this test's own: their folders."""
    top = f"{hierarchy(version)}/tegratrace-groups-{os.getpid()}"
    folders = [f"{top}/{name}" for name in names]
    try:
        for folder in folders:
            os.makedirs(folder)
    except OSError as error:
        pytest.skip(f"cannot make a cgroup in {top}: {error}")
    try:
        yield folders
    finally:
        for path, _, _ in os.walk(top, topdown=False):
            remove_cgroup(path)


def members(folder):
    with open(f"{folder}/cgroup.procs", encoding="ascii") as file:
        return {int(line) for line in file}


@contextlib.contextmanager
def sleep_in(folder):
    with background("sh", "-ec", f"echo 0 > {folder}/cgroup.procs; exec sleep 600") as process:
        wait_for("it to be there", lambda: process.pid in members(folder))
        yield process


def traced(*args):
    result = run_tool(*args, "-d", "0.2", "--json", "--rung", "tracepoint")
    assert result.status == 0, result.err
    report = parse_report(result.text.encode())
    return {target["pid"] for target in report["targets"]}, result.err


@pytest.mark.parametrize("version", (1, 2))
@pytest.mark.parametrize("name", NAMES)
def test_container_by_its_id(version, name):
    """Every process of it and of cgroups inside, and none of what watches it."""
    conmon = f"libpod-conmon-{ID}.scope"
    with cgroups(version, name.format(ID), f"{name.format(ID)}/init", conmon) as folders, \
         sleep_in(folders[0]) as one, sleep_in(folders[1]) as two, sleep_in(folders[2]):
        for digits in ID, ID[:12]:
            pids, notes = traced("--container", digits)
            assert pids == {one.pid, two.pid}
            assert f"{one.pid} (sleep)" in notes and f"{two.pid} (sleep)" in notes


def test_beginning_of_two_ids():
    with cgroups(2, f"docker-{ID}.scope", f"docker-{OTHER}.scope") as folders, \
         sleep_in(folders[0]) as one, sleep_in(folders[1]):
        line = refused(NO_TARGET, "--container", ID[:3])
        assert ID[:12] in line and OTHER[:12] in line
        assert traced("--container", ID[:4])[0] == {one.pid}


@pytest.mark.parametrize("version", (1, 2))
def test_cgroup_and_all_below(version):
    """As /proc/PID/cgroup has the path, and as its folder; not those whose path only begins so."""
    with cgroups(version, "work", "work/inner/most", "work2") as folders, \
         sleep_in(folders[0]) as one, sleep_in(folders[1]) as two, sleep_in(folders[2]):
        path = folders[0].removeprefix(hierarchy(version))
        for form in path, path[1:], f"{path}/", folders[0]:
            assert traced("--cgroup", form)[0] == {one.pid, two.pid}, form
        assert traced("--cgroup", folders[1])[0] == {two.pid}


def test_unit():
    names = "a.slice/infer.service", "a.slice/infer.service/sub", "infer2.service", "shell.scope"
    with cgroups(2, *names) as folders, \
         sleep_in(folders[0]) as one, sleep_in(folders[1]) as two, sleep_in(folders[2]), \
         sleep_in(folders[3]) as three:
        assert traced("--unit", "infer")[0] == {one.pid, two.pid}
        assert traced("--unit", "infer.service")[0] == {one.pid, two.pid}
        assert traced("--unit", "shell.scope")[0] == {three.pid}
        assert traced("--unit", "a.slice")[0] == {one.pid, two.pid}


def test_unit_of_two_users():
    with cgroups(2, "user-1.slice/infer.service", "user-2.slice/infer.service") as folders, \
         sleep_in(folders[0]) as one, sleep_in(folders[1]):
        line = refused(NO_TARGET, "--unit", "infer")
        paths = [folder.removeprefix(hierarchy(2)) for folder in folders]
        assert all(path in line for path in paths)
        assert traced("--cgroup", paths[0])[0] == {one.pid}


def test_empty_and_unknown():
    with cgroups(2, f"docker-{ID}.scope") as folders:
        assert "docker ps" in refused(NO_TARGET, "--container", ID)
        assert "empty" in refused(NO_TARGET, "--cgroup", folders[0])
    assert "systemctl" in refused(NO_TARGET, "--unit", "no-such-unit")
    for option in "--container", "--cgroup", "--unit":
        assert "empty" in refused(NO_TARGET, option, "")


@pytest.mark.parametrize("option, value, says", (
    ("--container", "my-model", "docker inspect"), ("--container", ID + "0", "docker ps"),
    ("--cgroup", "/", "every process"), ("--cgroup", "/sys/fs/cgroup/unified/", "every process"),
    ("--unit", "a/b", "--cgroup")))
def test_what_cannot_be_meant(option, value, says):
    if value.startswith("/sys") and not os.path.exists(value):
        pytest.skip(f"no {value}")
    assert says in refused(USAGE, option, value)


def test_contradictions(sleeper, tmp_path):
    for args in (("-p", sleeper.pid), ("-n", "sleep"), ("--", "touch", tmp_path / "ran")):
        assert "--container" in refused(USAGE, "--cgroup", "/a", *args)
    assert not (tmp_path / "ran").exists()
    result = run_tool("--unit", "a", "--container", "abc")
    assert result.status == USAGE and "give one of them" in result.err


def test_symbols_of_files_that_only_the_container_has(tmp_path):
    """Its own PIDs, mounts and root: the library's path does not exist out here."""
    root, notes = tmp_path / "root", tmp_path / "notes"
    notes.mkdir()
    build(tmp_path / "libburn.so.7", "burn_lib")
    with cgroups(2, f"docker-{ID}.scope") as (folder,):
        script = f"""
            echo 0 > {folder}/cgroup.procs
            mkdir {root}
            mount -t tmpfs none {root}
            mkdir {root}/usr {root}/proc {root}/opt {root}/notes
            for lib in lib lib64; do
                if [ -L /$lib ]; then cp -P /$lib {root}
                elif [ -d /$lib ]; then mkdir {root}/$lib; mount --bind /$lib {root}/$lib; fi
            done
            mount --bind /usr {root}/usr
            mount --bind {notes} {root}/notes
            mount -t proc proc {root}/proc
            cp {tmp_path}/libburn.so.7 {workload("burner")} {root}/opt
            exec chroot {root} /opt/burner lib=/opt/libburn.so.7 secs=60 ready=/notes/ready
        """
        with background("unshare", "--pid", "--mount", "--fork", "--kill-child", "sh", "-ec", script,
                        stdout=subprocess.DEVNULL):
            wait_for("the burner", (notes / "ready").exists)
            assert not os.path.exists("/opt/libburn.so.7")
            (pid,) = members(folder)
            result = run_tool("-q", "--container", ID[:8], "-d", "2", "--json")
    assert result.status == 0, result.err
    report = parse_report(result.text.encode())
    assert [target["pid"] for target in report["targets"]] == [pid] != [1]
    assert count([site for site in report["samples"] if site["library"] == "libburn.so.7"
                  and site["function"] in ("tt_decode", "tt_convert")]) > 20
