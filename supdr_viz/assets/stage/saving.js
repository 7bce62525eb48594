// A view as a picture of the user's: its title, what it shows, the legend, and the view itself below them.
import {download} from "../page/download.js"
import {setColour} from "./colours.js"
import {drawMark, SHAPES} from "./shapes.js"
import {SvgPen} from "./svg.js"

const SHARP = 2 // pixels of a PNG for each of the page's, at least
const EDGE = 12
const LINE = 18
const LEGEND_DASHES = {solid: [], dashed: [6, 4], dotted: [2, 3], dotdash: [6, 4]}
const HALF_WIDTHS = {scale: 15, line: 10, oval: 9} // of marks in the legend
const FONT = "Helvetica, Arial, sans-serif" // an image has no other fonts than those of the machine

// What a colour of the page's style sheet comes to.
function computedColour(colour) {
  const probe = document.createElement("i")
  probe.style.color = colour
  document.body.append(probe)
  const {color} = getComputedStyle(probe)
  probe.remove()
  return color
}

const OVAL = 0.55 // height of an oval, as a share of its width

// The mark of an entry of the legend, with its middle at a place.
function mark(pen, {kind, colour, dash, shape}, x, y) {
  const colours = kind === "scale" ? (colour.match(/var\([^)]*\)|#\w{6}/g) ?? []) : []
  const wide = 28 / colours.length
  for (const [k, shade] of colours.entries()) {
    pen.fillStyle = computedColour(shade)
    pen.fillRect(x - 14 + wide * k, y - 4, wide, 8)
  }
  if (kind === "scale" || kind === "none") return
  setColour(pen, computedColour(colour))
  if (kind === "point") {
    drawMark(pen, {shape: SHAPES[shape], size: 9, fill: 1, line: 0}, x, y)
    return
  }
  pen.lineWidth = kind === "line" ? 2 : 1.6
  pen.setLineDash(kind === "line" ? LEGEND_DASHES[dash] : [])
  pen.beginPath()
  if (kind === "line") {
    pen.moveTo(x - 9, y)
    pen.lineTo(x + 9, y)
  } else if (kind === "oval") {
    for (let k = 0; k <= 32; k++)
      pen.lineTo(x + 8 * Math.cos((k * Math.PI) / 16), y + 8 * OVAL * Math.sin((k * Math.PI) / 16))
  } else pen.arc(x, y, kind === "ring" ? 5.5 : 4)
  pen.stroke()
  if (kind === "ring") drawMark(pen, {shape: "circle", size: 4, fill: 1, line: 0}, x, y)
  pen.setLineDash([])
}

// A drawing with words above it, as SVG.
function framed(drawing, {title, note, legend}) {
  const wide = drawing.size[0] + 2 * EDGE
  const pen = new SvgPen(wide, 0)
  const text = computedColour("var(--supdr-text)")
  let x = EDGE
  let y = EDGE + 8
  pen.textBaseline = "middle"
  const say = (words, weight, size, colour) => {
    pen.font = `${weight} ${size}px ${FONT}`
    pen.fillStyle = colour
    pen.fillText(words, x, y)
  }
  say(title, 700, 14, text)
  if (note) {
    y += LINE
    say(note, 400, 11, computedColour("var(--supdr-secondary)"))
  }
  if (legend.length) y += LINE + 2
  for (const entry of legend) {
    pen.font = `400 12px ${FONT}`
    const half = HALF_WIDTHS[entry.kind] ?? 6
    const long = pen.measureText(entry.name).width
    if (x > EDGE && x + 2 * half + 6 + long > wide - EDGE) {
      x = EDGE
      y += LINE
    }
    mark(pen, entry, x + half, y)
    x += 2 * half + 5
    say(entry.name, 400, 12, text)
    x += long + 14
  }
  const top = y + LINE
  const high = top + drawing.size[1] + EDGE
  pen.size = [wide, high]
  const inner = drawing.text.replace("<svg ", `<svg x="${EDGE}" y="${top}" `)
  pen.parts = [
    `<rect width="${wide}" height="${high}" fill="${computedColour("var(--supdr-card)")}"/>`,
    ...pen.parts,
    inner,
  ]
  return {text: pen.text, wide, high}
}

async function rasterized({text, wide, high}) {
  const image = new Image()
  const canvas = document.createElement("canvas")
  const sharp = Math.max(SHARP, devicePixelRatio)
  image.src = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}))
  await image.decode()
  canvas.width = sharp * wide
  canvas.height = sharp * high
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
  URL.revokeObjectURL(image.src)
  return new Promise((done) => canvas.toBlob(done, "image/png"))
}

export async function saveView(board, {view: name, format, name: file, words}) {
  const view = board.planes.get(name) ?? board.charts.get(name)
  const pen = new SvgPen(view.canvas.clientWidth, view.canvas.clientHeight)
  view.drawOn(pen)
  const whole = framed(pen, words)
  const isSvg = format === "svg"
  const blob = isSvg ? new Blob([whole.text], {type: "image/svg+xml"}) : await rasterized(whole)
  download(blob, `${file}.${format}`)
}
