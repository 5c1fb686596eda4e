# SPDX-License-Identifier: GPL-2.0-only
"""The page while the run goes on: who gets it, what it shows, and that it costs the run nothing."""
import contextlib
import http.client
import re
import socket
import subprocess
import urllib.parse
from pathlib import Path

import pytest

import harness
import page

USAGE, UNSUPPORTED = 2, 5
URL = re.compile(rb"http://\S+/")

# A minute of runs in a browser; test_html.py has the same page.
FULL_ONLY = True


@pytest.fixture(scope="module", autouse=True)
def built_with_it():
    page.needs_page()
    result = harness.run_tool("--live=nowhere", "-p", "1")
    if result.status == UNSUPPORTED and "libmicrohttpd" in result.err:
        pytest.skip("this build has no libmicrohttpd")


class Live:
    """A run of `seconds` with --live; url is where it serves."""

    def __init__(self, folder, seconds, *options):
        self.errors = folder / "err"
        with open(self.errors, "wb") as err:
            # pylint: disable=consider-using-with
            self.process = subprocess.Popen(
                [harness.TEGRATRACE, "-q", f"--json={folder}/report.json", *options, "--tegrastats",
                 harness.FAKE_TEGRASTATS, "-d", str(seconds), "--", "sleep", "600"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        try:
            self.url = harness.wait_for("the address", self.address)
        except BaseException:
            self.process.kill()
            raise
        self.where = urllib.parse.urlsplit(self.url)

    def address(self):
        assert self.process.poll() is None, self.errors.read_text()
        found = URL.search(self.errors.read_bytes())
        return found and found.group().decode()

    def ask(self, path, method="GET", body=None):
        connection = http.client.HTTPConnection(self.where.hostname, self.where.port, timeout=harness.LIMIT)
        connection.request(method, path, body)
        return connection.getresponse()

    def end(self):
        return self.process.wait(harness.LIMIT)


@contextlib.contextmanager
def live(folder, seconds=2, *options):
    run = Live(folder, seconds, *(options or ("--live",)))
    try:
        yield run
    finally:
        run.process.kill()
        run.process.wait()


def upto(response, event):
    """What is read until such an event begins."""
    text = b""
    while not text.endswith(f"event: {event}\n".encode()):
        line = response.readline()
        assert line, text[-200:]
        text += line
    return text


def events(response, begun=b""):
    """Name and data of each event, to the end of the stream."""
    found = []
    for block in (begun + response.read()).decode().strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n"))
        found.append((lines["event"], harness.parse_json(lines["data"].encode())))
    return found


def test_only_with_the_token(tmp_path):
    with live(tmp_path) as run:
        token = run.where.path.strip("/")
        assert re.fullmatch("[0-9a-f]{32}", token)
        assert run.ask(run.where.path).status == 200
        for path in ("/", "/events", f"/{token[:-1]}/", f"/{token[:-1]}g/", f"/{token}", f"/{'0' * 32}/events", f"//{token}/"):
            assert run.ask(path).status == 403, path
        assert run.ask(f"/{token}/../etc").status == 404
        assert run.ask(run.where.path, "POST", b"x").status == 405
        assert run.end() == 0


def test_two_runs_differ(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with live(tmp_path / "a") as one, live(tmp_path / "b") as other:
        assert one.where.path != other.where.path


def test_loopback_alone(tmp_path):
    with live(tmp_path) as run:
        assert run.where.hostname == "127.0.0.1"
        assert f"ssh -N -L {run.where.port}:127.0.0.1:{run.where.port} " in run.errors.read_text()
        table = subprocess.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"], capture_output=True, check=True).stdout.decode()
        bound = {line.split()[1] for line in table.splitlines() if f":{run.where.port:04X} " in line and " 0A " in line}
        assert bound == {f"0100007F:{run.where.port:04X}"}


def test_elsewhere_is_warned_of(tmp_path):
    with live(tmp_path, 2, "--live=0.0.0.0:0") as run:
        assert "not encrypted" in run.errors.read_text()


@pytest.mark.parametrize("where", ("[::1]:0", "[::1%lo]", "[0:0::1]:0"))
def test_ipv6(tmp_path, where):
    if not Path("/proc/net/if_inet6").read_text():
        pytest.skip("IPv6 is off here")
    with live(tmp_path, 1, f"--live={where}") as run:
        assert run.where.hostname == "::1" and run.ask(run.where.path).status == 200
        assert f":[::1]:{run.where.port} " in run.errors.read_text()
        assert run.end() == 0


@pytest.mark.parametrize("where", ("nowhere", "127.0.0.1:70000", "[::1", "host:80", ":80", "127.0.0.1:x", "127.1:0",
                                   "[::1%none]:0", "[::1%]:0", "::1"))
def test_bad_address(where):
    result = harness.run_tool(f"--live={where}", "--", "sleep", "600")
    assert result.status in (USAGE, 125) and "--live" in result.error_line()


def test_port_in_use(tmp_path):
    with live(tmp_path) as run:
        result = harness.run_tool(f"--live=127.0.0.1:{run.where.port}", "--", "touch", tmp_path / "ran")
        assert result.status in (USAGE, 125) and "in use" in result.error_line()
        assert not (tmp_path / "ran").exists()


def test_events_are_the_run(tmp_path):
    """Points one after the other without a gap, then the same report as --json."""
    with live(tmp_path, 3) as run:
        found = events(run.ask(run.where.path + "events"))
        assert run.end() == 0
    names = [name for name, _ in found]
    assert names[0] == "begin" and names[-1] == "report" and set(names[1:-1]) == {"series", "points"}
    times = []
    for name, data in found[1:-1]:
        times = (times if name == "points" else []) + data["t_ms"]
    # sleep(1) sleeps; for what is only known when it is over.
    for host in (data["host"] for name, data in found[1:-1] if data["host"]["t_ms"]):
        assert all(abs(sum(classes) - 1) < 0.05 for classes in zip(*host["offcpu"].values())), host
    assert min(found[-1][1]["series"]["host"]["offcpu"]["timer"][1:]) > 0.95
    whole = found[-1][1]["series"]["t_ms"]
    assert len(times) > 5 and times == whole[:len(times)]
    report = harness.parse_report((tmp_path / "report.json").read_bytes())
    assert found[-1][1]["report"]["window"] == report["window"]
    assert found[-1][1]["report"]["verdict"]["headline"] == report["verdict"]["headline"]


def test_one_who_comes_late_sees_all(tmp_path):
    with live(tmp_path, 4) as run:
        first = run.ask(run.where.path + "events")
        begun = upto(first, "points")
        late = events(run.ask(run.where.path + "events"))
        assert late == events(first, begun)


def test_a_viewer_that_never_reads_holds_nobody(tmp_path):
    """Its window is full long before the report is sent; another gets everything meanwhile."""
    with live(tmp_path, 2) as run, socket.socket() as stuck:
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        stuck.connect((run.where.hostname, run.where.port))
        stuck.sendall(f"GET {run.where.path}events HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert events(run.ask(run.where.path + "events"))[-1][0] == "report"
        assert run.end() == 0
    window = harness.parse_report((tmp_path / "report.json").read_bytes())["window"]
    assert window["duration_ns"] == pytest.approx(2 * harness.S, rel=.05)


def test_a_viewer_that_leaves(tmp_path):
    with live(tmp_path, 3) as run:
        for _ in range(5):
            with socket.create_connection((run.where.hostname, run.where.port)) as gone:
                gone.sendall(f"GET {run.where.path}events HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                gone.recv(100)
        assert run.ask(run.where.path).status == 200
        assert run.end() == 0


def test_ctrl_c_ends_it(tmp_path):
    with live(tmp_path, 600) as run:
        response = run.ask(run.where.path + "events")
        upto(response, "series")
        run.process.send_signal(2)
        assert upto(response, "report") and run.end() == 0


def test_in_chromium(tmp_path):
    """Curves grow, a second viewer sees them too, and the report stays when the server is gone."""
    page.needs_browser()
    with live(tmp_path, 12) as run:
        seen = page.open_pages(tmp_path, [{"name": "live", "url": run.url, "steps": [
            ["waitFor", {"on": ".chart canvas"}], ["pause", {"ms": 2500}], ["waitFor", {"on": ".chart canvas"}],
            ["viewer", {"steps": [["waitFor", {"on": ".chart canvas"}], ["drawn", {}]]}],
            ["waitFor", {"on": "#evidence"}], ["pause", {"ms": 4000}], ["drawn", {}], ["sections", {}], ["contrast", {}],
            ["drag", {"chart": "use", "from": .5, "to": .75}]]}])["live"]
        assert run.end() == 0
    first, _, second, viewer, end, _, drawn, sections, contrast, position = seen["steps"]
    last = lambda state: float(re.findall(r"[\d.]+", state["position"])[1])  # noqa: E731
    assert first["title"].startswith("measuring") and last(second) >= last(first) + 1
    assert last(viewer[0]) >= last(second) and all(len(colours) >= 2 for colours in viewer[1].values())
    assert not end["title"].startswith("measuring") and {"evidence", "time", "threads", "method"} <= set(sections)
    assert drawn and contrast["low"] == []
    assert [float(x) for x in re.findall(r"[\d.]+", position)] == pytest.approx([6, 9], abs=.5)
    assert seen["console"] == [] and all(url.startswith(run.url) for url in seen["requests"])
