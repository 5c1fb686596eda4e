# SPDX-License-Identifier: GPL-2.0-only
"""The pictures, by their pixels: what is drawn, where, and that no name is ever a command."""
import math
import os
import shutil
import struct
import zlib

import pytest

import harness

LINE = ("RAM 3000/7620MB (lfb 10x4MB) SWAP 0/3810MB (cached 0MB) "
        "CPU [30%@1728,18%@1728,0%@1728,0%@1728,5%@1728,3%@1728] EMC_FREQ {emc}%@{emc_mhz} GR3D_FREQ {gpu}%@[{mhz}] "
        "APE 200 cpu@49.312C gpu@49.843C tj@50.0C VDD_IN 9000mW/4794mW VDD_CPU_GPU_CV 1317mW/1052mW "
        "VDD_SOC 1637mW/1514mW\n")
# Neither curve comes near a line of saturation.
QUIET = {"emc": 50, "emc_mhz": 2133, "gpu": 20, "mhz": 600}
LOUD = {"emc": 50, "emc_mhz": 2133, "gpu": 60, "mhz": 900}

WORKLOAD = ("--gflop", "8", "--precision", "fp16", "--latency", "4", "--bytes", "20M")

BLUE, RED, GREEN, ORANGE = (0x00, 0x72, 0xb2), (0xc8, 0x40, 0x1a), (0x00, 0x8a, 0x63), (0xd0, 0x8a, 0x00)
INK, FADE = (0x33, 0x33, 0x33), (0x99, 0x99, 0x99)

# Of the picture's height, from below: where the panels are; of its width: all of them.
USE, CLOCKS, HEAT = (0.66, 0.885), (0.37, 0.595), (0.08, 0.305)
LEFT, RIGHT = 0.08, 0.94

HOSTILE = "a`touch pwned`\"'\\\"; system(\"touch pwned\") # @pwned $(touch pwned) {/*9 x}.log"

pytestmark = pytest.mark.skipif(not shutil.which("gnuplot"), reason="no gnuplot: apt-get install gnuplot-nox")

# Half a minute of gnuplot.
FULL_ONLY = True


def paeth(left, up, corner):
    guess = left + up - corner
    to_left, to_up, to_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


