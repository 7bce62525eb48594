// The views of one run: rows and their colours, which all of them share; and what of that the server is told.
import {endStill} from "../page/still.js"
import {Chart} from "./chart.js"
import {pixelOf, scaled, themeNow, tonesOf} from "./colours.js"
import constants from "./constants.json" with {type: "json"}
import {still} from "./motion.js"
import {stage} from "./page.js"
import {Plane} from "./plane.js"
import {Pointer} from "./pointer.js"
import {strideOf} from "./rows.js"
import {SHAPES} from "./shapes.js"
import {decode, merge} from "./wire.js"

const FADED = 0.12 // opacity of rows that are not selected, at most
const {fills: FILLS, sizes: SIZES, grown: GROWN} = constants.rows
const MANY = 5000 // rows
const RESTS = 80 // milliseconds after which the pointer rests on a row
const TEST = 1 // a row's kind

// Runs on the same rows: one selection, one row under the pointer.
export class Group {
  constructor() {
    this.boards = new Set()
    this.hovered = -1
  }
  hover(row) {
    if (row === this.hovered) return
    this.hovered = row
    for (const board of this.boards) {
      board.eachPlane((plane) => plane.touch(false))
      board.tellHovered(row)
    }
  }
}

// Scroll to the heading of another text of the page.
function goTo(place) {
  const heading = stage.places.get(place)?.querySelector("[tabindex]")
  heading?.focus({preventScroll: true})
  heading?.scrollIntoView({block: "start", behavior: still.matches ? "auto" : "smooth"})
}

// Give an element the content of another one.  What both have stays, and so do its focus and a press that is under way.
function renew(host, other) {
  const after = [...other.childNodes]
  const before = [...host.childNodes]
  const isAlike = (node, k) => node.nodeName === after[k]?.nodeName
  if (before.length !== after.length || !before.every(isAlike)) return host.replaceChildren(...after)
  for (const [k, node] of before.entries()) {
    if (node instanceof Element) renewAttributes(node, after[k])
    else if (node.data !== after[k].data) node.data = after[k].data
    renew(node, after[k])
  }
}

function renewAttributes(node, other) {
  for (const {name} of [...node.attributes]) if (!other.hasAttribute(name)) node.removeAttribute(name)
  for (const {name, value} of other.attributes) if (node.getAttribute(name) !== value) node.setAttribute(name, value)
}

// A text of the page: HTML, as the server has written it.  It may stand in several places: "status", "status:below".
class Words {
  constructor(_board, name, host) {
    this.host = host
    this.view = name.split(":")[0]
    this.text = ""
    host.onclick = (event) => goTo(event.target.closest("[data-place]")?.dataset.place)
  }
  show(text) {
    if (text === this.text) return
    this.text = text
    const fresh = document.createElement("template")
    fresh.innerHTML = text
    renew(this.host, fresh.content)
  }
  remove() {
    this.host.replaceChildren()
  }
}

const emptyTree = () => ({planes: {}, charts: {}, words: {}})

export class Board {
  constructor(name, group) {
    this.name = name
    this.send = () => {}
    this.gone = false
    this.group = group
    this.tree = emptyTree()
    this.planes = new Map()
    this.charts = new Map()
    this.words = new Map()
    this.selected = null
    this.pointed = null
    this.received = 0
    this.looks = new Map()
    this.palette = []
    this.levels = new Uint16Array(0)
    this.tones = new Uint32Array(0)
    this.surfacePixels = {}
    group.boards.add(this)
    this.themeObserver = new MutationObserver(() => this.recolour())
    this.themeObserver.observe(document.documentElement, {attributeFilter: ["data-theme"]})
  }

  remove() {
    this.group.boards.delete(this)
    this.themeObserver.disconnect()
    for (const places of [this.planes, this.charts, this.words]) {
      for (const view of places.values()) view.remove()
      places.clear()
    }
  }

  // A place for a view, called "planes/latent", "charts/losses" or "words/status", has come into the page, or gone.
  adopt(place, host) {
    this.dismiss(place)
    const [kind, name] = place.split("/")
    const view = new {planes: Plane, charts: Chart, words: Words}[kind](this, name, host)
    this[kind].set(name, view)
    if (kind === "planes") {
      view.pointer = new Pointer(view)
      view.view = this.viewOf(name)
    }
    const tree = this.tree[kind][view.view ?? name]
    if (tree === undefined) return
    if (kind === "planes") {
      view.tree = tree
      view.apply(tree, performance.now(), true)
    } else view.show(tree)
  }
  // Which view a square shows: its own, unless another one is wanted there.
  viewOf(name) {
    return this.tree.planes[name]?.showing || name
  }
  dismiss(place) {
    const [kind, name] = place.split("/")
    this[kind].get(name)?.remove()
    this[kind].delete(name)
  }
  eachPlane(act) {
    for (const plane of this.planes.values()) act(plane)
  }

