"use strict"
// What a run is drawn with: places, images whose colours follow the theme, and a method's own picture.
const LEVELS = 65534, HIDDEN = 65535, FAINTEST = 0.2, THREAD = 0.55, FAINT = 0.35
const FULL = 2 * Math.PI
const DASHES = {solid: [], dashed: [6, 4], dotted: [1.5, 3.5], dotdash: [1.5, 3.5, 6, 3.5]}

const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
const places = (text) => new Uint16Array(bytes(text).buffer)
const floats = (text) => new Float32Array(bytes(text).buffer)
const rgb = (colour) => [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16))
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--supdr-" + name).trim()

// A grey image of small whole numbers: tinted(colours) gives it the colours of a theme, once.
class Levels {
  constructor(png, ready) {
    this.tints = new Map()
    this.image = new Image()
    this.image.onload = ready
    this.image.src = "data:image/png;base64," + png
  }
  tinted(theme, colours) {
    if (!this.image.complete || !this.image.naturalWidth) return null
    if (!this.tints.has(theme)) {
      const canvas = document.createElement("canvas"), {naturalWidth: width, naturalHeight: height} = this.image
      canvas.width = width; canvas.height = height
      const pen = canvas.getContext("2d", {willReadFrequently: true})
      pen.drawImage(this.image, 0, 0)
      const pixels = pen.getImageData(0, 0, width, height), table = colours()
      for (let at = 0; at < pixels.data.length; at += 4) {
        const shade = table[Math.min(pixels.data[at], table.length - 1)]
        for (let k = 0; k < 4; k++) pixels.data[at + k] = shade[k]
      }
      pen.putImageData(pixels, 0, 0)
      this.tints.set(theme, canvas)
    }
    return this.tints.get(theme)
  }
}

function prepared(id) {
  const canvas = document.getElementById(id), ratio = devicePixelRatio || 1
  const width = canvas.clientWidth, height = canvas.clientHeight
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio)
  const pen = canvas.getContext("2d")
  pen.scale(ratio, ratio)
  pen.clearRect(0, 0, width, height)
  return [canvas, pen, width, height]
}

const dotSize = (count) => Math.min(4.5, Math.max(1.8, 4.5 - 2 * Math.log10(count / 200)))

// Points, rings for test rows; at(row) is a place or null.
function dots(pen, count, at, colourOf, radius, test) {
  for (let row = 0; row < count; row++) {
    const place = at(row)
    if (!place) continue
    pen.beginPath(); pen.arc(...place, radius, 0, FULL)
    pen.strokeStyle = pen.fillStyle = colourOf(row); pen.lineWidth = 1.3
    test[row] ? pen.stroke() : pen.fill()
  }
}

// Thin lines from the places of rows to their other ends; from(row), to(row) are places or null.
function threads(pen, count, from, to, shade) {
  pen.globalAlpha = THREAD; pen.strokeStyle = shade; pen.lineWidth = 1; pen.beginPath()
  for (let row = 0; row < count; row++) {
    const start = from(row), end = to(row)
    if (start && end) { pen.moveTo(...start); pen.lineTo(...end) }
  }
  pen.stroke()
  pen.globalAlpha = 1
}

// The frame of a picture on its canvas: x and y of values, at(shares, row) of packed places.
function frameOf(extent, left, bottom, width, height) {
  const wide = width - left, high = height - bottom
  return {
    wide, high, left,
    x: (value) => left + wide * (value - extent[0]) / (extent[1] - extent[0]),
    y: (value) => high * (1 - (value - extent[2]) / (extent[3] - extent[2])),
    at: (shares, row) => {
      if (shares[2 * row] === HIDDEN) return null
      return [left + wide * shares[2 * row] / LEVELS, high * (1 - shares[2 * row + 1] / LEVELS)]
    },
  }
}

function unpackPicture(picture, ready) {
  for (const name of ["rows", "tips"]) picture[name] = picture[name] && places(picture[name])
  picture.row_roles = picture.row_roles && bytes(picture.row_roles)
  picture.marks = picture.marks && floats(picture.marks)
  for (const each of [...picture.strokes, ...picture.areas]) each.points = floats(each.points)
  for (const name of ["image", "photo"]) picture[name] = picture[name] && new Levels(picture[name], ready)
}

function path(pen, frame, points) {
  pen.beginPath()
  let open = false
  for (let k = 0; k < points.length; k += 2) {
    if (Number.isNaN(points[k])) { open = false; continue }
    const place = [frame.x(points[k]), frame.y(points[k + 1])]
    open ? pen.lineTo(...place) : pen.moveTo(...place)
    open = true
  }
}

function backdrop(pen, frame, picture, theme, roles) {
  const shades = picture.shades
  const tints = () => picture.roles.flatMap((role) => [...Array(shades).keys()].map((level) => {
    const opacity = shades === 1 ? 1 : FAINTEST + (1 - FAINTEST) * level / (shades - 1)
    return [...rgb(roles[role]), Math.round(255 * opacity)]
  }))
  const greys = () => {
    const [first, last] = [rgb(colour("card")), rgb(colour("text"))]
    return [...Array(256).keys()].map((k) => [...first.map((low, j) => low + (last[j] - low) * k / 255), 255])
  }
  pen.imageSmoothingEnabled = false
  for (const [levels, table, opacity] of [[picture.image, tints, picture.alpha], [picture.photo, greys, 1]]) {
    const image = levels && levels.tinted(theme, table)
    if (!image) continue
    pen.globalAlpha = opacity
    pen.drawImage(image, frame.left, 0, frame.wide, frame.high)
    pen.globalAlpha = 1
  }
}

