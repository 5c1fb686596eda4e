# SPDX-License-Identifier: GPL-2.0-only
"""make install and make uninstall."""
import gzip
import os

import packages


def test_install_and_uninstall(tmp_path, version):
    where = ("PREFIX=/opt/tt", f"DESTDIR={tmp_path}")
    packages.make("install", *where)
    root = tmp_path / "opt/tt"
    assert packages.files_below(tmp_path) == {f"opt/tt/{name}" for name in (
        "bin/tegratrace", "bin/tegratrace-make-btf", "sbin/tegratrace", "sbin/tegratrace-make-btf",
        "share/man/man8/tegratrace-make-btf.8.gz", "share/man/man8/tegratrace.8.gz", "share/doc/tegratrace/README.md",
        "share/doc/tegratrace/LICENSE", "share/bash-completion/completions/tegratrace")}
    for name in packages.files_below(root):
        assert os.stat(root / name).st_mode & 0o7777 == (0o755 if "bin/" in name else 0o644)
    with open("tools/man/tegratrace.8", "rb") as source:
        assert gzip.decompress((root / "share/man/man8/tegratrace.8.gz").read_bytes()) == source.read()
    assert packages.output(root / "bin/tegratrace", "--version") == f"tegratrace {version}\n"

    strange = root / "share/man/man8/other.8.gz"
    strange.touch()
    packages.make("uninstall", *where)
    assert packages.files_below(tmp_path) == {"opt/tt/share/man/man8/other.8.gz"}
    assert not (root / "share/doc/tegratrace").exists()


def test_uninstall_of_nothing(tmp_path):
    packages.make("uninstall", f"DESTDIR={tmp_path}")


def test_binary_from_elsewhere(tmp_path):
    """Such as a static one that was downloaded."""
    (tmp_path / "program").write_text("#!/bin/sh\necho downloaded\n")
    packages.make("install", f"DESTDIR={tmp_path}/root", f"PROGRAM={tmp_path}/program")
    assert packages.output(f"{tmp_path}/root/usr/local/sbin/tegratrace") == "downloaded\n"
