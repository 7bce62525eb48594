"""``--times``: a table of the seconds that every file and the slowest tests take, of the processor and of the clock."""

import resource
import time
from collections import defaultdict

import pytest

SLOWEST = 25


def processor_seconds():
    """Of this process and of those it started that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Times:
    """Measures in the process that runs a test, and adds up in the one that reports."""

    def __init__(self):
        self._before = 0.0
        self._tests = defaultdict(lambda: [0.0, 0.0])

    def pytest_collection_finish(self):
        self._before = processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        report = yield
        now = processor_seconds()
        report.processor_seconds, self._before = now - self._before, now
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
