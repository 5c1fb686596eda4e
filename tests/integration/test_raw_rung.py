# SPDX-License-Identifier: GPL-2.0-only
"""Type data from a file instead of the kernel's own, and files that are not of this kernel."""
import os
import re
import shutil
import struct
import subprocess

import pytest

import loads
from harness import Load, S, edges_of, identity_errors, in_mounts, run_tool, trace_load

KERNELS_OWN = "/sys/kernel/btf/vmlinux"
# The file is read elsewhere: the kernel shows none.
NO_BTF = "mount -t tmpfs none /sys/kernel/btf"
UNSUPPORTED, USAGE = 5, 2
FULL_ONLY = ("test_cpu_time",)


@pytest.fixture(scope="module")
def btf(tmp_path_factory):
    """This kernel's type data as a file."""
    path = tmp_path_factory.mktemp("btf") / "kernel.btf"
    shutil.copyfile(KERNELS_OWN, path)
    return path


def traced(folder, btf, name):
    nice, *load = loads.LOADS[name]
    result = trace_load(folder, "auto", *load, options=("--btf", str(btf)), nice=nice,
                        prefix=in_mounts(NO_BTF))
    assert result.report["capability"]["rung"] == "raw"
    assert not identity_errors(result.report)
    return result


def test_it_is_taken_where_the_kernel_has_none(tmp_path, btf):
    result = traced(tmp_path, btf, "sleepers")
    assert "--btf" not in result.err
    for row in result.rows:
        assert row["unknown_ns"] <= 0.002 * row["wall_ns"], row


def test_cpu_time(tmp_path, btf):
    result = traced(tmp_path, btf, "hog")
    for i in range(3):
        books, row = result.thread(f"hog-{i}"), result.row(f"hog-{i}")
        cpu = books["end"]["cpu_ns"] - books["begin"]["cpu_ns"]
        most = books["final"]["cpu_ns"] - books["begin"]["cpu_ns"] if "final" in books else cpu
        assert row["oncpu_ns"] >= 0.98 * cpu, (row, cpu)
        assert row["oncpu_ns"] <= 1.02 * most + 0.05 * S + result.taken_from(-1), (row, most)


def test_what_is_waited_for(tmp_path, btf):
    """A mutex and its holder need the arguments of system calls, a disk the state of the sleeper."""
    sync = traced(tmp_path / "sync", btf, "waits-sync")
    want = sync.row("mutex-want")
    truth = sync.truth["truth"]["waits"]["mutex-want"][0]
    assert want["wait"]["lock"] == pytest.approx(truth["off_ns"], rel=0.05)
    held = [e for e in edges_of(sync.report, want)
            if e["class"] == "lock" and e["waker"]["name"] == "mutex-hold"]
    assert sum(e["ns"] for e in held) >= 0.9 * truth["off_ns"]
    disk = traced(tmp_path / "disk", btf, "fast-disk")
    for name in ("direct-read", "cold-read"):
        loads.short_waits_agree(disk, name)


def test_kernels_own_type_data_go_first(tmp_path, btf):
    with Load(tmp_path, "hog", "n=1", "secs=60") as load:
        result = run_tool("-p", load.pid, "-d", "0.1", "--btf", btf, "-v")
    assert result.status == 0
    assert "rung btf" in result.text and "not read: this kernel has type data of its own" in result.text


def changed(btf, folder, field, by=8):
    """The file with the place of one member of task_struct moved, as in a kernel of another configuration."""
    data = bytearray(btf.read_bytes())
    _, _, _, header, types, type_len, strings, _ = struct.unpack_from("<HBBIIIII", data)
    types, strings = header + types, header + strings

    def name(offset):
        end = data.index(0, strings + offset)
        return data[strings + offset:end].decode()

    sizes = {1: 4, 3: 12, 14: 4, 17: 4}
    per_item = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
    at = types
    while at < types + type_len:
        name_off, info, _ = struct.unpack_from("<III", data, at)
        kind, items = info >> 24 & 0x1f, info & 0xffff
        if kind == 4 and name(name_off) == "task_struct":
            for member in range(at + 12, at + 12 + 12 * items, 12):
                if name(struct.unpack_from("<I", data, member)[0]) == field:
                    old = struct.unpack_from("<I", data, member + 8)[0]
                    struct.pack_into("<I", data, member + 8, old + 8 * by)
                    path = folder / f"{field}.btf"
                    path.write_bytes(data)
                    return path
        at += 12 + sizes.get(kind, 0) + per_item.get(kind, 0) * items
    raise AssertionError(f"no task_struct.{field}")


@pytest.mark.parametrize("field, by", (("pid", 4), ("tgid", -4), ("comm", 8), ("flags", 8), ("on_rq", 8), ("on_cpu", 4),
                                       ("wake_cpu", 16), ("se", 16), ("stack", 8), ("__state", 8)))
