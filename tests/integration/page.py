# SPDX-License-Identifier: GPL-2.0-only
"""Makes pages and opens them in Chromium. No test in here."""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import harness

DRIVER = pathlib.Path(__file__).resolve().parent.parent / "page"
DATA = re.compile(r'(<script type="application/json" id="data">)(.*?)(</script>)', re.S)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@functools.lru_cache(maxsize=1)
def driver():
    """The folder of the driver with its packages, or the reason to skip."""
    if not CHROMIUM:
        return None, "no chromium: Ubuntu has it only as a snap, Debian as a package"
    if not shutil.which("npm"):
        return None, "no npm"
    folder = pathlib.Path(harness.BUILD) / "page-tests"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", "drive.mjs"):
        shutil.copy(DRIVER / name, folder)
    lock = (folder / "package-lock.json").read_bytes()
    stamp = folder / "node_modules" / ".tegratrace"
    if not stamp.exists() or stamp.read_bytes() != lock:
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"],
                              cwd=folder, capture_output=True, timeout=harness.LIMIT, check=False)
        if done.returncode:
            return None, f"npm ci failed: {done.stderr.decode()[-200:]}"
        stamp.write_bytes(lock)
    return folder, None


@functools.lru_cache(maxsize=1)
def is_built():
    done = subprocess.run([harness.TEGRATRACE, "diagnose", "--html", "/dev/null", "/dev/null"],
                          capture_output=True, timeout=harness.LIMIT, check=False)
    return b"without the page" not in done.stderr


def needs_page():
    if not is_built():
        pytest.skip("this build has no page: npm, or the network, was missing")


def needs_browser():
    needs_page()
    _, reason = driver()
    if reason:
        pytest.skip(reason)


def open_pages(folder, jobs):
    """What the driver saw, by the name of the job."""
    where, _ = driver()
    (folder / "jobs.json").write_text(json.dumps(jobs))
    done = subprocess.run(["node", where / "drive.mjs", folder / "jobs.json"], capture_output=True,
                          env={**os.environ, "CHROMIUM": CHROMIUM}, timeout=harness.LIMIT, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def data_of(html):
    """The object inside a page, as a browser would find it."""
    blocks = DATA.findall(html)
    assert len(blocks) == 1
    return json.loads(blocks[0][1])


def with_data(html, data):
    """The same page about something else, escaped as the report's own writer does."""
    text = json.dumps(data, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return DATA.sub(lambda match: match.group(1) + text + match.group(3), html)
