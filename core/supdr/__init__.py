"""supdr: supervised dimensionality reduction.

Everything is imported on first use, so that ``import supdr`` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supdr.baselines import BASELINES
    from supdr.engine.column_groups import stack_views
    from supdr.engine.estimator import SupervisedReducer
    from supdr.engine.iterate import Snapshot, Stop, iterate, run
    from supdr.kernel_views import KernelViews
    from supdr.methods.class_atlas import ClassAtlas
    from supdr.methods.lsdr import LSDR
    from supdr.methods.mac import MAC
    from supdr.methods.nsdr import NSDR
    from supdr.methods.sdr_glm import SDRGLM
    from supdr.methods.sldr import SLDR
    from supdr.methods.snf import SNF
    from supdr.model_selection import PartlyLabelledKFold

    METHODS: dict[str, type[SupervisedReducer]]

__all__ = [
    "BASELINES",
    "LSDR",
    "MAC",
    "METHODS",
    "NSDR",
    "SDRGLM",
    "SLDR",
    "SNF",
    "ClassAtlas",
    "KernelViews",
    "PartlyLabelledKFold",
    "Snapshot",
    "Stop",
    "iterate",
    "run",
    "stack_views",
]

_HOMES = {
    "BASELINES": "supdr.baselines",
    "LSDR": "supdr.methods.lsdr",
    "MAC": "supdr.methods.mac",
    "NSDR": "supdr.methods.nsdr",
    "SLDR": "supdr.methods.sldr",
    "SDRGLM": "supdr.methods.sdr_glm",
    "SNF": "supdr.methods.snf",
    "ClassAtlas": "supdr.methods.class_atlas",
    "KernelViews": "supdr.kernel_views",
    "PartlyLabelledKFold": "supdr.model_selection",
    "Snapshot": "supdr.engine.iterate",
    "Stop": "supdr.engine.iterate",
    "iterate": "supdr.engine.iterate",
    "run": "supdr.engine.iterate",
    "stack_views": "supdr.engine.column_groups",
}

_METHODS = ("LSDR", "NSDR", "MAC", "SDRGLM", "SLDR", "SNF", "ClassAtlas")

_SUBPACKAGES = ("baselines", "datasets", "engine", "functions", "methods", "quality", "sensitivity", "solvers")


def _can_be_made_in(folder: Path) -> bool:
    """Tell whether files can be made in a folder, or in the nearest one above it that there is."""
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    return os.access(nearest, os.W_OK | os.X_OK)


def _keep_kernels_in_a_temporary_folder() -> tempfile.TemporaryDirectory[str] | None:
    """Have numba keep compiled kernels in a folder of this process where it can write into neither of its own two.

    numba refuses a kernel that it cannot keep.  Its folders are one beside the sources, and one of the user; the
    variable NUMBA_CACHE_DIR names another.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if "NUMBA_CACHE_DIR" in os.environ or any(map(_can_be_made_in, (Path(__file__).parent, Path(cache).absolute()))):
        return None
    folder = tempfile.TemporaryDirectory(prefix="supdr-kernels-")
    os.environ["NUMBA_CACHE_DIR"] = folder.name  # processes that are started take it over
    if "numba" in sys.modules:  # it has read the variable already
        sys.modules["numba"].config.CACHE_DIR = folder.name
    return folder


_KERNELS = _keep_kernels_in_a_temporary_folder()  # is removed at the end of the process


def __getattr__(name: str) -> Any:
    value: Any
    if name == "METHODS":  # name -> class, for menus
        value = {method: __getattr__(method) for method in _METHODS}
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name in _SUBPACKAGES:
        return importlib.import_module(f"supdr.{name}")
    else:
        raise AttributeError(f"module 'supdr' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBPACKAGES})
