# SPDX-License-Identifier: GPL-2.0-only
"""The man page and the completion of bash say what the program's own --help says."""
import os
import pty
import re
import select
import shutil
import subprocess
import sys

import pytest

from harness import LIMIT, TEGRATRACE, run_tool
from test_target_groups import ID, cgroups, hierarchy, sleep_in

MAN_PAGE = "tools/man/tegratrace.8"
COMPLETION = "tools/completion/tegratrace"
SUBCOMMANDS = ("run", "report", "diagnose", "roofline", "doctor")
TRACE = ""

# Where in the man page the options of each subcommand stand.
MAN_SECTIONS = {
    TRACE: ("Target", "Length and children", "GPU samples", "Output", "Tracing", "Point on the roofline", "Everywhere"),
    "run": ("run", "Length and children", "GPU samples", "Output", "Tracing", "Point on the roofline", "Everywhere"),
    "report": ("report", "Everywhere"),
    "diagnose": ("diagnose", "Point on the roofline", "Everywhere"),
    "roofline": ("roofline", "Point on the roofline", "Everywhere"),
    "doctor": ("doctor", "Everywhere"),
}


def words(subcommand):
    return (subcommand,) if subcommand else ()


def forms(text):
    """Options as they begin a row: "-p, --pid=PID[,PID...]", whatever the blanks in them."""
    rows = re.findall(r"^ +(?:(-[^ -]), )?(--[a-z-]+)((?:\[?=[^\n]*?)?)(?:  .*)?$", text, re.M)
    return {(short, name, re.sub(r"\s", "", value)) for short, name, value in rows}


def help_text(subcommand):
    result = run_tool(*words(subcommand), "--help", env={"ARGP_HELP_FMT": "rmargin=200"})
    assert result.status == 0 and result.err == ""
    return result.text


@pytest.fixture(scope="module")
def man_sections():
    if not shutil.which("mandoc"):
        pytest.skip("no mandoc to read the man page with: apt-get install mandoc")
    text = subprocess.run(["mandoc", "-Tascii", "-Owidth=150", MAN_PAGE], check=True,
                          capture_output=True, text=True).stdout
    text = re.sub(".\b", "", text)
    parts = re.split(r"^ {0,3}(\S.*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


@pytest.mark.parametrize("subcommand", (TRACE, *SUBCOMMANDS))
def test_options_of_the_man_page(subcommand, man_sections):
    in_man = set()
    for section in MAN_SECTIONS[subcommand]:
        in_man |= forms(man_sections[section])
    in_help = forms(help_text(subcommand))
    assert len(in_help) > 4
    assert in_man == in_help


def test_man_page_has_every_subcommand_and_status(man_sections):
    assert set(SUBCOMMANDS) <= set(man_sections)
    with open("src/cli/options.h", encoding="utf-8") as file:
        statuses = re.findall(r"EXIT_\w+ = (\d+)", file.read())
    assert len(statuses) > 5
    documented = re.findall(r"^ {5}(\d[\d, ]*?)(?:  |$)", man_sections["EXIT STATUS"], re.M)
    assert ", ".join(documented).split(", ") == statuses


@pytest.mark.parametrize("page", (MAN_PAGE, "tools/man/tegratrace-make-btf.8"))
def test_man_page_is_clean(page):
    for name, command in (("mandoc", ["mandoc", "-Tlint", "-Wwarning", page]),
                          ("man", ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page])):
        if not shutil.which(name):
            pytest.skip(f"no {name}: apt-get install {'man-db' if name == 'man' else name}")
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""})
        assert done.returncode == 0 and done.stderr == ""
        assert name == "man" or done.stdout == ""


