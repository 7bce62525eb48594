"""Presenting in a browser: what fills the window, which keys lead on, and that all comes back."""

from playwright.sync_api import expect

from tests.browser.axe import NAMELESS, findings


def test_two_squares_fill_the_window_and_keys_lead_through_examples(open_app):
    app = open_app("?example=three-spirals&present=1")
    expect(app.page.get_by_role("heading", name="Three tangled spirals")).to_be_visible()
    width, height = (app.page.viewport_size[name] for name in ("width", "height"))
    boxes = [app.box(name) for name in ("input", "latent")]
    assert all(box["width"] > 0.4 * min(width, 1.4 * height) for box in boxes)
    assert boxes[0]["y"] == boxes[1]["y"]
    expect(app.figure("losses")).to_be_hidden()
    assert not findings(app.page)
    assert not app.evaluate(NAMELESS)
    app.key("ArrowRight").settle()
    expect(app.page.get_by_role("heading", name="Three tangled spirals")).to_have_count(0)
    assert "present=1" in app.page.url
    app.key("ArrowLeft").settle()
    assert "example=three-spirals" in app.page.url
    app.key(" ").settle()
    assert app.iteration > 0
    reached = {app.key("Tab").focused for _ in range(14)}
    assert not {each for each in reached if each.endswith(("Run", "Step", "Reset"))}
    assert any(each.endswith("Next") for each in reached)
    app.key("Escape").settle()
    expect(app.figure("losses")).to_be_visible()
    expect(app.button("Present")).to_be_visible()
    assert "present" not in app.page.url
    app.button("Step").focus()  # all is reached again
    assert app.focused.endswith("Step")
