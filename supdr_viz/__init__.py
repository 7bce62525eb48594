"""supdr_viz: see supervised dimensionality reduction learn.

The explorer (`supdr_viz.cli`), plots for notebooks and papers (`supdr_viz.plots`), and a fit to watch in a notebook
(`supdr_viz.watch`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from supdr_viz.serving.extras import require_app

if TYPE_CHECKING:
    from supdr_viz import plots
    from supdr_viz.notebook import watch

__all__ = ["plots", "watch"]


def __getattr__(name: str) -> Any:
    # On first use: the command line needs neither.
    if name == "watch":
        require_app("supdr_viz.watch")
        return importlib.import_module("supdr_viz.notebook").watch
    if name == "plots":
        return importlib.import_module("supdr_viz.plots")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