def complete(*line, breaks="=:"):
    """What bash offers for the last word of a line, split into words as readline does."""
    split = [part for word in line for part in re.findall(f"[{breaks}]|[^{breaks}]+", word) or [""]] \
        if breaks else list(line)
    script = f"""
        compopt() {{ :; }}
        source {COMPLETION}
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        $(complete -p tegratrace | sed 's/.*-F \\([^ ]*\\).*/\\1/') "$1"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script, "bash", TEGRATRACE, *split],
                          capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split("\n")) - {""}


@pytest.mark.parametrize("subcommand", (TRACE, *SUBCOMMANDS))
def test_completion_of_options(subcommand):
    wanted = {name + ("=" if value.startswith("=") else "")
              for _, name, value in forms(help_text(subcommand))}
    assert complete(*words(subcommand), "--") == wanted


def test_completion_of_words():
    assert complete("") == set(SUBCOMMANDS)
    assert complete("d") == {"diagnose", "doctor"}
    assert complete("--ru") == {"--rung="}
    assert complete("doctor", "--json", "") == set()


@pytest.mark.parametrize("subcommand", (TRACE, *SUBCOMMANDS))
def test_completion_behind_optional_values(subcommand):
    """They stand behind = only, so the next word is another option."""
    rows = forms(help_text(subcommand))
    for option in (name for _, name, value in rows if value.startswith("[=")):
        assert complete(*words(subcommand), option, "--help") == {"--help"}, option


@pytest.mark.parametrize("line, breaks", ((("--rung", ""), "=:"), (("--rung=",), "=:"),
                                          (("--rung=",), "")))
def test_completion_of_values(line, breaks):
    prefix = "" if breaks else "--rung="
    assert complete(*line, breaks=breaks) == {
        prefix + v for v in ("auto", "btf", "raw", "tracepoint", "perf", "proc")}


@pytest.mark.parametrize("option, subcommand", (("--rung", TRACE), ("--without", TRACE), ("--cuda", TRACE),
                                                ("--precision", TRACE), ("--csv", "diagnose")))
def test_values_are_those_that_the_program_takes(option, subcommand):
    """Its refusal of another value lists them."""
    refusal = run_tool(*words(subcommand), f"{option}=no-such", "/nonexistent/log").err
    listed = re.search(r"(?:\bis|takes|'no-such':) (.*?)(?:, separated by commas)?(?:, not .*)?$",
                       refusal, re.M).group(1)
    assert complete(*words(subcommand), f"{option}=") == set(re.split(", | or ", listed))


def test_completion_of_lists(sleeper):
    assert complete("--without=block,ir") == {"block,irq"}
    assert str(sleeper.pid) in complete("-p", "")
    assert f"1,{sleeper.pid}" in complete("-p", f"1,{sleeper.pid}")
    assert "sleep" in complete("-n", "slee")


def test_completion_of_groups():
    with cgroups(2, f"docker-{ID}.scope", "tt.service") as folders, \
         sleep_in(folders[0]), sleep_in(folders[1]):
        assert complete("--container", ID[:5]) == {ID}
        assert complete("--unit", "tt.") == {"tt.service"}
        path = folders[1].removeprefix(hierarchy(2))
        assert complete("--cgroup", path[:-3]) == {path}


def test_completion_of_files(tmp_path):
    log = tmp_path / "run.log"
    log.touch()
    assert complete("diagnose", f"{tmp_path}/r") == {str(log)}
    assert complete(f"--tegra-log={tmp_path}/r") == {str(log)}
    assert complete(f"--csv={tmp_path.parent}/{tmp_path.name}") == {str(tmp_path)}
    assert complete("--csv", str(tmp_path)) == {str(tmp_path)}
    assert complete("--", "cat", f"{tmp_path}/r") == {str(log)}
    assert complete("run", "--", "cat", f"{tmp_path}/r") == {str(log)}
    assert "sleep" in complete("--", "slee")


# Names of threads with what a shell would run in them, and how lines begin that mean them.
HOSTILE = {
    "$(touch x)": (r"\$\(to", "'$(to", '"\\$(to'),
    "`touch y`": (r"\`to", "'`to", '"\\`to'),
    "z $z;touch z": ("z\\ ", "'z ", '"z '),
}


@pytest.fixture
def hostile(tmp_path):
    """Threads of those names; nothing may come to be in the folder that is given."""
    program = "import sys; open('/proc/self/comm', 'w').write(sys.argv[1]); print(flush=True); input()"
    started = [subprocess.Popen([sys.executable, "-c", program, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
               for name in HOSTILE]
    for process in started:
        process.stdout.readline()
    yield tmp_path
    for process in started:
        process.communicate(b"\n")
    assert not os.listdir(tmp_path)


def at_a_terminal(folder, *lines):
    """What a bash there prints that is given these lines, tabs in them."""
    control, terminal = pty.openpty()
    begin = "bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'; " \
        f"bind 'set page-completions off'; source {os.path.abspath(COMPLETION)}; " \
        "tegratrace() { printf '<%s>' \"$@\"; }; PS1="
    with subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], cwd=folder, stdin=terminal, stdout=terminal,
                          stderr=terminal, start_new_session=True, env={**os.environ, "TERM": "dumb"}) as bash:
        os.close(terminal)
        for line in (begin, *lines, "exit"):
            os.write(control, line.encode() + b"\n")
        said = b""
        # The end of a terminal is an error.
        try:
            while select.select([control], [], [], LIMIT)[0] and (part := os.read(control, 4096)):
                said += part
        except OSError:
            pass
        bash.kill()
    os.close(control)
    return said.decode()


def test_completion_of_hostile_names(hostile):
    """Nothing in a name is run, and the line then means that name, in quotes or not."""
    said = at_a_terminal(hostile, *(f"tegratrace -n {typed}\t" for all_typed in HOSTILE.values() for typed in all_typed))
    for name in HOSTILE:
        assert said.count(f"<-n><{name}>") == 3, said
