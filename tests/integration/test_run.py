# SPDX-License-Identifier: GPL-2.0-only
"""tegratrace run: clocks that are put back however it ends.

nvpmodel and jetson_clocks are scripts in a copy of a board; what they log is what was done, in order.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

import harness
from harness import TEGRATRACE, run_tool, wait_for

BOARD = pathlib.Path("tests/fixtures/boards/orin-nano-super-r36").resolve()
STATE = "var/lib/tegratrace"
FULL_ONLY = ("test_killed_at_any_moment", "test_second_interrupt_ends_the_measurement_at_once", "test_power_mode_alone",
             "test_mode_that_was_changed_since_stays", "test_loss_of_power_without_a_mode",
             "test_clocks_that_cannot_be_put_back", "test_killed_then_the_next_job_restores_first",
             "test_restoring_fails_at_the_end")

# The real one: asks for a reboot where that is needed, and without an answer changes nothing.
NVPMODEL = r"""#!/bin/sh
root=$(dirname "$0")/../..
echo "nvpmodel $*" >>"$root/log"
[ ! -e "$root/fail-nvpmodel" ] || { echo "NVPM ERROR: failed to write PARAM"; exit 255; }
[ "$1" = -m ] || exit 1
if [ -e "$root/wants-reboot" ]; then
	echo "NVPM WARN: Reboot required for changing to this power mode: $2"
	echo "NVPM WARN: DO YOU WANT TO REBOOT NOW? enter YES/yes to confirm:"
	read -r answer || echo "NVPM ERROR: bad input!"
	exit 0
fi
printf 'pmode:%04d' "$2" >"$root/var/lib/nvpmodel/status"
# What the mode says of the clocks replaces what was set.
echo "mode $2" >"$root/clocks"
"""

# The real one: will not store over a file without asking, and fails in words only.
JETSON_CLOCKS = r"""#!/bin/sh
root=$(dirname "$0")/../..
echo "jetson_clocks${1:+ $1}" >>"$root/log"
state() { [ ! -e "$root/$1-clocks${2:+$2}" ]; }
state fail "$1" || { echo "Error: Failed to max GPU frequency!"; exit 0; }
case $1 in
--store)
	[ ! -e "$2" ] || { echo "File $2 already exists. Can I overwrite it? Y/N:"; read -r answer; exit 1; }
	cp "$root/clocks" "$2"
	;;
--restore)
	[ -e "$2" ] || { echo "Error: $2 file not found !"; exit 1; }
	cp "$2" "$root/clocks"
	;;
*)
	[ ! -e "$root/slow" ] || sleep 1
	echo locked >"$root/clocks"
	;;
