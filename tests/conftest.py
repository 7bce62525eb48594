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


class OneDrivesTheBrowser(LoadScopeScheduling):
    """When several processes share the work, one has all tests in the browser, and those of a file stay together."""

    def _split_scope(self, nodeid):
        return "browser" if nodeid.startswith("tests/browser/") else nodeid.split("::", maxsplit=1)[0]


def pytest_xdist_make_scheduler(config, log):
    return OneDrivesTheBrowser(config, log)


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
