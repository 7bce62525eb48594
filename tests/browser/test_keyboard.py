"""From a file of one's own to the parameter that matters, by the keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.own_tables import BIRDS

MOST_STOPS = 110
"""Stops of the Tab key within which all of a page is reached."""

FOCUS = """() => {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  if (!element || element === document.body) return ["page", true]
  if (element.matches("[role=dialog], [role=presentation]")) return ["dialog", true] // all of it
  const parents = (part, most) => (part && most ? [part, ...parents(part.parentElement, most - 1)] : [])
  const outlined = (part) => {
    const {outlineStyle, outlineWidth, opacity} = getComputedStyle(part)
    return outlineStyle !== "none" && parseFloat(outlineWidth) > 0 && opacity !== "0"
  }
  const seen = element.closest(".Mui-focused, .Mui-focusVisible") || parents(element, 12).some(outlined)
  const label = element.labels?.[0]?.textContent
  const name = element.ariaLabel || label || element.textContent || element.name || element.title
  return [name.trim(), Boolean(seen)]
}"""
"""Name of what has the focus, and whether that is seen."""


def reach(app, name, most=MOST_STOPS):
    """Press the Tab key until what is called so has the focus; what is passed on the way shows that it has it."""
    for _ in range(most):
        app.key("Tab")
        found, seen = app.evaluate(FOCUS)
        assert seen, f"{found} does not show the focus"
        if name in found:
            return app
    raise AssertionError(f"{name} was not reached")


def clean(app):
    """No findings in a wide window and in a narrow one."""
    assert findings(app.page) == []
    app.resize(390, 844)
    app.settle()
    assert findings(app.page) == []
    app.resize(1440, 900)
    app.settle()


@pytest.mark.slow
def test_a_visitor_finds_rows_and_parameters_by_the_keyboard_alone(open_app, tmp_path):
    app = open_app()
    file = tmp_path / "birds.csv"
    file.write_text(BIRDS)
    reach(app, "Open a file").key("Enter")
    app.until_seen("Or open a sample table")
    app.settle()
    with app.page.expect_file_chooser() as chooser:  # from before the keys on: the browser takes its time to watch
        reach(app, "Drop your files").key("Enter")
    chooser.value.set_files(file)
    app.until_seen("80 rows, 4 columns")
    app.settle()
    reach(app, "Use this file").key("Enter").settle()
    app.key("Space").settle()
    assert app.chip == "finished"
    # Hits of a search, one after the other.
    app.key("/")
    app.page.keyboard.type("bill > 4")
    app.key("Enter").settle()
    hits = app.selected()
    assert 5 < len(hits) < 60
    current = "board('explorer').current"
    first = app.evaluate(current)
    app.key("Enter").settle()
    assert app.evaluate(current) != first
    app.key("Shift+Enter").settle()
    assert app.evaluate(current) == first
    # Their table: sorted, and from row to row; it is left by one more stop, however long it is.
    reach(app, "Table of rows").key("Enter").settle()
    app.page.locator(".tabulator-row").first.wait_for()
    reach(app, "bill, mean").key("Enter")
    expect(app.page.locator(".tabulator-col[aria-sort=ascending]")).to_have_count(1)
    app.settle()
    reach(app, "arrow keys go from one to the next")
    seen = []
    for _ in range(5):
        app.key("ArrowDown")
        seen.append(app.evaluate(FOCUS)[0])
    assert len(set(seen)) == 5
    app.key("Enter").settle()
    assert app.evaluate(current) in hits
    reach(app, "predicted as", 5).key("Enter")
    app.page.wait_for_function("(before) => board('explorer').tree.selected?.length !== before", arg=len(hits))
    app.settle()
    clean(app)
    dull = app.picture("latent")
    reach(app, "Colour")
    app.page.keyboard.type("wing")
    app.settle()
    assert "view.colour=column:wing" in app.page.url
    assert app.picture("latent") != dull
    # The sweep of the same rows.
    app.key("Escape")
    reach(app, "Explore")
    app.key("ArrowRight", 2).key("Enter")
    app.until_url("/sensitivity?data=file")
    app.settle()
    for _ in range(2):
        reach(app, "Values").key("Control+A")
        app.page.keyboard.type("2")
        app.key("Enter").settle()
    reach(app, "Run").key("Enter")
    expect(app.chip_shown).to_have_text("finished", timeout=100_000)
    app.settle()
    app.until_seen("explain")
    reach(app, "Show maps").key("Enter").settle()
    reach(app, "Basis functions:")
    number = "named('sweep place').data.number[0]"
    before = app.evaluate(number)
    app.key("ArrowLeft" if before > 1 else "ArrowRight")
    app.page.wait_for_function(f"{number} !== {before}")
    app.settle()
    chosen, up = app.evaluate(number), 2
    frame = "(() => { const {x, y} = named('chosen cell').data_source.data; return [x[0], y[0]] })()"
    assert app.evaluate(frame) == [chosen // up, chosen % up]
    rows = "(number) => Array.from(named('sweep maps').data.x[0].slice(80 * number, 80 * (number + 1)))"
    app.page.wait_for_function(
        f"(number) => ({rows})(number).every((x, row) => Math.abs(x - named('sweep map').data.x[row]) < 1e-6)",
        arg=chosen,
    )
    reach(app, "Run it in Explore")
    clean(app)
    # Nothing holds the focus: it goes on through the page and comes back to where it began.
    reach(app, "supdr")