esac
"""


class Jetson:
    """A copy of a board with both programs; its clocks are a file."""

    def __init__(self, folder):
        self.root = folder / "board"
        shutil.copytree(BOARD, self.root, symlinks=True)
        for name, text in (("usr/sbin/nvpmodel", NVPMODEL), ("usr/bin/jetson_clocks", JETSON_CLOCKS)):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
            path.chmod(0o755)
        (self.root / "clocks").write_text("as the user set them\n", encoding="ascii")
        self.out = folder / "out"
        self.env = {"TEGRATRACE_ROOT": str(self.root)}

    @property
    def log(self):
        path = self.root / "log"
        return path.read_text(encoding="ascii").splitlines() if path.exists() else []

    @property
    def clocks(self):
        return (self.root / "clocks").read_text(encoding="ascii").strip()

    @property
    def mode(self):
        return (self.root / "var/lib/nvpmodel/status").read_text(encoding="ascii").strip()

    def file(self, name="clocks"):
        return self.root / STATE / name

    def job(self, *args, **popen):
        return run_tool("run", *args, env=self.env, **popen)

    def start(self, *args, **popen):
        """In the background, when the clocks are locked and the command runs."""
        argv = [TEGRATRACE, "run", "-q", f"--out={self.out}", "--lock-clocks", *args, "--", "sh", "-c",
                f"echo $$ >{self.root}/pid; exec sleep 600"]
        return harness.background(*argv, env=harness.full_env(self.env), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, start_new_session=True, **popen)

    def wait_running(self):
        path = self.root / "pid"
        wait_for("the command", lambda: path.exists() and path.read_text(encoding="ascii").strip())
        assert self.clocks == "locked" and self.file().exists()

    def assert_back(self):
        assert self.clocks == "as the user set them"
        assert self.mode == "pmode:0002"
        left = [path.name for path in (self.root / STATE).iterdir()]
        assert set(left) <= {"clocks.lock"}


@pytest.fixture(name="jetson")
def fixture_jetson(tmp_path):
    return Jetson(tmp_path)


LOCK = ["jetson_clocks --store", "jetson_clocks", "jetson_clocks --restore"]
MODE = ["jetson_clocks --store", "nvpmodel -m 0", "jetson_clocks", "jetson_clocks --restore", "nvpmodel -m 2",
        "jetson_clocks --restore"]


def test_clocks_are_locked_for_the_run_only(jetson):
    seen = f"cat {jetson.root}/clocks"
    result = jetson.job("-q", f"--out={jetson.out}", "--lock-clocks", "--", "sh", "-c", seen)
    assert result.status == 0 and result.text.startswith("locked\n")
    assert jetson.log == LOCK
    jetson.assert_back()


@pytest.mark.parametrize("mode", ("0", "15w"))
def test_power_mode(jetson, mode):
    seen = f"cat {jetson.root}/var/lib/nvpmodel/status; echo"
    result = jetson.job("-q", f"--out={jetson.out}", "--lock-clocks", f"--power-mode={mode}", "--", "sh", "-c", seen)
    assert result.status == 0 and result.text.startswith("pmode:0000\n")
    assert jetson.log == MODE
    jetson.assert_back()


def test_power_mode_alone(jetson):
    result = jetson.job("-q", f"--out={jetson.out}", "--power-mode=25W", "--", "true")
    assert result.status == 0
    assert jetson.log == ["jetson_clocks --store", "nvpmodel -m 1", "jetson_clocks --restore", "nvpmodel -m 2",
                          "jetson_clocks --restore"]
    jetson.assert_back()


def test_mode_that_is_in_force(jetson):
    result = jetson.job("-q", f"--out={jetson.out}", "--power-mode=MAXN_SUPER", "--", "true")
    assert result.status == 0 and jetson.log == []


@pytest.mark.parametrize("mode, words", (("9", "0 15W, 1 25W, 2 MAXN_SUPER, 3 7W"), ("turbo", "0 15W"), ("", "0 15W"),
                                         ("7W", "wants a reboot: nvpmodel -m 3")))
def test_refused_modes(jetson, mode, words):
    result = jetson.job(f"--out={jetson.out}", f"--power-mode={mode}", "--", "touch", jetson.root / "ran")
    assert result.status == 125 and words in result.error_line()
    assert jetson.log == [] and not (jetson.root / "ran").exists() and not jetson.out.exists()


def test_nvpmodel_asks_for_a_reboot(jetson):
    """Nobody consents, so nothing is rebooted, and what was begun is undone."""
    (jetson.root / "wants-reboot").touch()
    result = jetson.job(f"--out={jetson.out}", "--lock-clocks", "--power-mode=0", "--", "touch", jetson.root / "ran")
    assert result.status == 125 and "wants a reboot" in result.error_line()
    assert jetson.log == ["jetson_clocks --store", "nvpmodel -m 0", "jetson_clocks --restore"]
    assert not (jetson.root / "ran").exists()
    jetson.assert_back()


@pytest.mark.parametrize("fail, words", (("fail-clocks", "Failed to max GPU"), ("fail-clocks--store", "--store"),
                                         ("fail-nvpmodel", "failed with 255: NVPM ERROR")))
def test_program_that_fails(jetson, fail, words):
    (jetson.root / fail).touch()
    result = jetson.job(f"--out={jetson.out}", "--lock-clocks", "--power-mode=0", "--", "touch", jetson.root / "ran")
    assert result.status == 125 and words in result.error_line()
    assert not (jetson.root / "ran").exists()
    (jetson.root / fail).unlink()
    jetson.assert_back()


def test_not_a_jetson(tmp_path):
    result = run_tool("run", f"--out={tmp_path}/out", "--lock-clocks", "--", "touch", tmp_path / "ran",
                      env={"TEGRATRACE_ROOT": str(tmp_path)})
    assert result.status == 125 and "no jetson_clocks" in result.error_line()
    assert not (tmp_path / "ran").exists() and not (tmp_path / "out").exists()


def test_not_root():
    nobody = {"prefix": ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")}
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        jetson = Jetson(pathlib.Path(folder))
        result = jetson.job(f"--out={folder}/out", "--lock-clocks", "--", "true", **nobody)
        assert result.status == 3 and "sudo" in result.error_line()
        assert jetson.log == []
        # What it may read it may warn of.
        killed_job(jetson)
        result = run_tool("-q", "-d", "0.1", "--", "sleep", "1", env=jetson.env, **nobody)
        assert "sudo tegratrace run --restore-clocks" in result.err and jetson.clocks == "locked"
        assert jetson.job("--restore-clocks", **nobody).status == 3


ENDINGS = {
    "failure": ("sh", "-c", "exit 7"),
    "killed": ("sh", "-c", "kill -SEGV $$"),
    "not found": ("/nonexistent/command",),
    "not executable": (str(BOARD),),
}


@pytest.mark.parametrize("ending, status, warmup", (("failure", 7, 0), ("failure", 7, 1), ("killed", 139, 0),
                                                    ("killed", 139, 1), ("not found", 127, 0), ("not executable", 126, 1)))
def test_command_that_fails(jetson, ending, status, warmup):
    result = jetson.job("-q", f"--out={jetson.out}", "--lock-clocks", f"--warmup={warmup}", "--repeat=3", "--",
                        *ENDINGS[ending])
    assert result.status == status
    assert jetson.log == LOCK
    jetson.assert_back()
    recordings = list(jetson.out.glob("*.ttr")) if jetson.out.exists() else []
    assert len(recordings) == (status in (7, 139) and not warmup)
    if recordings:
        assert f"exit status {status}" in result.text and "2 of 3 runs were not made" in result.text
    elif warmup and status in (7, 139):
        assert f"exit status {status}" in result.error_line()


@pytest.mark.parametrize("number, to", ((signal.SIGINT, "group"), (signal.SIGTERM, "job"), (signal.SIGHUP, "job"),
                                        (signal.SIGQUIT, "group")))
def test_signal_while_it_runs(jetson, number, to):
    """As of any live run: its report, and here the clocks too."""
    with jetson.start() as process:
        jetson.wait_running()
        (os.kill if to == "job" else os.killpg)(process.pid, number)
        assert process.wait(harness.LIMIT) >= 0
        jetson.assert_back()
    assert jetson.log == LOCK
    if to == "job":
        report = json.loads(run_tool("report", "--json", jetson.out / "sh-1.ttr").text)
        assert report["ended_by"] == "interrupt"


def test_second_interrupt_ends_the_measurement_at_once(jetson):
    with jetson.start() as process:
        jetson.wait_running()
        for _ in range(8):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.02)
        process.wait(harness.LIMIT)
    jetson.assert_back()


def test_signal_while_clocks_are_set(jetson):
    """The program that sets them is not disturbed: half of the clocks set is worse than all."""
    (jetson.root / "slow").touch()
    with jetson.start() as process:
        wait_for("jetson_clocks", lambda: jetson.log == LOCK[:2])
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(harness.LIMIT) == 130
    jetson.assert_back()
    assert jetson.log == LOCK and not jetson.out.exists() and not (jetson.root / "pid").exists()


def test_signal_in_warm_up(jetson):
    with jetson.start("--warmup=2") as process:
        jetson.wait_running()
        process.terminate()
        assert process.wait(harness.LIMIT) == 143
    jetson.assert_back()
    assert jetson.log == LOCK and not jetson.out.exists()


def killed_job(jetson, *args):
    """kill -9 of the job; its measuring child ends by itself, its command too."""
    with jetson.start(*args) as process:
        jetson.wait_running()
        pid = int((jetson.root / "pid").read_text(encoding="ascii"))
        process.kill()
        process.wait()
    wait_for("the command's end", lambda: not os.path.exists(f"/proc/{pid}"))
    assert jetson.clocks == "locked"


def test_killed_then_next_run_repairs(jetson, sleeper):
    killed_job(jetson, "--power-mode=0")
    assert jetson.mode == "pmode:0000"
    result = run_tool("-p", sleeper.pid, "-d", "0.2", env=jetson.env)
    assert result.status == 0 and "put back" in result.err
    jetson.assert_back()
    assert jetson.log == MODE
    assert "put back" not in run_tool("-p", sleeper.pid, "-d", "0.2", env=jetson.env).err
    assert jetson.log == MODE


def test_killed_then_doctor_and_the_command(jetson):
    killed_job(jetson)
    doctor = json.loads(run_tool("doctor", "--json", env=jetson.env).text)
    check = next(check for check in doctor["checks"] if check["what"] == "clocks")
    assert not check["ok"] and check["remedy"] == "sudo tegratrace run --restore-clocks"
    assert doctor["next"] == check["remedy"]
    assert jetson.log == LOCK[:2]
    result = jetson.job("--restore-clocks")
    assert result.status == 0 and "put back" in result.err
    jetson.assert_back()
    assert jetson.log == LOCK
    doctor = json.loads(run_tool("doctor", "--json", env=jetson.env).text)
    assert "clocks" not in [check["what"] for check in doctor["checks"]]
    assert jetson.job("--restore-clocks").status == 0 and jetson.log == LOCK


def test_killed_then_the_next_job_restores_first(jetson):
    killed_job(jetson)
    result = jetson.job(f"--out={jetson.out}", "--lock-clocks", "--", "true")
    assert result.status == 0 and result.err.count("put back") == 1
    assert jetson.log == LOCK[:2] + LOCK[2:] + LOCK
    jetson.assert_back()


def test_killed_while_clocks_are_set(jetson):
    """The program goes on to its end, and what puts them back waits for it."""
    (jetson.root / "slow").touch()
    with jetson.start() as process:
        wait_for("jetson_clocks", lambda: jetson.log == LOCK[:2])
        process.kill()
        process.wait()
    assert jetson.clocks != "locked"
    result = jetson.job("--restore-clocks")
    assert result.status == 0 and "put back" in result.err
    jetson.assert_back()
    assert jetson.log == LOCK


def test_killed_at_any_moment(jetson):
    """And put back each time, from whatever there was."""
    seen = set()
    for moment in range(40):
        log = jetson.root / "log"
        log.unlink(missing_ok=True)
        with jetson.start("--power-mode=0") as process:
            time.sleep(moment * 0.005)
            process.kill()
            process.wait()
        seen.add(len(jetson.log))
        result = jetson.job("--restore-clocks")
        assert result.status == 0, (moment, result.err)
        assert (jetson.mode, jetson.clocks) == ("pmode:0002", "as the user set them"), (moment, jetson.log)
        assert not jetson.file().exists()
    assert len(seen) >= 3, seen


def after_a_boot(jetson):
    text = jetson.file().read_text(encoding="ascii")
    jetson.file().write_text(re.sub(r"boot \S+", "boot 00000000-0000-0000-0000-000000000000", text), encoding="ascii")
    (jetson.root / "clocks").write_text("as after a boot\n", encoding="ascii")


def test_loss_of_power(jetson):
    """A boot unlocks the clocks and keeps the power mode."""
    killed_job(jetson, "--power-mode=0")
    after_a_boot(jetson)
    assert jetson.job("--restore-clocks").status == 0
    assert jetson.log[len(MODE) - 3:] == ["nvpmodel -m 2"]
    assert jetson.mode == "pmode:0002" and jetson.clocks == "mode 2"
    assert not jetson.file().exists()


def test_loss_of_power_without_a_mode(jetson):
    killed_job(jetson)
    after_a_boot(jetson)
    assert "no clocks are left" in jetson.job("--restore-clocks").err
    assert jetson.log == LOCK[:2] and jetson.clocks == "as after a boot" and not jetson.file().exists()


def test_mode_that_was_changed_since_stays(jetson):
    killed_job(jetson, "--power-mode=0")
    (jetson.root / "var/lib/nvpmodel/status").write_text("pmode:0001", encoding="ascii")
    assert jetson.job("--restore-clocks").status == 0
    assert jetson.mode == "pmode:0001"


def test_clocks_that_cannot_be_put_back(jetson, sleeper):
    killed_job(jetson)
    (jetson.root / "fail-clocks--restore").touch()
    result = jetson.job("--restore-clocks")
    assert result.status == 1 and "Failed to max" in result.error_line()
    assert jetson.file().exists()
    # A run goes on all the same, and says so.
    result = run_tool("-p", sleeper.pid, "-d", "0.2", env=jetson.env)
    assert result.status == 0 and "cannot be put back" in result.err
    (jetson.root / "fail-clocks--restore").unlink()
    assert jetson.job("--restore-clocks").status == 0
    jetson.assert_back()


def test_restoring_fails_at_the_end(jetson):
    result = jetson.job("-q", f"--out={jetson.out}", "--lock-clocks", "--", "touch",
                        jetson.root / "fail-clocks--restore")
    assert result.status == 1 and "--restore-clocks" in result.error_line()
    assert jetson.file().exists()


def test_one_at_a_time(jetson, sleeper):
    with jetson.start() as process:
        jetson.wait_running()
        before = jetson.log
        result = jetson.job(f"--out={jetson.root}/other", "--lock-clocks", "--", "true")
        assert result.status == 125 and "another run" in result.error_line()
        # Nobody takes them for left over.
        assert "put back" not in run_tool("-p", sleeper.pid, "-d", "0.2", env=jetson.env).err
        assert jetson.job("--restore-clocks").status == 0
        assert "clocks" not in [c["what"] for c in json.loads(run_tool("doctor", "--json", env=jetson.env).text)["checks"]]
        assert jetson.log == before and jetson.clocks == "locked"
        process.terminate()
        process.wait(harness.LIMIT)
    jetson.assert_back()


def hostile(jetson, what):
    folder, file = jetson.root / STATE, jetson.file()
    good = f"tegratrace-clocks 1\nboot {open('/proc/sys/kernel/random/boot_id', encoding='ascii').read()}pid 1\nmode 2 0\n"
    folder.mkdir()
    if what == "folder of others":
        os.chown(folder, 65534, 65534)
    elif what == "folder is a link":
        folder.rmdir()
        other = jetson.root / "elsewhere"
        other.mkdir()
        folder.symlink_to(other)
        (other / "clocks").write_text(good, encoding="ascii")
    elif what == "link":
        (jetson.root / "elsewhere").write_text(good, encoding="ascii")
        file.symlink_to(jetson.root / "elsewhere")
    elif what == "FIFO":
        os.mkfifo(file)
    elif what == "garbage":
        file.write_bytes(b"\0\xff\x1b[31mtegratrace-clocks 1\nmode ../../etc 0\n")
    elif what == "endless":
        file.write_text(good + "x" * 100000, encoding="ascii")
    else:
        file.write_text(good, encoding="ascii")
        if what == "owner":
            os.chown(file, 65534, 65534)
        elif what == "writable":
            file.chmod(0o666)
        elif what == "hard link":
            os.link(file, jetson.root / "elsewhere")
        else:
            # A good one, but what jetson_clocks would read belongs to somebody else.
            file.with_name("jetson_clocks.conf").write_text("/sys/kernel/panic:1\n", encoding="ascii")
            os.chown(file.with_name("jetson_clocks.conf"), 65534, 65534)


@pytest.mark.parametrize("what", ("folder of others", "folder is a link", "link", "FIFO", "garbage", "endless", "owner",
                                  "writable", "hard link", "stored owner"))
def test_hostile_state(jetson, what):
    hostile(jetson, what)
    for args in (("--restore-clocks",), (f"--out={jetson.out}", "--lock-clocks", "--", "true")):
        result = jetson.job(*args)
        assert result.status == (1 if args[0] == "--restore-clocks" else 125)
        errors = [line for line in result.err.splitlines() if "error:" in line]
        assert len(errors) == 1 and len(result.err.splitlines()) <= 2 and "\x1b" not in result.err
        assert str(jetson.root / STATE) in errors[0]
    assert "jetson_clocks --restore" not in jetson.log and jetson.clocks == "as the user set them"
    assert jetson.mode == "pmode:0002" and not jetson.out.exists()
