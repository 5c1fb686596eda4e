# SPDX-License-Identifier: GPL-2.0-only
"""The HTML report: what is in the file, and what Chromium makes of it."""
import copy
import glob
import os
import pathlib
import re
import shutil
import stat
import subprocess

import pytest

import harness
import page

LOG_LINE = ("RAM {ram}/7620MB (lfb 10x4MB) SWAP 0/3810MB (cached 0MB) "
            "CPU [{cpu}%@960,18%@960,0%@960,0%@960,off,off] EMC_FREQ {emc}%@2133 GR3D_FREQ {gpu}%@[{mhz}] "
            "APE 200 cpu@49.312C gpu@49.843C tj@{tj}C VDD_IN {mw}mW/4794mW "
            "VDD_CPU_GPU_CV 1317mW/1052mW VDD_SOC 1637mW/1514mW\n")
QUIET = {"ram": 3000, "cpu": 10, "emc": 6, "gpu": 20, "mhz": 600, "tj": 50, "mw": 5000}
LOUD = {"ram": 4000, "cpu": 80, "emc": 40, "gpu": 80, "mhz": 900, "tj": 70, "mw": 9000}

# In a thread name there is room for 15 bytes.
SHORT = ["<script>pwned=1", "\"'><img src=x>", "\u202egnp.exe", "\x1b[31mred", "</script><!--", "a&lt;b>c"]
LONG = ["<script>window.pwned=1</script>", "<img src=x onerror=window.pwned=1>",
        "\" autofocus onfocus=window.pwned=1 x=\"", "</script><script>window.pwned=1</script>",
        "<!--<script>", "\u202e\u2066evil\u2069", "\u2028window.pwned=1\u2029", "\x1b]0;title\x07\x1b[2J", "&lt;b&gt;",
        "javascript:window.pwned=1", "__proto__", "constructor"]

NAMES = f"""
import threading, time
def named(name):
    with open(f"/proc/self/task/{{threading.get_native_id()}}/comm", "wb") as comm:
        comm.write(name.encode()[:15])
    end = time.monotonic() + 1.2
    while time.monotonic() < end:
        sum(range(20000))
        time.sleep(0.02)
threads = [threading.Thread(target=named, args=(name,)) for name in {SHORT!r}]
[t.start() for t in threads]
[t.join() for t in threads]
"""

# In a browser, for a minute.
FULL_ONLY = True


def diagnose(folder, lines, *args):
    """The page of a log, and the report of the same log."""
    (folder / "log").write_text("".join(lines))
    result = harness.run_tool("diagnose", "--html", folder / "page.html", f"--json={folder}/report.json",
                              *args, folder / "log")
    assert result.status == 0, result.err
    return (folder / "page.html").read_text(), harness.parse_report((folder / "report.json").read_bytes())


@pytest.fixture(scope="module")
def log_page(tmp_path_factory):
    """20 s quiet, 20 s loud."""
    page.needs_page()
    lines = [LOG_LINE.format(**QUIET)] * 200 + [LOG_LINE.format(**LOUD)] * 200
    return diagnose(tmp_path_factory.mktemp("log"), lines, "--interval", "100")


@pytest.fixture(scope="module")
def hour_page(tmp_path_factory):
    page.needs_page()
    lines = [LOG_LINE.format(**{**QUIET, "gpu": i * 7 % 101, "emc": i * 3 % 101, "cpu": i * 11 % 101, "mhz": 300 + i % 700,
                                "ram": 3000 + i % 1999, "mw": 4000 + i % 8999, "tj": f"{45 + i % 3000 / 100:.3f}"})
             for i in range(36000)]
    return diagnose(tmp_path_factory.mktemp("hour"), lines, "--interval", "100")


@pytest.fixture(scope="module")
def live_page(tmp_path_factory):
    """A traced run whose threads have hostile names."""
    page.needs_page()
    folder = tmp_path_factory.mktemp("live")
    result = harness.run_tool("-q", "--html", folder / "page.html", f"--json={folder}/report.json",
                              "--", "/usr/bin/python3", "-c", NAMES)
    assert result.status == 0, result.err
    return (folder / "page.html").read_text(), harness.parse_report((folder / "report.json").read_bytes())


