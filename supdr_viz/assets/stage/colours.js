// Colours of the page's theme, and of rows and levels by their scales.
const shade = (name) => getComputedStyle(document.documentElement).getPropertyValue("--supdr-" + name).trim()
const themeNow = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light")
const channels = (colour) => [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16))

// A colour and its opacity (0 to 255) as a pixel of an image, which is one number.
function pixelOf(colour, opacity = 255) {
  const [red, green, blue] = channels(colour)
  return opacity << 24 | blue << 16 | green << 8 | red
}

// The colour of a value on a scale {palette, low, high, nan}.
function scaled(scale, value) {
  if (!Number.isFinite(value)) return scale.nan
  const count = scale.palette.length, share = (value - scale.low) / (scale.high - scale.low)
  return scale.palette[Math.min(Math.max(Math.floor(share * count), 0), count - 1)]
}

// An image of small whole numbers, first row lowest, in the colours of a table of pixels.
function tinted(levels, table, canvas = new OffscreenCanvas(1, 1)) {
  const [high, wide] = levels.shape, pen = canvas.getContext("2d"), image = new ImageData(wide, high)
  const pixels = new Uint32Array(image.data.buffer)
  for (let y = 0; y < high; y++) {
    for (let x = 0, at = y * wide, from = (high - 1 - y) * wide; x < wide; x++) pixels[at++] = table[Math.min(levels[from++], table.length - 1)]
  }
  if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high }
  pen.putImageData(image, 0, 0)
  return canvas
}

// A density, levels of (layers, high, wide), first row lowest: every layer adds its colour and its opacity.
function mixed(levels, colours) {
  const [count, high, wide] = levels.shape, size = high * wide
  const canvas = new OffscreenCanvas(wide, high), pen = canvas.getContext("2d"), image = new ImageData(wide, high)
  const tones = colours.map(channels)
  for (let cell = 0; cell < size; cell++) {
    let opacity = 0, red = 0, green = 0, blue = 0
    for (let layer = 0; layer < count; layer++) {
      const level = levels[layer * size + cell]
      if (!level) continue
      const tone = tones[layer]
      opacity += level; red += level * tone[0]; green += level * tone[1]; blue += level * tone[2]
    }
    if (!opacity) continue
    const row = cell / wide | 0
    image.data.set([red / opacity, green / opacity, blue / opacity, opacity], 4 * ((high - 1 - row) * wide + cell - row * wide))
  }
  pen.putImageData(image, 0, 0)
  return canvas
}

const FAINTEST = 0.2
const shaded = (colours, shades) => colours.flatMap((colour) => [...Array(shades).keys()].map((level) => {
  const opacity = shades === 1 ? 1 : FAINTEST + (1 - FAINTEST) * level / (shades - 1)
  return pixelOf(colour, Math.round(255 * opacity))
}))
const greys = (first, last) => [...Array(256).keys()].map((k) => {
  const [low, high] = [channels(first), channels(last)]
  const [red, green, blue] = low.map((value, j) => Math.round(value + (high[j] - value) * k / 255))
  return 255 << 24 | blue << 16 | green << 8 | red
})
