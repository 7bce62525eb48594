// Mouse, finger and wheel on a view: lasso, box and tap, pan and zoom, drawing points; and the tooltip of a row.
// What keys do stands in keys.js.
const TAP = 4, REACH = 10, POINTED = 15, MOST_CORNERS = 300

class Hands {
  constructor(plane) {
    this.plane = plane; this.lasso = null; this.held = null; this.touching = new Map()
    this.tip = new Tip(plane)
    this.keys = new Keys(this)
    this.events = {
      pointerdown: (event) => this.down(event), pointermove: (event) => this.move(event),
      pointerup: (event) => this.up(event), pointercancel: (event) => this.cancel(event),
      pointerleave: () => this.leave(), wheel: (event) => this.wheel(event), dblclick: () => this.reset(),
    }
    for (const [name, act] of Object.entries(this.events)) plane.canvas.addEventListener(name, act, {passive: false})
    this.onkey = (event) => this.key(event)
    document.addEventListener("keydown", this.onkey)
    this.choose()
  }

  remove() {
    document.removeEventListener("keydown", this.onkey)
    this.keys.remove()
    this.tip.remove()
  }

  // What dragging does: "select", "pan", "draw" or, for fingers that scroll the page, "scroll".
  get tool() {
    const {tool} = this.plane.board.tree
    return tool === "draw" && this.plane.view !== "input" ? "select" : tool || "select"
  }
  choose() {
    const {canvas} = this.plane, tool = this.tool
    canvas.style.touchAction = tool === "scroll" ? "auto" : "none"
    canvas.style.cursor = {pan: "grab", draw: "copy"}[tool] || "default"
  }

  at(event) {
    const box = this.plane.canvas.getBoundingClientRect()
    return [event.clientX - box.left, event.clientY - box.top]
  }

  down(event) {
    if (event.button > 0) return
    const place = this.at(event), tool = this.tool
    this.tip.hide()
    this.touching.set(event.pointerId, place)
    if (tool !== "scroll") this.plane.canvas.setPointerCapture(event.pointerId)
    if (tool === "draw") this.held = {from: place, drawn: this.drawnAt(place)}
    else if (tool === "pan") this.held = {from: place, extent: [...this.plane.extent], frame: {...this.plane.frame}}
    else this.held = {from: place, box: event.altKey}
    if (tool === "select") this.lasso = [place]
  }

  move(event) {
    const place = this.at(event)
    if (!this.held) { if (event.pointerType !== "touch") this.tip.point(place); return }
    const before = this.touching.get(event.pointerId)
    this.touching.set(event.pointerId, place)
    if (this.tool === "pan") {
      if (this.touching.size === 2 && before) return this.pinch(event.pointerId, before, place)
      const {from, extent, frame} = this.held
      const across = (place[0] - from[0]) / frame.across, up = (place[1] - from[1]) / frame.up
      this.see([extent[0] - across, extent[1] - across, extent[2] + up, extent[3] + up])
    } else if (this.lasso) {
      const [x, y] = this.held.from
      if (this.held.box) this.lasso = [[x, y], [place[0], y], place, [x, place[1]]]
      else this.lasso.push(place)
      this.plane.touch(false)
    } else if (this.tool === "draw" && this.held.drawn >= 0) {
      const {frame, tree} = this.plane, points = tree.drawn.map((point) => [...point])
      points[this.held.drawn].splice(0, 2, frame.valueX(place[0]), frame.valueY(place[1]))
      tree.drawn = points
      this.held.moved = true
      this.plane.touch(false)
    }
  }

  up(event) {
    const place = this.at(event), {held, lasso} = this, tool = this.tool
    this.touching.delete(event.pointerId)
    if (!held) return
    this.held = this.lasso = null
    const tapped = Math.hypot(place[0] - held.from[0], place[1] - held.from[1]) < TAP
    if (tool === "draw") this.drawnUp(held, place, tapped)
    else if (tool === "select" && lasso) tapped && lasso.length < 12 ? this.tap(place, event) : this.enclose(lasso, event)
    else if (tool === "scroll" && tapped) this.tap(place, event)
    this.plane.touch(false)
  }

  cancel(event) {
    this.touching.delete(event.pointerId)
    this.held = this.lasso = null
    this.plane.touch(false)
  }

  leave() { if (!this.held) this.tip.hide() }

