# SPDX-License-Identifier: GPL-2.0-only


def _first_line(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    return (crash.message if crash else str(report.longrepr)).strip().splitlines()[0][:160]


def pytest_terminal_summary(terminalreporter):
    """What tools/check.sh repeats at its end: one line a test that failed, at last or at first."""
    for outcome, word in (("rerun", "AGAIN"), ("failed", "FAILED"), ("error", "FAILED")):
        for report in terminalreporter.stats.get(outcome, ()):
            terminalreporter.write_line(f"{word}  {report.nodeid}: {_first_line(report)}")
