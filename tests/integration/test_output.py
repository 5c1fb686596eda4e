# SPDX-License-Identifier: GPL-2.0-only
"""Where the output goes, and what stops it."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from harness import FAKE_TEGRASTATS, LIMIT, TEGRATRACE, background, in_mounts, parse_report, run_tool

FAILED, USAGE = 1, 2
FULL_ONLY = ("test_narrow_terminal", "test_spark_lines_need_utf8")


def refuses(path, sleeper, prefix=()):
    """Before anything is traced: the target sleeps on, and it does not wait for its end."""
    result = run_tool("-q", f"--json={path}", "-p", sleeper.pid, prefix=prefix)
    assert result.status == USAGE and result.text == ""
    assert os.path.basename(str(path)) in result.error_line()


def test_read_only_folder(sleeper, tmp_path):
    prefix = in_mounts(f"mount -t tmpfs -o ro none {tmp_path}")
    refuses(tmp_path / "report", sleeper, prefix)


def test_no_such_folder(sleeper, tmp_path):
    refuses(tmp_path / "no" / "report", sleeper)


def test_folder(sleeper, tmp_path):
    refuses(tmp_path, sleeper)


@pytest.mark.parametrize("target", ("there", "not there"))
def test_symbolic_link(sleeper, tmp_path, target):
    if target == "there":
        (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    refuses(tmp_path / "link", sleeper)
    if target == "there":
        assert (tmp_path / "target").read_text() == "mine"
    else:
        assert not (tmp_path / "target").exists()


def test_hostile_path(sleeper, tmp_path):
    result = run_tool("-q", f"--json={tmp_path}/no\x1b[31m/report", "-p", sleeper.pid)
    assert result.status == USAGE and "\x1b" not in result.error_line()


def test_command_does_not_run_without_its_output(tmp_path):
    result = run_tool("-q", f"--json={tmp_path}/no/report", "--", "touch", tmp_path / "ran")
    assert result.status == 125 and "report" in result.error_line()
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize("options", ((), ("--json",)))
def test_closed_pipe(closed_pipe, sleeper, options):
    result = run_tool("-q", *options, "-p", sleeper.pid, "-d", "0.2", stdout=closed_pipe)
    assert result.status == FAILED
    assert "cannot write" in result.err and "Broken pipe" in result.err


@pytest.mark.parametrize("options", ((), ("--json",), ("--json=/dev/full",)))
def test_full_disk(sleeper, options):
    with open("/dev/full", "wb") as full:
        result = run_tool("-q", *options, "-p", sleeper.pid, "-d", "0.2",
                          stdout=subprocess.PIPE if options == ("--json=/dev/full",) else full)
    assert result.status == FAILED
    assert "cannot write" in result.err and "No space left" in result.err


@pytest.mark.parametrize("args", (("--json-schema",), ("run", "--json-schema"), ("report", "--schema"), ("--help",),
                                  ("--version",), ("--usage",), ("run", "--help"), ("doctor", "--help"),
                                  ("roofline", "--help"), ("doctor",), ("doctor", "--json"),
                                  ("roofline", "--module=orin-nano-8gb"),
                                  ("roofline", "--module=orin-nano-8gb", "--json")))
def test_full_disk_of_what_is_no_run(args):
    with open("/dev/full", "wb") as full:
        result = run_tool(*args, stdout=full)
    assert result.status == FAILED and "cannot write" in result.error_line()


@pytest.fixture
def names(tmp_path):
    """Two names of one file, which a folder with two names holds."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "other").symlink_to("folder")
    return tmp_path / "folder" / "x", tmp_path / "other" / "x"


@pytest.mark.parametrize("options", (("-o", "--json"), ("--json", "--html"), ("--folded", "--perfetto")))
def test_two_outputs_in_one_file(sleeper, names, options):
    for first, second in (names, (names[0], names[0])):
        result = run_tool("-q", *(option + "=" * (option != "-o") + str(path)
                                  for option, path in zip(options, (first, second))), "-p", sleeper.pid, "-d", ".1")
        assert result.status == USAGE and result.text == ""
        assert all(option in result.error_line() for option in options) and "same file" in result.err


def test_two_outputs_to_nowhere(sleeper):
    assert run_tool("-q", "--json=/dev/null", "--folded=/dev/null", "-p", sleeper.pid, "-d", ".1").status == 0


def test_hard_link_of_an_output(sleeper, tmp_path):
    (tmp_path / "json").write_text("mine")
    os.link(tmp_path / "json", tmp_path / "folded")
    result = run_tool("-q", f"--json={tmp_path}/json", f"--folded={tmp_path}/folded", "-p", sleeper.pid, "-d", ".1")
    assert result.status == USAGE and "same file" in result.error_line()
    assert (tmp_path / "json").read_text() == "mine"


def test_summary_in_a_file_of_a_run(names):
    """Also in one that is named by default."""
    for options, path in ((("--repeat=2", f"--json={names[0]}"), f"{names[1]}-2"),
                          (("--repeat=2", "-o", f"{names[0]}"), f"{names[1]}-1"),
                          ((f"--out={names[0].parent}",), names[1].parent / "true-1.ttr")):
        result = run_tool("run", "-q", *options, f"--summary={path}", "--", "true", cwd=names[0].parent)
        assert result.status == 125 and "--summary" in result.error_line()


def test_recording_is_no_output_of_its_report(sleeper, tmp_path):
    recording = tmp_path / "run.ttr"
    assert run_tool("-q", "-o", recording, "-p", sleeper.pid, "-d", ".1").status == 0
    before = recording.read_bytes()
    result = run_tool("report", recording, f"--json={recording}")
    assert result.status == USAGE and "same file" in result.error_line()
    assert recording.read_bytes() == before


