// A decision surface in motion: its scores move to those that came last, and regions and lines with them.
// At rest the server's own regions and lines are shown, which are finer.
import {Motion} from "./motion.js"

const SURFACE_LONGEST = 400
const FINER = 3

export class Relief {
  constructor() {
    this.motion = new Motion(SURFACE_LONGEST)
    this.shown = null
    this.canvas = new OffscreenCanvas(1, 1)
  }

  // Go to other scores {levels, scale, codes, extent}, or none; at once if they are of another kind.
  go(relief, now, snap) {
    const before = this.shown
    this.shown = relief?.levels ? relief : null
    if (!this.shown) {
      this.motion = new Motion(SURFACE_LONGEST)
      return
    }
    const {levels, scale, codes, extent} = this.shown
    const [planes, side] = levels.shape
    const alike = before?.levels.shape[0] === planes && String(before.codes) === String(codes)
    if (alike) {
      const [, earlier] = before.levels.shape
      this.motion.values = resampled(this.motion.values, planes, earlier, before.extent, side, extent)
    }
    const scores = Float32Array.from(levels, (level) => level * scale)
    this.motion.go(scores, now, snap || !alike)
  }

  get moves() {
    return this.motion.moves
  }
  step(now) {
    return this.motion.step(now)
  }

  // Regions as small whole numbers (high, wide), first row lowest, as the server's images are.
  get image() {
    const {levels, codes} = this.shown
    const [planes, side] = levels.shape
    const wide = side * FINER
    const {low, share} = between(side)
    const image = new Uint8Array(wide * wide)
    const row = new Float32Array(planes * side)
    image.shape = [wide, wide]
    for (let y = 0; y < wide; y++) {
      mixRows(row, this.motion.values, planes, side, low[y], share[y])
      for (let x = 0; x < wide; x++) image[y * wide + x] = levelAt(row, planes, side, low[x], share[x], codes)
    }
    return image
  }

  // Put the lines into a pen's path: where another class begins to win, or where the only score has a value.
  path(pen, frame, ...values) {
    const {levels, extent, codes} = this.shown
    const [planes, side] = levels.shape
    pen.beginPath()
    if (!codes) return
    if (planes === 1) for (const value of values) contour(pen, frame, this.motion.values, side, extent, value)
    else for (const lead of leads(this.motion.values, planes, side)) contour(pen, frame, lead, side, extent, 0)
  }
}

// Write into `mixture` (planes, side) what lies between a row of every plane and the row above it.
function mixRows(mixture, values, planes, side, low, share) {
  for (let p = 0, at = 0; p < planes; p++) {
    const first = (p * side + low) * side
    for (let x = first; x < first + side; x++) mixture[at++] = values[x] + (values[x + side] - values[x]) * share
  }
}

// The level of an image between two columns of a row: the code of the class that wins, or the only score.
function levelAt(row, planes, side, low, share, codes) {
  let best = -Infinity
  let winner = 0
  for (let p = 0; p < planes; p++) {
    const at = p * side + low
    const value = row[at] + (row[at + 1] - row[at]) * share
    if (value > best) {
      best = value
      winner = p
    }
  }
  if (!codes) return Math.min(255, Math.max(0, Math.round(best)))
  return codes[planes === 1 ? Number(best > 0) : winner]
}

// Where the places of a finer grid lie between those of a grid of `side` cells, counted by their centres.
function between(side) {
  const low = new Int32Array(side * FINER)
  const share = new Float32Array(side * FINER)
  for (let k = 0; k < low.length; k++) {
    const place = (k + 0.5) / FINER - 0.5
    low[k] = Math.min(Math.max(Math.floor(place), 0), side - 2)
    share[k] = Math.min(Math.max(place - low[k], 0), 1)
  }
  return {low, share}
}

// The scores of a grid over one extent at the places of another grid; beyond the edge those of the edge.
function resampled(values, planes, side, extent, newSide, newExtent) {
  if (side === newSide && extent.every((value, k) => value === newExtent[k])) return values
  const places = [0, 2].map((axis) => {
    const cell = (extent[axis + 1] - extent[axis]) / side
    const step = (newExtent[axis + 1] - newExtent[axis]) / newSide
    return Float32Array.from({length: newSide}, (_, k) => {
      const place = (newExtent[axis] + (k + 0.5) * step - extent[axis]) / cell - 0.5
      return Math.min(Math.max(place, 0), side - 1.001)
    })
  })
  const there = new Float32Array(planes * newSide * newSide)
  for (let p = 0, at = 0; p < planes; p++) {
    for (const y of places[1]) {
      const row = Math.floor(y)
      const up = y - row
      for (const x of places[0]) {
        const first = (p * side + row) * side + Math.floor(x)
        const along = x - Math.floor(x)
        const below = values[first] + (values[first + 1] - values[first]) * along
        const above = values[first + side] + (values[first + side + 1] - values[first + side]) * along
        there[at++] = below + (above - below) * up
      }
    }
  }
  return there
}

