"""Data of one's own are a drop away, and their columns name the axes."""

import pytest
from playwright.sync_api import expect

from tests.browser.app import SHOWN
from tests.browser.axe import NAMELESS, findings
from tests.browser.own_tables import BIRDS

DRAG = """([kind, text]) => {
  window.dragged ??= new DataTransfer()
  if (text) dragged.items.add(new File([text], "birds.csv", {type: "text/csv"}))
  const options = {dataTransfer: dragged, bubbles: true, composed: true, cancelable: true}
  document.body.dispatchEvent(new DragEvent(kind, options))
}"""

CLEAR = """(name) => {
  const parents = (part) => (part ? [part, ...parents(part.parentElement ?? part.getRootNode().host)] : [])
  return parents(square(name).canvas).every((part) => getComputedStyle(part).opacity === "1")
}"""
"""Whether a square is shown as it is, not as what the controls have left behind."""


@pytest.mark.slow
def test_a_sample_is_opened_by_the_keyboard_and_a_file_is_dropped_anywhere_looked_at_and_used(app):
    app.button("Open a file …").press("Enter")
    app.until_seen("Or open a sample table")
    app.button("Wine: with missing values").press("Enter")
    app.until_seen("178 rows, 14 columns")
    app.settle()
    app.close_dialog()
    assert app.stands == ("ready", 0)
    app.evaluate(DRAG, ["dragover", BIRDS])
    expect(app.page.get_by_text("Drop a table to open it")).to_be_visible()
    app.evaluate(DRAG, ["drop", ""])
    expect(app.page.get_by_text("Drop a table to open it")).to_be_hidden()
    app.until_seen("80 rows, 4 columns")
    app.settle()
    assert not findings(app.page, "[role=dialog]")
    assert not app.evaluate(NAMELESS)
    wide = app.page.get_by_role("region", name="Columns of the table").bounding_box()["width"]
    assert wide > 700
    use, columns = (app.button("Use this file"), app.page.get_by_role("region", name="Columns of the table"))
    expect(use).to_be_in_viewport(ratio=1)
    assert use.bounding_box()["y"] > columns.bounding_box()["y"]  # it follows what it depends on
    app.press("Use this file").settle()
    expect(app.page.get_by_role("dialog")).to_have_count(0)
    expect(app.page.locator("button.chosen")).to_contain_text("birds.csv")
    assert app.sees("In use: birds.csv.")
    app.page.get_by_role("tab", name="Sensitivity").locator("visible=true").click()
    app.until_url("/sensitivity?data=file")  # with the data that are on display, and so back
    app.settle()
    assert app.sees("In use: birds.csv.")
    assert app.chip == "ready"
    assert not app.sees("choose it")
    for page in ("Compare", "Explore"):
        app.page.get_by_role("tab", name=page).locator("visible=true").click()
        app.until_url(f"/{'explorer' if page == 'Explore' else 'compare'}?data=file")
        app.settle()
        assert app.sees("In use: birds.csv.")
        assert not app.sees("choose it")
        expect(app.page.locator("button.chosen")).to_contain_text("birds.csv")
        shown = "latent" if page == "Explore" else "A latent"
        app.page.wait_for_function(CLEAR, arg=shown)
    app.press("Run").settle()
    words = " ".join(app.evaluate(SHOWN, "latent")["words"] + app.evaluate(SHOWN, "input")["words"])
    assert any(f"{name} +0." in words or f"{name} −0." in words for name in ("bill", "wing", "mass"))
