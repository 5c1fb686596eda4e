# SPDX-License-Identifier: GPL-2.0-only
"""The source archive: what is in it, and that it builds with a C compiler alone."""
import os
import shutil
import tarfile

import pytest

import packages


@pytest.fixture(scope="session")
def source(archive, tmp_path_factory):
    """The unpacked archive."""
    folder = tmp_path_factory.mktemp("source")
    packages.output("tar", "-C", folder, "-xf", archive)
    return packages.only_match(f"{folder}/*")


def refusal(source, *argv, **more):
    done = packages.run("make", f"BUILD={source}/build-refused", *argv, cwd=source, **more)
    assert done.returncode == 2 and done.stdout == ""
    assert not os.path.exists(f"{source}/build-refused")
    return done.stderr.strip()


def test_what_is_inside(archive, version):
    tracked = set(packages.output("git", "ls-files", "-z").split("\0")) - {""}
    tracked = {name for name in tracked if not name.startswith(".ci/")}
    with tarfile.open(archive) as tar:
        top = f"tegratrace-{version}/"
        inside = {member.name[len(top):] for member in tar if not member.isdir()}
        assert all((member.name + "/").startswith(top) for member in tar)
        assert tar.extractfile(f"{top}VERSION").read().decode() == f"{version}\n"
    assert tracked <= inside
    added = inside - tracked
    skeletons = {name for name in added if name.startswith("bpf/skel/")}
    # Without npm there is no page.
    page = {"src/report/page/page.html"} if shutil.which("npm") else set()
    assert added - skeletons - page == {"VERSION"} and page <= added
    programs = {name[len("bpf/"):-len(".bpf.c")] for name in tracked
                if name.startswith("bpf/") and name.endswith(".bpf.c")}
    assert len(programs) > 2
    # The protobuf code lies with them: an archive needs no protoc-c either.
    generated = {f"bpf/skel/perfetto.pb-c.{ending}" for ending in "ch"}
    assert skeletons == generated | {f"bpf/skel/{arch}/{name}.skel.h"
                                     for arch in ("x86", "arm64") for name in programs}


def test_nobody_owns_it(archive):
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
    assert len({member.mtime for member in members}) == 1
    assert {(member.uid, member.gid, member.uname) for member in members} == {(0, 0, "")}
    assert {member.mode for member in members} <= {0o644, 0o755, 0o777}


def test_same_bytes(archive, tmp_path):
    shutil.copy(archive, tmp_path / "first")
    old = os.umask(0o077)
    try:
        packages.make("dist", env={"TZ": "Asia/Tokyo"})
    finally:
        os.umask(old)
    with open(archive, "rb") as again:
        assert (tmp_path / "first").read_bytes() == again.read()


def test_builds_with_a_c_compiler_alone(source, c_compiler_only, version):
    env = {"PATH": c_compiler_only}
    assert not shutil.which("clang", path=c_compiler_only)
    packages.output("make", "-s", "-j2", "BPFTOOL=false", cwd=source, env=env)
    program = f"{source}/build/tegratrace"
    assert packages.output(program, "--version") == f"tegratrace {version}\n"
    if os.geteuid() == 0:
        assert "loads and attaches" in packages.output(program, "doctor")


def test_same_package_from_the_archive(source, c_compiler_only, deb, arch):
    """Two builds in two places, by two ways, to the byte."""
    if len(packages.ARCHES) < 2:
        pytest.skip("make check-packages builds the packages a second time")
    packages.output("make", "-s", "-j2", "deb", f"ARCH={arch}", cwd=source, env={"PATH": c_compiler_only})
    with open(f"{source}/build/packages/{os.path.basename(deb)}", "rb") as again, open(deb, "rb") as first:
        assert again.read() == first.read()


def test_old_libbpf(source, tmp_path):
    """JetPack 6's: said in one line, with what to do."""
    (tmp_path / "libbpf.pc").write_text("Name: libbpf\nDescription: old\nVersion: 0.5.0\nLibs: -lbpf\n")
    line = refusal(source, env={"PKG_CONFIG_PATH": str(tmp_path)})
    assert len(line.splitlines()) == 1
    assert "libbpf 0.5.0 is too old" in line and "static binary" in line and ".deb" in line


def test_no_libraries(source, tmp_path):
    line = refusal(source, env={"PKG_CONFIG_LIBDIR": str(tmp_path)})
    assert len(line.splitlines()) == 1 and "tools/install-deps.sh build" in line


def test_no_archive_from_an_archive(source):
    assert "needs a clone" in packages.run("make", "dist", cwd=source).stderr
