// Marks as pixels: what a processor without graphics hardware draws quickest.  Every look is drawn once, at sixteen
// places within a pixel, as masks of opacities; a row's mark is such a mask mixed into the picture in its colour.
// A pixel is one number of four bytes: opacity, blue, green, red.
import compiled from "./compiled.json" with {type: "json"}
import {drawMark} from "./shapes.js"

export const STEPS = 4
export const PLACES = STEPS * STEPS
export const QUAD = 4 // pixels side by side
const RED_AND_BLUE = 0xff00ff
const GREEN = 0xff00
const OPAQUE = 0xff000000
const MOST_LOOKS = 400
const MOST_SHEETS = 50 // of one look
const PAGE = 65536 // bytes by which memory grows
const ALIGNED = 16 // bytes

const masksByLook = new Map()

// The sixteen masks of a look at a number of device pixels for each pixel.
function masksOf(look, ratio) {
  const key = `${look.shape} ${look.size} ${look.fill} ${look.line} ${look.width} ${ratio}`
  let masks = masksByLook.get(key)
  if (!masks) {
    if (masksByLook.size > MOST_LOOKS) masksByLook.clear()
    masks = drawMasks(look, ratio)
    masksByLook.set(key, masks)
  }
  return masks
}

// Masks as quads, four pixels side by side, of what is not empty.  The quads of mask k are those from starts[k] to
// starts[k + 1]; of each its line and the column of its first pixel beside the middle, and the opacities of all four.
function drawMasks(look, ratio) {
  const reach = Math.ceil((look.size * 0.6 + look.width) * ratio) + 1
  const side = 2 * reach + 1
  const pen = new OffscreenCanvas(side, side).getContext("2d", {willReadFrequently: true})
  const masks = {reach, starts: [0], lines: [], columns: [], opacities: [], sheets: new Map()}
  for (let place = 0; place < PLACES; place++) {
    pen.setTransform(1, 0, 0, 1, 0, 0)
    pen.clearRect(0, 0, side, side)
    pen.translate(reach + (place % STEPS) / STEPS, reach + Math.floor(place / STEPS) / STEPS)
    pen.scale(ratio, ratio)
    drawMark(pen, look, 0, 0)
    const {data} = pen.getImageData(0, 0, side, side)
    for (let line = 0; line < side; line++) addQuads(masks, data.subarray(4 * line * side, 4 * (line + 1) * side), line)
    masks.starts.push(masks.lines.length)
  }
  return masks
}

// Add a line of pixels to masks.
function addQuads({reach, lines, columns, opacities}, pixels, line) {
  let end = pixels.length - 1 // the opacity of the last pixel
  while (end > 0 && !pixels[end]) end -= 4
  let at = 3
  while (at < end && !pixels[at]) at += 4
  if (!pixels[at]) return
  for (; at <= end; at += 4 * QUAD) {
    lines.push(line - reach)
    columns.push((at - 3) / 4 - reach)
    for (let k = 0; k < QUAD; k++) opacities.push(at + 4 * k <= end ? pixels[at + 4 * k] : 0)
  }
}

// The masks of several looks at several opacities, `shares` of 256, for a picture so many pixels wide, in flat arrays
// for one loop.  Of look l at share s they begin at mask 16 (s L + l), where L is the number of looks.  Of the quads of
// a mask `offsets` has the distance of the first pixel in the picture, `weights` the opacities of all four, 0 to 256.
export function sheetOf(looks, shares, ratio, wide) {
  const all = looks.map((look) => masksOf(look, ratio))
  const count = shares.length * all.reduce((sum, masks) => sum + masks.lines.length, 0)
  const sheet = {
    looks: looks.length,
    starts: new Int32Array(PLACES * shares.length * looks.length + 1),
    offsets: new Int32Array(count),
    columns: new Int16Array(count),
    weights: new Uint16Array(QUAD * count),
  }
  let [mask, quad] = [0, 0]
  for (const share of shares) {
    for (const {starts, lines, columns, opacities} of all) {
      for (let place = 1; place <= PLACES; place++) sheet.starts[++mask] = quad + starts[place]
      for (let k = 0; k < lines.length; k++) sheet.offsets[quad + k] = lines[k] * wide + columns[k]
      for (let k = 0; k < opacities.length; k++) {
        sheet.weights[QUAD * quad + k] = Math.floor((opacities[k] * share + 127) / 255)
      }
      sheet.columns.set(columns, quad)
      quad += lines.length
    }
  }
  return sheet
}

// How many pixels beside its middle a mark of these looks may change.
export const reachOf = (looks, ratio) => Math.max(...looks.map((look) => masksOf(look, ratio).reach)) + QUAD

// The sheet of one look at one opacity; it is kept with the masks of the look.
export function sheetOfOne(look, share, ratio, wide) {
  const {sheets} = masksOf(look, ratio)
  const key = `${share} ${wide}`
  if (!sheets.has(key)) {
    if (sheets.size > MOST_SHEETS) sheets.clear()
    sheets.set(key, sheetOf([look], [share], ratio, wide))
  }
  return sheets.get(key)
}

