"""Options and fixtures that all tests share."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling


def pytest_addoption(parser):
    parser.addoption(
        "--data-dir", metavar="DIR", default=None, help="folder of the benchmark sets; runs the tests marked papers"
    )


def pytest_configure(config):
    """Keep the sweeps of servers under test out of the user's cache folder."""
    if "SUPDR_SWEEPS" not in os.environ:
        folder = tempfile.mkdtemp(prefix="supdr-tests-")
        os.environ["SUPDR_SWEEPS"] = f"{folder}/sweeps.sqlite"
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


class BrowserTestsInTwoParts(LoadScopeScheduling):
    """When processes share the work, a server serves many browser tests, and the tests of a file stay together.

    Two processes are busy equally long if the one that has the first part of the browser tests has nothing else.
    """

    def _split_scope(self, nodeid):
        file = nodeid.split("::", maxsplit=1)[0]
        if not file.startswith("tests/browser/"):
            return file
        return "browser, first part" if file < "tests/browser/test_share.py" else "browser, second part"


def pytest_xdist_make_scheduler(config, log):
    return BrowserTestsInTwoParts(config, log)


def pytest_collection_modifyitems(config, items):
    """Without the benchmark sets, the tests that need them are not selected: nothing is skipped in silence."""
    if config.getoption("--data-dir") is not None:
        return
    without = [item for item in items if item.get_closest_marker("papers")]
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if not item.get_closest_marker("papers")]


@pytest.fixture(scope="session")
def data_dir(request) -> Path:
    """Folder of the benchmark sets."""
    option = request.config.getoption("--data-dir")
    if option is None:
        raise pytest.UsageError("this test reads benchmark sets: mark it with pytest.mark.papers")
    folder = Path(option).resolve()
    if not folder.is_dir():
        raise pytest.UsageError(f"--data-dir: there is no folder {folder}")
    return folder
