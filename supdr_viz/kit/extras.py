"""What the app needs beside the library, looked for before anything of it is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from supdr.engine.optional import require

APP_PACKAGES = (
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
    "python_calamine",
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
    require(purpose, *APP_PACKAGES, extra="app")


@contextmanager
def importing_app(purpose: str) -> Iterator[None]:
    """Look for what the app needs before the imports under ``with``, which would fail without it.

    Parameters
    ----------
    purpose : str
        See `require_app`.

    Yields
    ------
    None
        Nothing.

    Raises
    ------
    PackageMissing
        If something is missing; the message says what to install.
    """
    require_app(purpose)
    yield
