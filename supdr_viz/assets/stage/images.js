// Images of small whole numbers, in the colours of the page's theme.
import {channels, pixelOf, themeNow} from "./colours.js"
import constants from "./constants.json" with {type: "json"}

// An image of levels (high, wide), first row lowest, in the colours of a table of pixels.
export function tinted(levels, table, canvas = new OffscreenCanvas(1, 1)) {
  const [high, wide] = levels.shape
  const pen = canvas.getContext("2d")
  const image = new ImageData(wide, high)
  const pixels = new Uint32Array(image.data.buffer)
  const last = table.length - 1
  for (let y = 0; y < high; y++) {
    let from = (high - 1 - y) * wide
    for (let at = y * wide; at < (y + 1) * wide; at++) pixels[at] = table[Math.min(levels[from++], last)]
  }
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide
    canvas.height = high
  }
  pen.putImageData(image, 0, 0)
  return canvas
}

// A density, levels of (layers, high, wide), first row lowest: every layer adds its colour and its opacity.
export function mixed(levels, colours) {
  const [count, high, wide] = levels.shape
  const size = high * wide
  const canvas = new OffscreenCanvas(wide, high)
  const pen = canvas.getContext("2d")
  const image = new ImageData(wide, high)
  const tones = colours.map(channels)
  for (let cell = 0; cell < size; cell++) {
    let opacity = 0
    let red = 0
    let green = 0
    let blue = 0
    for (let layer = 0; layer < count; layer++) {
      const level = levels[layer * size + cell]
      if (!level) continue
      const tone = tones[layer]
      opacity += level
      red += level * tone[0]
      green += level * tone[1]
      blue += level * tone[2]
    }
    if (!opacity) continue
    const row = Math.floor(cell / wide)
    const at = (high - 1 - row) * wide + (cell - row * wide)
    image.data.set([red / opacity, green / opacity, blue / opacity, opacity], 4 * at)
  }
  pen.putImageData(image, 0, 0)
  return canvas
}

// A table of pixels: so many shades of every colour, from faint to opaque.
export function shaded(colours, shades) {
  const {faintest} = constants
  const opacities = Array.from({length: shades}, (_, level) =>
    shades === 1 ? 1 : faintest + ((1 - faintest) * level) / (shades - 1),
  )
  return colours.flatMap((colour) => opacities.map((opacity) => pixelOf(colour, Math.round(255 * opacity))))
}

// A table of 256 pixels between two colours.
export function gradient(first, last) {
  const low = channels(first)
  const high = channels(last)
  return Array.from({length: 256}, (_, level) => {
    const [red, green, blue] = low.map((value, j) => Math.round(value + ((high[j] - value) * level) / 255))
    return (255 << 24) | (blue << 16) | (green << 8) | red
  })
}

// Images that were made once, until their levels or the theme change.
export class ImageCache {
  constructor() {
    this.entries = new Map()
  }
  // The image of this name: make(levels, table()) where there is none of these levels.
  of(name, levels, table, make = tinted) {
    const entry = this.entries.get(name)
    const theme = themeNow()
    if (entry && entry.levels === levels && entry.theme === theme) return entry.image
    const image = make(levels, table())
    this.entries.set(name, {levels, theme, image})
    return image
  }
  clear() {
    this.entries.clear()
  }
}
