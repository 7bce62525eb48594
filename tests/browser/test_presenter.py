"""Presenting in a browser: what fills the window, which keys lead on, and that all comes back."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import NAMELESS, findings

SIZES = """() => {
  const sizes = {}
  for (const host of [...document.querySelectorAll("*")].flatMap(function inside(each) {
    return each.shadowRoot ? [each, ...[...each.shadowRoot.querySelectorAll("*")].flatMap(inside)] : [each]
  })) {
    const own = [...host.childNodes].some((each) => each.nodeType === 3 && each.data.trim())
    if (own && host.closest(".presenting") && host.checkVisibility() && host.localName !== "kbd")
      sizes[host.textContent.trim()] = parseFloat(getComputedStyle(host).fontSize)
  }
  return sizes
}"""
"""Texts that a presentation shows, but for the keys that only the speaker needs -> height of their letters."""


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
    assert not {each for each in reached if each.endswith(("Step", "Reset"))}
    assert all(any(name in each for each in reached) for name in ("Next", "Run", "arm 1"))
    app.key("Escape").settle()
    expect(app.figure("losses")).to_be_visible()
    expect(app.button("Present")).to_be_visible()
    assert "present" not in app.page.url
    app.button("Step").focus()  # all is reached again
    assert app.focused.endswith("Step")


@pytest.mark.slow
def test_one_line_says_what_a_room_must_know_in_letters_that_it_can_read(open_app):
    app = open_app("?example=three-spirals&present=1")
    foot = app.page.locator(".foot")
    for text in ("arm 1", "errors", "iteration 0", "train error", "test error"):
        expect(foot.get_by_text(text).filter(visible=True).first).to_be_visible()
    expect(foot.get_by_text("objective")).to_be_hidden()
    run = foot.get_by_role("button", name="Run")
    expect(run.locator("kbd")).to_have_text("Space")
    run.click()
    app.settle()
    expect(foot).to_contain_text(f"iteration {app.iteration:,}")
    assert app.iteration > 0
    height = app.page.viewport_size["height"]
    places = [part.bounding_box() for part in (foot, app.page.locator(".foot .key").first)]
    assert all(box["y"] >= 0 and box["y"] + box["height"] <= height for box in places)
    sizes = app.evaluate(SIZES)
    assert len(sizes) >= 8
    assert min(sizes.values()) >= 0.018 * height, sizes
