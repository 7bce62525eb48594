"""supdr_viz: see supervised dimensionality reduction learn.

The explorer (`supdr_viz.cli`), plots for notebooks and papers (`supdr_viz.plots`), and a fit to watch in a notebook
(`supdr_viz.watch`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from supdr.engine.optional import require

if TYPE_CHECKING:
    from supdr_viz import plots
    from supdr_viz.notebook import watch

__all__ = ["plots", "watch"]

_APP_PACKAGES = (
    "panel",
    "panel_material_ui",
    "bokeh",
    "contourpy",
    "holoviews",
    "jinja2",
    "markdown_it",
    "pandas",
    "param",
    "PIL",
    "pyarrow",
    "tornado",
    "tqdm",
)
"""What the extra "app" brings, as it is imported."""


def require_app(purpose: str) -> None:
    """Look whether everything that the app needs is installed, without importing it.

    Parameters
    ----------
    purpose : str
        Who asks, as the subject of a sentence.

    Raises
    ------
    PackageMissing
        If something is missing; the message says what to install.
    """
    require(purpose, *_APP_PACKAGES, extra="app")


def __getattr__(name: str) -> Any:
    # On first use: the command line needs neither.
    if name in __all__:
        require_app(f"supdr_viz.{name}")
    if name == "watch":
        return importlib.import_module("supdr_viz.notebook").watch
    if name == "plots":
        return importlib.import_module("supdr_viz.plots")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