// How far every score that wins somewhere is ahead of the best of the others.
function leads(values, planes, side) {
  const size = side * side
  const first = new Float32Array(size).fill(-Infinity)
  const second = new Float32Array(size).fill(-Infinity)
  const winner = new Uint8Array(size)
  const wins = new Uint8Array(planes)
  for (let p = 0; p < planes; p++) {
    for (let k = 0; k < size; k++) {
      const value = values[p * size + k]
      if (value > first[k]) {
        second[k] = first[k]
        first[k] = value
        winner[k] = p
      } else if (value > second[k]) second[k] = value
    }
  }
  for (const p of winner) wins[p] = 1
  return [...wins.keys()]
    .filter((p) => wins[p])
    .map((p) =>
      Float32Array.from({length: size}, (_, k) => values[p * size + k] - (winner[k] === p ? second[k] : first[k])),
    )
}

// Trace where a grid has a value: from edge to edge of its cells, every one of which a line crosses once at most.
// Values stand for the middles of cells; half a cell around them has the value of the nearest, as the image does.
function contour(pen, frame, values, side, extent, level) {
  const crossings = new Crossings(frame, side, extent)
  const wide = side + 2
  const inside = (place) => Math.min(Math.max(place, 0), side - 1)
  for (let row = -1; row < side; row++) {
    const lower = inside(row) * side
    const upper = inside(row + 1) * side
    for (let column = -1; column < side; column++) {
      const at = (row + 1) * wide + column + 1
      const left = inside(column)
      const right = inside(column + 1)
      const a = values[lower + left] - level
      const b = values[lower + right] - level
      const c = values[upper + right] - level
      const d = values[upper + left] - level
      if (a > 0 === b > 0 && b > 0 === c > 0 && c > 0 === d > 0) continue
      const ends = [] // even names: edges along a row; odd ones: along a column
      if (a > 0 !== b > 0) ends.push(crossings.add(2 * at, column + a / (a - b), row))
      if (b > 0 !== c > 0) ends.push(crossings.add(2 * at + 3, column + 1, row + b / (b - c)))
      if (d > 0 !== c > 0) ends.push(crossings.add(2 * (at + wide), column + d / (d - c), row + 1))
      if (a > 0 !== d > 0) ends.push(crossings.add(2 * at + 1, column, row + a / (a - d)))
      for (let k = 0; k < ends.length; k += 2) crossings.join(ends[k], ends[k + 1])
    }
  }
  crossings.trace(pen)
}

// Where lines cross the edges of a grid, and which crossings are joined.
class Crossings {
  constructor(frame, side, [left, right, low, high]) {
    this.frame = frame
    this.origin = [left, low]
    this.steps = [(right - left) / side, (high - low) / side]
    this.within = (place) => Math.min(Math.max(place + 0.5, 0), side) // cells from the first edge
    this.neighbours = new Map()
    this.places = new Map()
  }

  add(edge, column, row) {
    if (!this.places.has(edge)) {
      const x = this.frame.x(this.origin[0] + this.within(column) * this.steps[0])
      const y = this.frame.y(this.origin[1] + this.within(row) * this.steps[1])
      this.places.set(edge, [x, y])
      this.neighbours.set(edge, [])
    }
    return edge
  }

  join(from, to) {
    this.neighbours.get(from).push(to)
    this.neighbours.get(to).push(from)
  }

  // Put all lines into a pen's path: those with ends first; what is left then are loops.
  trace(pen) {
    const isInner = (edge) => this.neighbours.get(edge).length > 1
    const edges = [...this.neighbours.keys()].sort((a, b) => isInner(a) - isInner(b))
    for (const first of edges) {
      let edge = first
      let next = this.leave(edge)
      if (next === undefined) continue
      pen.moveTo(...this.places.get(edge))
      while (next !== undefined) {
        pen.lineTo(...this.places.get(next))
        edge = next
        next = this.leave(edge)
      }
    }
  }

  // Take a join of a crossing away; return the crossing at its other end.
  leave(edge) {
    const next = this.neighbours.get(edge).pop()
    if (next === undefined) return undefined
    const back = this.neighbours.get(next)
    back.splice(back.indexOf(edge), 1)
    return next
  }
}
