"""axe-core in a page, and what can be reached there without a name."""

import importlib.resources

# What comes from the UI kit itself and cannot be reached from here: rule -> why.
FROM_THE_KIT = {
    "aria-prohibited-attr": "the (i) of a slider or menu with a description is a span with aria-label",
    "empty-heading": "spacers of the kit's page are empty headings",
    "heading-order": "the kit's page titles are headings of their own level",
}
BAD = ("serious", "critical")
OF_COLOURS = ("color-contrast", "link-in-text-block")

# Style sheets and media are not fetched anew: no rule of those that are on and count asks for them.  Selectors of what
# was found are not worked out: its HTML says where it is.
OPTIONS = {"resultTypes": ["violations"], "preload": False, "selectors": False}

NAMELESS = """() => {
  const named = "button, input, a[href], [tabindex='0'], [role=combobox], [role=tab], [role=slider], [role=group]"
  const found = []
  const walk = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.shadowRoot) walk(each.shadowRoot)
      if (!each.matches(named)) continue
      if (each.matches("[data-testid^=sentinel]")) continue  // the ends of a dialog pass the focus on to its other end
      if (each.closest("[aria-hidden=true]") || each.type === "hidden" || !each.getClientRects().length) continue
      const scope = each.getRootNode()
      const ids = (each.getAttribute("aria-labelledby") || "").split(" ")
      const by = ids.map((id) => scope.getElementById(id)?.textContent || "")
      const label = each.id && scope.querySelector(`label[for="${CSS.escape(each.id)}"]`)?.textContent
      const name = [each.getAttribute("aria-label"), ...by, label, each.closest("label")?.textContent, each.title,
                    each.matches("input, [role=group]") ? "" : each.textContent].join("").trim()
      if (!name) found.push(each.outerHTML.slice(0, 200))
    }
  }
  walk(document)
  return found
}"""
"""What the Tab key reaches, and groups of it, that screen readers cannot name, each by its HTML."""


def findings(page, within="html", rules=()):
    """Serious and critical findings: rule, what it is, where; of the whole page or of the last of these elements.

    `rules`: names of those to ask for, by default all.
    """
    if not page.evaluate("'axe' in window"):
        script = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js")
        page.evaluate(script.read_text(encoding="utf-8"))
    options = {**OPTIONS, "runOnly": rules} if rules else OPTIONS
    report = page.locator(within).last.evaluate("(part, options) => axe.run(part, options)", options)
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {[node['html'][:160] for node in each['nodes'][:3]]}"
        for each in report["violations"]
        if each["impact"] in BAD and each["id"] not in FROM_THE_KIT
    ]


def serious(app):
    """Findings in the theme that is on, and of colours in the other one, which stays: nothing else is different."""
    found = findings(app.page)
    app.toggle_theme()
    return found + findings(app.page, rules=OF_COLOURS)
