# SPDX-License-Identifier: GPL-2.0-only
import os

import pytest

import packages


@pytest.fixture(scope="session")
def version():
    return packages.output("tools/version.sh").strip()


@pytest.fixture(scope="session")
def archive():
    """Path of the source archive."""
    if not os.path.exists(".git"):
        pytest.skip("this is a source archive: only a clone of the repository makes one")
    return packages.make("dist").split()[-1]


@pytest.fixture(scope="session", params=packages.ARCHES)
def arch(request):
    return request.param


@pytest.fixture(scope="session")
def deb(arch):
    """Path of the package of that architecture."""
    return packages.make("deb", f"ARCH={arch}").split()[-1]


@pytest.fixture(scope="session")
def c_compiler_only(tmp_path_factory):
    """A PATH with everything of this machine but clang, LLVM, bpftool and git."""
    folder = tmp_path_factory.mktemp("bin")
    for place in ("/usr/bin", "/bin"):
        for name in os.listdir(place):
            if name.startswith(("clang", "llvm", "bpftool", "git")) or os.path.lexists(folder / name):
                continue
            os.symlink(f"{place}/{name}", folder / name)
    return str(folder)
