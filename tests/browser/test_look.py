"""Themes, window sizes, names for screen readers, and that nothing is asked of the network."""

from urllib.parse import urlparse

import pytest

from tests.browser.app import FIGURES, SQUARES

NAMELESS = """() => {
  const found = []
  const walk = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.shadowRoot) walk(each.shadowRoot)
      if (!each.matches("button, input, a[href], [role=combobox], [role=tab], [role=slider]")) continue
      if (each.closest("[aria-hidden=true]") || each.type === "hidden" || !each.getClientRects().length) continue
      const scope = each.getRootNode()
      const ids = (each.getAttribute("aria-labelledby") || "").split(" ")
      const by = ids.map((id) => scope.getElementById(id)?.textContent || "")
      const label = each.id && scope.querySelector(`label[for="${CSS.escape(each.id)}"]`)?.textContent
      const name = [each.getAttribute("aria-label"), ...by, label, each.closest("label")?.textContent, each.title,
                    each.matches("input") ? "" : each.textContent].join("").trim()
      if (!name) found.push(each.outerHTML.slice(0, 200))
    }
  }
  walk(document)
  return found
}"""


def theme(app):
    return app.evaluate("document.documentElement.dataset.theme")


def colours(app):
    return app.evaluate("named('input').renderers.map((each) => each.glyph.fill_color?.transform?.palette?.[0])")


def toggle_theme(app):
    app.press("Toggle theme")


def test_the_theme_follows_the_system_at_once(open_app):
    for scheme in ("dark", "light"):
        app = open_app("?data=iris&method=LDA", scheme=scheme)
        assert theme(app) == scheme
        assert app.evaluate("window.first_theme") == scheme  # before anything was painted


def test_the_choice_of_a_theme_survives_a_reload_and_resends_nothing(app):
    app.run_to(3)
    app.pause()
    light, picture, numbers = colours(app), app.picture("latent"), app.numbers
    received = app.until_still(lambda: len(app.received))
    toggle_theme(app)
    app.until(lambda: theme(app) == "dark" and colours(app) != light)
    app.another_picture("latent", [picture])
    assert sum(isinstance(payload, bytes) and len(payload) > 1000 for payload in app.received[received:]) == 0
    assert app.numbers == numbers
    app.page.reload()
    app.wait_until_ready()
    app.until_settled()
    assert theme(app) == "dark"
    app.until(lambda: colours(app) != light)
    toggle_theme(app)
    app.until(lambda: colours(app) == light)


def test_everything_has_a_name(app):
    app.open_fold("Test rows, labels, seed")
    app.page.get_by_role("button", name="More", exact=True).last.click()
    assert app.until_still(lambda: app.evaluate(NAMELESS)) == []
    for name in ("Share", "Python", "Export"):
        app.press(name)
        app.page.get_by_role("dialog").first.wait_for()
        assert app.until_still(lambda: app.evaluate(NAMELESS)) == [], name
        app.key("Escape")
        app.page.get_by_role("dialog").first.wait_for(state="hidden")
    assert app.page.locator("h1").count() >= 1


def test_all_five_cards_fit_on_a_projector(open_app):
    app = open_app("?data=spirals&data.n_per_class=60", viewport={"width": 1280, "height": 720})
    app.run_to(3)
    app.pause()
    boxes = app.until_still(lambda: {name: app.box(name) for name in FIGURES})
    for name, box in boxes.items():
        assert min(box["x"], box["y"]) >= 0
        assert box["x"] + box["width"] <= 1280, name
        assert box["y"] + box["height"] <= 720, name
    squares = [boxes[name] for name in SQUARES]
    assert all(abs(box["width"] - box["height"]) <= 1 and box["width"] > 280 for box in squares)
    assert len({round(box["y"]) for box in squares}) == 1  # level


def test_a_phone_reaches_everything(open_app):
    app = open_app("?data=spirals&data.n_per_class=60", phone=True)
    app.until(lambda: app.evaluate("document.documentElement.scrollWidth") <= 390)
    drawer = app.slider("Points per arm")
    app.until(lambda: not drawer.is_visible() or app.measure(drawer, "x") < 0)
    app.run_to(3)
    app.pause()
    for name in FIGURES:
        app.figure(name).scroll_into_view_if_needed()
        box = app.until_still(lambda n=name: app.box(n))
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    app.page.locator("header button").first.click()
    app.until(lambda: app.measure(drawer, "x") >= 0)
    app.press("Share")
    app.until_seen("Share this run")
    app.until(lambda: app.measure(app.page.get_by_role("dialog").first, "width") <= 390)
    app.until(lambda: app.evaluate("document.documentElement.scrollWidth") <= 390)


def test_in_a_narrow_window_the_drawer_waits_to_be_opened(open_app):
    app = open_app("?data=iris&method=LDA", viewport={"width": 390, "height": 844})
    method = app.page.get_by_role("combobox", name="Method").first
    app.until(lambda: not method.is_visible())
    app.page.get_by_role("button", name="Open drawer").first.click()
    app.until(method.is_visible)
    app.until(lambda: app.page.get_by_role("tab", name="Lessons").last.is_visible())
    app.key("Escape")
    app.page.set_viewport_size({"width": 1280, "height": 720})
    app.until(method.is_visible)


def test_nothing_is_asked_of_other_servers(app, server):
    app.run_to(3)
    app.press("Python")
    app.until_seen("This run in Python")
    hosts = {urlparse(address).netloc for address in app.requests if not address.startswith(("data:", "blob:"))}
    assert hosts == {urlparse(server.url).netloc}


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_reduced_motion_is_honoured(open_app, motion):
    app = open_app("?data=iris&method=LDA", reduced_motion=motion)
    longest = """() => {
      let longest = 0
      const walk = (root) => {
        for (const each of root.querySelectorAll("*")) {
          if (each.shadowRoot) walk(each.shadowRoot)
          const style = getComputedStyle(each)
          for (const part of `${style.transitionDuration},${style.animationDuration}`.split(","))
            longest = Math.max(longest, parseFloat(part))
        }
      }
      walk(document)
      return longest
    }"""
    app.until(lambda: (app.evaluate(longest) <= 0.05) == (motion == "reduce"))
