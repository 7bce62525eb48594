"""Runs the examples and writes a page with what they show: the pictures are never older than the code."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import holoviews as hv
from bokeh.embed import components


def write_gallery(examples: Path, page: Path) -> None:
    """Run every example and write the page.

    Parameters
    ----------
    examples : Path
        Folder of programs; the docstring of each is a title and a text, its variable ``picture`` what is shown.
    page : Path
        The Markdown file to write.
    """
    parts = ["# Gallery\n", "Every example was run when this page was built.\n"]
    parts.append('```{raw} html\n<script src="_static/bokeh.min.js"></script>\n```\n')
    for path in sorted(examples.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        title, _, text = (ast.get_docstring(ast.parse(source)) or path.stem).partition("\n")
        picture = runpy.run_path(str(path))["picture"]
        script, div = components(hv.render(picture, backend="bokeh"))
        code = source.split('"""', 2)[2].strip()
        parts += [f"## {title}\n", text.strip() + "\n", f"```python\n{code}\n```\n"]
        parts.append(f"```{{raw}} html\n{div}\n{script.strip()}\n```\n")
    page.write_text("\n".join(parts), encoding="utf-8")