  receive(buffer) {
    const patch = decode(buffer)
    this.received += 1
    if (patch.all) this.tree = emptyTree()
    merge(this.tree, patch)
    this.refresh(patch)
    if (patch.number !== undefined && patch.number !== null) this.answer(patch.number)
  }

  // Show what a patch has changed, or a tree: then everything.
  refresh(patch) {
    const has = (...names) => patch.all || names.some((name) => patch[name] !== undefined)
    if (has("selected")) this.selected = this.tree.selected?.length ? new Set(this.tree.selected) : null
    if (has("rows", "scale")) this.renewLooks()
    if (patch.current !== undefined) this.pointAtCurrent()
    if (has("surface_scale")) this.surfacePixels = {}
    for (const kind of ["charts", "words"]) {
      for (const [place, view] of this[kind]) {
        const name = view.view ?? place
        if (name in (patch[kind] ?? {})) view.show(this.tree[kind][name])
      }
    }
    if (patch.images !== undefined) this.eachPlane((plane) => plane.touch(false))
    if (patch.tool !== undefined) this.eachPlane((plane) => plane.pointer.chooseTool())
    for (const [name, plane] of this.planes) {
      this.refreshPlane(plane, this.viewOf(name), patch)
      if (has("surface_scale", "scale")) plane.images.clear()
      if (has("rows", "scale", "surface_scale", "selected")) plane.touch()
    }
  }

  refreshPlane(plane, view, patch) {
    const tree = this.tree.planes[view] || {}
    if (view !== plane.view && !patch.all) {
      plane.turn(view, tree)
      return
    }
    plane.view = view
    plane.tree = tree
    const news = patch.planes?.[view]
    if (news) plane.apply(news, performance.now(), Boolean(patch.all))
  }

  // Say that what came is painted: the first task after the animation frame that paints it.
  answer(number) {
    requestAnimationFrame(() =>
      setTimeout(() => {
        endStill()
        this.send({kind: "painted", number})
      }),
    )
  }

  // --- rows ------------------------------------------------------------------------------------------------------

  get count() {
    return this.tree.rows ? this.tree.rows.colour.length : 0
  }
  get size() {
    return this.tree.rows.size
  }
  get scale() {
    return this.tree.scale[themeNow()]
  }

  // Rows are others, or have other colours.
  renewLooks() {
    this.looks.clear()
    this.recolour()
  }
  // The marks of rows, `list`, and the number of each row's among them, `of`; `small` pixels across, or 0: by the number
  // of rows, or by what sizes mean.
  looksOf(small) {
    if (!this.looks.has(small)) {
      const {rows} = this.tree
      const numbers = new Map()
      const list = []
      const numberOf = (kind, row) => {
        const key = 32 * (rows.sizes && !small ? rows.sizes[row] : GROWN.length) + 3 * rows.shape[row] + kind
        if (!numbers.has(key)) {
          numbers.set(key, list.length)
          list.push(this.look(rows.shape[row], kind, small, this.grownOf(row)))
        }
        return numbers.get(key)
      }
      this.looks.set(small, {list, of: Uint16Array.from(rows.kind, numberOf)})
    }
    return this.looks.get(small)
  }
  lookOf(row, small = 0) {
    const looks = this.looksOf(small)
    return looks.list[looks.of[row]]
  }

  // By how much a row is larger than usual, where sizes mean something.
  grownOf(row) {
    const {sizes} = this.tree.rows
    return sizes ? GROWN[sizes[row]] : 1
  }

  look(shape, kind, small, grown) {
    const {rows} = this.tree
    const outlined = rows.outlined || kind === TEST
    const size = small || SIZES[kind] * grown * rows.size + (outlined ? 0 : 1)
    return {shape: SHAPES[shape % SHAPES.length], size, fill: FILLS[kind], line: outlined ? 1 : 0, width: 1}
  }

