// Mouse, finger and wheel on a view: lasso, box and tap, pan and zoom, drawing points.  Keys stand in keys.js.
import {setColour, shade} from "./colours.js"
import {drawLinks} from "./joins.js"
import {Keys} from "./keys.js"
import {placeOf} from "./rows.js"
import {drawMark} from "./shapes.js"
import {Tooltip} from "./tooltip.js"

const TAP = 4 // pixels that a tap may move
const TAP_CORNERS = 12 // of a lasso that was not meant as one
const REACH = 10 // pixels within which a row or a drawn point is hit
const POINTED = 15 // size in pixels of the row under the pointer, where several runs are compared
const MOST_CORNERS = 300

export class Pointer {
  constructor(plane) {
    this.plane = plane
    this.lasso = null
    this.drag = null
    this.chosen = -1
    this.touches = new Map()
    this.tooltip = new Tooltip(plane)
    this.keys = new Keys(this)
    const events = {
      pointerdown: (event) => this.down(event),
      pointermove: (event) => this.move(event),
      pointerup: (event) => this.up(event),
      pointercancel: (event) => this.cancel(event),
      pointerleave: () => this.leave(),
      wheel: (event) => this.wheel(event),
      dblclick: () => this.reset(),
    }
    for (const [name, act] of Object.entries(events)) plane.canvas.addEventListener(name, act, {passive: false})
    this.onKey = (event) => this.deletePoint(event)
    document.addEventListener("keydown", this.onKey)
    this.chooseTool()
  }

  remove() {
    document.removeEventListener("keydown", this.onKey)
    this.keys.remove()
    this.tooltip.remove()
  }

  // What dragging does: "select", "pan", "draw" or, for fingers that scroll the page, "scroll".
  get tool() {
    const {tool} = this.plane.board.tree
    return tool === "draw" && this.plane.view !== "input" ? "select" : tool || "select"
  }
  chooseTool() {
    const {style} = this.plane.canvas
    style.touchAction = this.tool === "scroll" ? "auto" : "none"
    style.cursor = {pan: "grab", draw: "copy"}[this.tool] || "default"
  }

  at(event) {
    const box = this.plane.canvas.getBoundingClientRect()
    return [event.clientX - box.left, event.clientY - box.top]
  }

  down(event) {
    if (event.button > 0) return
    const place = this.at(event)
    const tool = this.tool
    this.tooltip.hide()
    this.touches.set(event.pointerId, place)
    if (tool !== "scroll") this.plane.canvas.setPointerCapture(event.pointerId)
    if (tool === "draw") this.drag = {from: place, point: this.pointAt(place)}
    else if (tool === "pan") this.beginPan(place)
    else this.drag = {from: place, box: event.altKey}
    if (tool === "select") this.lasso = [place]
  }

  move(event) {
    const place = this.at(event)
    if (!this.drag) {
      if (event.pointerType !== "touch") this.tooltip.point(place)
      return
    }
    const before = this.touches.get(event.pointerId)
    this.touches.set(event.pointerId, place)
    if (this.tool === "pan") {
      if (this.touches.size === 2 && before) this.pinch(event.pointerId, before, place)
      else this.pan(place)
    } else if (this.lasso) this.widenLasso(place)
    else if (this.tool === "draw" && this.drag.point >= 0) this.movePoint(place)
  }

  up(event) {
    const place = this.at(event)
    const {drag, lasso, tool} = this
    this.touches.delete(event.pointerId)
    if (!drag) return
    this.endDrag()
    const tapped = Math.hypot(place[0] - drag.from[0], place[1] - drag.from[1]) < TAP
    if (tool === "draw") this.endDrawing(drag, place, tapped)
    else if (tapped && (tool === "scroll" || lasso?.length < TAP_CORNERS)) this.tap(place, event)
    else if (lasso && tool === "select") this.enclose(lasso, event)
  }

  cancel(event) {
    this.touches.delete(event.pointerId)
    this.endDrag()
  }

  endDrag() {
    this.drag = null
    this.lasso = null
    this.plane.touch(false)
  }

  leave() {
    if (!this.drag) this.tooltip.hide()
  }

  // --- selecting ---------------------------------------------------------------------------------------------------

  widenLasso(place) {
    const [x, y] = this.drag.from
    if (this.drag.box) this.lasso = [[x, y], [place[0], y], place, [x, place[1]]]
    else this.lasso.push(place)
    this.plane.touch(false)
  }

  tap(place, event) {
    const row = this.plane.nearest(...place, REACH)
    if (row < 0) {
      this.plane.board.select([])
      return
    }
    if (event.pointerType === "touch") this.tooltip.point(place)
    this.select(event, [row])
  }

  // Select the rows within a loop.
  enclose(loop, event) {
    const {places, frame, board, rowsShown} = this.plane
    const count = rowsShown ? Math.min(places.length / 2, board.count) : 0
    const rows = []
    for (let row = 0; row < count; row++) if (isInside(loop, placeOf(frame, places, row))) rows.push(row)
    this.select(event, rows, this.corners(loop))
  }

  // A loop as the server knows the plane; it counts the rows that are not drawn.
  corners(loop) {
    const {frame, view} = this.plane
    const stride = Math.ceil(loop.length / MOST_CORNERS)
    const some = loop.filter((_, k) => k % stride === 0)
    return {view, corners: some.flatMap(([x, y]) => [frame.valueX(x), frame.valueY(y)])}
  }

