// Marks as pixels: what a processor without graphics hardware draws quickest.  Every look is drawn once, at sixteen
// places within a pixel, as a mask of opacities; a row's mark is such a mask mixed into the picture in its colour.
// A pixel is one number of four bytes: opacity, blue, green, red.
import {drawMark} from "./shapes.js"

export const STEPS = 4
const RED_AND_BLUE = 0xff00ff
const GREEN = 0xff00
const OPAQUE = 0xff000000
const MOST_LOOKS = 400

export class Masks {
  constructor() {
    this.entries = new Map()
  }

  // The sixteen masks of a look at a number of device pixels for each pixel, for a picture so many pixels wide.
  of(look, ratio, wide) {
    const key = `${look.shape} ${look.size} ${look.fill} ${look.line} ${look.width} ${ratio} ${wide}`
    let masks = this.entries.get(key)
    if (!masks) {
      if (this.entries.size > MOST_LOOKS) this.entries.clear()
      masks = []
      for (let k = 0; k < STEPS * STEPS; k++) {
        const right = (k % STEPS) / STEPS
        const down = Math.floor(k / STEPS) / STEPS
        masks.push(this.draw(look, ratio, wide, right, down))
      }
      this.entries.set(key, masks)
    }
    return masks
  }

  draw(look, ratio, wide, right, down) {
    const reach = Math.ceil((look.size * 0.6 + look.width) * ratio) + 1
    const side = 2 * reach + 1
    const canvas = new OffscreenCanvas(side, side)
    const pen = canvas.getContext("2d", {willReadFrequently: true})
    pen.translate(reach + right, reach + down)
    pen.scale(ratio, ratio)
    drawMark(pen, look, 0, 0)
    const pixels = pen.getImageData(0, 0, side, side).data
    // What is not empty, by its distance in the picture and by its column: most of the square is empty.
    const offsets = []
    const columns = []
    const opacities = []
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const opacity = pixels[4 * (y * side + x) + 3]
        if (opacity) {
          offsets.push((y - reach) * wide + x - reach)
          columns.push(x - reach)
          opacities.push(opacity)
        }
      }
    }
    return {
      reach,
      offsets: Int32Array.from(offsets),
      columns: Int8Array.from(columns),
      opacities: Uint8Array.from(opacities),
      weights: [],
    }
  }
}

// The opacities of a mask, 0 to 256, where `share` of 256 is all of its opacity; they are kept with the mask.
function weightsOf(mask, share) {
  mask.weights[share] ??= Int32Array.from(mask.opacities, (opacity) => ((opacity * share + 127) / 255) | 0)
  return mask.weights[share]
}

// Mix a mask into opaque pixels (side x side) in a colour, written as a pixel is; `share` of 256 is all of its opacity.
export function blit(pixels, side, mask, left, top, colour, share) {
  const weights = weightsOf(mask, share)
  const {offsets, columns, reach} = mask
  const redAndBlue = colour & RED_AND_BLUE
  const green = colour & GREEN
  const at = top * side + left
  const inside = left >= reach && top >= reach && left + reach < side && top + reach < side
  for (let k = 0; k < weights.length; k++) {
    const place = at + offsets[k]
    if (!inside) {
      const column = left + columns[k]
      if (column < 0 || column >= side || place < 0 || place >= pixels.length) continue
    }
    // Two colours at a time, each with eight bits of room above it.
    const over = weights[k]
    const under = 256 - over
    const pixel = pixels[place]
    const mixed = Math.imul(pixel & RED_AND_BLUE, under) + Math.imul(redAndBlue, over) + 0x800080
    pixels[place] =
      OPAQUE |
      ((mixed >>> 8) & RED_AND_BLUE) |
      (((Math.imul(pixel & GREEN, under) + Math.imul(green, over) + 0x8000) >>> 8) & GREEN)
  }
}

// Marks of many rows mixed into opaque pixels (side x side), in a loop that makes no objects.
// places: values (x, y, x, y, ...), NaN for rows that are not shown; across, up: pixels = value * [0] + [1];
// order: rows; looks: number of each row's look; masks: of every look, `STEPS` squared; tones: pixel of each row;
// shares: opacity of each row, 0 to 256; inside: [left, right, top, bottom], between which marks are drawn.
export function blitRows(pixels, side, {places, across, up, order, looks, masks, tones, shares, inside}) {
  const [scaleX, shiftX] = across
  const [scaleY, shiftY] = up
  const [low, right, above, bottom] = inside
  for (let k = 0; k < order.length; k++) {
    const row = order[k]
    const x = places[2 * row] * scaleX + shiftX
    const y = places[2 * row + 1] * scaleY + shiftY
    if (!(x >= low && x <= right && y >= above && y <= bottom)) continue // nor what is NaN
    const left = Math.floor(x)
    const top = Math.floor(y)
    const step = Math.floor((x - left) * STEPS) + STEPS * Math.floor((y - top) * STEPS)
    blit(pixels, side, masks[looks[row]][step], left, top, tones[row], shares[row])
  }
}
