"""Compile the numerical kernels before their first use.

numba compiles a kernel at its first call and keeps the machine code on disk.  Compilation holds Python's global lock,
and would block every open page of a server.  A separate process (``python -m supdr.warm``) therefore fits every method
to a few rows with all its solvers, kernels and losses, and after each method writes a stamp beside the compiled code.
The stamp names the methods that are compiled and the dependencies of that code: the sources, numba, Python, the
processor.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import functools
import hashlib
import json
import os
import platform
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from scipy.sparse import csr_array
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

import supdr
from supdr.baselines import BASELINES
from supdr.solvers import _margin_kernels, smo
from supdr.solvers.pair_sums import summed_on_grid
from supdr.solvers.sparse_svm import FEW_COLUMNS, solve_sparse_svm

# Three classes of a dozen rows and more: ClassAtlas does not embed smaller ones.
N_SAMPLES, N_FEATURES = 40, 4

_configuration: Any = numba.config  # its attributes are made at run time

# Starts a process that compiles, and reads names of methods to compile next from its standard input.
COMPILER = (sys.executable, "-m", "supdr.warm", "--listen")

_lock = threading.Lock()
_current: Warming | None = None


def is_warm(*methods: str) -> bool:
    """Tell whether kernels are compiled on disk for this machine and these sources, in about a millisecond.

    `methods`: names of methods; default: every kernel of the library.  A method without kernels of its own is always
    compiled.  The function reads the stamp and checks that the compiled files in it exist.  It also returns True when
    numba's compiler is switched off (``NUMBA_DISABLE_JIT``).
    """
    if _configuration.DISABLE_JIT:
        return True
    try:
        stamp = json.loads(_stamp_path().read_text())
        valid = stamp["fingerprint"] == _fingerprint() and all(Path(file).exists() for file in stamp["files"])
        compiled, complete = (stamp["methods"], stamp["complete"]) if valid else ([], False)
    except (OSError, ValueError, KeyError, TypeError):
        compiled, complete = [], False  # no stamp, or an unreadable one
    return complete or (bool(methods) and all(name in compiled or not _has_kernels(name) for name in methods))


def warm(report: Callable[[str], None] = print, preferred: Sequence[str] = ()) -> None:
    """Fit every method to a tiny data set in all its variants, so that each kernel is compiled and kept on disk.

    `report`: called with a line of text after each variant and each method. `preferred`: names of methods to compile
    before the others; another thread may add some. Errors of a fit are raised.
    """
    remaining = {name: list(method._warm_up_settings()) for name, method in methods_with_kernels().items()}
    total, number, start = sum(map(len, remaining.values())), 0, time.perf_counter()
    compiled: list[str] = []
    while remaining:
        name = next((name for name in [*preferred] if name in remaining), next(iter(remaining)))
        for settings in remaining.pop(name):
            began, number = time.perf_counter(), number + 1
            _exercise(methods_with_kernels()[name], settings)
            shown = ", ".join(f"{key}={value}" for key, value in settings.items() if key != "max_iter")
            report(f"[{number:{len(str(total))}}/{total}] {name} {shown}: {time.perf_counter() - began:.1f} s")
        if not remaining:
            summed_on_grid(np.zeros((2, 2)))  # called for many rows only
            wide = csr_array(np.eye(2, FEW_COLUMNS + 1))
            solve_sparse_svm(wide, np.array([-1.0, 1.0]), 1.0, max_passes=1)  # for sparse rows only
            _margin_kernels.compile_all()
        compiled.append(name)
        _write_stamp(compiled, complete=not remaining)
        report(f"{name} is compiled.")
    report(f"All kernels are compiled ({time.perf_counter() - start:.0f} s).")


class Warming:
    """A compilation in a separate process, which a thread monitors.

    `command`: starts the process; names of methods to compile first follow it.  `lines`: progress so far, one line per
    compiled variant; threads may read it at any time. `finished`: whether the process has ended. `error`: why it
    failed; None while it runs and after success.  Without the compiled kernels only the first use of each is slow.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self.lines: list[str] = []
        self.finished = False
        self.error: str | None = None
        self._callbacks: list[tuple[tuple[str, ...], Callable[[Warming], None]]] = []
        self._process: subprocess.Popen[str] | None = None
        self._preferred: list[str] = []
        self._lock = threading.Lock()

    @property
    def progress(self) -> str:
        """The latest line, for a page that shows one."""
        return self.lines[-1] if self.lines else "Starting the compiler"

    def when_compiled(self, methods: Sequence[str], callback: Callable[[Warming], None]) -> None:
        """Call `callback` with this object when these methods are compiled or the process has ended.

        `methods`: names; they are compiled before the others. Without a name all methods are meant. The call comes from
        the monitoring thread, at once if nothing is to be compiled; a page passes it on through
        `supdr_viz.ui.page_thread`.
        """
        with self._lock:
            if not (self.finished or (methods and is_warm(*methods))):
                self._callbacks.append((tuple(methods), callback))
                self._preferred += methods
                self._send_preferred()
                return
        callback(self)

    def _take_preferred(self) -> list[str]:
        """Return the methods to compile next, and forget them."""
        preferred, self._preferred = self._preferred, []
        return preferred

    def _send_preferred(self) -> None:
        """Write the names of the methods to compile next to the process, if it runs."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):  # it has just ended
                self._process.stdin.write("".join(f"{name}\n" for name in self._take_preferred()))
                self._process.stdin.flush()

    def _call(self, compiled: Callable[[tuple[str, ...]], bool]) -> None:
        """Make the calls whose methods are compiled."""
        with self._lock:
            due = [callback for methods, callback in self._callbacks if compiled(methods)]
            self._callbacks = [entry for entry in self._callbacks if entry[1] not in due]
        for callback in due:
            callback(self)

    def _run(self) -> None:
        try:
            with subprocess.Popen(
                [*self._command, *self._take_preferred()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            ) as process:
                atexit.register(process.terminate)  # ends the compiler with the server
                with self._lock:
                    self._process = process
                    self._send_preferred()
                for line in process.stdout or ():
                    self.lines.append(line.rstrip())
                    self._call(lambda methods: bool(methods) and is_warm(*methods))
            atexit.unregister(process.terminate)
            if process.returncode != 0:
                self.error = self.progress  # the last line of a traceback is the message
        except OSError as error:
            self.error = f"The compiler process could not be started: {error}"
        with self._lock:
            self.finished = True
        self._call(lambda _methods: True)


def start_in_background(command: Sequence[str] = COMPILER) -> Warming:
    """Start the compilation in another process, or return the running one; it is finished if all is compiled.

    `command`: starts the process.
    """
    global _current
    with _lock:
        if _current is None or _current.finished:
            _current = Warming(command)
            if is_warm():
                _current.finished = True
            else:
                threading.Thread(target=_current._run, name="supdr-warming", daemon=True).start()
        return _current


def _has_kernels(name: str) -> bool:
    """Tell whether a method has kernels of its own."""
    return hasattr(supdr.METHODS.get(name) or BASELINES.get(name), "_warm_up_settings")


def methods_with_kernels() -> dict[str, Any]:
    """Return the methods, and those baselines that have kernels of their own, by name."""
    with_kernels = {name: baseline for name, baseline in BASELINES.items() if hasattr(baseline, "_warm_up_settings")}
    return {**supdr.METHODS, **with_kernels}


def _read_methods(preferred: list[str]) -> None:
    """Put the names of methods on the standard input at the head of `preferred`; end the process at the input's end."""
    for line in sys.stdin:
        preferred.insert(0, line.strip())
    os._exit(1)  # the server that asked is gone


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


