"""The rows behind the points, by mouse and keyboard: menus, legend, search, table, counts, nearest rows."""

import re

import pytest

from tests.browser.axe import NAMELESS, findings, serious

IRIS = "?data=iris&method=LDA&test=0.3&seed=0"


COVERED = """async (text) => {
  const image = new Image()
  image.src = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}))
  await image.decode()
  const {width, height} = image
  const pen = Object.assign(document.createElement("canvas"), {width, height}).getContext("2d")
  pen.drawImage(image, 0, 0)
  const words = [...new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("text")]
  const keys = words.filter((word) => word.getAttribute("style").includes("400 12px"))
  const blank = (x, y) => new Set(new Uint32Array(pen.getImageData(x, y - 8, 1, 16).data.buffer)).size === 1
  const places = keys.map((word) => [word.textContent, +word.getAttribute("x"), +word.getAttribute("y")])
  return places.filter(([, x, y]) => x > 60 && !blank(x - 20, y)).map(([text]) => text)
}"""
"""Entries of a saved picture's legend with something in the gap before their marks, as an image shows them."""


def run(app):
    app.press("Run").settle()
    return app


def selected(app):
    return app.evaluate("board('explorer').tree.selected?.length ?? 0")


def find(app, text):
    """Look for rows by keyboard alone."""
    app.page.locator("body").press("/")
    app.page.keyboard.type(text)
    app.page.keyboard.press("Enter")
    app.settle()


def open_table(app):
    app.open_fold("Table of rows").settle()
    app.page.locator(".tabulator-row").first.wait_for()


def test_a_search_by_keyboard_lights_rows_and_menus_and_legend_colour_them(open_app, tmp_path):
    app = run(open_app(IRIS))
    dull = app.picture("latent")
    find(app, "petal length > 5.5")
    count = selected(app)
    assert 0 < count < 50
    app.until_seen(f"1 of {count}")
    assert app.picture("latent") != dull
    first = app.evaluate("board('explorer').current")
    app.page.keyboard.press("Enter")
    app.until_seen(f"2 of {count}")
    assert app.evaluate("board('explorer').current") != first
    app.page.keyboard.press("Shift+Enter")
    app.until_seen(f"1 of {count}")
    assert app.evaluate("board('explorer').current") == first
    assert app.page.locator(".stage-tip:visible").count() == 1
    app.page.keyboard.press("Escape")
    app.page.wait_for_function("!board('explorer').tree.selected?.length")
    assert app.evaluate("board('explorer').current") == -1
    # Colours, sizes and legend, by hand.
    app.page.get_by_role("button", name="setosa", exact=True).first.click()
    app.page.wait_for_function("board('explorer').tree.selected?.length === 50")
    app.page.get_by_role("button", name="setosa", exact=True).first.click()
    app.page.wait_for_function("!board('explorer').tree.selected?.length")
    before = app.picture("latent")
    app.page.get_by_label("Colour", exact=True).select_option("column:petal length (cm)")
    app.settle()
    coloured = app.picture("latent")
    assert coloured != before
    app.page.get_by_label("Size", exact=True).select_option("column:petal length (cm)")
    app.settle()
    assert app.picture("latent") != coloured
    assert app.evaluate("new Set(board('explorer').looksOf(0).list.map((look) => look.size)).size") > 4
    assert "view.size=column" in app.page.url
    app.press("Export")
    app.choose("Plot", "Latent space")
    saved = app.save("SVG", tmp_path).read_text()
    assert re.search(r"petal length \(cm\) 1\.\d+ to 6\.\d+<", saved)
    shades = set(app.evaluate("[...square('latent').places.keys()].map((row) => board('explorer').colourOf(row >> 1))"))
    assert len(shades) > 20
    assert all(each in saved for each in shades)
    assert app.evaluate(COVERED, saved) == []
    app.close_dialog()


def test_table_counts_and_map_point_at_each_other(open_app):
    app = run(open_app(IRIS))
    assert app.evaluate("typeof Tabulator") == "undefined"  # it is fetched with the first table
    open_table(app)
    rows = app.page.locator(".tabulator-row")
    find(app, "virginica")
    app.page.wait_for_function("document.body && board('explorer').tree.selected?.length === 50")
    app.until_seen("50 rows are selected; the 100 others are grey")
    app.settle()
    assert findings(app.page) == []
    assert app.evaluate(f"({NAMELESS})()") == []
    rows.first.wait_for()
    rows.first.hover()
    app.page.wait_for_function("board('explorer').group.hovered >= 0")
    rows.nth(1).get_by_role("button").click()
    app.page.wait_for_function("board('explorer').current >= 0")
    app.page.get_by_role("button", name="petal length (cm)").click()
    app.settle()
    sorted_column = app.page.locator(".tabulator-col[aria-sort=ascending]")
    assert sorted_column.count() == 1
    app.evaluate("square('latent').canvas.scrollIntoView({block: 'center'})")
    app.page.mouse.move(*app.place_of("latent", 20))
    app.until_seen("In the latent space")
    # A cell of the counts selects its rows.
    cell = app.page.locator(".counts button").first
    cell.scroll_into_view_if_needed()
    cell.click()
    app.page.wait_for_function("board('explorer').tree.selected?.length === 50")
    app.settle()
    assert cell.get_attribute("aria-pressed") == "true"


@pytest.mark.slow
def test_rows_are_accessible_on_a_phone(open_app):
    app = run(open_app(IRIS, phone=True))
    open_table(app)
    find(app, "setosa")
    assert serious(app) == []
    assert app.evaluate(f"({NAMELESS})()") == []
    assert app.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nothing is wider than the page
    app.evaluate("square('latent').canvas.scrollIntoView({block: 'center'})")
    app.page.mouse.move(*app.place_of("latent", 20))
    app.until_seen("In the latent space")
    app.settle()
    lists = [each.bounding_box() for each in app.page.locator(".nearest section").all()]
    assert lists[0]["y"] == lists[1]["y"]  # side by side
    assert all(each["x"] >= 0 and each["x"] + each["width"] <= 390 for each in lists)
    app.page.get_by_label("Find rows").blur()
    find(app, "row 7")  # in place of the text before
    app.page.wait_for_function("board('explorer').tree.selected?.length === 1")
    app.settle()  # the table before has gone
    app.page.locator(".tabulator-row").first.wait_for()
    assert app.page.locator(".tabulator").bounding_box()["height"] < 150  # a short table has no empty room
