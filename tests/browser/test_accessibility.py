"""axe-core on every page, in both themes and with dialogs open."""

import pytest

from supdr_viz.pages import PAGES
from tests.browser.axe import findings


@pytest.mark.parametrize("name", PAGES)
def test_no_serious_findings(open_app, name):
    app = open_app(f"/../{name}", wait=name in ("explorer", "lessons"))
    app.page.wait_for_selector("h1", state="attached", timeout=60_000)
    for theme in ("light", "dark"):
        if theme == "dark":
            app.press("Toggle theme")
        app.page.wait_for_function("(name) => document.documentElement.dataset.theme === name", arg=theme)
        found = ["not looked yet"]
        for _ in range(4):  # a page that is still being made may not have its colours yet
            app.page.wait_for_timeout(1500)
            found = findings(app.page)
            if not found:
                break
        assert found == [], theme


def test_no_serious_findings_in_dialogs_and_folds(open_app):
    app = open_app("?data=spirals&data.n_per_class=60&method=LSDR")
    app.open_fold("Test rows, labels, seed")
    app.page.get_by_role("button", name="More", exact=True).last.click()
    app.page.wait_for_timeout(500)
    assert findings(app.page) == []
    for name in ("Share", "Python", "Export"):
        app.press(name)
        app.page.get_by_role("dialog").first.wait_for()
        app.page.wait_for_timeout(400)
        assert findings(app.page) == [], name
        app.key("Escape")
        app.page.get_by_role("dialog").first.wait_for(state="hidden")


def test_no_serious_findings_after_an_answer_and_on_a_phone(open_app):
    app = open_app("/../lessons?lesson=1-why-supervise&step=2", phone=True)
    app.press("Show answer")
    app.until_seen("We measured")
    assert findings(app.page) == []
    # The check sees into shadow roots: a button without a name there is found.
    app.evaluate("""() => {
      const host = document.body.appendChild(document.createElement("div"))
      host.attachShadow({mode: "open"}).innerHTML = "<button></button>"
    }""")
    (found,) = findings(app.page)
    assert found.startswith("button-name (critical)")