  recolour() {
    for (const chart of this.charts.values()) chart.touch()
    if (!this.tree.rows || !this.tree.scale) return
    const {scale} = this
    const {colour} = this.tree.rows
    this.palette = [...new Set([...scale.palette, scale.nan])]
    const levels = new Map()
    this.levels = Uint16Array.from(colour, (value) => {
      if (!levels.has(value)) levels.set(value, this.palette.indexOf(scaled(scale, value)))
      return levels.get(value)
    })
    this.tones = tonesOf(this.palette, this.levels)
    this.eachPlane((plane) => {
      plane.images.clear()
      plane.touch()
    })
  }
  shapeOf(row) {
    return SHAPES[this.tree.rows.shape[row] % SHAPES.length]
  }
  colourOf(row) {
    return this.palette[this.levels[row]]
  }
  // Many rows shine through each other; those that are selected do not.
  opacityOf(row) {
    const {opacity} = this.tree.rows
    if (!this.selected) return opacity
    return this.selected.has(row) ? 1 : Math.min(FADED, opacity)
  }
  // The opacities that rows have, `list`, 0 to 256, and the number of each row's among them, `of`.
  get shares() {
    const {selected, count} = this
    const {opacity} = this.tree.rows
    if (this.shared?.selected !== selected || this.shared.opacity !== opacity || this.shared.of.length !== count) {
      const list = (selected ? [Math.min(FADED, opacity), 1] : [opacity]).map((share) => Math.round(256 * share))
      const of = new Uint8Array(count)
      for (const row of selected ?? []) if (row < count) of[row] = 1
      this.shared = {selected, opacity, list, of}
    }
    return this.shared
  }
  // Whether rows that follow one another mostly differ in colour: then none covers the others as they come.
  get isMixed() {
    const {levels} = this
    let changes = 0
    for (let row = 1; row < levels.length; row++) changes += levels[row] !== levels[row - 1]
    return changes > 0.2 * levels.length
  }
  // The rows in the order in which they are drawn; of many, neighbours in memory follow one another where they may.
  // What is to be seen above all lies above all.
  get order() {
    const {count} = this
    const {colour, above} = this.tree.rows
    if (this.ordered?.length !== count || this.orderedBy !== (above && colour)) {
      const stride = count > MANY && this.isMixed ? 1 : strideOf(count)
      this.ordered = new Int32Array(count)
      this.orderedBy = above && colour
      for (let k = 0, row = 0; k < count; k++, row = (row + stride) % count) this.ordered[k] = row
      const sign = above === "low" ? -1 : 1
      const height = (row) => (Number.isNaN(colour[row]) ? -Number.MAX_VALUE : sign * colour[row])
      if (above) this.ordered.sort((a, b) => height(a) - height(b))
    }
    return this.ordered
  }
  classColour(code) {
    return scaled(this.scale, code)
  }
  roleColours(picture) {
    const place = themeNow() === "dark" ? 1 : 0
    return picture.roles.map((both) => both[place])
  }
  // The pixel of every level of a surface; made once for each theme.
  surfaceTable() {
    const theme = themeNow()
    const scale = this.tree.surface_scale[theme]
    this.surfacePixels[theme] ??= Array.from({length: 256}, (_, level) => pixelOf(scaled(scale, level)))
    return this.surfacePixels[theme]
  }

  // Whether regions have colours of their own: one colour for all is that of the card.
  get tintsSurface() {
    return this.tree.surface_scale?.light.palette.length > 1
  }

  // Mark an iteration in all charts; null: none.
  point(iteration) {
    if (iteration === this.pointed) return
    this.pointed = iteration
    for (const chart of this.charts.values()) chart.touch()
  }

  // The row that the page points at, -1: none.
  get current() {
    return this.tree.current ?? -1
  }
  pointAtCurrent() {
    const tooltip = this.planes.get("latent")?.pointer.tooltip
    if (this.current >= 0) tooltip?.show(this.current, false)
    else tooltip?.hide()
    this.eachPlane((plane) => plane.touch(false))
  }

  // Say on which row the pointer rests, where the page explains it.
  tellHovered(row) {
    clearTimeout(this.telling)
    if (row < 0 || !(this.tree.explains || this.tree.compares)) return
    this.telling = setTimeout(() => this.send({kind: "hover", row}), RESTS)
  }

  select(rows, loop = null) {
    this.send(loop ? {kind: "select", rows, loop} : {kind: "select", rows})
    for (const board of this.group.boards) {
      board.selected = rows.length ? new Set(rows) : null
      board.eachPlane((plane) => plane.touch())
    }
  }
}
