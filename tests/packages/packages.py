# SPDX-License-Identifier: GPL-2.0-only
"""Builds what the tests look at. No test in here."""
import glob
import os
import subprocess

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
NATIVE = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True,
                        text=True).stdout.strip()
ARCHES = os.environ.get("ARCHES", NATIVE).split()
LIMIT = 1800

# make hands its own settings down, which are not those of the tests' own calls of it.
CLEAN_ENV = {name: value for name, value in os.environ.items()
             if name not in ("BUILD", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARCH", "VERSION",
                          "SOURCE_DATE_EPOCH")}


def run(*argv, **more):
    env = {**CLEAN_ENV, **more.pop("env", {})}
    return subprocess.run([str(word) for word in argv], capture_output=True, text=True, env=env,
                          timeout=LIMIT, check=False, **more)


def output(*argv, **more):
    done = run(*argv, **more)
    assert done.returncode == 0, f"{argv}: {done.stdout[-2000:]} {done.stderr[-2000:]}"
    return done.stdout


def make(*argv, **more):
    return output("make", "-s", "-j2", f"BUILD={BUILD}", *argv, **more)


def files_below(folder):
    """All but folders, relative."""
    return {os.path.relpath(os.path.join(at, name), folder)
            for at, folders, names in os.walk(folder)
            for name in [*names, *(f for f in folders if os.path.islink(os.path.join(at, f)))]}


def only_match(pattern):
    found = glob.glob(pattern)
    assert len(found) == 1, found
    return found[0]
