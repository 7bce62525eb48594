// Marks as pixels: what a processor without graphics hardware draws quickest.  Every look is drawn once, at sixteen
// places within a pixel, as a mask of opacities; a row's mark is such a mask mixed into the picture in its colour.
const STEPS = 4

class Masks {
  constructor() { this.known = new Map() }

  // The sixteen masks of a look at a number of device pixels for each pixel.
  of(look, ratio) {
    const key = `${look.shape} ${look.size} ${look.fill} ${look.line} ${look.width} ${ratio}`
    let masks = this.known.get(key)
    if (!masks) {
      if (this.known.size > 400) this.known.clear()
      masks = []
      for (let k = 0; k < STEPS * STEPS; k++) masks.push(this.drawn(look, ratio, (k % STEPS) / STEPS, (k / STEPS | 0) / STEPS))
      this.known.set(key, masks)
    }
    return masks
  }

  drawn(look, ratio, right, down) {
    const reach = Math.ceil((look.size * 0.6 + look.width) * ratio) + 1, side = 2 * reach + 1
    const canvas = new OffscreenCanvas(side, side), pen = canvas.getContext("2d", {willReadFrequently: true})
    pen.translate(reach + right, reach + down)
    pen.scale(ratio, ratio)
    drawMark(pen, look, 0, 0)
    const pixels = pen.getImageData(0, 0, side, side).data
    // Rows of the mask as runs of what is not empty: most of the square is.
    const offsets = [], opacities = []
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const opacity = pixels[4 * (y * side + x) + 3]
        if (opacity) { offsets.push(x - reach, y - reach); opacities.push(opacity) }
      }
    }
    return {reach, offsets: Int16Array.from(offsets), opacities: Uint8Array.from(opacities)}
  }
}

// Mix a mask into opaque pixels (wide x high, four bytes each) in a colour.
function blit(pixels, wide, high, mask, left, top, red, green, blue, opacity) {
  const {offsets, opacities, reach} = mask
  const inside = left >= reach && top >= reach && left + reach < wide && top + reach < high
  for (let k = 0; k < opacities.length; k++) {
    const x = left + offsets[2 * k], y = top + offsets[2 * k + 1]
    if (!inside && (x < 0 || y < 0 || x >= wide || y >= high)) continue
    const at = 4 * (y * wide + x), share = opacities[k] * opacity
    pixels[at] += (red - pixels[at]) * share
    pixels[at + 1] += (green - pixels[at + 1]) * share
    pixels[at + 2] += (blue - pixels[at + 2]) * share
  }
}