def test_file_of_a_kernel_with_another_configuration(tmp_path, btf, field, by, sleeper):
    """Nothing in the file tells, but what is read through it is wrong."""
    wrong = changed(btf, tmp_path, field, by)
    result = run_tool("--rung", "raw", "--btf", wrong, "-p", sleeper.pid)
    assert result.status == UNSUPPORTED and result.text == ""
    assert "is not of the kernel that runs" in result.error_line()


@pytest.mark.parametrize("content, words", (
    (b"", "holds no type data"), (b"no type data\n", "holds no type data"),
    (struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, 0, 0, 1) + b"\0", "no task_struct")))
def test_no_type_data(tmp_path, content, words, sleeper):
    path = tmp_path / "file"
    path.write_bytes(content)
    forced = run_tool("--rung", "raw", "--btf", path, "-p", sleeper.pid)
    assert forced.status == UNSUPPORTED and words in forced.error_line()
    other = run_tool("--btf", path, "-p", sleeper.pid, "-d", "0.1", prefix=in_mounts(NO_BTF))
    assert other.status == 0 and "rung tracepoint" in other.text
    warnings = [line for line in other.err.splitlines() if "warning" in line]
    assert len(warnings) == 1 and words in warnings[0] and "going on without it" in warnings[0]


def test_no_file(tmp_path, sleeper):
    result = run_tool("--btf", tmp_path / "none", "-p", sleeper.pid)
    assert result.status == USAGE and "No such file" in result.error_line()
    result = run_tool("--rung", "raw", "-p", sleeper.pid, prefix=in_mounts(NO_BTF))
    assert result.status == UNSUPPORTED and "tegratrace-make-btf" in result.error_line()


def test_doctor(btf):
    result = run_tool("doctor", "--btf", btf, prefix=in_mounts(NO_BTF))
    found = {rung: word for word, rung in re.findall(r"^ +(ok|no) +rung (\w+)", result.text, re.M)}
    assert found == {"btf": "no", "raw": "ok", "tracepoint": "ok", "perf": "ok", "proc": "ok"}
    without = run_tool("doctor", prefix=in_mounts(NO_BTF)).text
    assert "no   rung raw" in without
    next_line = without[without.index("next: "):]
    assert "sudo apt install gcc dwarves" in next_line or "tegratrace-make-btf" in next_line
    assert os.uname().release in next_line or "tegratrace-make-btf" in next_line


class Headers:
    """Just enough of a kernel's headers: the script's messages are what is looked at."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in (
                ("include/linux/sched.h", "struct task_struct { unsigned int flags, on_rq; void *stack; "
                                          "unsigned in_iowait:1; int pid; char comm[16]; };\n"),
                ("include/linux/ptrace.h", "struct pt_regs { unsigned long r[21]; };\n"),
                ("include/linux/kconfig.h", "#include <generated/autoconf.h>\n"),
                ("include/generated/autoconf.h", "#define CONFIG_X86_64 1\n"),
                ("include/generated/utsrelease.h", '#define UTS_RELEASE "5.15.148-test"\n')):
            self.write(name, text)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def make(self, out, **env):
        return subprocess.run(["tools/make-btf.sh", str(out), str(self.folder)], capture_output=True,
                              text=True, check=False, env={**os.environ, **env})


@pytest.fixture
def headers(tmp_path):
    if not shutil.which("pahole"):
        pytest.skip("no pahole: apt-get install dwarves")
    return Headers(tmp_path / "headers")


def test_file_from_headers(tmp_path, headers, sleeper):
    """Of another kernel: made, with a word, and refused here by name."""
    done = headers.make(tmp_path / "made.btf")
    assert done.returncode == 0, done.stderr
    assert "for kernel 5.15.148-test" in done.stderr
    result = run_tool("--rung", "raw", "--btf", tmp_path / "made.btf", "-p", sleeper.pid)
    assert result.status == UNSUPPORTED
    assert "is type data of kernel 5.15.148-test, this one is" in result.error_line()


@pytest.mark.parametrize("change, words", (
    (("include/generated/autoconf.h", "#define CONFIG_X86_64 1\n#define CONFIG_RANDSTRUCT 1\n"),
     "CONFIG_RANDSTRUCT"),
    (("include/generated/autoconf.h", "#define CONFIG_RISCV 1\n"), "architecture"),
    (("include/generated/utsrelease.h", ""), "of which kernel"),
    (("include/linux/ptrace.h", "#include <generated/missing.h>\n"), "generated/missing.h"),
    (("include/linux/sched.h", "struct task_struct { int pid; };\n"), "lacks on_rq"),
))
def test_headers_that_will_not_do(tmp_path, headers, change, words):
    headers.write(*change)
    done = headers.make(tmp_path / "made.btf")
    assert done.returncode == 1 and len(done.stderr.splitlines()) <= 2
    assert words in done.stderr.splitlines()[-1]
    assert os.listdir(tmp_path) == ["headers"]