  tap(place, event) {
    const row = this.plane.nearest(...place, REACH)
    if (row < 0) return this.plane.board.select([])
    if (event.pointerType === "touch") this.tip.point(place)
    this.choices(event, [row])
  }

  // Rows within a loop.
  enclose(loop, event) {
    const {places, frame, board} = this.plane, rows = []
    for (let row = 0; this.plane.rowsShown && row < Math.min(places.length / 2, board.count); row++) {
      const x = frame.x(places[2 * row]), y = frame.y(places[2 * row + 1])
      let inside = false
      for (let k = 0, j = loop.length - 1; k < loop.length; j = k++) {
        const [ax, ay] = loop[k], [bx, by] = loop[j]
        if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax) inside = !inside
      }
      if (inside) rows.push(row)
    }
    this.choices(event, rows, this.corners(loop))
  }

  // A loop as the server knows the plane; it counts the rows that are not drawn.
  corners(loop) {
    const {frame, view} = this.plane, stride = Math.ceil(loop.length / MOST_CORNERS)
    const some = loop.filter((_, k) => k % stride === 0)
    return {view, corners: some.flatMap(([x, y]) => [frame.valueX(x), frame.valueY(y)])}
  }

  choices(event, rows, loop = null) {
    const {board} = this.plane, known = event.shiftKey && board.selected ? [...board.selected] : []
    board.select([...new Set([...known, ...rows])].sort((a, b) => a - b), known.length ? null : loop)
  }

  // --- pan and zoom ------------------------------------------------------------------------------------------------

  see(extent) {
    this.plane.zoom = extent
    this.plane.touch()
  }
  scaleBy(factor, [x, y]) {
    const {extent, frame} = this.plane, [a, b, c, d] = extent, across = frame.valueX(x), up = frame.valueY(y)
    this.see([across + (a - across) * factor, across + (b - across) * factor, up + (c - up) * factor, up + (d - up) * factor])
  }
  wheel(event) {
    if (this.tool !== "pan") return
    event.preventDefault()
    this.scaleBy(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.at(event))
  }
  pinch(id, before, place) {
    const other = [...this.touching].find(([key]) => key !== id)[1]
    const apart = (from) => Math.hypot(from[0] - other[0], from[1] - other[1])
    if (apart(place) > 1) this.scaleBy(apart(before) / apart(place), other)
    this.held = {from: place, extent: [...this.plane.extent], frame: {...this.plane.frame}}
  }
  reset() {
    if (this.tool === "draw") return
    this.plane.zoom = null
    this.plane.touch()
  }

  // --- drawn points ------------------------------------------------------------------------------------------------

  drawnAt([x, y]) {
    const {frame, tree} = this.plane
    return (tree.drawn || []).findIndex((point) => Math.hypot(frame.x(point[0]) - x, frame.y(point[1]) - y) < REACH)
  }
  drawnUp(held, place, tapped) {
    const {frame, tree} = this.plane, points = [...(tree.drawn || [])]
    if (held.moved) return this.sayDrawn(points)
    if (!tapped) return
    if (held.drawn >= 0) { this.chosen = held.drawn; return }
    this.chosen = -1
    if (points.length >= tree.most_drawn) return
    points.push([frame.valueX(place[0]), frame.valueY(place[1]), tree.draw_code || 0])
    this.sayDrawn(points)
  }
  sayDrawn(points) {
    this.plane.tree.drawn = points
    this.plane.touch(false)
    this.plane.board.tell({kind: "drawn", points})
  }
  key(event) {
    if (this.tool !== "draw" || !["Backspace", "Delete"].includes(event.key) || !(this.chosen >= 0)) return
    this.sayDrawn(this.plane.tree.drawn.filter((_, k) => k !== this.chosen))
    this.chosen = -1
  }

  // --- over the picture --------------------------------------------------------------------------------------------

  draw(pen) {
    const {plane, lasso} = this, {places, frame, board: {group, selected}} = plane
    const row = group.hovered < 0 && selected && selected.size === 1 ? [...selected][0] : group.hovered  // one: where is it?
    if (row >= 0 && plane.rowsShown && plane.board.tree.links) drawLinks(pen, plane, row)
    if (row >= 0 && plane.rowsShown && row < places.length / 2 && !Number.isNaN(places[2 * row])) {
      pen.fillStyle = plane.colourOf(row); pen.strokeStyle = shade("boundary")
      const look = {...plane.board.looksOf(0)[row], size: plane.board.group.boards.size > 1 ? POINTED : plane.board.size + 4}
      drawMark(pen, {...look, fill: 1, line: 1, width: 1.6}, frame.x(places[2 * row]), frame.y(places[2 * row + 1]))
    }
    if (!lasso || lasso.length < 2) return
    pen.beginPath()
    lasso.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)))
    pen.closePath()
    pen.fillStyle = pen.strokeStyle = shade("secondary"); pen.lineWidth = 1.4
    pen.globalAlpha = 0.12; pen.fill()
    pen.globalAlpha = 0.8; pen.setLineDash([5, 4]); pen.stroke()
    pen.globalAlpha = 1; pen.setLineDash([])
  }
}

