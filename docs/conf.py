"""How the documentation site is built: ``make docs``.  Nothing is fetched; every example of the gallery is run."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "core")]

project = "supdr-viz"
copyright = "the supdr-viz authors"
release = importlib.metadata.version("supdr-viz")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "capture_repr": (),
    "download_all_examples": False,
    "min_reported_time": float("inf"),
    "show_signature": False,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
}
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 3
myst_url_schemes = {"http": None, "https": None, "lesson": "_static/lessons/{{path}}.html", "written": "{{path}}.html"}
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "examples"]
suppress_warnings = ["myst.header"]  # some pages begin a section deeper than the last one

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

LAST_UNDERSCORE = re.compile(r"(?<=\w)_(?=[),;.])")
"""As in "sum of views_)"; not before a colon, where an attribute is declared."""

html_theme = "furo"
html_title = "supdr-viz"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2563b0", "color-brand-content": "#2563b0"},
    "dark_css_variables": {"color-brand-primary": "#7db2f0", "color-brand-content": "#7db2f0"},
}
html_css_files = ["pages.css"]
html_static_path = ["_static", "style"]
html_extra_path = ["results/reproduce.html"]  # beside the pages: one with its name is made of results/reproduce.md
(HERE / "_static").mkdir(exist_ok=True)
html_show_sourcelink = False


def prepare(_app: object) -> None:
    """Run an example of each method for the film on its page, and the lessons; draw the results."""
    from films import write_films, write_lessons
    from pictures import draw_charts

    write_films(HERE / "_static" / "films")
    write_lessons(HERE / "_static" / "lessons")
    draw_charts(HERE / "results", HERE / "_static" / "charts")


def escape_marks(_app: object, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    """Let |x| in docstrings be a norm and a last _ part of a name, not marks; code stays as it is."""
    for number, line in enumerate(lines):
        if line.lstrip().startswith(">>>"):
            continue
        parts = line.split("``")
        parts[::2] = [LAST_UNDERSCORE.sub(r"\_", part.replace("|", r"\|")) for part in parts[::2]]
        lines[number] = "``".join(parts)


def setup(app: Sphinx) -> None:
    """Prepare before the sources are read."""
    from pictures import add_picture

    app.connect("builder-inited", prepare)
    app.connect("source-read", add_picture)
    app.connect("autodoc-process-docstring", escape_marks, priority=100)