def near(a, b):
    """Equal, numbers to the digits that the page keeps."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(near(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and a == pytest.approx(b, rel=1e-5)
    return a == b


def test_holds_the_report(live_page):
    html, report = live_page
    assert near(page.data_of(html)["report"], report)


def test_series_are_the_samples(log_page):
    series = page.data_of(log_page[0])["series"]
    assert series["t_ms"] == pytest.approx([100 * i for i in range(400)])
    for key, quiet, loud in (("gpu_busy", .2, .8), ("gpu_mhz", 600, 900), ("emc_busy", .06, .4), ("power_mw", 5000, 9000),
                             ("ram_mb", 3000, 4000)):
        assert series[key] == pytest.approx([quiet] * 200 + [loud] * 200), key


def test_data_cannot_end_their_element(live_page):
    html, _ = live_page
    block = page.DATA.search(html).group(2)
    assert "pwned=1" in block
    assert not set("<>&\u2028\u2029") & set(block) and block.isascii()


def test_asks_for_nothing(log_page):
    """No address in the file but those in the text of licences, and a policy that forbids the rest."""
    html, _ = log_page
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html).group(1)
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    assert not re.search(r'<(?:link|img|iframe|base|form)\b|\bsrc=|@import|url\(', html.split('<script type="text/plain"')[0])


def test_hour_fits(hour_page):
    html, report = hour_page
    assert report["tegra"]["samples"] == 36000
    assert len(html) <= 5_000_000
    assert len(page.data_of(html)["series"]["t_ms"]) >= 16384


@pytest.mark.parametrize("option", ("--html", "--folded"))
def test_one_thing_on_stdout(option):
    result = harness.run_tool("--json", option, "-", "-p", os.getpid())
    assert result.status == 2 and "standard output" in result.error_line()


def test_page_on_stdout(log_page, tmp_path):
    html, _ = log_page
    (tmp_path / "log").write_text(LOG_LINE.format(**QUIET) * 400)
    result = harness.run_tool("diagnose", "--html", "-", tmp_path / "log")
    assert result.status == 0 and result.text.startswith("<!doctype html>") and result.text.endswith("</html>\n")
    assert len(result.text) > len(html) / 2


def test_one_log_a_page(tmp_path):
    (tmp_path / "log").write_text(LOG_LINE.format(**QUIET) * 400)
    result = harness.run_tool("diagnose", "--html", tmp_path / "page", tmp_path / "log", tmp_path / "log")
    assert result.status == 2 and "one log" in result.error_line() and not (tmp_path / "page").exists()


def test_belongs_to_the_user_behind_sudo(tmp_path):
    page.needs_page()
    (tmp_path / "log").write_text(LOG_LINE.format(**QUIET) * 400)
    env = {"SUDO_UID": "1234", "SUDO_GID": "2345"}
    result = harness.run_tool("diagnose", "--html", tmp_path / "page", tmp_path / "log", env=env)
    info = (tmp_path / "page").stat()
    assert result.status == 0 and (info.st_uid, info.st_gid) == (1234, 2345)
    assert stat.S_IMODE(info.st_mode) & 0o022 == 0


def test_never_follows_a_link(tmp_path):
    page.needs_page()
    (tmp_path / "log").write_text(LOG_LINE.format(**QUIET) * 400)
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "page").symlink_to(tmp_path / "mine")
    result = harness.run_tool("diagnose", "--html", tmp_path / "page", tmp_path / "log")
    assert result.status == 2 and "symbolic link" in result.error_line()
    assert (tmp_path / "mine").read_text() == "mine"


def test_full_disk(tmp_path):
    page.needs_page()
    (tmp_path / "log").write_text(LOG_LINE.format(**QUIET) * 400)
    result = harness.run_tool("diagnose", "--html", "/dev/full", tmp_path / "log")
    assert result.status == 1 and "HTML" in result.error_line() and "No space" in result.error_line()


def root():
    return pathlib.Path(__file__).resolve().parents[2]


def test_build_without_npm(tmp_path):
    """The page is empty, the reason is said, and the build goes on."""
    (tmp_path / "bin").mkdir()
    for tool in ("sh", "dirname", "mkdir", "mv", "cmp", "rm", "cp"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    done = subprocess.run(["sh", root() / "tools/build-page.sh", tmp_path / "page.html"], capture_output=True,
                          env={"PATH": str(tmp_path / "bin")}, timeout=harness.LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    assert b"npm is missing" in done.stderr and (tmp_path / "page.html").read_bytes() == b""


def test_build_takes_a_page_that_is_there(tmp_path):
    """As in a source archive."""
    for name in ("tools/build-page.sh", "src/report/page/package.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root() / name, tmp_path / name)
    (tmp_path / "src/report/page/page.html").write_text("made before")
    done = subprocess.run([tmp_path / "tools/build-page.sh", tmp_path / "out.html"], capture_output=True,
                          env={**os.environ, "npm_config_offline": "true"}, timeout=harness.LIMIT, check=False)
    assert done.returncode == 0 and (tmp_path / "out.html").read_text() == "made before"


def test_binary_without_the_page(tmp_path):
    (tmp_path / "page.html").write_text("")
    objects = [name for folder in ("src/*", "src/*/*", "skel") for name in glob.glob(f"{harness.BUILD}/{folder}/*.o")
               if not name.endswith(("/report/html/page.o", ".bpf.o"))]
    names = re.search(r"^LIBS := (.*)$", (root() / "Makefile").read_text(), re.M).group(1).split()
    if subprocess.run(["pkg-config", "--exists", "libmicrohttpd"], check=False).returncode == 0:
        names.append("libmicrohttpd")
    libs = subprocess.run(["pkg-config", "--libs", *names], check=True, capture_output=True, text=True).stdout.split()
    subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", f"-I{root()}/src", f'-DPAGE_PATH="{tmp_path}/page.html"', "-o", tmp_path / "tool",
                    f"{root()}/src/report/html/page.c", *objects, *libs, "-liberty", "-lm"],
                   check=True, timeout=harness.LIMIT)
    (tmp_path / "log").write_text(LOG_LINE.format(**QUIET) * 400)
    result = harness.run_tool("diagnose", "--html", tmp_path / "page", tmp_path / "log", program=tmp_path / "tool")
    assert result.status == 5 and "npm" in result.error_line() and not (tmp_path / "page").exists()
    assert harness.run_tool("diagnose", tmp_path / "log", program=tmp_path / "tool").status == 0


# In Chromium

HOST = {
    "t_ms": [1000 * i for i in range(41)],
    "cpus": {"0": [.25] * 41, "1": [None] * 20 + [.75] * 21},
    "oncpu": [1.5] * 41, "runq": [.5] * 41, "stopped": [0] * 41,
    "offcpu": {"gpu": [2] * 41, "disk": [1] * 41, "other": [0] * 41},
    "minor_faults": [1000] * 41, "major_faults": [3] * 41, "read_bytes": [5e6] * 41, "write_bytes": [0] * 41,
}
FRAMES = [["main", "decode", "futex_wait_[k]"], ["main", "load", "io_schedule_[k]"], ["main", "decode", "poll_[k]"]]


def full(log, live):
    """Everything a page can hold: the curves of the log and of the host, the threads of the run."""
    data = copy.deepcopy(page.data_of(live))
    taken = page.data_of(log)
    data["series"] = {**taken["series"], "host": HOST}
    report = data["report"]
    report["tegra"], report["checklist"] = taken["report"]["tegra"], taken["report"]["checklist"]
    report["tegra"]["gpu"]["cap_mhz"] = 1020
    data["board"]["trips"] = {"throttle_c": 99, "throttle_zone": "tj", "sw_cpu_c": None, "sw_gpu_c": None, "hw_c": 103, "shutdown_c": 105}
    data["board"]["ceilings"] = [
        {"name": "fp16-tc", "unit": "FLOP/s", "value": 1e13, "largest_mode": 1.6e13, "ridge": 100, "share": .2, "unverified": False},
        {"name": "fp32", "unit": "FLOP/s", "value": 2e12, "largest_mode": 2e12, "ridge": 20, "share": 1, "unverified": False},
        {"name": "dram-theoretical", "unit": "B/s", "value": 1e11, "largest_mode": 1e11, "ridge": None, "share": .5, "unverified": False}]
    report["roofline"] = {"precision": "fp16-tc", "peak_flops": 1e13, "peak_bw": 1e11, "ridge": 100,
                          "point": {"intensity": 10, "flops": 5e11, "share_of_roof": .5, "bound": "under-utilised"}}
    report["phases"] = [
        {"name": name, "start_ns": a * harness.S, "end_ns": b * harness.S, "samples": 9, "power_mw": None,
         "power_raw_mw": None, "verdict": verdict} for name, a, b, verdict in
        (("warm-up", 0, 20, "insufficient-data"), ("steady", 20, 40, "cpu-bound"))]
    report["stacks"] = [{"tid": 7, "pid": 7, "group": "worker-N", "class": cls, "frames": frames, "ns": ns, "count": 1}
                        for cls, frames, ns in zip(("lock", "disk", "event"), FRAMES, (harness.S, 2 * harness.S, 5 * harness.S))]
    report["samples"] = [{"tid": 7, "pid": 7, "group": "worker-N", "library": "libc.so.6", "function": function, "kernel": None,
                          "kind": "work", "samples": n} for function, n in (("memcpy", 99), ("strlen", 198))]
    hist = [0] * 28
    hist[8], hist[10] = 30, 12
    latency = {"count": 42, "sum_ns": 9, "mean_ns": 9, "p50_ns": 90_000, "p99_ns": 400_000, "max_ns": 500_000, "hist": hist}
    report["block"] = [{"device": "nvme0n1", "op": "read", "submitter": "target", "count": 42, "bytes": 4096, "queue": latency, "device_lat": latency}]
    return data


def hostile(data):
    """Every text of a report is hostile: keys stay, and what only has a few values."""
    fixed = {"schema", "class", "kind", "state", "rung", "ended_by", "op", "submitter", "policy", "result", "source_of", "mode", "unit", "verdict"}
    names = iter(range(10 ** 9))

    def spoil(value, key=None):
        if isinstance(value, dict):
            return {k: spoil(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [spoil(v, key) for v in value]
        if isinstance(value, str) and key not in fixed and key != "contributing":
            return LONG[next(names) % len(LONG)]
        return value

    spoiled = spoil(data)
    for sensors in ("temps", "power"):
        spoiled["report"]["tegra"][sensors] = {name: {"mean": 1, "max": 2, "last": 1} for name in LONG if not name.startswith("__")}
    return spoiled


def bare(data):
    """As little as a report can hold."""
    empty = copy.deepcopy(data)
    report = empty["report"]
    for key in ("edges", "stacks", "waits", "samples", "faults", "block", "cpu_holders", "top_processes", "pressure", "cuda", "roofline"):
        report[key] = None
    for key in ("threads", "targets", "cpus", "phases", "checklist", "roofline_notes"):
        report[key] = []
    report["verdict"].update(evidence=[], next_steps=[], confidence=None, share=None, gain_bound=None, gain_limit=None, **{"raise": None}, rules=[])
    report["tegra"].update(temps={}, power={}, source=None, samples=None, state="none")
    empty["series"] = {"interval_ms": None, "t_ms": [], "host": None, "phases": []}
    empty["board"] = {"module": None, "guessed": False, "trips": {}, "ceilings": None}
    return empty


def folded(data):
    """Ended threads of two groups that were added up, and iterations of a program without CUDA."""
    data = copy.deepcopy(data)
    report = data["report"]
    like, edge, holder = report["threads"][0], report["edges"][0], report["cpu_holders"][0]
    groups = ("alpha-N", "beta-N")
    report["threads"] += [{**like, "tid": None, "comm": f"{group[:-1]}999", "group": group} for group in groups]
    report["edges"] = [{**edge, "waiter": None, "group": group} for group in groups]
    report["cpu_holders"] = [{**holder, "waiter": None, "group": group} for group in groups]
    report["cuda"]["calls"] = {key: None for key in report["cuda"]["calls"]}
    report["cuda"]["note"] = "no library"
    report["cuda"]["iterations"].update(source="probe", count=151, mean_ns=10_000_000, p50_ns=10_000_000, p99_ns=11_000_000,
                                        note="probed late")
    return data


def undated(data):
    """A log that nothing dates."""
    data = copy.deepcopy(data)
    data["series"]["t_ms"] = [None] * len(data["series"]["t_ms"])
    return data


def dated_twice(data):
    """Half of the series unknown, as from a tegrastats without root."""
    data = copy.deepcopy(data)
    for key in ("emc_busy", "emc_mhz", "power_mw", "gpu_mhz"):
        data["series"][key] = [None] * len(data["series"]["t_ms"])
    data["series"]["swap_mb"] = []
    return data


JOBS = {
    "full": {"steps": [
        ["sections", {}], ["drawn", {}],
        *[["line", {"chart": chart, "colour": colour, "at": at}] for chart, colour in
          (("use", "--l-0"), ("use", "--l-1"), ("power", "--l-2")) for at in (.2, .8)],
        ["hover", {"chart": "use", "at": .26}], ["hover", {"chart": "running", "at": .76}],
        ["drag", {"chart": "use", "from": .5, "to": .75}], ["line", {"chart": "use", "colour": "--l-0", "at": .2}],
        ["hover", {"chart": "clocks", "at": .5}], ["dblclick", {"chart": "clocks"}],
        ["keys", {"on": "[data-chart=use] .plot", "keys": ["+"]}], ["keys", {"on": "[data-chart=use] .plot", "keys": ["ArrowRight"]}],
        ["legends", {}], ["keys", {"on": "[data-chart=use] .plot", "keys": ["0"]}],
        ["text", {"on": ".strip span"}], ["layout", {}], ["contrast", {}], ["print", {}]]},
    "keyboard": {"steps": [["tabs", {"n": 70}]]},
    "flames": {"steps": [
        ["frames", {"section": "offcpu"}], ["search", {"section": "offcpu", "text": "DECODE"}],
        ["search", {"section": "offcpu", "text": "("}], ["search", {"section": "oncpu", "text": "memcpy"}],
        ["click", {"on": "#offcpu button", "text": "Reset"}],
        ["click", {"on": "#offcpu g.frame[name=load]"}], ["frames", {"section": "offcpu"}],
        ["click", {"on": "#offcpu button", "text": "Reset"}], ["frames", {"section": "offcpu"}],
        ["keys", {"on": "#offcpu g.frame[tabindex='0']", "keys": ["ArrowDown", "ArrowDown", "ArrowRight"]}],
        ["frames", {"section": "oncpu"}]]},
    "tables": {"steps": [
        ["rows", {"section": "threads"}], ["click", {"on": "#threads th button", "text": "Run queue"}], ["rows", {"section": "threads"}],
        ["click", {"on": "#threads th button", "text": "Run queue"}], ["rows", {"section": "threads"}],
        ["fill", {"on": "#threads input", "text": "pwned"}], ["rows", {"section": "threads"}], ["text", {"on": "#roofline svg text"}],
        ["rows", {"section": "block"}]]},
    "hostile": {"steps": [["inert", {}], ["layout", {}]]},
    "dark": {"scheme": "dark", "steps": [["layout", {}], ["contrast", {}], ["line", {"chart": "use", "colour": "--l-0", "at": .2}]]},
    "phone": {"width": 360, "touch": True, "steps": [["layout", {}], ["drawn", {}], ["tap", {"chart": "use"}]]},
    "phone-hostile": {"width": 360, "steps": [["layout", {}]]},
    "log": {"steps": [["sections", {}], ["drawn", {}]]},
    "bare": {"steps": [["sections", {}]]},
    "folded": {"steps": [["rows", {"section": "edges"}], ["rows", {"section": "holders"}], ["text", {"on": "#cuda p"}]]},
    "undated": {"steps": [["hover", {"chart": "use", "at": .25}]]},
    "unknown": {"steps": [["drawn", {}]]},
    "hour": {"steps": [["drawn", {}], ["hover", {"chart": "use", "at": .5}], ["drag", {"chart": "use", "from": .5, "to": .501}],
                       ["drag", {"chart": "use", "from": .25, "to": .5}]]},
    "live": {"steps": [["inert", {}], ["rows", {"section": "threads"}]]},
}


@pytest.fixture(scope="module")
def seen(log_page, live_page, hour_page, tmp_path_factory):
    """What Chromium showed of each page, all in one start of it."""
    page.needs_browser()
    folder = tmp_path_factory.mktemp("pages")
    (log, _), (live, _), (hour, _) = log_page, live_page, hour_page
    data = full(log, live)
    everything = page.with_data(live, data)
    pages = {"log": log, "live": live, "hour": hour, "hostile": page.with_data(live, hostile(data)), "bare": page.with_data(live, bare(data)),
             "folded": page.with_data(live, folded(page.data_of(live))),
             "undated": page.with_data(log, undated(page.data_of(log))), "unknown": page.with_data(log, dated_twice(page.data_of(log)))}
    pages["phone-hostile"] = pages["hostile"]
    jobs = []
    for name, job in JOBS.items():
        (folder / f"{name}.html").write_text(pages.get(name, everything), encoding="utf-8")
        shots = os.environ.get("TEGRATRACE_SHOTS")
        steps = job["steps"] + ([["screenshot", {"path": f"{shots}/{name}.png"}]] if shots else [])
        jobs.append({**job, "name": name, "file": str(folder / f"{name}.html"), "steps": steps})
    return page.open_pages(folder, jobs)


def steps_of(seen, name, what):
    return [result for (step, _), result in zip(JOBS[name]["steps"], seen[name]["steps"]) if step == what]


@pytest.mark.parametrize("name", JOBS)
def test_no_error_and_no_request(seen, name):
    assert seen[name]["console"] == [] and seen[name]["dialogs"] == 0
    assert [url.rsplit("/", 1)[1] for url in seen[name]["requests"]] == [f"{name}.html"]


def test_every_section(seen):
    assert set(steps_of(seen, "full", "sections")[0]) >= {
        "evidence", "time", "roofline", "threads", "graph", "edges", "offcpu", "oncpu", "block", "sensors", "method"}


def test_curves_are_where_their_values_are(seen):
    """Pixels against the scale of 0 to 102 %: quiet at a fifth of the width, loud at four fifths."""
    lines = steps_of(seen, "full", "line")
    for pixels, share in zip(lines[:4], (.2, .8, .06, .4)):
        assert any(abs(row - share / 1.02) < .02 for row in pixels), (pixels, share)
    assert all(pixels for pixels in lines[4:6])


def test_every_chart_is_drawn(seen):
    drawn = steps_of(seen, "full", "drawn")[0]
    assert set(drawn) == {"use", "clocks", "temperature", "power", "cpus", "running", "asleep", "io", "faults", "memory"}
    assert all(len(colours) >= 2 for colours in drawn.values()), drawn
    # Two areas of 2 and 1 threads: as large as their values.
    gpu, disk = drawn["asleep"]["0,114,178"], drawn["asleep"]["230,159,0"]
    assert gpu / disk == pytest.approx(2, rel=.1)


def test_the_cursor_is_in_every_chart(seen):
    quiet, loud = steps_of(seen, "full", "hover")[:2]
    assert quiet["use"]["GPU"] == "20 %" and quiet["clocks"]["GPU"] == "600 MHz" and quiet["power"]["input"] == "5 W"
    assert loud["use"]["GPU"] == "80 %" and loud["temperature"]["hottest zone"] == "70 °C"
    assert loud["running"]["in the run queue"] == "0.5 threads" and loud["cpus"]["CPU 1"] == "75 %"
    assert loud["asleep"] == {"time": loud["asleep"]["time"], "GPU": "2 threads", "disk": "1 threads"}
    assert quiet["cpus"]["CPU 1"] == "–"


def test_zoom_is_in_every_chart(seen):
    position = steps_of(seen, "full", "drag")[0]
    start, end = map(float, re.findall(r"[\d.]+", position))
    assert start == pytest.approx(20, abs=.4) and end == pytest.approx(30, abs=.4)
    # The left fifth is loud now, and the middle of another chart is 25 s.
    assert any(abs(row - .8 / 1.02) < .02 for row in steps_of(seen, "full", "line")[6])
    assert float(re.findall(r"[\d.]+", steps_of(seen, "full", "hover")[2]["clocks"]["time"])[0]) == pytest.approx(25, abs=.3)
    assert steps_of(seen, "full", "dblclick")[0] == "0 to 40 s"


def test_keyboard(seen):
    zoomed, _, back = steps_of(seen, "full", "keys")
    assert zoomed["position"] == "10 to 30 s" and back["position"] == "0 to 40 s"
    assert steps_of(seen, "full", "legends")[0]["use"]["GPU"] in ("20 %", "80 %")
    reached = " ".join(steps_of(seen, "keyboard", "tabs")[0])
    for what in ("page a skip", "time button", "time div plot", "threads button", "graph div scroll"):
        assert what in reached, what


def test_phases_are_a_band(seen):
    assert steps_of(seen, "full", "text")[0] == ["warm-up: insufficient-data", "steady: cpu-bound"]


def test_prints(seen):
    assert steps_of(seen, "full", "print")[0] > 10_000


def test_flame_graph_search(seen):
    frames = {frame["name"]: frame for frame in steps_of(seen, "flames", "frames")[0]}
    # `decode` of two stacks is two frames: the class is above them.
    first, bad, oncpu = steps_of(seen, "flames", "search")
    assert first["marked"] == ["decode", "decode"] and first["status"] == "2 frames, 6 s, 75 %"
    assert bad["status"] == "not found" and bad["marked"] == []
    assert oncpu["status"] == "1 frames, 1 s, 33.3 %"
    assert frames["load"]["text"] == "load: 2 s, 25 %"


def test_flame_graph_zoom(seen):
    before, zoomed, after = [{frame["name"]: frame["width"] for frame in frames} for frames in steps_of(seen, "flames", "frames")[:3]]
    assert zoomed["load"] == pytest.approx(4 * before["load"], rel=.01) and "decode" not in zoomed
    assert after == before


def test_flame_graph_keyboard(seen):
    """Root, group, class; then the next class."""
    classes = ["disk", "event", "lock"]
    assert steps_of(seen, "flames", "keys")[0]["focus"] == classes[1]


def test_thread_table(seen, live_page):
    """Sorted by the time behind a share: threads live differently long."""
    delay = {str(row["tid"]): row["runq_wake_ns"] + row["runq_preempt_ns"] for row in live_page[1]["threads"]}
    by_cpu, down, up, filtered = steps_of(seen, "tables", "rows")[:4]
    assert len(by_cpu) == len(live_page[1]["threads"])
    times = [[delay[row[1]] for row in rows] for rows in (down, up)]
    assert times[0] == sorted(delay.values(), reverse=True) and times[1] == sorted(delay.values())
    assert len(filtered) == 1 and filtered[0][0].startswith("<script>pwned=1")


def test_roofline(seen):
    texts = " ".join(steps_of(seen, "tables", "text")[0])
    for what in ("fp16-tc 10 T", "fp32 2 T", "DRAM 100 GB/s", "50 % of the roof"):
        assert what in texts, (what, texts)


def test_block_latency(seen):
    assert steps_of(seen, "tables", "rows")[4] == [["90 µs", "400 µs", "500 µs"]] * 2 or \
        [row[-3:] for row in steps_of(seen, "tables", "rows")[4]] == [["90 µs", "400 µs", "500 µs"]] * 2


@pytest.mark.parametrize("name", ("hostile", "live"))
def test_names_stay_inert(seen, name):
    found = steps_of(seen, name, "inert")[0]
    assert found["pwned"] == "undefined" and found["scripts"] == 3
    assert found["foreign"] == 0 and found["handlers"] == 0
    for text in (found["all"], found["attributes"]):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)
    if name == "hostile":
        for text in LONG[:5]:
            assert text in found["all"], text
        assert "\\u202e\\u2066evil\\u2069" in found["all"]


def test_real_names_are_shown(seen):
    names = {row[0] for row in steps_of(seen, "live", "rows")[0]}
    for name in ("<script>pwned=1", "\"'><img src=x>", "a&lt;b>c"):
        assert any(name in shown for shown in names), (name, names)


@pytest.mark.parametrize("name,width", (("phone", 360), ("phone-hostile", 360), ("hostile", 1280), ("full", 1280)))
def test_fits_the_screen(seen, name, width):
    layout = steps_of(seen, name, "layout")[0]
    assert layout["width"] == width and layout["scroll"] <= width and layout["wider"] == []


def test_pinch(seen):
    start, end = map(float, re.findall(r"[\d.]+", steps_of(seen, "phone", "tap")[0]))
    assert 0 < start < 20 < end < 40


@pytest.mark.parametrize("name", ("full", "dark"))
def test_contrast(seen, name):
    contrast = steps_of(seen, name, "contrast")[0]
    assert contrast["texts"] > 100 and contrast["low"] == []


def test_dark_mode(seen):
    light, dark = (sum(map(int, re.findall(r"\d+", steps_of(seen, name, "layout")[0]["background"])[:3])) for name in ("full", "dark"))
    assert dark < 150 < 600 < light
    assert any(abs(row - .2 / 1.02) < .02 for row in steps_of(seen, "dark", "line")[0])


def test_log_has_no_threads(seen):
    sections = steps_of(seen, "log", "sections")[0]
    assert "time" in sections and "checklist" in sections and not {"threads", "graph", "edges", "offcpu"} & set(sections)


def test_bare(seen):
    assert {"evidence", "method"} <= set(steps_of(seen, "bare", "sections")[0])


def test_ended_threads_have_no_name_but_their_group(seen):
    for rows in steps_of(seen, "folded", "rows"):
        assert sorted(row[0] for row in rows) == ["alpha-Nended", "beta-Nended"]


def test_iterations_without_a_cuda_call(seen):
    texts = steps_of(seen, "folded", "text")[0]
    assert texts == ["151 iterations, median 10 ms, 99th percentile 11 ms.", "probed late", "no library"]


def test_samples_without_dates(seen):
    assert steps_of(seen, "undated", "hover")[0]["use"]["time"] == "sample 100"


def test_unknown_has_no_curve(seen):
    drawn = steps_of(seen, "unknown", "drawn")[0]
    assert "use" in drawn and not {"clocks", "power"} & set(drawn)


def test_an_hour_can_be_zoomed(seen):
    assert all(len(colours) >= 2 for colours in steps_of(seen, "hour", "drawn")[0].values())
    start, end = map(float, re.findall(r"[\d.]+", steps_of(seen, "hour", "drag")[1].replace(",", "")))
    assert start == pytest.approx(900, abs=20) and end == pytest.approx(1800, abs=20)