// The picture into which marks are mixed.  Where the browser takes it, the loop over rows is compiled from
// scripts/raster.c and mixes four pixels at a time; it reads and writes a memory of its own, which is used again.
export class Raster {
  constructor() {
    this.memory = {buffer: new ArrayBuffer(0)}
    this.blit = null
    this.wide = 0
    try {
      const bytes = Uint8Array.from(atob(compiled.code), (sign) => sign.charCodeAt(0))
      const memory = new WebAssembly.Memory({initial: 1})
      this.blit = new WebAssembly.Instance(new WebAssembly.Module(bytes), {env: {memory}}).exports.blit
      this.memory = memory
    } catch (problem) {
      console.info(`Rows are drawn without WebAssembly: ${problem.message}`)
    }
  }

  // Begin with an opaque picture, an ImageData (wide x wide).
  begin(below) {
    this.wide = 0 // nothing of the picture before is kept
    this.reserve(below.data.length)
    this.wide = below.width
    this.pixels.set(new Uint32Array(below.data.buffer))
  }

  get pixels() {
    return new Uint32Array(this.memory.buffer, 0, this.wide * this.wide)
  }
  // Show what has become of the picture by a pen, with its upper left corner there; tell whether it could be shown.
  show(pen, x, y) {
    const {wide} = this
    pen.putImageData(new ImageData(new Uint8ClampedArray(this.memory.buffer, 0, 4 * wide * wide), wide), x, y)
    return true
  }

  // Make room for so many bytes; what is in the memory stays.
  reserve(bytes) {
    const {byteLength} = this.memory.buffer
    if (bytes <= byteLength) return
    if (this.blit) this.memory.grow(Math.ceil((bytes - byteLength) / PAGE))
    else {
      const before = this.pixels
      this.memory.buffer = new ArrayBuffer(bytes)
      this.pixels.set(before)
    }
  }

  // Put arrays behind the picture; return their addresses.
  put(arrays) {
    let end = 4 * this.wide * this.wide
    const addresses = arrays.map(({byteLength}) => {
      const address = Math.ceil(end / ALIGNED) * ALIGNED
      end = address + byteLength
      return address
    })
    this.reserve(end)
    for (const [k, array] of arrays.entries()) {
      new array.constructor(this.memory.buffer, addresses[k], array.length).set(array)
    }
    return addresses
  }

  // Mix marks of many rows into the picture.
  // frame: pixels = value * frame[0] + frame[1] across, value * frame[2] + frame[3] down; marks are drawn whose middle
  // lies between frame[4] and frame[5] across, frame[6] and frame[7] down, and which do not reach beyond the picture;
  // order: rows; places: values (x, y, x, y, ...), NaN for rows that are not shown; looks, shares: number of each row's
  // look and opacity in the sheet; tones: pixel of each row.
  blitRows({frame, order, places, looks, shares, tones, sheet}) {
    if (this.blit) {
      const {starts, offsets, weights} = sheet
      const known = Math.min(places.length / 2, looks.length, shares.length, tones.length)
      const addresses = this.put([frame, order, places, looks, shares, tones, starts, offsets, weights])
      this.blit(0, this.wide, order.length, known, sheet.looks, ...addresses)
      return
    }
    const {pixels, wide} = this
    const [across, right, up, down, low, high, above, below] = frame
    for (let k = 0; k < order.length; k++) {
      const row = order[k]
      const x = places[2 * row] * across + right
      const y = places[2 * row + 1] * up + down
      if (!(x >= low && x <= high && y >= above && y <= below)) continue // nor what is NaN
      mix(pixels, wide, sheet, shares[row] * sheet.looks + looks[row], x, y, tones[row])
    }
  }

  // Mix a mark into the picture, as far as it lies in it; `share` of 256 is all of its opacity.
  blitMark(look, share, ratio, x, y, tone) {
    mix(this.pixels, this.wide, sheetOfOne(look, share, ratio, this.wide), 0, x, y, tone)
  }
}

// Mix a mark into opaque pixels; `number`: of its look and share in the sheet.
function mix(pixels, wide, {starts, offsets, columns, weights}, number, x, y, tone) {
  const column = Math.floor(x)
  const line = Math.floor(y)
  const mask = PLACES * number + Math.floor((x - column) * STEPS) + STEPS * Math.floor((y - line) * STEPS)
  const redAndBlue = tone & RED_AND_BLUE
  const green = tone & GREEN
  for (let j = starts[mask]; j < starts[mask + 1]; j++) {
    for (let k = 0; k < QUAD; k++) {
      const over = weights[QUAD * j + k]
      const beside = column + columns[j] + k
      const at = line * wide + column + offsets[j] + k
      if (!over || beside < 0 || beside >= wide || at < 0 || at >= pixels.length) continue
      // Two colours at a time, each with eight bits of room above it.
      const under = 256 - over
      const pixel = pixels[at]
      const mixed = Math.imul(pixel & RED_AND_BLUE, under) + Math.imul(redAndBlue, over) + 0x800080
      pixels[at] =
        OPAQUE |
        ((mixed >>> 8) & RED_AND_BLUE) |
        (((Math.imul(pixel & GREEN, under) + Math.imul(green, over) + 0x8000) >>> 8) & GREEN)
    }
  }
}
