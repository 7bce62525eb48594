// The layers of a view, each drawn by a pen: that of a canvas, or one that writes SVG.
// `view` has frame (values -> places), tree (what it shows) and board (rows, colours).
import {drawGround} from "./axes.js"
import {setColour, shade, themeNow} from "./colours.js"
import constants from "./constants.json" with {type: "json"}
import {gradient, mixed, shaded, tinted} from "./images.js"
import {placeOf} from "./rows.js"
import {drawMark, SHAPES} from "./shapes.js"

export const UNSELECTED = 0.25 // opacity of images where rows are selected
const {boundary: BOUNDARY, margin: MARGIN} = constants.lines
const MARK = {shape: "circle", size: constants.mark, fill: 1, line: 1, width: 1.6}
const DRAWN_POINT = {size: 12, fill: 1, line: 1, width: 1.6}
const LINE = 18 // pixels from line to line

// Lines through points (x, y, x, y, ...); NaN stands between lines.
function linePath(pen, frame, points) {
  pen.beginPath()
  let open = false
  for (let k = 0; k < points.length; k += 2) {
    if (Number.isNaN(points[k])) {
      open = false
      continue
    }
    const x = frame.x(points[k])
    const y = frame.y(points[k + 1])
    if (open) pen.lineTo(x, y)
    else pen.moveTo(x, y)
    open = true
  }
}

function drawImageIn(pen, frame, image, [left, right, low, high], opacity, smooth = false) {
  pen.globalAlpha = opacity
  pen.imageSmoothingEnabled = smooth
  pen.drawImage(image, frame.x(left), frame.y(high), frame.x(right) - frame.x(left), frame.y(low) - frame.y(high))
  pen.globalAlpha = 1
}

// How densely all rows lie, where only some are drawn singly.
function drawDensity(pen, view) {
  const {density} = view.tree
  if (!density?.levels) return
  const colours = density.colours[themeNow() === "dark" ? 1 : 0]
  const image = view.images.of("density", density.levels, () => colours, mixed)
  drawImageIn(pen, view.frame, image, density.extent, view.board.selected ? UNSELECTED : 1, true)
}

function drawRegion(pen, view) {
  const {region} = view.tree
  const {frame, board, relief} = view
  if (!region?.image) return
  if (relief.moves) {
    const image = tinted(relief.image, board.surfaceTable(), relief.canvas)
    drawImageIn(pen, frame, image, relief.shown.extent, region.alpha)
  } else {
    const image = view.images.of("region", region.image, () => board.surfaceTable())
    drawImageIn(pen, frame, image, region.extent, region.alpha)
  }
}

// Lines of a decision surface, where its scores have these values.
function drawContour(pen, {frame, relief}, points, values, {width, opacity, dash}) {
  if (!points?.length) return
  if (relief.moves) relief.path(pen, frame, ...values)
  else linePath(pen, frame, points)
  pen.lineWidth = width
  pen.globalAlpha = opacity
  pen.setLineDash(dash)
  pen.stroke()
}

// Decision regions, boundary and margins.
export function drawSurface(pen, view) {
  drawRegion(pen, view)
  drawDensity(pen, view)
  pen.strokeStyle = shade("boundary")
  pen.lineJoin = "round"
  drawContour(pen, view, view.tree.boundary, [0], BOUNDARY)
  drawContour(pen, view, view.tree.margin, [-1, 1], MARGIN)
  pen.setLineDash([])
  pen.globalAlpha = 1
}

// What of a method's picture lies under the rows: image, areas, strokes.
export function drawPictureBelow(pen, view) {
  const {picture} = view.tree
  const {frame} = view
  const colours = view.roleColours()
  if (picture.image) {
    const image = view.images.of("image", picture.image, () => shaded(colours, picture.shades))
    drawImageIn(pen, frame, image, picture.extent, picture.image_alpha, picture.smooth)
  }
  if (picture.photo) {
    const image = view.images.of("photo", picture.photo, () => gradient(shade("card"), shade("text")))
    drawImageIn(pen, frame, image, picture.extent, 1)
  }
  for (const area of picture.areas) {
    linePath(pen, frame, area.points)
    pen.closePath()
    setColour(pen, colours[area.role])
    pen.lineWidth = 1
    pen.globalAlpha = area.alpha
    pen.fill()
    pen.globalAlpha = 0.5
    pen.stroke()
  }
  drawStrokes(pen, view, false)
}

