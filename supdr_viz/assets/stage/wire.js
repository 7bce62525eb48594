// What the server sends: patches of a tree, see supdr_viz/stage/wire.py.
const HIDDEN_LEVEL = -32768
const PLACE_LEVELS = 32767
const TYPED = {
  Uint8: Uint8Array,
  Int16: Int16Array,
  Uint16: Uint16Array,
  Int32: Int32Array,
  Float32: Float32Array,
  Float64: Float64Array,
}

export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true)
  const begin = Math.ceil((4 + length) / 8) * 8
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)))
  const arrays = head.arrays.map(([type, shape, first, bytes]) => {
    const array = new TYPED[type](buffer, begin + first, bytes / TYPED[type].BYTES_PER_ELEMENT)
    array.shape = shape
    return array
  })
  const filled = (value) => {
    if (Array.isArray(value)) return value.map(filled)
    if (value === null || typeof value !== "object") return value
    if ("$" in value) return value.from ? new Tail(value.from, arrays[value.$]) : arrays[value.$]
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each)]))
  }
  return filled(head.patch)
}

// Rows that come behind the first ones of an array that is there already.
class Tail {
  constructor(first, rows) {
    this.first = first
    this.rows = rows
  }
  behind(array) {
    const width = array.shape.slice(1).reduce((product, each) => product * each, 1)
    const kept = this.first * width
    const longer = new array.constructor(kept + this.rows.length)
    longer.set(array.subarray(0, kept))
    longer.set(this.rows, kept)
    longer.shape = [this.first + this.rows.shape[0], ...array.shape.slice(1)]
    return longer
  }
}

export const isTree = (value) =>
  value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype

// Lay a patch over a tree, in place.
export function merge(tree, patch) {
  for (const [name, value] of Object.entries(patch)) {
    if (value instanceof Tail) tree[name] = value.behind(tree[name])
    else if (isTree(value) && isTree(tree[name])) merge(tree[name], value)
    else tree[name] = value
  }
  return tree
}

// Places as numbers of their plane: x, y of every row, NaN where a row is hidden.
export function unpackPlaces({levels, extent}) {
  const values = new Float64Array(levels.length)
  for (let axis = 0; axis < 2; axis++) {
    const low = extent[2 * axis]
    const scale = (extent[2 * axis + 1] - low) / (2 * PLACE_LEVELS)
    for (let k = axis; k < levels.length; k += 2) {
      values[k] = levels[k] === HIDDEN_LEVEL ? NaN : low + (levels[k] + PLACE_LEVELS) * scale
    }
  }
  return values
}
