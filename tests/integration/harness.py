# SPDX-License-Identifier: GPL-2.0-only
"""Starts workloads and tegratrace, and reads what both say. No test in here."""
import contextlib
import errno
import functools
import json
import os
import signal
import subprocess
import time

import jsonschema

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
TEGRATRACE = f"{BUILD}/tegratrace"
FAKE_TEGRASTATS = f"{BUILD}/tests/workloads/fake_tegrastats"
LAST_CPU = max(os.sched_getaffinity(0))

# What traces exactly; "proc" only polls, and has tests of its own.
RUNGS = ("btf", "tracepoint", "perf")
# Where programs run in the kernel, which other probes need too.
BPF_RUNGS = ("btf", "tracepoint")
PARTS = ("oncpu_ns", "runq_wake_ns", "runq_preempt_ns", "offcpu_ns", "stopped_ns", "unknown_ns")
S = 1_000_000_000

# Seconds after which something hangs; how fast anything is, no test asks.
LIMIT = 120


def workload(name):
    if name.endswith(".py"):
        return os.path.join(os.path.dirname(__file__), "../workloads", name)
    return f"{BUILD}/tests/workloads/{name}"


def wait_for(what, condition, limit=LIMIT):
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"waited {limit} s for {what}")
        time.sleep(0.01)


def state_of(pid):
    """The letter of /proc/PID/stat."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        return stat.read().rpartition(")")[2].split()[0]


def is_running(pid):
    """Neither gone nor a zombie."""
    try:
        return state_of(pid) not in "ZX"
    except FileNotFoundError:
        return False


def pids_in(path):
    return [int(word) for word in path.read_text(encoding="ascii").split()]


def remove_cgroup(folder):
    """A task that is ending is no longer listed, but its cgroup is busy until it is gone."""
    def gone():
        try:
            os.rmdir(folder)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return False
        return True

    wait_for(f"{folder} to be empty", gone)


@contextlib.contextmanager
def background(*argv, **popen):
    """A process that does not outlive the context, whatever happens in it."""
    # pylint: disable=consider-using-with
    process = subprocess.Popen(argv, **{"stdin": subprocess.DEVNULL, **popen})
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def full_env(env):
    return {**os.environ, **(env or {})}


@functools.lru_cache(maxsize=1)
def validator():
    text = subprocess.run([TEGRATRACE, "--json-schema"], check=True, capture_output=True,
                          timeout=LIMIT).stdout
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def refuse(token):
    raise ValueError(f"{token} is no JSON")


def once(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
    return dict(pairs)


def parse_json(data):
    return json.loads(data.decode("utf-8"), parse_constant=refuse, object_pairs_hook=once)


def parse_report(data):
    """Exactly one object, and true to the contract."""
    report = parse_json(data)
    errors = [f"{error.json_path}: {error.message[:200]}"
              for error in validator().iter_errors(report)]
    assert not errors, errors[:5]
    return report


def identity_errors(report):
    wrong = []
    for row in report["threads"]:
        total = sum(row[part] for part in PARTS)
        if total != row["wall_ns"] or row["identity_error_ns"] or min(row[p] for p in PARTS) < 0:
            wrong.append((row["comm"], row["tid"], total - row["wall_ns"]))
    if report["losses"]["identity_violations"]:
        wrong.append(("losses.identity_violations", report["losses"]["identity_violations"]))
    return wrong


def runq_ns(row):
    return row["runq_wake_ns"] + row["runq_preempt_ns"]


def switches(row):
    return row["switches"]["voluntary"] + row["switches"]["involuntary"]


def edges_of(report, row):
    return [edge for edge in report["edges"] if edge["waiter"] == row["tid"]]


def cpu_taken_ns():
    """IRQ, softirq and steal time of each CPU, and of all (-1): the kernel leaves it out of a thread's books."""
    tick_ns = S // os.sysconf("SC_CLK_TCK")
    taken = {}
    with open("/proc/stat", encoding="ascii") as stat:
        for line in stat:
            name, *ticks = line.split()
            if name.startswith("cpu"):
                taken[int(name[3:] or -1)] = [int(each) * tick_ns for each in ticks[5:8]]
    return taken


def taken_since(before):
    """At most so much of each CPU: of what has been counted at all each reading is cut to whole ticks."""
    tick_ns, after = S // os.sysconf("SC_CLK_TCK"), cpu_taken_ns()
    return {cpu: sum(new - old + tick_ns for old, new in zip(before[cpu], after[cpu]) if new)
            for cpu in before}


def prefer(nice):
    """In the child: above other load, also where a session's threads share one weight."""
    if not nice:
        return
    os.nice(nice)
    os.setsid()
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as autogroup:
            autogroup.write(str(nice))
    except OSError:
        pass


