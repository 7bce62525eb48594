"""The packages that the app needs beside the library, looked for before they are imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from supdr.engine.optional import require

# What the extra "app" brings, as it is imported.
APP_PACKAGES = (
    "panel",
    "panel_material_ui",
    "bokeh",
    "charset_normalizer",
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


def require_app(purpose: str) -> None:
    """Look whether everything that the app needs is installed, without importing it.

    `purpose`: subject of the sentence. Raises PackageMissing if something is missing; the message says
    what to install.
    """
    require(purpose, *APP_PACKAGES, extra="app")


@contextmanager
def importing_app(purpose: str) -> Iterator[None]:
    """Look for what the app needs before the imports under ``with``, which would fail without it.

    `purpose`: see `require_app`. Yields nothing. Raises PackageMissing if something is missing; the message says what
    to install.
    """
    require_app(purpose)
    yield