// What is said of the row under the pointer.
const SPLITS = ["train", "test", "train, label hidden"]

class Tip {
  constructor(plane) {
    this.plane = plane; this.row = -1
    this.box = tipBox(plane.host)
  }
  remove() { this.box.remove() }

  point(place) {
    this.show(this.plane.nearest(...place, REACH), false)
  }

  // Speak of a row; `aloud` to those who do not see it, too.
  show(row, aloud) {
    this.plane.board.group.hover(row)
    if (row < 0) return this.hide()
    this.box.setAttribute("aria-live", aloud ? "polite" : "off")
    if (row !== this.row) this.box.replaceChildren(...this.words(row))
    this.row = row
    const {places, frame, canvas} = this.plane, x = frame.x(places[2 * row]), y = frame.y(places[2 * row + 1])
    this.box.style.display = "block"
    const {offsetWidth: wide, offsetHeight: high} = this.box
    const across = canvas.clientWidth - wide, up = canvas.clientHeight - high, within = (place, most) => Math.min(Math.max(place, 0), Math.max(most, 0))
    // Beside the row; where no side has room, above or below it.
    const side = [x + 14, x - 14 - wide].find((each) => each >= 0 && each <= across)
    const top = side !== undefined ? y - high / 2 : y - 14 - high >= 0 ? y - 14 - high : y + 14
    this.box.style.left = `${within(side ?? x - wide / 2, across)}px`
    this.box.style.top = `${within(top, up)}px`
  }
  hide() {
    this.row = -1
    this.box.style.display = "none"
    this.plane.board.group.hover(-1)
  }

  words(row) {
    const {facts} = this.plane.board.tree, {names} = facts
    const say = (value) => {
      if (names.length) return names[value] ?? "–"
      return Number.isFinite(value) ? String(+value.toPrecision(digitsOf(value, facts.span, 4))) : "–"
    }
    const line = (kind, text) => Object.assign(document.createElement(kind), {textContent: text})
    const measured = facts.measure && facts.value && Number.isFinite(facts.value[row]) ? ` · ${facts.measure} ${facts.value[row].toFixed(2)}` : ""
    const lines = [
      line("b", say(facts.truth[row])), line("div", `row ${facts.row[row]} · ${SPLITS[facts.split[row]]}`),
      line("div", `predicted ${facts.predicted ? say(facts.predicted[row]) : "–"}${measured}`),
    ]
    const {links} = this.plane.board.tree
    if (links && Number.isFinite(links.trust[row])) {
      const [lost, wrong] = ["lost", "false"].map((kind) => linked(links[kind], row).length)
      lines.push(line("div", `trust ${links.trust[row].toFixed(2)} · ${lost} of ${links.lost.shape[1]} neighbours lost`))
      lines.push(line("div", `${wrong} false ones beside it`))
    }
    if (!facts.images) return lines
    const beside = document.createElement("div"), said = document.createElement("div")
    beside.style.cssText = "display:flex;gap:10px"
    said.append(...lines)
    beside.append(this.photo(facts.images, row), said)
    return [beside]
  }
  photo(images, row) {
    const [, high, wide] = images.shape, canvas = document.createElement("canvas"), size = high * wide
    canvas.width = wide; canvas.height = high
    canvas.style.cssText = "width:56px;height:56px;flex:none;border-radius:3px;image-rendering:pixelated"
    const image = new ImageData(wide, high)
    for (let k = 0; k < size; k++) image.data.set([...Array(3).fill(images[row * size + k]), 255], 4 * k)
    canvas.getContext("2d").putImageData(image, 0, 0)
    return canvas
  }
}
