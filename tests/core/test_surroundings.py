"""Fits in processes, in threads, after a fork, without a home folder and without a folder to write into."""

import ctypes
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed

import supdr

X = np.random.default_rng(0).standard_normal((40, 4))
Y = np.arange(40) % 2
SOURCES = Path(supdr.__file__).parent

FIT = """
import numpy as np
from supdr import LSDR, MAC
X, y = np.random.default_rng(0).standard_normal((40, 4)), np.arange(40) % 2
def fit(_number=0):
    return float(LSDR(max_iter=3, random_state=0).fit(X, y).transform(X)[0, 0]).hex()
print(fit())
"""

FORK = """
import multiprocessing
MAC(max_iter=2, random_state=0, n_jobs=2).fit(X, y)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(*pool.map(fit, range(2)))
"""

# One kernel, for all are compiled anew; numba may have been imported before.
KERNEL = """
import os
from supdr.functions.losses import sigmoid
print(sigmoid(0.0), os.environ["NUMBA_CACHE_DIR"], len(os.listdir(os.environ["NUMBA_CACHE_DIR"])) > 0)
"""

DAC_OVERRIDE, DROP_FROM_BOUNDING_SET = 1, 24


def fitted(name, seed):
    task = {"SNF": {"task": "classification"}, "SLDR": {"n_init": 1}}.get(name, {})
    return supdr.METHODS[name](**{"max_iter": 3, "random_state": seed, **task}).fit(X, Y).transform(X)


def without_writing_everywhere():
    """Take from root the right to write where it is not allowed; called in a new process."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(DROP_FROM_BOUNDING_SET, DAC_OVERRIDE, 0, 0, 0)


def printed(code, sources=SOURCES.parent, without=(), more=None, **options):
    """Return the words that a program prints in a new process, with the library from a folder."""
    environment = {name: value for name, value in os.environ.items() if name not in without}
    environment |= {"PYTHONPATH": str(sources), **(more or {})}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]  # of forks in a process with threads
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250, **options)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


@pytest.fixture(scope="module")
def expected():
    return float(fitted("LSDR", 0)[0, 0]).hex()


@pytest.mark.parametrize("name", supdr.METHODS)
def test_threads_and_processes_fit_what_one_fits(name):
    alone = [fitted(name, seed) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        np.testing.assert_array_equal(list(pool.map(fitted, [name] * 3, range(3))), alone)
    in_processes = Parallel(n_jobs=2, backend="loky")(delayed(fitted)(name, seed) for seed in range(3))
    np.testing.assert_array_equal(in_processes, alone)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_processes_fit_that_are_forked_after_threads_have_run_kernels(expected):
    assert printed(FIT + FORK) == 3 * [expected]


def test_fits_without_a_home_folder(expected):
    assert printed(FIT, without=("HOME", "USERPROFILE")) == [expected]


@pytest.mark.skipif(sys.platform == "win32", reason="rights are those of Unix")
@pytest.mark.parametrize("before", [pytest.param("", marks=pytest.mark.slow), "import numba"])
def test_kernels_are_compiled_where_nothing_can_be_written_beside_them(before, tmp_path):
    copy = shutil.copytree(SOURCES, tmp_path / "supdr", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (*copy.rglob("*"), copy, tmp_path):
        path.chmod(path.stat().st_mode & ~0o222)
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    try:
        value, folder, kept = printed(
            before + KERNEL, tmp_path, ("NUMBA_CACHE_DIR",), home, preexec_fn=without_writing_everywhere
        )
    finally:
        for path in (tmp_path, copy, *copy.rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)
    assert (value, kept) == ("0.5", "True")
    assert not Path(folder).exists()
