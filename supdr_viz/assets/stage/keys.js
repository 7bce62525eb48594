// Keys on a view that has the focus: from row to row, selecting, zooming, counting frames.
import {Rate} from "./rate.js"
import {placeOf} from "./rows.js"

const DIRECTIONS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}
const STEP = 6
const STRIDE = 45
const ZOOM = 1.25

export class Keys {
  constructor(pointer) {
    this.pointer = pointer
    this.rate = new Rate(pointer.plane)
    const {canvas} = pointer.plane
    canvas.tabIndex = 0
    canvas.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight ArrowUp ArrowDown Enter Escape + - 0 f")
    canvas.addEventListener("keydown", (event) => this.press(event))
    canvas.addEventListener("blur", () => pointer.tooltip.hide())
  }

  remove() {
    this.rate.remove()
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const {pointer} = this
    const {plane, tooltip} = pointer
    if (event.key in DIRECTIONS) this.go(DIRECTIONS[event.key], event.shiftKey ? STRIDE : STEP)
    else if (event.key === "Enter" && tooltip.row >= 0) this.choose(event)
    else if (event.key === "Escape" && (tooltip.row >= 0 || plane.board.selected)) {
      tooltip.hide()
      plane.board.select([])
    } else if (event.key === "+" || event.key === "=") pointer.scaleBy(1 / ZOOM, this.here)
    else if (event.key === "-") pointer.scaleBy(ZOOM, this.here)
    else if (event.key === "0") pointer.reset()
    else if (event.key === "f") this.rate.toggle()
    else return
    event.preventDefault()
  }

  // Where the row under the pointer is shown; without one, the middle.
  get here() {
    const {tooltip, plane} = this.pointer
    const {frame, places} = plane
    return tooltip.row < 0
      ? [frame.left + frame.wide / 2, frame.top + frame.high / 2]
      : placeOf(frame, places, tooltip.row)
  }

  // To the nearest row within a quarter of a turn of a direction, so many pixels away at least.
  go([right, down], least) {
    const {plane, tooltip} = this.pointer
    const {frame, places} = plane
    const [x, y] = this.here
    let best = Infinity
    let nearest = -1
    for (let row = 0; plane.rowsShown && row < Math.min(places.length / 2, plane.board.count); row++) {
      const [left, top] = placeOf(frame, places, row)
      const across = left - x
      const below = top - y
      const ahead = across * right + below * down
      const aside = Math.abs(across * down) + Math.abs(below * right)
      const far = Math.hypot(across, below)
      const fits = tooltip.row < 0 || (ahead >= aside && far >= least)
      if (fits && far < best && frame.shows(left, top)) {
        best = far
        nearest = row
      }
    }
    if (nearest >= 0) tooltip.show(nearest, true)
  }

  // Select the row under the pointer, or take it out again; Shift keeps the others.
  choose(event) {
    const {board} = this.pointer.plane
    const {row} = this.pointer.tooltip
    const others = event.shiftKey ? [...(board.selected ?? [])].filter((other) => other !== row) : []
    if (board.selected?.has(row)) board.select(others)
    else this.pointer.select(event, [row])
  }
}