  // Select rows; with the Shift key, besides those that are selected.
  select(event, rows, loop = null) {
    const {board} = this.plane
    const before = event.shiftKey && board.selected ? [...board.selected] : []
    const all = [...new Set([...before, ...rows])].sort((a, b) => a - b)
    board.select(all, before.length ? null : loop)
  }

  // --- pan and zoom ------------------------------------------------------------------------------------------------

  beginPan(place) {
    this.drag = {from: place, extent: [...this.plane.extent], frame: {...this.plane.frame}}
  }
  pan(place) {
    const {from, extent, frame} = this.drag
    const across = (place[0] - from[0]) / frame.across
    const up = (place[1] - from[1]) / frame.up
    this.show([extent[0] - across, extent[1] - across, extent[2] + up, extent[3] + up])
  }
  show(extent) {
    this.plane.zoom = extent
    this.plane.touch()
  }
  scaleBy(factor, [x, y]) {
    const {extent, frame} = this.plane
    const middle = [frame.valueX(x), frame.valueX(x), frame.valueY(y), frame.valueY(y)]
    this.show(middle.map((value, k) => value + (extent[k] - value) * factor))
  }
  wheel(event) {
    if (this.tool !== "pan") return
    event.preventDefault()
    this.scaleBy(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.at(event))
  }
  pinch(id, before, place) {
    const other = [...this.touches].find(([key]) => key !== id)[1]
    const distance = (from) => Math.hypot(from[0] - other[0], from[1] - other[1])
    if (distance(place) > 1) this.scaleBy(distance(before) / distance(place), other)
    this.beginPan(place)
  }
  reset() {
    if (this.tool === "draw") return
    this.plane.zoom = null
    this.plane.touch()
  }

  // --- drawn points ------------------------------------------------------------------------------------------------

  pointAt([x, y]) {
    const {frame, tree} = this.plane
    return (tree.drawn || []).findIndex((point) => Math.hypot(frame.x(point[0]) - x, frame.y(point[1]) - y) < REACH)
  }
  movePoint([x, y]) {
    const {frame, tree} = this.plane
    const points = tree.drawn.map((point) => [...point])
    points[this.drag.point].splice(0, 2, frame.valueX(x), frame.valueY(y))
    tree.drawn = points
    this.drag.moved = true
    this.plane.touch(false)
  }
  endDrawing({moved, point}, [x, y], tapped) {
    const {frame, tree} = this.plane
    const points = tree.drawn || []
    if (moved) this.sendPoints(points)
    if (moved || !tapped) return
    this.chosen = point
    if (point >= 0 || points.length >= tree.most_drawn) return
    this.sendPoints([...points, [frame.valueX(x), frame.valueY(y), tree.draw_code || 0]])
  }
  deletePoint(event) {
    if (this.tool !== "draw" || !["Backspace", "Delete"].includes(event.key) || this.chosen < 0) return
    this.sendPoints(this.plane.tree.drawn.filter((_, k) => k !== this.chosen))
    this.chosen = -1
  }
  sendPoints(points) {
    this.plane.tree.drawn = points
    this.plane.touch(false)
    this.plane.board.send({kind: "drawn", points})
  }

  // --- over the picture --------------------------------------------------------------------------------------------

  draw(pen) {
    this.drawRow(pen)
    if (this.lasso?.length > 1) this.drawLasso(pen)
  }

  // The row under the pointer, here or on another view; without one, the row that is selected alone.
  drawRow(pen) {
    const {plane} = this
    const {places, frame, board} = plane
    const {hovered, boards} = board.group
    const alone = board.selected?.size === 1 ? [...board.selected][0] : -1
    const row = [hovered, board.current, alone].find((each) => each >= 0) ?? -1
    if (row < 0 || !plane.rowsShown) return
    if (board.tree.links) drawLinks(pen, plane, row)
    if (row >= places.length / 2 || Number.isNaN(places[2 * row])) return
    pen.fillStyle = plane.colourOf(row)
    pen.strokeStyle = shade("boundary")
    const size = (boards.size > 1 ? POINTED : board.size + 4) * plane.magnified
    const look = {...board.lookOf(row), size, fill: 1, line: 1, width: 1.6}
    drawMark(pen, look, ...placeOf(frame, places, row))
  }

  drawLasso(pen) {
    pen.beginPath()
    pen.moveTo(...this.lasso[0])
    for (const place of this.lasso.slice(1)) pen.lineTo(...place)
    pen.closePath()
    setColour(pen, shade("secondary"))
    pen.lineWidth = 1.4
    pen.globalAlpha = 0.12
    pen.fill()
    pen.globalAlpha = 0.8
    pen.setLineDash([5, 4])
    pen.stroke()
    pen.globalAlpha = 1
    pen.setLineDash([])
  }
}

// Whether a place is inside a loop: a line from it to the right crosses the loop an odd number of times.
function isInside(loop, [x, y]) {
  let inside = false
  for (let k = 0, j = loop.length - 1; k < loop.length; j = k++) {
    const [ax, ay] = loop[k]
    const [bx, by] = loop[j]
    const crosses = ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax
    if (crosses) inside = !inside
  }
  return inside
}
