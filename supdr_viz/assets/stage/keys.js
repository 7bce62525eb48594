// Keys on a view that has the focus: from row to row, selecting, zooming, counting frames.
const WAYS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}
const STEP = 6, STRIDE = 45, ZOOM = 1.25

class Keys {
  constructor(hands) {
    this.hands = hands; this.rate = new Rate(hands.plane)
    const {canvas} = hands.plane
    canvas.tabIndex = 0
    canvas.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight ArrowUp ArrowDown Enter Escape + - 0 f")
    canvas.addEventListener("keydown", (event) => this.press(event))
    canvas.addEventListener("blur", () => hands.tip.hide())
  }

  remove() { this.rate.remove() }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const {hands} = this, {plane, tip} = hands
    if (event.key in WAYS) this.go(WAYS[event.key], event.shiftKey ? STRIDE : STEP)
    else if (event.key === "Enter" && tip.row >= 0) this.choose(event)
    else if (event.key === "Escape" && (tip.row >= 0 || plane.board.selected)) { tip.hide(); plane.board.select([]) }
    else if (event.key === "+" || event.key === "=") hands.scaleBy(1 / ZOOM, this.here)
    else if (event.key === "-") hands.scaleBy(ZOOM, this.here)
    else if (event.key === "0") hands.reset()
    else if (event.key === "f") this.rate.toggle()
    else return
    event.preventDefault()
  }

  // Where the row under the pointer is shown; without one, the middle.
  get here() {
    const {tip, plane} = this.hands, {frame, places} = plane
    return tip.row < 0 ? [frame.left + frame.wide / 2, frame.top + frame.high / 2] : placeOf(frame, places, tip.row)
  }

  // To the nearest row within a quarter of a turn of a way, so many pixels away at least.
  go([right, down], least) {
    const {plane, tip} = this.hands, {frame, places} = plane, [x, y] = this.here
    let best = Infinity, found = -1
    for (let row = 0; plane.rowsShown && row < Math.min(places.length / 2, plane.board.count); row++) {
      const [left, top] = placeOf(frame, places, row), across = left - x, below = top - y
      const ahead = across * right + below * down, aside = Math.abs(across * down) + Math.abs(below * right)
      const far = Math.hypot(across, below)
      const fits = tip.row < 0 || (ahead >= aside && far >= least)
      if (fits && far < best && frame.shows(left, top)) { best = far; found = row }
    }
    if (found >= 0) tip.show(found, true)
  }

  // Select the row under the pointer, or take it out again; Shift keeps the others.
  choose(event) {
    const {board} = this.hands.plane, {row} = this.hands.tip, known = board.selected || new Set()
    if (known.has(row)) return board.select(event.shiftKey ? [...known].filter((other) => other !== row) : [])
    this.hands.choices(event, [row])
  }
}

const placeOf = (frame, places, row) => [frame.x(places[2 * row]), frame.y(places[2 * row + 1])]
