// Lines between rows and other places: threads, arrows, origins, neighbours.
import {setColour, shade} from "./colours.js"
import constants from "./constants.json" with {type: "json"}
import {linkedRows, placeOf} from "./rows.js"
import {drawMark} from "./shapes.js"

const HEAD = 0.7 * constants.tips.head // from the middle of an arrow's head to its corners
const CORNERS = [0, 2.4, -2.4] // turns of these corners against the arrow, in radians
const RING = {size: constants.tips.ring, fill: 0, line: 1, width: 1}
const ORIGIN = {shape: "circle", ...constants.tips.origin, line: 0, width: 0}
const {thread: THREAD, ring_gap: RING_GAP} = constants.rows
const FAINT_THREAD = 0.1
const BESIDE = 8 // pixels between an arrow's head and its name
const NAME_ROOM = 14 // pixels between the edge of a view and the middle of a name

// Thin lines from rows to their other ends; where rows are selected, those of the others are faint.
export function drawThreads(pen, view, ends, colour) {
  const {selected} = view.board
  pen.strokeStyle = colour
  pen.lineWidth = 1
  if (selected) {
    strokeThreads(pen, view, ends, FAINT_THREAD, (row) => !selected.has(row))
    strokeThreads(pen, view, ends, THREAD, (row) => selected.has(row))
  } else strokeThreads(pen, view, ends, THREAD, () => true)
  pen.globalAlpha = 1
}

function strokeThreads(pen, {frame, places}, ends, opacity, isDrawn) {
  pen.globalAlpha = opacity
  pen.beginPath()
  for (let row = 0; row < ends.length / 2; row++) {
    if (!isDrawn(row)) continue
    const x = ends[2 * row]
    const from = places[2 * row]
    if (Number.isNaN(x) || Number.isNaN(from)) continue
    pen.moveTo(frame.x(from), frame.y(places[2 * row + 1]))
    pen.lineTo(frame.x(x), frame.y(ends[2 * row + 1]))
  }
  pen.stroke()
}

// Lines from a row to the neighbours that it lost, and to those that only look like neighbours.
export function drawLinks(pen, view, row) {
  const {links} = view.board.tree
  if (Number.isNaN(view.places[2 * row])) return
  drawLines(pen, view, row, links.false, {colour: "secondary", width: 1, dash: [1.5, 3]})
  const ends = drawLines(pen, view, row, links.lost, {colour: "error", width: 1.4, dash: []})
  const ring = {shape: "circle", size: view.board.size + RING_GAP, fill: 0, line: 1, width: 1.4}
  for (const end of ends) drawMark(pen, ring, ...end)
}

// Draw lines from a row to those of a table; return the places of their ends.
function drawLines(pen, {frame, places}, row, table, {colour, width, dash}) {
  const others = linkedRows(table, row).filter((other) => !Number.isNaN(places[2 * other]))
  const start = placeOf(frame, places, row)
  const ends = others.map((other) => placeOf(frame, places, other))
  pen.strokeStyle = shade(colour)
  pen.lineWidth = width
  pen.setLineDash(dash)
  pen.beginPath()
  for (const end of ends) {
    pen.moveTo(...start)
    pen.lineTo(...end)
  }
  pen.stroke()
  pen.setLineDash([])
  return ends
}

function drawShaft(pen, from, to, width) {
  pen.lineWidth = width
  pen.beginPath()
  pen.moveTo(...from)
  pen.lineTo(...to)
  pen.stroke()
}

function drawHead(pen, from, to) {
  const turn = Math.atan2(to[1] - from[1], to[0] - from[0])
  const corners = CORNERS.map((way) => [to[0] + HEAD * Math.cos(turn + way), to[1] + HEAD * Math.sin(turn + way)])
  pen.beginPath()
  pen.moveTo(...corners[0])
  pen.lineTo(...corners[1])
  pen.lineTo(...corners[2])
  pen.closePath()
  pen.fill()
}

// The other end of every row of a picture, whose mark is "origin", "ring" or "arrow"; what of it lies under the rows, or
// what lies over them.
export function drawTips(pen, view, under) {
  const mark = view.tree.picture.tip_mark
  const {frame, places, tips} = view
  if (mark === "origin" && under) drawThreads(pen, view, tips, shade("muted"))
  for (let row = 0; row < tips.length / 2; row++) {
    if (Number.isNaN(tips[2 * row]) || Number.isNaN(places[2 * row])) continue
    const from = placeOf(frame, places, row)
    const to = placeOf(frame, tips, row)
    setColour(pen, view.colourOf(row))
    pen.globalAlpha = view.board.opacityOf(row) * (under && mark !== "origin" ? 0.8 : 1)
    if (mark === "origin" && under) drawMark(pen, ORIGIN, ...to)
    else if (under) drawShaft(pen, from, to, mark === "ring" ? 0.8 : 1.4)
    else if (mark === "ring") drawMark(pen, {...RING, shape: view.board.shapeOf(row)}, ...to)
    else if (mark !== "origin") drawHead(pen, from, to)
  }
  pen.globalAlpha = 1
}

// How far columns move a row, or all rows of a linear map: arrows from its place, or from a place of their own.
export function drawArrows(pen, {tree, frame, places}) {
  const {row, origin, by, names} = tree.arrows
  const from = row < 0 ? origin : [places[2 * row], places[2 * row + 1]]
  if (from.length < 2 || from.some(Number.isNaN)) return
  const start = [frame.x(from[0]), frame.y(from[1])]
  pen.font = "600 12px Roboto, sans-serif"
  pen.textBaseline = "middle"
  pen.lineJoin = "round"
  for (const [k, name] of names.entries()) {
    const end = [start[0] + by[2 * k] * frame.across, start[1] - by[2 * k + 1] * frame.up]
    setColour(pen, shade("text"))
    drawShaft(pen, start, end, 1.8)
    drawHead(pen, start, end)
    drawName(pen, frame, name, end, end[0] >= start[0])
  }
}

// A name beside an arrow's head, within the view, on the colour of the card.
function drawName(pen, {left, top, wide, high}, name, [x, y], right) {
  const length = pen.measureText(name).width
  const within = (value, low, most) => Math.max(low, Math.min(most, value))
  const fits = right ? x + BESIDE + length < left + wide : x - BESIDE - length < left
  const begin = within(fits ? x + BESIDE : x - BESIDE - length, left + 2, left + wide - length - 2)
  const middle = within(y, top + NAME_ROOM, top + high - NAME_ROOM)
  pen.textAlign = "left"
  pen.fillStyle = shade("card")
  pen.globalAlpha = 0.75
  pen.fillRect(begin - 2, middle - 8, length + 4, 16)
  pen.globalAlpha = 1
  pen.fillStyle = shade("text")
  pen.fillText(name, begin, middle)
}
