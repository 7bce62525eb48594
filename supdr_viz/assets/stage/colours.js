// Colours of the page's theme, and of rows and levels by their scales.
const shade = (name) => getComputedStyle(document.documentElement).getPropertyValue("--supdr-" + name).trim()
const themeNow = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light")
const channels = (colour) => [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16))

// The colour of a value on a scale {palette, low, high, nan}.
function scaled(scale, value) {
  if (!Number.isFinite(value)) return scale.nan
  const count = scale.palette.length, share = (value - scale.low) / (scale.high - scale.low)
  return scale.palette[Math.min(Math.max(Math.floor(share * count), 0), count - 1)]
}

// An image of small whole numbers, first row lowest, in the colours of a table of [red, green, blue, opacity].
function tinted(levels, table) {
  const [high, wide] = levels.shape, canvas = new OffscreenCanvas(wide, high), pen = canvas.getContext("2d")
  const image = new ImageData(wide, high)
  for (let y = 0; y < high; y++) {
    for (let x = 0; x < wide; x++) {
      const tint = table[Math.min(levels[(high - 1 - y) * wide + x], table.length - 1)], at = 4 * (y * wide + x)
      for (let k = 0; k < 4; k++) image.data[at + k] = tint[k]
    }
  }
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
  return [...channels(colour), Math.round(255 * opacity)]
}))
const greys = (first, last) => [...Array(256).keys()].map((k) => {
  const [low, high] = [channels(first), channels(last)]
  return [...low.map((value, j) => value + (high[j] - value) * k / 255), 255]
})
