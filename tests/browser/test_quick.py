"""Figures are painted cheaply: what did not change is neither written nor copied anew."""

COUNT = """
window.written = 0
const text = Object.getOwnPropertyDescriptor(Node.prototype, "textContent")
Object.defineProperty(Node.prototype, "textContent", {
  ...text,
  set(value) { written += this instanceof HTMLStyleElement; text.set.call(this, value) },
})
"""

SELECT = """
([size, unset]) => {
  const {BitSet} = Bokeh.require("core/util/bitset")
  const rows = new BitSet(size, 1)
  unset.forEach((row) => rows.unset(row))
  return [...rows.select(Float32Array.from({length: 5}, (_, row) => 10 * row))]
}
"""


WRITE = """
() => {
  const {InlineStyleSheet} = Bokeh.require("core/dom")
  const sheet = new InlineStyleSheet("html {--tried: 1}"), styles = getComputedStyle(document.documentElement)
  document.head.append(sheet.el)
  const values = ["html {--tried: 2}", "html {--tried: 2}", "", "html {--tried: 3}"].map((css) => {
    sheet.replace(css)
    return styles.getPropertyValue("--tried").trim()
  })
  sheet.el.remove()
  return values
}
"""


def test_frames_hardly_write_style_sheets(app):
    def frames():
        return app.column("sent", "number")[0]

    app.page.add_init_script(COUNT)
    app.page.reload()
    app.wait_until_ready()
    app.run_to(5)
    first, before = frames(), app.evaluate("written")
    app.until(lambda: frames() >= first + 20)
    assert app.evaluate("written") - before <= 2 * (frames() - first)  # Bokeh alone writes about 80 for every frame


def test_parts_that_change_are_told_apart(app):
    for size, unset, selected in ((5, [], [0, 10, 20, 30, 40]), (5, [1, 4], [0, 20, 30]), (3, [], [0, 10, 20])):
        assert app.evaluate(SELECT, [size, unset]) == selected
    assert app.evaluate(WRITE) == ["2", "2", "", "3"]