// Where rows came from: faint points.
function origins(pen, frame, picture, count, shade) {
  threads(pen, count, (row) => frame.at(picture.rows, row), (row) => frame.at(picture.tips, row), colour("muted"))
  pen.globalAlpha = FAINT
  dots(pen, count, (row) => frame.at(picture.tips, row), shade, 1.75, [])
  pen.globalAlpha = 1
}

function arrows(pen, frame, picture, count, shade) {
  const rings = picture.tip_mark === "ring"
  for (let row = 0; row < count; row++) {
    const from = frame.at(picture.rows, row), to = frame.at(picture.tips, row)
    if (!from || !to) continue
    pen.strokeStyle = pen.fillStyle = shade(row)
    pen.lineWidth = rings ? 0.8 : 1.4
    pen.beginPath(); pen.moveTo(...from); pen.lineTo(...to); pen.stroke()
    pen.beginPath()
    if (rings) { pen.arc(...to, 3.5, 0, FULL); pen.stroke(); continue }
    const turn = Math.atan2(to[1] - from[1], to[0] - from[0])
    for (const [k, way] of [0, 2.5, -2.5].entries()) {
      const corner = [to[0] + 4 * Math.cos(turn + way), to[1] + 4 * Math.sin(turn + way)]
      k ? pen.lineTo(...corner) : pen.moveTo(...corner)
    }
    pen.fill()
  }
}

function axes(pen, frame, picture, height) {
  pen.fillStyle = colour("secondary"); pen.font = "12px sans-serif"; pen.textAlign = "center"
  const said = (value) => String(+value.toPrecision(2)), ticks = picture.ticks
  const [low, high] = picture.extent.map(said)
  const ends = ticks.length ? [ticks[0], ticks[ticks.length - 1]] : picture.extent.slice(2)
  pen.fillText(picture.axes[0], frame.left + frame.wide / 2, height - 4)
  pen.textAlign = "left"; pen.fillText(low, frame.left, height - 4)
  pen.textAlign = "right"; pen.fillText(high, frame.left + frame.wide, height - 4)
  pen.save(); pen.translate(12, frame.high / 2); pen.rotate(-Math.PI / 2); pen.textAlign = "center"
  pen.fillText(picture.axes[1], 0, 0); pen.restore()
  pen.save(); pen.translate(12, frame.high); pen.rotate(-Math.PI / 2); pen.textAlign = "center"
  for (const value of ends) {
    const half = pen.measureText(said(value)).width / 2, up = frame.high - frame.y(value)
    pen.fillText(said(value), Math.min(Math.max(up, half), frame.high - half), 0)
  }
  pen.restore()
  pen.textAlign = "left"; pen.strokeStyle = colour("grid"); pen.lineWidth = 1
  pen.strokeRect(frame.left, 0, frame.wide, frame.high)
}

// Draw a method's picture; `own` are the rows' colours, `test` says which of them are rings.
function drawPicture(id, picture, theme, roles, own, test) {
  const [canvas, pen, width, height] = prepared(id)
  const frame = frameOf(picture.extent, picture.axes ? 18 : 0, picture.axes ? 20 : 0, width, height)
  const named = (role) => roles[picture.roles[role]]
  const shade = (row) => (picture.row_roles ? named(picture.row_roles[row]) : own[row])
  pen.save()
  pen.beginPath(); pen.rect(frame.left, 0, frame.wide, frame.high); pen.clip()
  backdrop(pen, frame, picture, theme, roles)
  for (const area of picture.areas) {
    path(pen, frame, area.points); pen.closePath()
    pen.fillStyle = pen.strokeStyle = named(area.role); pen.lineWidth = 1
    pen.globalAlpha = area.alpha; pen.fill()
    pen.globalAlpha = 0.5; pen.stroke()
  }
  pen.lineJoin = "round"
  for (const stroke of picture.strokes) {
    path(pen, frame, stroke.points)
    pen.strokeStyle = named(stroke.role); pen.lineWidth = stroke.width; pen.globalAlpha = stroke.alpha
    pen.setLineDash(DASHES[stroke.dash]); pen.stroke()
  }
  pen.globalAlpha = 1; pen.setLineDash([])
  if (picture.rows) {
    const count = picture.rows.length / 2, radius = picture.small ? 2.2 : dotSize(count)
    const draw = picture.tip_mark === "origin" ? origins : arrows
    if (picture.tips) draw(pen, frame, picture, count, shade)
    dots(pen, count, (row) => frame.at(picture.rows, row), shade, radius, test)
  }
  const marks = picture.marks || []
  for (let k = 0; k < marks.length; k += 2) {
    pen.beginPath(); pen.arc(frame.x(marks[k]), frame.y(marks[k + 1]), 5.5, 0, FULL)
    pen.fillStyle = named(picture.mark_roles[k / 2]); pen.strokeStyle = colour("card"); pen.lineWidth = 1.6
    pen.fill(); pen.stroke()
  }
  pen.font = "11px sans-serif"; pen.textBaseline = "middle"
  for (const {x, y, text, role, align} of picture.tags) {
    pen.textAlign = align
    const wide = pen.measureText(text).width, place = [frame.x(x), frame.y(y)]
    const left = place[0] - {left: 0, center: wide / 2, right: wide}[align]
    pen.globalAlpha = 0.75; pen.fillStyle = colour("card"); pen.fillRect(left - 1, place[1] - 7, wide + 2, 14)
    pen.globalAlpha = 1; pen.fillStyle = named(role); pen.fillText(text, ...place)
  }
  pen.restore()
  if (picture.axes) axes(pen, frame, picture, height)
  return canvas
}
