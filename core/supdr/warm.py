"""Compile the numerical kernels before their first use.

numba compiles a kernel at its first call and keeps the machine code on disk.  Compilation holds Python's global lock,
and would block every open page of a server.  A separate process (``python -m supdr.warm``) therefore fits every method
to a few rows with all its solvers, kernels and losses, and writes a stamp beside the compiled code.  The stamp names
the dependencies of that code: the sources, numba, Python, the processor.
"""

from __future__ import annotations

import argparse
import atexit
import functools
import hashlib
import json
import platform
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

import supdr
from supdr.baselines import BASELINES
from supdr.solvers import _margin_kernels, smo
from supdr.solvers.pair_sums import summed_on_grid

# Three classes of a dozen rows and more: ClassAtlas does not embed smaller ones.
N_SAMPLES, N_FEATURES = 40, 4

_configuration: Any = numba.config  # its attributes are made at run time

_lock = threading.Lock()
_current: Warming | None = None


def is_warm() -> bool:
    """Tell whether every kernel is compiled on disk for this machine and these sources, in about a millisecond.

    The function reads the stamp and checks that the compiled files in it exist.  It also returns True when numba's
    compiler is switched off (``NUMBA_DISABLE_JIT``).
    """
    if _configuration.DISABLE_JIT:
        return True
    try:
        stamp = json.loads(_stamp_path().read_text())
        return stamp["fingerprint"] == _fingerprint() and all(Path(file).exists() for file in stamp["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return False  # no stamp, or an unreadable one


def warm(report: Callable[[str], None] = print) -> None:
    """Fit every method to a tiny data set in all its variants, so that each kernel is compiled and kept on disk.

    `report`: called with a line of text after each variant. Errors of a fit are raised.
    """
    variants = list(_variants())
    width = len(str(len(variants)))
    start = time.perf_counter()
    for number, (name, estimator_class, settings) in enumerate(variants, 1):
        began = time.perf_counter()
        _exercise(estimator_class, settings)
        shown = ", ".join(f"{key}={value}" for key, value in settings.items() if key != "max_iter")
        report(f"[{number:{width}}/{len(variants)}] {name} {shown}: {time.perf_counter() - began:.1f} s")
    summed_on_grid(np.zeros((2, 2)))  # called for many rows only
    _margin_kernels.compile_all()
    _write_stamp()
    report(f"All kernels are compiled ({time.perf_counter() - start:.0f} s).")


class Warming:
    """A compilation in a separate process, which a thread monitors.

    `lines`: progress so far, one line per compiled variant; threads may read it at any time. `finished`: whether the
    process has ended. `error`: why it failed; None while it runs and after success.  Without the compiled kernels only
    the first use of each is slow.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.finished = False
        self.error: str | None = None
        self._callbacks: list[Callable[[Warming], None]] = []
        self._lock = threading.Lock()

    @property
    def progress(self) -> str:
        """The latest line, for a page that shows one."""
        return self.lines[-1] if self.lines else "Starting the compiler"

    def when_finished(self, callback: Callable[[Warming], None]) -> None:
        """Call `callback` with this object when the process has ended, at once if it already has.

        The call comes from the monitoring thread; a page passes it on through `supdr_viz.ui.page_thread`.
        """
        with self._lock:
            if not self.finished:
                self._callbacks.append(callback)
                return
        callback(self)

    def _run(self) -> None:
        try:
            with subprocess.Popen(
                [sys.executable, "-m", "supdr.warm"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            ) as process:
                atexit.register(process.terminate)  # ends the compiler with the server
                for line in process.stdout or ():
                    self.lines.append(line.rstrip())
            atexit.unregister(process.terminate)
            if process.returncode != 0:
                self.error = self.progress  # the last line of a traceback is the message
        except OSError as error:
            self.error = f"The compiler process could not be started: {error}"
        with self._lock:
            self.finished = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)


def start_in_background() -> Warming:
    """Start the compilation in another process, or return the running one; it is finished if all is compiled."""
    global _current
    with _lock:
        if _current is None or _current.finished:
            _current = Warming()
            if is_warm():
                _current.finished = True
            else:
                threading.Thread(target=_current._run, name="supdr-warming", daemon=True).start()
        return _current


def _variants() -> Iterator[tuple[str, type, dict[str, Any]]]:
    """Yield name, class and settings of every variant to fit; baselines without kernels of their own have none."""
    with_kernels = {name: baseline for name, baseline in BASELINES.items() if hasattr(baseline, "_warm_up_settings")}
    for name, estimator_class in {**supdr.METHODS, **with_kernels}.items():
        for settings in estimator_class._warm_up_settings():
            yield name, estimator_class, settings


def _tiny_data(estimator: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield data of all kinds: two classes or numbers, an unlabelled row, three classes, a missing cell."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((N_SAMPLES, N_FEATURES))
    rows = np.arange(N_SAMPLES)
    targets = [generator.standard_normal(N_SAMPLES)] if is_regressor(estimator) else [rows % 2.0, rows % 3.0]
    for y in targets:
        y[-1] = np.nan
        yield X, y
    if get_tags(estimator).input_tags.allow_nan:
        X = X.copy()
        X[0, 0] = np.nan
        yield X, targets[0]


def _exercise(estimator_class: type, settings: dict[str, Any]) -> None:
    """Use one variant as the pages do: run it, read a snapshot, resume from it."""
    estimator = estimator_class(**{"max_iter": 2, **settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # two iterations are not meant to converge
        for X, y in _tiny_data(estimator):
            *_, snapshot = estimator.iterate(X, y)
            _read_results(estimator.at(snapshot), X)
            _read_results(estimator.fit(X, y, start=snapshot), X)


def _read_results(fitted: Any, X: np.ndarray) -> None:
    """Compute all results that the views show."""
    for attribute in ("embedding_", "transduction_"):
        getattr(fitted, attribute, None)
    for method in ("transform", "predict", "decision_function", "predict_proba"):
        if hasattr(fitted, method):
            getattr(fitted, method)(X)


def _kernels() -> list[Dispatcher]:
    """Return all kernels of the loaded modules of supdr, except those that are compiled as parts of others only."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "supdr"]
    kernels = [value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)]
    return [kernel for kernel in kernels if kernel.targetoptions.get("inline") != "always"]


def _stamp_path() -> Path:
    """Return the stamp's path beside the compiled code, which numba puts by the sources or into a cache folder."""
    kernel: Any = next(value for value in vars(smo).values() if isinstance(value, Dispatcher))
    return Path(kernel.stats.cache_path) / "supdr-warm.json"


@functools.cache
def _fingerprint() -> dict[str, str]:
    """Return the dependencies of compiled code, read once per process."""
    package = Path(supdr.__file__).parent
    sources = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        sources.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes())
    features = _configuration.CPU_FEATURES or llvmlite.binding.get_host_cpu_features().flatten()
    return {
        "sources": sources.hexdigest(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "processor": _configuration.CPU_NAME or llvmlite.binding.get_host_cpu_name(),
        "processor features": hashlib.sha256(features.encode()).hexdigest(),
    }


def _write_stamp() -> None:
    """Write the stamp: the compiled files and what they depend on."""
    folders = {Path(kernel.stats.cache_path) for kernel in _kernels() if kernel.stats.cache_path}
    files = sorted(str(file) for folder in folders for file in folder.glob("*.nb[ic]"))
    _stamp_path().write_text(json.dumps({"fingerprint": _fingerprint(), "files": files}, indent=1))


def main(argv: list[str] | None = None) -> int:
    """Compile the kernels unless all are compiled; print a line per variant, and return the exit status, 0.

    `argv`: command line without the program's name; default: that of the process.
    """
    parser = argparse.ArgumentParser(prog="python -m supdr.warm", description="Compile the kernels of supdr to disk.")
    parser.add_argument("--force", action="store_true", help="go through all variants even if they are compiled")
    if parser.parse_args(argv).force or not is_warm():
        warm(report=functools.partial(print, flush=True))
    else:
        print("All kernels are compiled already.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
