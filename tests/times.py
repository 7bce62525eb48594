"""``--times``: a table of the seconds that every file and the slowest tests take, of the processor and of the clock."""

import contextlib
from collections import defaultdict

import psutil
import pytest

SLOWEST = 25


def processor_seconds(living):
    """By process: of this one with those it started that have ended; or, with `living`, of it and all that go on."""
    own = psutil.Process()
    if not living:
        return {own.pid: sum(own.cpu_times()[:4])}  # user, system, and both of children that have ended
    seconds = {}
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            seconds[process.pid] = sum(process.cpu_times()[:2])
    return seconds


def passed(before, now):
    """Seconds between two measurements; what a process did before it ended is not known."""
    return sum(max(0.0, seconds - before.get(process, 0.0)) for process, seconds in now.items())


def _in_browser(item):
    """Whether others do the work: a server and a browser, which outlive the test."""
    return item.get_closest_marker("browser") is not None


class Times:
    """Measures in the process that runs a test, and adds up in the one that reports."""

    def __init__(self):
        self._before = {}
        self._tests = defaultdict(lambda: [0.0, 0.0])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self._before = processor_seconds(_in_browser(item))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        now = processor_seconds(_in_browser(item))
        report.processor_seconds, self._before = passed(self._before, now), now
        return report

    def pytest_runtest_logreport(self, report):
        seconds = self._tests[report.nodeid]
        seconds[0] += report.processor_seconds
        seconds[1] += report.duration

    def pytest_terminal_summary(self, terminalreporter):
        files = defaultdict(lambda: [0.0, 0.0, 0])
        for test, (processor, clock) in self._tests.items():
            sums = files[test.partition("::")[0]]
            sums[0] += processor
            sums[1] += clock
            sums[2] += 1
        write = terminalreporter.write_line
        terminalreporter.section("seconds")
        write(f"{'processor':>9} {'clock':>9} {'tests':>6}")
        for file, (processor, clock, count) in sorted(files.items(), key=lambda item: -item[1][0]):
            write(f"{processor:9.1f} {clock:9.1f} {count:6d}  {file}")
        processor, clock, count = (sum(sums[k] for sums in files.values()) for k in range(3))
        write(f"{processor:9.1f} {clock:9.1f} {count:6d}  together")
        terminalreporter.section(f"the {SLOWEST} slowest tests")
        for test, (processor, clock) in sorted(self._tests.items(), key=lambda item: -item[1][0])[:SLOWEST]:
            write(f"{processor:9.1f} {clock:9.1f}  {test}")