def test_reader_that_leaves_early(sleeper):
    script = f'{{ {TEGRATRACE} -q --json -p {sleeper.pid} -d 0.2; echo $? >&2; }} | head -c 1'
    done = subprocess.run(["sh", "-c", script], capture_output=True, timeout=LIMIT, text=True,
                          check=True)
    assert done.stdout == "{"
    # It may have written all before the reader left.
    assert done.stderr.splitlines()[-1] in ("0", str(FAILED))


def test_closed_stdout(sleeper):
    script = f'exec {TEGRATRACE} -q -p {sleeper.pid} -d 0.2 >&-'
    done = subprocess.run(["sh", "-c", script], capture_output=True, timeout=LIMIT, text=True,
                          check=False)
    assert done.returncode == FAILED and "cannot write" in done.stderr


def test_closed_stdout_is_not_taken_for_the_json_file(sleeper, tmp_path):
    script = f'exec {TEGRATRACE} -q --json={tmp_path}/r -p {sleeper.pid} -d 0.2 >&-'
    subprocess.run(["sh", "-c", script], capture_output=True, timeout=LIMIT, check=False)
    parse_report((tmp_path / "r").read_bytes())


def test_file_belongs_to_the_user_behind_sudo(sleeper, tmp_path):
    env = {"SUDO_UID": "12345", "SUDO_GID": "23456"}
    run_tool("-q", f"--json={tmp_path}/r", "-p", sleeper.pid, "-d", "0.2", env=env)
    stat = os.stat(tmp_path / "r")
    assert (stat.st_uid, stat.st_gid) == (12345, 23456)
    parse_report((tmp_path / "r").read_bytes())


def test_file_belongs_to_root_otherwise(sleeper, tmp_path):
    env = {"SUDO_UID": "", "SUDO_GID": ""}
    run_tool("-q", f"--json={tmp_path}/r", "-p", sleeper.pid, "-d", "0.2", env=env)
    stat = os.stat(tmp_path / "r")
    assert (stat.st_uid, stat.st_gid) == (0, 0)


def test_old_report_is_replaced(sleeper, tmp_path):
    (tmp_path / "r").write_text("x" * 1_000_000)
    run_tool("-q", f"--json={tmp_path}/r", "-p", sleeper.pid, "-d", "0.2")
    parse_report((tmp_path / "r").read_bytes())


def on_a_terminal(*args, columns=80, **env):
    """What it prints to a terminal of its own."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with background(TEGRATRACE, *args, stdout=slave, stderr=slave,
                    env={**os.environ, "TERM": "xterm", **env}) as process:
        os.close(slave)
        seen = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
        process.wait(LIMIT)
    os.close(master)
    return seen.decode("utf-8")


def test_status_line_on_a_terminal(sleeper):
    seen = on_a_terminal("-p", str(sleeper.pid), "-d", "1.1")
    live, report = seen.rsplit("\r\x1b[K", 1)
    assert "1 thread" in live or "thread" in live
    assert "measured" in report and "\r\x1b[K" not in report


BLOCKS = "▁▂▃▄▅▆▇█"


def status_lines(seen):
    """Each state of the line, the oldest first."""
    return [line for line in seen.split("\r\x1b[K")[:-1] if line.strip()]


def board(sleeper, *options, **terminal):
    seen = on_a_terminal("--tegrastats", f"{FAKE_TEGRASTATS} --interval 100", *options, "-p", str(sleeper.pid),
                         "-d", "3.3", **terminal)
    return seen, status_lines(seen)


def test_spark_lines_on_a_terminal(sleeper):
    """Of the GPU, EMC, run queue and temperature, a block a second, in the columns that there are."""
    seen, lines = board(sleeper, columns=160, LC_ALL="C.UTF-8")
    assert all(len(line) < 160 for line in lines)
    for what in (r"GPU \d+ %", r"EMC \d+ %", r"runq \d\.\d", r"\w+ \d+ C"):
        assert re.search(rf"{what} [ {BLOCKS}]*[{BLOCKS}]{{2}}(  |$)", lines[-1]), (what, lines[-1])
    assert not re.search(f"[{BLOCKS}]", lines[0]), "no second is over yet"
    assert not re.search(r"\x1b\[[0-9;]*m", seen.rsplit("\r\x1b[K", 1)[0])
    assert not re.search(f"[{BLOCKS}]", seen.rsplit("\r\x1b[K", 1)[1]), "the report is text"


def test_narrow_terminal(sleeper):
    _, lines = board(sleeper, columns=30, LC_ALL="C.UTF-8")
    assert lines and all(len(line) < 30 for line in lines) and "GPU" in lines[-1]


def test_spark_lines_need_utf8(sleeper):
    seen, lines = board(sleeper, columns=160, LC_ALL="C")
    assert "GPU" in lines[-1] and seen.isascii()


def test_status_line_is_for_terminals(sleeper):
    """Of a dumb one too there is no taking back."""
    assert "\x1b[K" not in on_a_terminal("-p", str(sleeper.pid), "-d", "1.1", TERM="dumb")
    result = run_tool("-p", sleeper.pid, "-d", "1.1", env={"LC_ALL": "C.UTF-8"})
    assert "\x1b" not in result.text + result.err and "\r" not in result.text + result.err
    assert not re.search(f"[{BLOCKS}]", result.err)


def test_quiet_on_a_terminal(sleeper):
    assert "\r\x1b[K" not in on_a_terminal("-q", "-p", str(sleeper.pid), "-d", "1.1")


def test_no_color(sleeper, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in on_a_terminal("-q", "-p", str(sleeper.pid), "-d", "0.3")
