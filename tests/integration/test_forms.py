# SPDX-License-Identifier: GPL-2.0-only
"""Every form of output where it cannot be written, or must not be: a clear line, and nothing that was
there is lost. On a live run all of them at once; each alone from a recording, by the same code."""
import os
import re
import shutil
import signal

import pytest

import page
from harness import FAKE_TEGRASTATS, LIMIT, Load, Trace, in_mounts, parse_report, run_tool, wait_for

FAILED, USAGE = 1, 2

# A run of seconds, and each half of it has a test: its recording, and reports by the same code.
FULL_ONLY = ("test_full_disk_of_a_run",)

# Option, and what it writes in its folder; a form without is one file.
FILES = ("json", "html", "perfetto", "chrome", "folded", "flamegraph")
FOLDERS = {"csv": ("timeseries.csv", "threads.csv", "edges.csv"), "png": ("perf_curves.png",)}
FORMS = (*FILES, *FOLDERS)
OLD = "of the day before"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recording")
    with Load(folder, "demo_pipeline", "secs=60") as load:
        load.go()
        run_tool("-q", "-o", folder / "run.ttr", "--timeline", "-d", "1.2", "-p", load.pid,
                 "--tegrastats", f"{FAKE_TEGRASTATS} --interval 100")
    return folder / "run.ttr"


@pytest.fixture(autouse=True)
def possible(request):
    form = request.node.callspec.params.get("form") if hasattr(request.node, "callspec") else None
    if form == "html":
        page.needs_page()
    if form == "png" and not shutil.which("gnuplot"):
        pytest.skip("no gnuplot")


def option(form, path):
    return f"--{form}={path}"


def write(recording, form, path, **how):
    return run_tool("report", recording, option(form, path), **how)


def written(form, path):
    return [path / name for name in FOLDERS[form]] if form in FOLDERS else [path]


def forms_here():
    return [form for form in FORMS if (form != "html" or page.is_built()) and (form != "png" or shutil.which("gnuplot"))]


def options_in(folder):
    return [option(form, folder / form) for form in forms_here()]


def test_belongs_to_the_user_behind_sudo(recording, tmp_path):
    # gnuplot runs as that user
    for folder in [tmp_path, *tmp_path.parents][:3]:
        folder.chmod(0o755)
    result = run_tool("report", recording, *options_in(tmp_path), env={"SUDO_UID": "12345", "SUDO_GID": "23456"})
    assert result.status == 0, result.err
    for form in forms_here():
        for path in (tmp_path / form, *written(form, tmp_path / form)):
            assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456), path
            assert path.stat().st_size > 40, path


NO_SPACE = re.compile("tegratrace: error: cannot (write|draw) .*No space left on device")


def test_full_disk(recording, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    prefix = in_mounts(f"mount -t tmpfs -o size=16k none {disk}; ! head -c 1M /dev/zero >{disk}/fill 2>/dev/null")
    result = run_tool("report", recording, *options_in(disk), prefix=prefix)
    assert result.status == FAILED
    errors = [line for line in result.err.splitlines() if "error" in line]
    assert len(errors) == len(forms_here()) and all(map(NO_SPACE.match, errors)), errors


@pytest.mark.parametrize("form", FILES)
def test_closed_pipe(recording, form):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = write(recording, form, "-", stdout=writer)
    finally:
        os.close(writer)
    assert result.status == FAILED
    line, = result.err.splitlines()
    assert "cannot write" in line and "Broken pipe" in line


@pytest.mark.parametrize("form", FORMS)
def test_read_only_folder(recording, tmp_path, form):
    folder = tmp_path / "ro"
    folder.mkdir()
    result = write(recording, form, folder / "out", prefix=in_mounts(f"mount -t tmpfs -o ro none {folder}"))
    assert result.status == USAGE and result.text == ""
    assert f"{folder}/out" in result.error_line()


@pytest.mark.parametrize("form", FORMS)
def test_symbolic_link(recording, tmp_path, form):
    """Neither the file nor the folder is taken for what it points to."""
    target = tmp_path / "target"
    target.mkdir() if form in FOLDERS else target.write_text(OLD)
    (tmp_path / "link").symlink_to(target)
    result = write(recording, form, tmp_path / "link")
    assert result.status == USAGE and "link" in result.error_line()
    assert os.listdir(target) == [] if form in FOLDERS else target.read_text() == OLD


@pytest.mark.parametrize("form", FOLDERS)
def test_symbolic_link_in_the_folder(recording, tmp_path, form):
    out = tmp_path / "out"
    out.mkdir()
    for name in FOLDERS[form]:
        (tmp_path / name).write_text(OLD)
        (out / name).symlink_to(tmp_path / name)
    result = write(recording, form, out)
    assert result.status == FAILED and "symbolic link" in result.err
    assert all((tmp_path / name).read_text() == OLD for name in FOLDERS[form])


def live_options(folder):
    return ["-q", "-o", folder / "run.ttr", "--timeline", *options_in(folder),
            "--tegrastats", f"{FAKE_TEGRASTATS} --interval 100"]


def test_full_disk_of_a_run(tmp_path):
    """All of them on a disk that something else has filled: each says so, and the report is printed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f"""mount -t tmpfs -o size=2m none {disk}
        (until [ -s {disk}/run.ttr-wal ]; do sleep 0.1; done; sleep 1; head -c 4M /dev/zero >{disk}/fill 2>/dev/null || true) &
        "$@" && rc=0 || rc=$?
        wait; exit $rc"""
    with Load(tmp_path, "demo_pipeline", "secs=60") as load:
        load.go()
        result = run_tool(*live_options(disk), "-p", load.pid, "-d", "3.5",
                          prefix=("unshare", "-m", "sh", "-ec", script, "sh"))
    assert result.status == FAILED and "measured" in result.text
    lines = [line for line in result.err.splitlines() if NO_SPACE.match(line)]
    assert len(lines) == len(forms_here()), result.err
    assert re.search("(error|warning): .*run.ttr.*full.*kept", result.err), result.err


def test_kill_keeps_what_was_written(sleeper, tmp_path):
    """SIGKILL in the middle: the recording has all but the last second, older reports are still there."""
    for form in forms_here():
        if form in FOLDERS:
            (tmp_path / form).mkdir()
        for path in written(form, tmp_path / form):
            path.write_text(OLD)
    with Trace(tmp_path, *map(str, live_options(tmp_path)), "-p", str(sleeper.pid)) as trace:
        wait_for("a batch", lambda: recorded(tmp_path / "run.ttr"))
        trace.process.send_signal(signal.SIGKILL)
        trace.process.wait(LIMIT)
    report = parse_report(run_tool("report", tmp_path / "run.ttr", "--json").text.encode())
    assert report["window"]["duration_ns"] > 0 and report["threads"]
    for form in forms_here():
        assert all(path.read_text() == OLD for path in written(form, tmp_path / form)), form


def recorded(path):
    result = run_tool("report", path, "--json")
    return result.status == 0 and '"threads":[{' in result.text
