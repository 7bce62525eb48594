"""axe-core in a page."""

import importlib.resources

# What comes from the UI kit itself and cannot be reached from here: rule -> why.
FROM_THE_KIT = {
    "aria-prohibited-attr": "the (i) of a slider or menu with a description is a span with aria-label",
    "empty-heading": "spacers of the kit's page are empty headings",
    "heading-order": "the kit's page titles are headings of their own level",
}
BAD = ("serious", "critical")


def findings(page, within="html"):
    """Serious and critical findings: rule, what it is, where; of the whole page or of the last of these elements."""
    if not page.evaluate("'axe' in window"):
        script = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js")
        page.evaluate(script.read_text(encoding="utf-8"))
    report = page.locator(within).last.evaluate("(part) => axe.run(part, {resultTypes: ['violations']})")
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {[node['html'][:160] for node in each['nodes'][:3]]}"
        for each in report["violations"]
        if each["impact"] in BAD and each["id"] not in FROM_THE_KIT
    ]


def serious(app):
    """Findings in the theme that is on, and in the other one, which stays."""
    found = findings(app.page)
    app.toggle_theme()
    return found + findings(app.page)
