"""Pictures as files."""

from __future__ import annotations

import html
import importlib
from os import PathLike
from pathlib import Path
from typing import Any

PRINTED = (".pdf", ".png", ".svg")

PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
{library}
</head>
<body>
{division}
{script}
</body>
</html>
"""


def save(picture: Any, path: str | PathLike[str]) -> Path:
    """Write a picture into a file.

    A HoloViews element becomes a page, .html, that needs no network.  A figure of matplotlib becomes .svg, .pdf or
    .png, with a narrow border; letters stay letters in .svg and .pdf.

    Parameters
    ----------
    picture : holoviews element or layout, or matplotlib.figure.Figure
        What the plots return, and what was made of it.
    path : path
        Its ending says the format.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        If the picture cannot be written in this format.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if hasattr(picture, "savefig"):
        if ending not in PRINTED:
            raise ValueError(f"a figure of matplotlib is saved as {', '.join(PRINTED)}; got {path.name!r}")
        importlib.import_module("supdr_viz.export.plots_matplotlib").write(picture, path)
        return path
    if ending != ".html":
        raise ValueError(
            f"a picture of the backend bokeh is saved as .html; got {path.name!r}. "
            f'For {", ".join(PRINTED)} draw it with backend="matplotlib"'
        )
    drawn = importlib.import_module("holoviews").render(picture, backend="bokeh")
    path.write_text(page_of(drawn, path.stem), encoding="utf-8")
    return path


def page_of(model: Any, title: str, *, widgets: bool = False) -> str:
    """Return a page with a figure or layout of Bokeh that needs no network; `widgets`: whether it has any."""
    from bokeh.embed import components
    from bokeh.resources import Resources

    script, division = components(model)
    # Taken one by one: the whole of what is registered may name files of a server.
    resources = Resources("inline", components=["bokeh", "bokeh-widgets"] if widgets else ["bokeh"])
    library = "\n".join(f"<script>{text}</script>" for text in resources.js_raw)
    return PAGE.format(title=html.escape(title), library=library, division=division, script=script)