def unfilter(kind, row, above, step):
    """One row of a PNG in place, by its section 9.2."""
    if kind == 1:
        for i in range(step, len(row)):
            row[i] = (row[i] + row[i - step]) & 255
    elif kind == 2:
        for i, up in enumerate(above):
            row[i] = (row[i] + up) & 255
    elif kind == 3:
        for i, up in enumerate(above):
            row[i] = (row[i] + ((row[i - step] if i >= step else 0) + up) // 2) & 255
    elif kind == 4:
        for i, up in enumerate(above):
            left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
            row[i] = (row[i] + paeth(left, up, corner)) & 255


class Picture:
    """Rows of the pixels of a PNG of 8 bits a colour; every checksum holds."""

    def __init__(self, path):
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, packed, names = 8, b"", []
        while at < len(data):
            length, name = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + length]
            assert zlib.crc32(name + body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
            names.append(name)
            if name == b"IHDR":
                self.width, self.height, depth, colours = struct.unpack(">IIBB", body[:10])
                assert depth == 8 and colours in (2, 6)
                self.step = 3 if colours == 2 else 4
            packed += body if name == b"IDAT" else b""
            at += 12 + length
        assert names[-1] == b"IEND"
        self.rows = self.unpack(zlib.decompress(packed))

    def unpack(self, data):
        size, rows = self.width * self.step, []
        above = bytearray(size)
        for y in range(self.height):
            start = y * (size + 1)
            row = bytearray(data[start + 1:start + 1 + size])
            if any(row):
                unfilter(data[start], row, above, self.step)
            elif data[start] == 2:
                row = above
            else:
                unfilter(data[start], row, above, self.step)
            rows.append(row)
            above = row
        return rows

    def columns(self, y, colour):
        """Where in a row that colour is, or nearly: edges are smoothed."""
        row, step = self.rows[y], self.step
        return [x for x in range(self.width)
                if all(abs(row[x * step + i] - colour[i]) <= 24 for i in range(3))]

    def y(self, panel, share):
        return round(self.height * (1 - panel[0] - (panel[1] - panel[0]) * share))

    def inside(self, y, colour):
        """The columns between the borders with that colour in the row or those beside it, 0-1."""
        found = {x for row in (y - 1, y, y + 1) for x in self.columns(row, colour)}
        places = ((x / self.width - LEFT) / (RIGHT - LEFT) for x in sorted(found))
        return [place for place in places if 0 <= place <= 1]

    def covered(self, y, colour):
        """Share of the width that has it."""
        return len(self.inside(y, colour)) / (self.width * (RIGHT - LEFT))

    def has(self, panel, colour):
        return any(self.inside(self.y(panel, share / 60), colour) for share in range(1, 60))


def draw(folder, lines, *args, name="log", **popen):
    (folder / name).write_text("".join(lines))
    result = harness.run_tool("diagnose", "--interval", "100", "--png", folder / "png", *args, folder / name, **popen)
    return folder / "png", result


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """10 s quiet, 10 s loud."""
    folder = tmp_path_factory.mktemp("drawn")
    pictures, result = draw(folder, [LINE.format(**QUIET)] * 100 + [LINE.format(**LOUD)] * 100,
                            *WORKLOAD, f"--json={folder}/report.json")
    assert result.status == 0, result.err
    return pictures, harness.parse_report((folder / "report.json").read_bytes())


@pytest.fixture(scope="module")
def curves(drawn):
    return Picture(drawn[0] / "perf_curves.png")


def test_size(curves):
    assert (curves.width, curves.height) == (1800, 1500)


def test_curve_is_where_its_values_are(curves):
    """In the panel of use, whose top is 116 %: the GPU at 20 % in the first half, at 60 % in the other."""
    low, high = (curves.inside(curves.y(USE, percent / 116), BLUE) for percent in (20, 60))
    assert len(low) > 700 and max(low) < 0.51 and min(low) < 0.01
    assert len(high) > 700 and min(high) > 0.49 and max(high) > 0.99


@pytest.mark.parametrize("colour, percent", ((BLUE, 90), (RED, 75)))
def test_saturation_lines(curves, colour, percent):
    """Dashed, 12 of 20."""
    assert 0.5 < curves.covered(curves.y(USE, percent / 116), colour) < 0.8


def test_throttle_lines(curves):
    """An Orin Nano's trips at 99 and 103 C; the panel goes from 30 to 115."""
    assert 0.5 < curves.covered(curves.y(HEAT, (99 - 30) / (115 - 30)), RED) < 0.8
    assert 0.5 < curves.covered(curves.y(HEAT, (103 - 30) / (115 - 30)), (0x8a, 0x10, 0x10)) < 0.8
    assert curves.covered(curves.y(HEAT, (50 - 30) / (115 - 30)), RED) > 0.95


def test_roofline(drawn):
    """The distance of the point to the roof, in decades, between the rows of two other roofs."""
    pictures, report = drawn
    picture = Picture(pictures / "roofline_analysis.png")
    long = {colour: [y for y in range(picture.height // 10, picture.height) if len(picture.columns(y, colour)) > 350]
            for colour in (INK, FADE)}
    own, top, bottom = max(long[INK][:4]), min(long[FADE]), max(long[FADE])
    blob = [y for y in range(picture.height) if len([x for x in picture.columns(y, RED)]) > 12]
    point = report["roofline"]["point"]
    decades = math.log10(report["roofline"]["peak_flops"] / point["flops"])
    # INT8 above, FP32 of the CUDA cores below: 16 times as far apart.
    scale = (bottom - top) / math.log10(16)
    at = [y for y in blob if abs(y - (own + decades * scale)) < 12]
    assert len(at) > 10
    assert abs(sum(at) / len(at) - (own + decades * scale)) < 5


def test_without_a_workload(tmp_path):
    pictures, result = draw(tmp_path, [LINE.format(**QUIET)] * 50)
    assert result.status == 0 and os.listdir(pictures) == ["perf_curves.png"]
    note, = result.err.splitlines()
    assert "no roofline_analysis.png" in note and "--model" in note


def test_log_without_clocks_of_the_gpu(tmp_path):
    """As JetPack 6 prints it; and one point is enough."""
    pictures, result = draw(tmp_path, [LINE.format(**QUIET).replace("@[600]", "")])
    picture = Picture(pictures / "perf_curves.png")
    assert result.status == 0
    assert picture.has(CLOCKS, ORANGE) and not picture.has(CLOCKS, GREEN) and picture.has(USE, BLUE)


def test_log_without_samples_to_draw(tmp_path):
    pictures, result = draw(tmp_path, ["RAM 3000/7620MB (lfb 10x4MB) CPU [30%@1728,off]\n"] * 3)
    assert result.status == 0 and os.listdir(pictures) == []
    assert "no perf_curves.png" in result.err


def test_hostile_name(tmp_path):
    """It stands in the title."""
    (tmp_path / ".gnuplot").write_text("system 'touch pwned'\n")
    pictures, result = draw(tmp_path, [LINE.format(**QUIET)] * 9, *WORKLOAD, name=HOSTILE.replace("/", ""),
                            cwd=tmp_path, env={"HOME": str(tmp_path)})
    assert result.status == 0, result.err
    assert not (tmp_path / "pwned").exists()
    assert sorted(os.listdir(pictures)) == ["perf_curves.png", "roofline_analysis.png"]
    title = Picture(pictures / "perf_curves.png").rows[15:60]
    assert sum(1 for row in title if min(row) < 100) > 15


def test_hostile_thread(tmp_path):
    rename = "open('/proc/self/comm', 'w').write('`touch pwned`\\n'); import time; time.sleep(0.5)"
    result = harness.run_tool("-q", f"--tegrastats={harness.FAKE_TEGRASTATS}", "--png", tmp_path / "png", "-o", tmp_path / "run.ttr",
                              "--", "/usr/bin/python3", "-c", rename, cwd=tmp_path)
    assert result.status == 0, result.err
    again = harness.run_tool("report", "--png", tmp_path / "again", tmp_path / "run.ttr", cwd=tmp_path)
    assert again.status == 0
    assert not (tmp_path / "pwned").exists()
    assert (tmp_path / "png/perf_curves.png").read_bytes() == (tmp_path / "again/perf_curves.png").read_bytes()


def test_no_gnuplot(tmp_path):
    """One line, and all else is written."""
    pictures, result = draw(tmp_path, [LINE.format(**QUIET)] * 50, f"--json={tmp_path}/report.json",
                            env={"PATH": str(tmp_path)})
    warning, = result.err.splitlines()
    assert result.status == 1 and "gnuplot is not installed" in warning
    assert harness.parse_report((tmp_path / "report.json").read_bytes()) and not pictures.exists()


@pytest.mark.parametrize("script, said", (("echo uid $(id -u) >&2; exit 3", "uid 1234"), ("exit 0", "no picture"),
                                          ("kill -9 $$", "signal 9"), ("echo no picture", "no picture")))
def test_gnuplot_that_fails(tmp_path, script, said):
    """It is run as the user behind sudo, and leaves no half of a file."""
    (tmp_path / "gnuplot").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "gnuplot").chmod(0o755)
    for folder in [tmp_path, *tmp_path.parents][:3]:
        folder.chmod(0o755)
    pictures, result = draw(tmp_path, [LINE.format(**QUIET)] * 50, "--png", tmp_path / "png",
                            env={"PATH": f"{tmp_path}:/bin", "SUDO_UID": "1234", "SUDO_GID": "1234"})
    assert result.status == 1 and said in result.err
    assert os.listdir(pictures) == []


def test_files_of_the_user_behind_sudo(tmp_path):
    pictures, result = draw(tmp_path, [LINE.format(**QUIET)] * 50, env={"SUDO_UID": "1234", "SUDO_GID": "1235"})
    assert result.status == 0, result.err
    status = (pictures / "perf_curves.png").stat()
    assert (status.st_uid, status.st_gid) == (1234, 1235)


def test_symbolic_link(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "png").mkdir()
    (tmp_path / "png/perf_curves.png").symlink_to(tmp_path / "mine")
    _, result = draw(tmp_path, [LINE.format(**QUIET)] * 50)
    assert result.status == 1 and "symbolic link" in result.err
    assert (tmp_path / "mine").read_text() == "mine"


def test_one_log_only(tmp_path):
    result = harness.run_tool("diagnose", "--png", tmp_path, "a", "b")
    assert result.status == 2 and "--png takes one log" in result.error_line()


def test_more_points_than_pixels(tmp_path):
    """GPU load of 0 and 60 % in turns: a line at their mean, and a paler band from one to the other."""
    pictures, result = draw(tmp_path, [LINE.format(**{**QUIET, "emc": 0, "gpu": i % 2 * 60}) for i in range(6000)])
    picture = Picture(pictures / "perf_curves.png")
    band = [picture.covered(picture.y(USE, percent / 116), (0xbf, 0xdc, 0xec)) for percent in (10, 20, 40, 50)]
    assert result.status == 0 and picture.covered(picture.y(USE, 30 / 116), BLUE) > 0.95
    assert min(band) > 0.9
