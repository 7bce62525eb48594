"""What is seen while a page opens: its own outline, in its own colours, where its cards will be."""

import pytest

CARDS = """(selector) => {
  const found = []
  const walk = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.shadowRoot) walk(each.shadowRoot)
      if (each.matches(selector)) found.push(each.getBoundingClientRect())
    }
  }
  walk(document)
  return found.filter((box) => box.width).map(({x, y, width, height}) => [x, y, width, height])
}"""


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.slow), "dark"])
def test_the_outline_is_there_before_any_script_and_where_the_cards_will_be(open_app, server, scheme):
    app = open_app()
    cards = app.evaluate(CARDS, ".card")
    page = app.page.context.new_page()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size(app.page.viewport_size)
    page.route("**/bokeh*.js*", lambda _route: None)  # it never comes
    page.goto(f"{server.url}/explorer", wait_until="commit")
    page.locator("#loader .outline").first.wait_for()
    outline = page.evaluate(CARDS, "#loader .outline")
    assert len(outline) == len(cards) == 5
    for (left, top, wide, _), (x, y, width, _) in zip(outline, cards, strict=True):
        assert abs(left - x) <= 3
        assert abs(top - y) <= 4
        assert abs(wide - width) <= 3
    colour = page.evaluate("getComputedStyle(document.getElementById('loader')).backgroundColor")
    assert colour == {"light": "rgb(244, 246, 248)", "dark": "rgb(15, 22, 29)"}[scheme]
    page.close()
