"""Scripts that are joined from parts, which share one scope."""

from importlib import resources

import pytest

from supdr_viz.export.report import PLAYER_SCRIPTS
from supdr_viz.pages.follow import SCRIPTS
from supdr_viz.views.stage.components import DRAWING

JOINED = {
    "stage": [f"stage/{part}.js" for part in (*DRAWING, "svg", "saving", "hub")],
    "follow": SCRIPTS,
    "report": [*PLAYER_SCRIPTS, "report.js", "told.js"],
    "lesson": [*PLAYER_SCRIPTS, "lesson.js"],
}

READ = """(script) => {
  const stops = "data:text/javascript,throw Error(`read`)"
  return import("data:text/javascript," + encodeURIComponent(`import "${stops}"\\n${script}`))
    .catch(({name, message}) => `${name}: ${message}`)
}"""
"""Has a script read, and nothing of it done."""


@pytest.mark.parametrize("parts", JOINED.values(), ids=JOINED)
def test_the_parts_of_a_script_declare_no_name_twice(chromium, parts):
    folder = resources.files("supdr_viz") / "assets"
    page = chromium.new_page()
    try:
        assert (
            page.evaluate(READ, "\n".join((folder / part).read_text(encoding="utf-8") for part in parts))
            == "Error: read"
        )
        twice = "const twice = 1\nconst twice = 2"
        assert page.evaluate(READ, twice).startswith("SyntaxError")
    finally:
        page.close()
