// The views of one run: rows and their colours, which all of them share; and what of that the server is told.
class Group {  // runs on the same rows: one selection, one row under the pointer
  constructor() { this.boards = new Set(); this.hovered = -1 }
  hover(row) {
    if (row === this.hovered) return
    this.hovered = row
    for (const board of this.boards) board.eachPlane((plane) => plane.touch(false))
  }
}

// A text of the page: HTML, as the server has written it.
class Words {
  constructor(board, name, host) { this.host = host; this.text = "" }
  say(text) { if (text !== this.text) this.host.innerHTML = this.text = text }
  remove() { this.host.replaceChildren() }
}

const BARE = () => ({planes: {}, charts: {}, words: {}})

class Board {
  constructor(name, group) {
    this.name = name; this.tell = () => {}; this.gone = false; this.group = group; this.tree = BARE()
    this.planes = new Map(); this.charts = new Map(); this.words = new Map()
    this.selected = null; this.pointed = null; this.received = 0; this.looks = new Map(); this.colours = []; this.surfacePixels = {}
    group.boards.add(this)
    this.themed = new MutationObserver(() => this.recolour())
    this.themed.observe(document.documentElement, {attributeFilter: ["data-theme"]})
  }

  remove() {
    this.group.boards.delete(this)
    this.themed.disconnect()
    for (const places of [this.planes, this.charts, this.words]) {
      for (const view of places.values()) view.remove()
      places.clear()
    }
  }

  // A place for a view, called "planes/latent", "charts/losses" or "words/status", has come into the page, or gone.
  adopt(place, host) {
    this.dismiss(place)
    const [kind, name] = place.split("/"), view = new {planes: Plane, charts: Chart, words: Words}[kind](this, name, host)
    this[kind].set(name, view)
    if (kind === "planes") {
      view.hands = new Hands(view)
      view.view = this.viewOf(name)
    }
    const known = this.tree[kind][view.view ?? name]
    if (known === undefined) return
    if (kind === "planes") { view.tree = known; view.apply(known, performance.now(), true) }
    else if (kind === "charts") view.show(known)
    else view.say(known)
  }
  // Which view a square shows: its own, unless another one is wanted there.
  viewOf(name) { return (this.tree.planes[name] && this.tree.planes[name].showing) || name }
  dismiss(place) {
    const [kind, name] = place.split("/")
    this[kind].get(name)?.remove()
    this[kind].delete(name)
  }
  eachPlane(act) { for (const plane of this.planes.values()) act(plane) }

  hear(buffer) {
    const patch = decode(buffer)
    this.received += 1
    if (patch.all) this.tree = BARE()
    merge(this.tree, patch)
    this.refresh(patch)
    if (patch.number !== undefined && patch.number !== null) this.answer(patch.number)
  }

  // Show what a patch has changed, or a tree: then everything.
  refresh(patch) {
    const now = performance.now(), snap = Boolean(patch.all)
    if (patch.selected !== undefined || patch.all) {
      const rows = this.tree.selected
      this.selected = rows && rows.length ? new Set(rows) : null
    }
    if (patch.rows || patch.scale || patch.all) this.look()
    if (patch.surface_scale || patch.all) this.surfacePixels = {}
    for (const [name, chart] of this.charts) if (patch.charts && name in patch.charts) chart.show(this.tree.charts[name])
    for (const [name, words] of this.words) if (patch.words && name in patch.words) words.say(this.tree.words[name])
    if (patch.images !== undefined) this.eachPlane((plane) => plane.touch(false))
    if (patch.tool !== undefined) this.eachPlane((plane) => plane.hands.choose())
    for (const [name, plane] of this.planes) {
      const view = this.viewOf(name), mine = patch.planes && patch.planes[view], tree = this.tree.planes[view] || {}
      if (view !== plane.view && !patch.all) plane.turn(view, tree)
      else {
        plane.view = view
        plane.tree = tree
        if (mine) plane.apply(mine, now, snap)
      }
      if (patch.surface_scale || patch.scale || patch.all) plane.tints.forget()
      if (patch.rows || patch.scale || patch.surface_scale || patch.selected !== undefined || patch.all) plane.touch()
    }
  }

  // Say that what came is painted: the first task after the animation frame that paints it.
  answer(number) {
    requestAnimationFrame(() => setTimeout(() => this.tell({kind: "painted", number})))
  }

  // --- rows ------------------------------------------------------------------------------------------------------

  get count() { return this.tree.rows ? this.tree.rows.colour.length : 0 }
  get size() { return this.tree.rows.size }
  get scale() { return this.tree.scale[themeNow()] }

  // Rows are others, or have other colours.
  look() {
    this.looks.clear()
    this.recolour()
  }
  // The mark of every row; `small` pixels across, or 0: by the number of rows.
  looksOf(small) {
    if (!this.looks.has(small)) {
      const {rows} = this.tree, known = new Map()
      const made = (shape, kind) => {
        const key = 3 * shape + kind, outlined = rows.outlined || kind === 1
        const size = small || (kind === 2 ? 0.7 : 1) * rows.size + (outlined ? 0 : 1)
        if (!known.has(key)) {
          const fill = [0.8, 0, 0.45][kind]
          known.set(key, {shape: SHAPES[shape % SHAPES.length], size, fill, line: outlined ? 1 : 0, width: 1})
        }
        return known.get(key)
      }
      this.looks.set(small, Array.from(rows.kind, (kind, row) => made(rows.shape[row], kind)))
    }
    return this.looks.get(small)
  }
  recolour() {
    for (const chart of this.charts.values()) chart.touch()
    if (!this.tree.rows || !this.tree.scale) return
    const scale = this.scale, known = new Map()
    this.colours = Array.from(this.tree.rows.colour, (value) => {
      if (!known.has(value)) known.set(value, scaled(scale, value))
      return known.get(value)
    })
    this.eachPlane((plane) => { plane.tints.forget(); plane.touch() })
  }
  shapeOf(row) { return SHAPES[this.tree.rows.shape[row] % SHAPES.length] }
  colourOf(row) { return this.colours[row] }
  // Many rows shine through each other; those that are selected do not.
  opacityOf(row) {
    const {opacity} = this.tree.rows
    return !this.selected ? opacity : this.selected.has(row) ? 1 : Math.min(FADED, opacity)
  }
  classColour(code) { return scaled(this.scale, code) }
  roleColours(picture) {
    const place = themeNow() === "dark" ? 1 : 0
    return picture.roles.map((both) => both[place])
  }
  // The pixel of every level of a surface; made once for each theme.
  surfaceTable() {
    const theme = themeNow(), scale = this.tree.surface_scale[theme]
    return this.surfacePixels[theme] ??= Array.from({length: 256}, (_, level) => pixelOf(scaled(scale, level)))
  }

  // Mark an iteration in all charts; null: none.
  point(iteration) {
    if (iteration === this.pointed) return
    this.pointed = iteration
    for (const chart of this.charts.values()) chart.touch()
  }

  select(rows, loop = null) {
    this.tell(loop ? {kind: "select", rows, loop} : {kind: "select", rows})
    for (const board of this.group.boards) {
      board.selected = rows.length ? new Set(rows) : null
      board.eachPlane((plane) => plane.touch())
    }
  }
}
