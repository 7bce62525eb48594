// A decision surface on its way: its scores move to those that came last, and regions and lines with them.
// At rest the server's own regions and lines are shown, which are finer.
const SURFACE_LONGEST = 400, FINER = 3

class Relief {
  constructor() { this.moving = new Moving(SURFACE_LONGEST); this.shown = null; this.canvas = new OffscreenCanvas(1, 1) }

  // Go to other scores {levels, scale, codes, extent}, or none; at once if they are of another kind.
  go(relief, now, snap) {
    const known = this.shown
    this.shown = relief && relief.levels ? relief : null
    if (!this.shown) { this.moving = new Moving(SURFACE_LONGEST); return }
    const {levels, scale, codes, extent} = this.shown, [planes, side] = levels.shape
    const alike = known && known.levels.shape[0] === planes && String(known.codes) === String(codes)
    if (alike) this.moving.values = resampled(this.moving.values, planes, known.levels.shape[1], known.extent, side, extent)
    this.moving.go(Float32Array.from(levels, (level) => level * scale), now, snap || !alike)
  }

  get moves() { return this.moving.moves }
  step(now) { return this.moving.step(now) }

  // Regions as small whole numbers, first row lowest, as the server's images are.
  get image() {
    const {levels: {shape: [planes, side]}, codes} = this.shown, wide = side * FINER, {low, share} = between(side)
    const image = new Uint8Array(wide * wide), row = new Float32Array(planes * side), {values} = this.moving
    image.shape = [wide, wide]
    for (let y = 0; y < wide; y++) {
      for (let p = 0, at = 0; p < planes; p++) {
        const first = (p * side + low[y]) * side
        for (let x = 0; x < side; x++) row[at++] = values[first + x] + (values[first + side + x] - values[first + x]) * share[y]
      }
      for (let x = 0; x < wide; x++) {
        let best = -Infinity, winner = 0
        for (let p = 0; p < planes; p++) {
          const at = p * side + low[x], value = row[at] + (row[at + 1] - row[at]) * share[x]
          if (value > best) { best = value; winner = p }
        }
        if (!codes) image[y * wide + x] = Math.min(255, Math.max(0, Math.round(best)))
        else image[y * wide + x] = codes[planes === 1 ? +(best > 0) : winner]
      }
    }
    return image
  }

  // Put the lines into a pen's path: where another class begins to win, or where the only score has a value.
  path(pen, frame, ...values) {
    const {levels: {shape: [planes, side]}, extent, codes} = this.shown
    pen.beginPath()
    if (!codes) return
    if (planes === 1) for (const value of values) contour(pen, frame, this.moving.values, side, extent, value)
    else for (const lead of leads(this.moving.values, planes, side)) contour(pen, frame, lead, side, extent, 0)
  }
}

// Where the places of a finer grid lie between those of a grid of `side` cells, counted by their centres.
function between(side) {
  const low = new Int32Array(side * FINER), share = new Float32Array(side * FINER)
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
    const cell = (extent[axis + 1] - extent[axis]) / side, step = (newExtent[axis + 1] - newExtent[axis]) / newSide
    return Float32Array.from({length: newSide}, (_, k) => {
      const place = (newExtent[axis] + (k + 0.5) * step - extent[axis]) / cell - 0.5
      return Math.min(Math.max(place, 0), side - 1.001)
    })
  })
  const there = new Float32Array(planes * newSide * newSide)
  for (let p = 0, at = 0; p < planes; p++) {
    for (const y of places[1]) {
      const row = Math.floor(y), up = y - row
      for (const x of places[0]) {
        const first = (p * side + row) * side + Math.floor(x), along = x - Math.floor(x)
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
  const size = side * side, first = new Float32Array(size).fill(-Infinity), second = new Float32Array(size).fill(-Infinity)
  const winner = new Uint8Array(size), wins = new Uint8Array(planes)
  for (let p = 0; p < planes; p++) {
    for (let k = 0; k < size; k++) {
      const value = values[p * size + k]
      if (value > first[k]) { second[k] = first[k]; first[k] = value; winner[k] = p }
      else if (value > second[k]) second[k] = value
    }
  }
  for (const p of winner) wins[p] = 1
  return [...wins.keys()].filter((p) => wins[p]).map((p) => (
    Float32Array.from({length: size}, (_, k) => values[p * size + k] - (winner[k] === p ? second[k] : first[k]))
  ))
}

// Trace where a grid has a value: from edge to edge of its cells, every one of which a line crosses once at most.
function contour(pen, frame, values, side, [left, right, low, high], level) {
  const across = (right - left) / side, up = (high - low) / side, neighbours = new Map(), places = new Map()
  const cross = (edge, column, row) => {
    if (!places.has(edge)) places.set(edge, [frame.x(left + (column + 0.5) * across), frame.y(low + (row + 0.5) * up)])
    return edge
  }
  const join = (from, to) => {
    for (const [edge, other] of [[from, to], [to, from]]) {
      if (neighbours.has(edge)) neighbours.get(edge).push(other)
      else neighbours.set(edge, [other])
    }
  }
  for (let row = 0; row < side - 1; row++) {
    for (let column = 0; column < side - 1; column++) {
      const at = row * side + column, a = values[at] - level, b = values[at + 1] - level
      const c = values[at + side + 1] - level, d = values[at + side] - level
      if (a > 0 === b > 0 && b > 0 === c > 0 && c > 0 === d > 0) continue
      const ends = []  // even names: edges along a row; odd ones: along a column
      if (a > 0 !== b > 0) ends.push(cross(2 * at, column + a / (a - b), row))
      if (b > 0 !== c > 0) ends.push(cross(2 * at + 3, column + 1, row + b / (b - c)))
      if (d > 0 !== c > 0) ends.push(cross(2 * (at + side), column + d / (d - c), row + 1))
      if (a > 0 !== d > 0) ends.push(cross(2 * at + 1, column, row + a / (a - d)))
      for (let k = 0; k < ends.length; k += 2) join(ends[k], ends[k + 1])
    }
  }
  // Lines with ends first; what is left then are loops.
  const inner = (edge) => neighbours.get(edge).length > 1
  for (const begin of [...neighbours.keys()].sort((a, b) => inner(a) - inner(b))) {
    let edge = begin, next
    if (!neighbours.get(edge).length) continue
    pen.moveTo(...places.get(edge))
    while ((next = neighbours.get(edge).pop()) !== undefined) {
      const back = neighbours.get(next)
      back.splice(back.indexOf(edge), 1)
      pen.lineTo(...places.get(next))
      edge = next
    }
  }
}
