"""Options and fixtures that all tests share."""

import gc
import os
import shutil
import tempfile
from pathlib import Path

import dask
import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.times import Times

# Garbage is looked for seldom: there is little of it, and much that was imported to look through.
gc.set_threshold(50_000, 20, 20)

# The processes that run the tests share the cores: threads of BLAS that wait for one another would take most time.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))


def pytest_addoption(parser):
    parser.addoption(
        "--data-dir", metavar="DIR", default=None, help="folder of the benchmark sets; runs the tests marked papers"
    )
    parser.addoption(
        "--times", action="store_true", help="print the seconds of every file and of the slowest tests at the end"
    )


def pytest_configure(config):
    """Keep the sweeps of servers under test out of the user's cache folder."""
    if config.getoption("--times"):
        config.pluginmanager.register(Times())
    if "SUPDR_SWEEPS" not in os.environ:
        folder = tempfile.mkdtemp(prefix="supdr-tests-")
        os.environ["SUPDR_SWEEPS"] = f"{folder}/sweeps.sqlite"
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


LONG = (
    "tests/core/test_estimators.py",
    "tests/core/test_protocol_resuming.py",
    "tests/core/test_protocol_shell.py",
    "tests/core/test_sldr_estimator.py",
    "tests/viz/serving/test_front.py",
    "tests/core/test_sensitivity_store.py",
    "tests/viz/test_cli.py",
    "tests/core/test_mac_baselines.py",
    "tests/viz/papers/test_few_labels.py",
)
"""Files that take long (see `make test-times`), the longest first: what is begun last should be over soon."""


class OneBrowser(LoadScopeScheduling):
    """Processes share the work by file.  All browser tests are one share: they have one server and one browser."""

    def _split_scope(self, nodeid):
        return "tests/browser" if nodeid.startswith("tests/browser/") else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config, log):
    return OneBrowser(config, log)


def turn(item):
    """The browser tests begin, then come the long files; the rest stays in its order."""
    file = item.nodeid.partition("::")[0]
    if file.startswith("tests/browser/"):
        return -1
    return LONG.index(file) if file in LONG else len(LONG)


def pytest_collection_modifyitems(config, items):
    """Without the benchmark sets, the tests that need them are not selected: nothing is skipped in silence."""
    items.sort(key=turn)
    option = config.getoption("--data-dir")
    cases = option is not None and cases_beside(Path(option)).is_dir()
    without = [
        item
        for item in items
        if item.get_closest_marker("papers") and (option is None or ("cases" in item.fixturenames and not cases))
    ]
    if without:
        config.hook.pytest_deselected(items=without)
        left_out = set(without)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish():
    """Look for no garbage among what was imported: it would take a tenth of the time."""
    gc.collect()
    gc.freeze()


def cases_beside(data_dir):
    """Folder of small files that are hard to read, beside that of the benchmark sets; it may not be there."""
    return data_dir.resolve().parent / "cases"


@pytest.fixture(scope="session")
def cases(data_dir) -> Path:
    """Folder of small files that are hard to read."""
    return cases_beside(data_dir)


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


@pytest.fixture
def in_this_thread():
    """Dask computes in the thread of the test: no other has the warnings that it expects, or what it has replaced."""
    with dask.config.set(scheduler="synchronous"):
        yield
