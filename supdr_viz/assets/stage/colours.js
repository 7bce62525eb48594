// Colours of the page's theme, and of rows and levels by their scales.
export const shade = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--supdr-${name}`).trim()
export const themeNow = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light")
export const channels = (colour) => [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16))

// A colour and its opacity (0 to 255) as a pixel of an image, which is one number.
export function pixelOf(colour, opacity = 255) {
  const [red, green, blue] = channels(colour)
  return (opacity << 24) | (blue << 16) | (green << 8) | red
}

// The colour of a value on a scale {palette, low, high, nan}.
export function scaled(scale, value) {
  if (!Number.isFinite(value)) return scale.nan
  const count = scale.palette.length
  const share = (value - scale.low) / (scale.high - scale.low)
  return scale.palette[Math.min(Math.max(Math.floor(share * count), 0), count - 1)]
}

// The pixel of each row, whose colour is one of a palette.
export function tonesOf(palette, levels) {
  const pixels = palette.map((colour) => pixelOf(colour))
  return Uint32Array.from(levels, (level) => pixels[level])
}

// Let a pen fill and stroke in a colour.
export function setColour(pen, colour) {
  pen.fillStyle = colour
  pen.strokeStyle = colour
}
