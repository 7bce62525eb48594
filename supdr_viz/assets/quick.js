// Makes figures cheaper to paint; the pictures stay the same.  What is not found in Bokeh is left as it is.

function part(path, name) {
  try { return Bokeh.require(path)[name].prototype } catch (error) { return null }
}

// At each painting a figure writes the style sheets of all its parts anew, nearly always as they were.  A browser takes
// any writing for a change, and works out the styles of the page again for the next part that asks for a colour.
const sheet = part("core/dom", "InlineStyleSheet")
if (sheet && sheet._update) {
  const update = sheet._update
  sheet._update = function (css) { if (this.el.textContent !== css) update.call(this, css) }
}

// The sheet of a layer of points says where the points are, which changes all the time and which nothing looks up.
const layer = part("models/renderers/glyph_renderer", "GlyphRendererView")
if (layer) layer.update_position = () => {}

// All rows of a column are that column: no need to copy it row by row.
const rows = part("core/util/bitset", "BitSet")
if (rows && rows.select) {
  const select = rows.select
  rows.select = function (column) {
    return this.size === column.length && this.count === this.size ? column : select.call(this, column)
  }
}
