# SPDX-License-Identifier: GPL-2.0-only
"""The Debian packages: what is inside, and that dpkg can work with them."""
import os
import re
import shutil
import struct
import subprocess

import pytest

import packages

MACHINES = {"amd64": 62, "arm64": 183}
FILES = {f"usr/{name}" for name in (
    "bin/tegratrace", "bin/tegratrace-make-btf", "sbin/tegratrace", "sbin/tegratrace-make-btf",
    "share/man/man8/tegratrace-make-btf.8.gz", "share/man/man8/tegratrace.8.gz", "share/doc/tegratrace/README.md",
    "share/doc/tegratrace/copyright", "share/doc/tegratrace/changelog.gz",
    "share/bash-completion/completions/tegratrace", "share/lintian/overrides/tegratrace")}


@pytest.fixture
def unpacked(deb, tmp_path):
    packages.output("dpkg-deb", "-x", deb, tmp_path)
    return tmp_path


def field(deb, name):
    return packages.output("dpkg-deb", "-f", deb, name).strip()


def repack(arch, out, version, **more):
    """The same program packed once more."""
    program = f"{packages.BUILD}/static/tegratrace-{arch}"
    env = {"VERSION": version, "MAINTAINER": "m <m@example.org>", **more.pop("env", {})}
    return packages.output("tools/packaging/deb.sh", arch, program, out,
                           env={"SOURCE_DATE_EPOCH": "1700000000", **env}, **more).split()[-1]


def test_fields(deb, arch, version):
    assert field(deb, "Package") == "tegratrace"
    assert field(deb, "Version") == version
    assert field(deb, "Architecture") == arch
    assert field(deb, "Depends") == ""
    assert os.path.basename(deb) == f"tegratrace_{version}_{arch}.deb"
    for library in ("libbpf", "elfutils", "zlib", "jansson", "libmicrohttpd", "glibc"):
        assert f"{library} (= " in field(deb, "Built-Using")


def test_program(unpacked, arch):
    program = (unpacked / "usr/sbin/tegratrace").read_bytes()
    assert program[:6] == b"\x7fELF\x02\x01"
    assert struct.unpack_from("<H", program, 18)[0] == MACHINES[arch]
    assert len(program) <= 6 * 1024 * 1024
    headers = packages.output("readelf", "-lS", unpacked / "usr/sbin/tegratrace")
    assert "INTERP" not in headers and ".symtab" not in headers and ".debug" not in headers


def test_no_path_of_the_build(unpacked):
    program = (unpacked / "usr/sbin/tegratrace").read_bytes()
    for path in (os.getcwd(), packages.BUILD):
        assert path.encode() not in program


def test_files(unpacked):
    assert packages.files_below(unpacked) == FILES
    for name in FILES:
        stat = os.stat(unpacked / name)
        assert stat.st_mode & 0o7777 == (0o755 if "bin/" in name else 0o644)


def test_lintian(deb):
    if not shutil.which("lintian"):
        pytest.skip("no lintian: apt-get install lintian")
    done = packages.run("lintian", "--show-overrides", deb)
    tags = set(re.findall(r"^([A-Z]): \S+: (\S+)", done.stdout, re.M))
    # What a static program cannot help, and no more, is overridden.
    assert tags == {("O", tag) for tag in ("statically-linked-binary", "embedded-library",
                                           "uses-dpkg-database-directly")}, done.stdout


def test_same_bytes(deb, arch, tmp_path):
    """Packed at another time, in another folder, under another umask and time zone."""
    made = []
    for name, env, umask in (("a", {"TZ": "UTC"}, "022"), ("b", {"TZ": "Asia/Tokyo", "LC_ALL": "C"}, "077")):
        os.mkdir(tmp_path / name)
        old = os.umask(int(umask, 8))
        try:
            made.append(repack(arch, tmp_path / name, "7.0", env=env))
        finally:
            os.umask(old)
    first, second = (open(path, "rb").read() for path in made)
    assert first == second and len(first) > 100000


class Root:
    """A root of its own for dpkg."""

    def __init__(self, folder, arch):
        self.folder = folder
        state = folder / "var/lib/dpkg"
        for name in ("info", "updates", "triggers"):
            (state / name).mkdir(parents=True)
        for name in ("status", "available"):
            (state / name).touch()
        (state / "arch").write_text(f"{packages.NATIVE}\n{arch}\n")

    def dpkg(self, *argv):
        done = packages.run("dpkg", f"--root={self.folder}", "--log=/dev/null", "--no-triggers", *argv)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr
        return done.stdout

    def files(self):
        return {name for name in packages.files_below(self.folder)
                if not name.startswith("var/lib/dpkg")}

    def status(self):
        return self.dpkg("-l", "tegratrace").splitlines()[-1].split()[:3:2]


def test_install_upgrade_remove(deb, arch, tmp_path):
    if os.geteuid():
        pytest.skip("dpkg --root wants root")
    root = Root(tmp_path / "root", arch)
    older, newer = (repack(arch, tmp_path / "debs", version) for version in ("0.0.1", "999"))
    root.dpkg("-i", older)
    assert root.files() == FILES and root.status() == ["ii", "0.0.1"]
    root.dpkg("-i", deb)
    assert root.files() == FILES and root.status() == ["ii", field(deb, "Version")]
    root.dpkg("-i", newer)
    assert root.status() == ["ii", "999"]
    assert root.dpkg("-V", "tegratrace") == ""
    root.dpkg("-r", "tegratrace")
    assert root.files() == set()


def test_alone_in_a_container(deb, arch, tmp_path):
    """Nothing but the program, /proc, /sys and the host's PID namespace: the README's recipe."""
    if arch != packages.NATIVE:
        pytest.skip(f"{arch} does not run here")
    if os.geteuid():
        pytest.skip("tracing wants root")
    packages.output("dpkg-deb", "-x", deb, tmp_path)
    script = """cd "$1"; mkdir -p proc sys; mount --rbind /proc proc; mount --rbind /sys sys
                shift; exec chroot . /usr/sbin/tegratrace "$@" """
    inside = ("unshare", "-m", "sh", "-ec", script, "sh", tmp_path)
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        try:
            report = packages.output(*inside, "-p", sleeper.pid, "-d", "0.5", "--json", "-q")
            assert f'"tid":{sleeper.pid},' in report.replace(" ", "")
            assert re.findall("^ *(ok|no) +rung tracepoint", packages.output(*inside, "doctor"), re.M) == ["ok"]
        finally:
            sleeper.kill()