// Those of a picture's strokes that lie over the rows, or those that lie under them.
function drawStrokes(pen, view, above) {
  const {picture} = view.tree
  const {frame} = view
  const colours = view.roleColours()
  pen.lineJoin = "round"
  for (const stroke of picture.strokes) {
    if (stroke.above !== above) continue
    linePath(pen, frame, stroke.points)
    pen.globalAlpha = stroke.alpha
    pen.setLineDash(constants.dashes[stroke.dash])
    if (stroke.edge) {
      pen.strokeStyle = shade("card")
      pen.lineWidth = stroke.width + 2 * stroke.edge
      pen.stroke()
    }
    pen.strokeStyle = colours[stroke.role]
    pen.lineWidth = stroke.width
    pen.stroke()
  }
  pen.globalAlpha = 1
  pen.setLineDash([])
}

// Rows and their rings, one by one: for SVG; the screen gets them as pixels.
export function drawRows(pen, view) {
  const {places, frame} = view
  view.eachMark((row, look, colour, opacity) => {
    pen.globalAlpha = opacity
    setColour(pen, colour)
    drawMark(pen, look, ...placeOf(frame, places, row))
  })
  pen.globalAlpha = 1
}

// What of a method's picture lies over the rows: strokes, marks, words.
function drawPictureAbove(pen, view) {
  const {picture} = view.tree
  const {frame} = view
  const colours = view.roleColours()
  drawStrokes(pen, view, true)
  pen.strokeStyle = shade("card")
  for (let k = 0; k < (picture.marks?.length ?? 0) / 2; k++) {
    pen.fillStyle = colours[picture.mark_role[k]]
    drawMark(pen, MARK, ...placeOf(frame, picture.marks, k))
  }
  pen.font = "11px Roboto, sans-serif"
  pen.textBaseline = "middle"
  for (const [x, y, text, role, align] of picture.tags) {
    drawWord(pen, text, frame.x(x), frame.y(y), colours[role], align)
  }
}

// A word on a ground that lets a little through.
function drawWord(pen, text, x, y, colour, align) {
  const wide = pen.measureText(text).width
  const left = x - {left: 0, center: wide / 2, right: wide}[align]
  pen.textAlign = align
  drawGround(pen, left, y, wide)
  pen.fillStyle = colour
  pen.fillText(text, x, y)
}

// The sentence in the middle of an empty view.
export function drawSentence(pen, {left, top, wide, high}, text) {
  const lines = text.split("\n")
  const first = top + high / 2 - (LINE * (lines.length - 1)) / 2
  pen.fillStyle = shade("secondary")
  pen.font = "13px Roboto, sans-serif"
  pen.textAlign = "center"
  pen.textBaseline = "middle"
  for (const [k, line] of lines.entries()) pen.fillText(line, left + wide / 2, first + LINE * k)
}

// The names of classes at their places.
function drawNames(pen, frame, names) {
  pen.font = "11px Roboto, sans-serif"
  pen.textBaseline = "middle"
  for (const [x, y, name] of names) drawWord(pen, name, frame.x(x), frame.y(y), shade("text"), "center")
}

// What lies over the rows: of the picture, names, and points that the user has drawn.
export function drawAbove(pen, view) {
  const {picture, drawn, empty, names} = view.tree
  const {frame} = view
  if (picture) drawPictureAbove(pen, view)
  drawNames(pen, frame, names ?? [])
  for (const [x, y, code] of drawn || []) {
    pen.fillStyle = view.board.classColour(code)
    pen.strokeStyle = shade("boundary")
    drawMark(pen, {...DRAWN_POINT, shape: SHAPES[code % SHAPES.length]}, frame.x(x), frame.y(y))
  }
  if (empty) drawSentence(pen, frame, empty)
}