def _write_stamp(methods: list[str], *, complete: bool) -> None:
    """Write the stamp: the methods that are compiled, whether that is all, the files, and what they depend on."""
    folders = {Path(kernel.stats.cache_path) for kernel in _kernels() if kernel.stats.cache_path}
    files = sorted(str(file) for folder in folders for file in folder.glob("*.nb[ic]"))
    stamp = {"fingerprint": _fingerprint(), "methods": methods, "complete": complete, "files": files}
    written = _stamp_path().with_suffix(".new")
    written.write_text(json.dumps(stamp, indent=1))
    written.replace(_stamp_path())  # whole at every moment: a server reads it meanwhile


def main(argv: list[str] | None = None) -> int:
    """Compile the kernels unless all are compiled; print a line per variant, and return the exit status, 0.

    `argv`: command line without the program's name; default: that of the process.
    """
    parser = argparse.ArgumentParser(prog="python -m supdr.warm", description="Compile the kernels of supdr to disk.")
    parser.add_argument("methods", nargs="*", metavar="METHOD", help="compile these methods before the others")
    parser.add_argument("--force", action="store_true", help="go through all variants even if they are compiled")
    parser.add_argument(
        "--listen",
        action="store_true",
        help="read more of them, a line each, from the standard input: the latest is compiled first",
    )
    arguments = parser.parse_args(argv)
    if arguments.force or not is_warm():
        preferred = list(arguments.methods)
        if arguments.listen:
            threading.Thread(target=_read_methods, args=(preferred,), daemon=True).start()
        warm(functools.partial(print, flush=True), preferred)
    else:
        print("All kernels are compiled already.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