class Load:
    """A workload: held before its load until go(), and after it until the end of the context."""

    def __init__(self, folder, program, *args, env=None, nice=0, prefix=()):
        self.folder = folder
        self.name = program
        folder.mkdir(exist_ok=True)
        notes = [f"{note}={folder}/{note}" for note in ("ready", "go", "done", "hold")]
        with open(folder / "truth.json", "wb") as out:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen(
                [*prefix, workload(program), *args, *notes], stdin=subprocess.DEVNULL, stdout=out,
                env=full_env(env), preexec_fn=functools.partial(prefer, nice))
        try:
            self.ready = self.wait_note("ready")
        except BaseException:
            self.process.kill()
            raise

    def wait_note(self, note):
        def there():
            assert self.process.poll() is None, f"{self.name} ended with {self.process.poll()}"
            return (self.folder / note).exists()

        wait_for(f"{self.name}: {note}", there)
        return parse_json((self.folder / note).read_bytes())

    @property
    def pid(self):
        """What to trace; of "stopped" that is the child."""
        return self.ready["tids"].get("stop-leader", self.ready["pid"])

    def alive(self):
        return self.process.poll() is None

    def go(self):
        (self.folder / "go").touch()

    def wait_done(self):
        return self.wait_note("done")

    def finish(self):
        """Releases the threads; the truth."""
        (self.folder / "hold").touch()
        status = self.process.wait(LIMIT)
        assert status == 0, f"{self.name} failed: {status}"
        return parse_json((self.folder / "truth.json").read_bytes())

    def end(self):
        """The same before its load is over."""
        self.process.terminate()
        return self.finish()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if not self.alive():
            return
        self.go()
        (self.folder / "hold").touch()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Result:
    """What tegratrace left: status, text, errors, and the report unless it failed before."""

    def __init__(self, status, out, err, report=None):
        self.status = status
        self.text = out.decode("utf-8")
        self.err = err.decode("utf-8")
        self.report = report
        self.truth = None
        self.taken_ns = {}
        self.undisturbed = True

    @property
    def rows(self):
        return self.report["threads"]

    def row(self, comm):
        rows = [row for row in self.rows if row["comm"] == comm]
        assert len(rows) == 1, f"{len(rows)} rows of {comm}"
        return rows[0]

    def thread(self, name):
        """The workload's own account of a thread."""
        return next(t for t in self.truth["threads"] if t["name"] == name)

    def taken_from(self, cpu):
        """By interrupts and the host, from a CPU, or from all (-1)."""
        return self.taken_ns[max(cpu, -1)]

    @property
    def losses(self):
        return self.report["losses"]

    def error_line(self):
        """The one line on stderr."""
        lines = self.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("tegratrace: error: "), self.err
        return lines[0]


def fd_links(pid):
    try:
        fds = os.listdir(f"/proc/{pid}/fd")
    except FileNotFoundError:
        return []
    links = []
    for fd in fds:
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            pass
    return links


def is_attached(pid, rung="auto"):
    """It says nothing with -q: all programs are linked, and it waits for something to happen."""
    if rung != "proc" and not any("bpf" in link and "link" in link or "[perf_event]" in link
                                  for link in fd_links(pid)):
        return False
    try:
        with open(f"/proc/{pid}/wchan", encoding="ascii") as wchan:
            return "poll" in wchan.read()
    except FileNotFoundError:
        return False


class Trace:
    """tegratrace in the background, its report in a file."""

    def __init__(self, folder, *args, rung="auto", env=None, prefix=(), stdin=None):
        self.folder, self.rung = folder, rung
        folder.mkdir(exist_ok=True)
        argv = [*prefix, TEGRATRACE, "--rung", rung, "-q", f"--json={folder}/report.json", *args]
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen(argv, stdin=stdin or subprocess.DEVNULL, stdout=out,
                                            stderr=err, env=full_env(env))

    @property
    def pid(self):
        return self.process.pid

    def wait_attached(self):
        def attached():
            assert self.process.poll() is None, (self.folder / "err").read_text()
            return is_attached(self.pid, self.rung)

        wait_for("tegratrace to attach", attached)
        time.sleep(0.05)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def finish(self):
        status = self.process.wait(LIMIT)
        report = None
        if status == 0:
            report = parse_report((self.folder / "report.json").read_bytes())
        return Result(status, (self.folder / "out").read_bytes(),
                      (self.folder / "err").read_bytes(), report)

    def stop(self):
        """Ctrl-C, and the full report that must follow."""
        self.interrupt()
        result = self.finish()
        assert result.status == 0, result.err
        assert result.report["ended_by"] == "interrupt"
        return result

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def trace_load(folder, rung, program, *args, options=(), nice=0, env=None, prefix=()):
    """Attached before the load begins, ended while all its threads are held asleep after it."""
    with Load(folder, program, *args, env=env, nice=nice) as load:
        with Trace(folder, "-p", str(load.pid), *options, rung=rung, env=env,
                   prefix=prefix) as trace:
            trace.wait_attached()
            before = cpu_taken_ns()
            load.go()
            load.wait_done()
            time.sleep(0.05)
            taken_ns = taken_since(before)
            result = trace.stop()
        result.truth = load.finish()
    result.taken_ns = taken_ns
    assert rung in ("auto", result.report["capability"]["rung"])
    window = result.report["window"]
    assert window["start_ns"] <= result.truth["start_ns"]
    assert window["end_ns"] >= result.truth["end_ns"]
    return result


def run_tool(*args, prefix=(), env=None, program=TEGRATRACE, **popen):
    """tegratrace in the foreground, to its end; a report on stdout is the caller's to parse."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run([*prefix, program, *map(str, args)], **{"timeout": LIMIT, **streams, **popen},
                          env=full_env(env), check=False)
    return Result(done.returncode, done.stdout or b"", done.stderr or b"")


def in_mounts(script):
    """A prefix: runs the command in a mount namespace of its own that the script has changed."""
    return ("unshare", "-m", "sh", "-ec", f'{script}\nexec "$@"', "sh")
