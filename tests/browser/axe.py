"""axe-core in a page."""

import importlib.resources

# What comes from the UI kit itself and cannot be reached from here: rule -> why.
FROM_THE_KIT = {
    "aria-prohibited-attr": "the (i) of a slider or menu with a description is a span with aria-label",
    "empty-heading": "spacers of the kit's page are empty headings",
    "heading-order": "the kit's page titles are headings of their own level",
}
BAD = ("serious", "critical")


def findings(page):
    """Serious and critical findings: rule, what it is, where."""
    script = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js")
    page.evaluate(script.read_text(encoding="utf-8"))
    report = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {[node['html'][:160] for node in each['nodes'][:3]]}"
        for each in report["violations"]
        if each["impact"] in BAD and each["id"] not in FROM_THE_KIT
    ]
