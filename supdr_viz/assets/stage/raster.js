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
    }
  }
}

// Mix a mask into opaque pixels (wide x high) in a colour, written as a pixel is; `share` of 256 is all of its opacity.
export function blit(pixels, wide, high, mask, left, top, colour, share) {
  const {offsets, columns, opacities, reach} = mask
  const at = top * wide + left
  const redAndBlue = colour & RED_AND_BLUE
  const green = colour & GREEN
  const inside = left >= reach && top >= reach && left + reach < wide && top + reach < high
  for (let k = 0; k < opacities.length; k++) {
    const place = at + offsets[k]
    if (!inside) {
      const x = left + columns[k]
      if (x < 0 || x >= wide || place < 0 || place >= pixels.length) continue
    }
    // Two colours at a time, each with eight bits of room above it.
    const over = ((opacities[k] * share + 127) / 255) | 0
    const under = 256 - over
    const pixel = pixels[place]
    const mixed = Math.imul(pixel & RED_AND_BLUE, under) + Math.imul(redAndBlue, over) + 0x800080
    pixels[place] =
      OPAQUE |
      ((mixed >>> 8) & RED_AND_BLUE) |
      (((Math.imul(pixel & GREEN, under) + Math.imul(green, over) + 0x8000) >>> 8) & GREEN)
  }
}
