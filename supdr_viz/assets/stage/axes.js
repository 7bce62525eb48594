// Axes of pictures that have a meaning: round ticks, quiet lines, labels.
import {shade} from "./colours.js"
import constants from "./constants.json" with {type: "json"}

const {below: BELOW, far: FAR} = constants.axes
const OVERHANG = 8

// Room of the words at the axes of a plane without ticks, in pixels.
export const WORDS = {left: 15, above: 0, below: 15}

export function roundTicks(low, high, count, whole) {
  const rough = (high - low) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  let step = [1, 2, 5, 10].map((k) => k * power).find((each) => each >= rough)
  if (whole) step = Math.max(1, Math.round(step))
  const ticks = []
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step || 0)
  return ticks
}

// Whole numbers up to the end where a round step leads there.
export function ticksToEnd(low, high) {
  const choices = [6, 5, 4, 3].map((count) => roundTicks(low, high, count, true))
  return choices.find((ticks) => ticks.at(-1) === high) ?? choices[1]
}

// With the sign of print.
export const signed = (value) => String(value).replace("-", "\u2212")
export const tickText = (value) => signed(+value.toPrecision(4))

// Digits of a value: so many, and as many more as tell apart values of a range of this length far from zero.
export function digitsOf(value, span, digits) {
  const larger = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(span))
  return Math.min(digits + (Number.isFinite(larger) ? Math.max(larger, 0) : 0), 17)
}

// The round number that ticks of a short axis far from zero are counted from; 0: from zero.
export function baseOf(low, high) {
  const middle = (low + high) / 2
  const span = high - low
  if (!(Math.abs(middle) >= FAR * span)) return 0
  const unit = 10 ** Math.ceil(Math.log10(span))
  return +(Math.round(middle / unit) * unit).toPrecision(15)
}

// What is said of ticks and of an axis whose ticks are counted from a base.
export const tickFrom = (base, span) => (value) => {
  const unit = 10 ** (Math.floor(Math.log10(span)) - 4) // differences of large numbers have noise below it
  return tickText(base ? Math.round((value - base) / unit) * unit : value)
}
export const nameFrom = (base, name) => {
  if (!base) return name
  const size = Math.abs(base).toLocaleString("en", {maximumSignificantDigits: 15})
  return `${name} ${base < 0 ? "+" : "\u2212"} ${size}`
}

// Lines and words of ticks; `say` has a text for those across and those upward, and whether those across have lines.
export function drawTicks(pen, frame, across, upward, say) {
  const {left, top, wide, high} = frame
  const bottom = top + high
  pen.lineWidth = 1
  pen.strokeStyle = shade("grid")
  pen.fillStyle = shade("secondary")
  pen.font = "11px Roboto, sans-serif"
  pen.beginPath()
  for (const value of say.upright ? across : []) {
    pen.moveTo(frame.x(value), top)
    pen.lineTo(frame.x(value), bottom)
  }
  for (const value of upward) {
    pen.moveTo(left, frame.y(value))
    pen.lineTo(left + wide, frame.y(value))
  }
  pen.stroke()
  pen.textBaseline = "top"
  pen.textAlign = "center"
  for (const value of across) {
    const text = say.across(value)
    const half = pen.measureText(text).width / 2
    const most = left + wide + OVERHANG - half // beyond it the last one would be cut off
    pen.fillText(text, Math.min(frame.x(value), most), bottom + 5)
  }
  pen.textBaseline = "middle"
  pen.textAlign = "right"
  for (const value of upward) pen.fillText(say.upward(value), left - 6, frame.y(value))
}

// `frame` maps values to places; `extent` is what it shows.
export function drawAxes(pen, frame, extent, picture) {
  const {left, top, wide, high} = frame
  const [across, upward] = picture.axes
  const heights = picture.ticks.length ? picture.ticks : roundTicks(extent[2], extent[3], 5, false)
  const right = baseOf(extent[0], extent[1])
  const up = baseOf(extent[2], extent[3])
  const say = {
    upright: true,
    across: tickFrom(right, extent[1] - extent[0]),
    upward: tickFrom(up, extent[3] - extent[2]),
  }
  drawTicks(pen, frame, roundTicks(extent[0], extent[1], 5, picture.counts), heights, say)
  pen.font = "12px Roboto, sans-serif"
  pen.textAlign = "center"
  pen.textBaseline = "bottom"
  pen.fillText(nameFrom(right, across), left + wide / 2, top + high + BELOW - 6)
  pen.save()
  pen.translate(3, top + high / 2)
  pen.rotate(-Math.PI / 2)
  pen.textBaseline = "top"
  pen.fillText(nameFrom(up, upward), 0, 0)
  pen.restore()
}

const ARROW = " →"
const END = 6 // pixels between a word and the corner it ends at

// The columns of a text for which there is room, the first one cut if need be.
function fitting(pen, text, room) {
  const wide = (shown) => pen.measureText(`${shown}${ARROW}`).width
  const columns = text.split(", ")
  while (columns.length > 1 && wide(columns.join(", ")) > room) columns.pop()
  const shown = columns.join(", ")
  if (wide(shown) <= room) return shown
  const sign = shown.lastIndexOf(" ")
  let name = shown.slice(0, Math.max(sign, 0))
  const value = shown.slice(Math.max(sign, 0))
  while (name && wide(`${name}…${value}`) > room) name = name.slice(0, -1)
  return `${name}…${value}`
}

// The edge of a plane whose ground is that of the page.
export function drawEdge(pen, {left, top, wide, high}) {
  pen.strokeStyle = shade("border")
  pen.lineWidth = 1
  pen.beginPath()
  pen.rect(left + 0.5, top + 0.5, wide - 1, high - 1)
  pen.stroke()
}

// What the axes of a plane without ticks mean: below it and at its left or, at their ends, inside it.
export function drawAxisWords(pen, {left, top, wide, high}, [across, upward], inside) {
  const away = (inside ? -1 : 1) * (WORDS.below / 2 + 1)
  pen.save()
  pen.font = "11px Roboto, sans-serif"
  pen.textAlign = inside ? "right" : "center"
  pen.textBaseline = "middle"
  const say = (column, room, middle) => {
    const text = `${fitting(pen, column, room - 2 * END)}${ARROW}`
    const place = inside ? room - END : room / 2
    const wide = inside ? pen.measureText(text).width : 0
    if (inside) drawGround(pen, place - wide, middle, wide)
    pen.fillStyle = shade("secondary")
    pen.fillText(text, place, middle)
  }
  pen.translate(left, top + high)
  if (across) say(across, wide, away)
  pen.rotate(-Math.PI / 2)
  if (upward) say(upward, high, -away)
  pen.restore()
}

// A ground below a word that begins there, which lets a little through.
export function drawGround(pen, left, middle, wide) {
  const {ground, edge} = constants.words
  pen.globalAlpha = ground
  pen.fillStyle = shade("card")
  pen.fillRect(left - edge, middle - 7, wide + 2 * edge, 14)
  pen.globalAlpha = 1
}
