# SPDX-License-Identifier: GPL-2.0-only
"""The version: from tags, from the VERSION file of an archive, from nothing."""
import os
import re
import shutil

import pytest

import packages


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    (folder / "tools").mkdir(parents=True)
    shutil.copy("tools/version.sh", folder / "tools")
    (folder / "README.md").write_text("text\n")
    return folder


def git(folder, *argv):
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    return packages.output("git", *who, "-C", folder, *argv,
                           env={"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
                                "GIT_COMMITTER_DATE": "1700000000 +0100"})


def version(folder, *argv):
    return packages.output(folder / "tools/version.sh", *argv).strip()


def older(first, second):
    return packages.run("dpkg", "--compare-versions", first, "lt", second).returncode == 0


def commit(folder):
    git(folder, "add", ".")
    git(folder, "commit", "-q", "--allow-empty", "-m", "m")


def test_of_a_clone(source):
    git(source, "init", "-q")
    commit(source)
    untagged = version(source)
    assert re.fullmatch(r"0\.1\.0\+1\.g[0-9a-f]{10}", untagged)
    git(source, "tag", "v0.2.0-rc1")
    candidate = version(source)
    git(source, "tag", "-d", "v0.2.0-rc1")
    git(source, "tag", "v0.2.0")
    tagged = version(source)
    commit(source)
    later = version(source)
    (source / "README.md").write_text("other\n")
    dirty = version(source)
    assert (candidate, tagged) == ("0.2.0~rc1", "0.2.0")
    assert re.fullmatch(r"0\.2\.0\+1\.g[0-9a-f]{10}", later) and dirty == f"{later}.dirty"
    order = (untagged, candidate, tagged, later, dirty, "0.2.1")
    for before, after in zip(order, order[1:]):
        assert older(before, after)
    assert version(source, "--date") == "1700000000"


def test_of_an_archive(source):
    (source / "VERSION").write_text("1.2.3\n")
    os.utime(source / "VERSION", (1600000000, 1600000000))
    assert version(source) == "1.2.3"
    assert version(source, "--date") == "1600000000"


def test_inside_of_a_foreign_repository(source):
    git(source.parent, "init", "-q")
    commit(source.parent)
    git(source.parent, "tag", "v9.9")
    assert version(source) == "0.1.0+unknown"
