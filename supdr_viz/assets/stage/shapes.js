// Marks of rows: the outline of each shape.
import constants from "./constants.json" with {type: "json"}

const FULL = 2 * Math.PI
export const SHAPES = constants.shapes

const triangle = (r) => [-r, -r / Math.sqrt(3), r, -r / Math.sqrt(3), 0, (2 * r) / Math.sqrt(3)]
const square = (r) => [-r, -r, r, -r, r, r, -r, r]
const upsideDown = (corners) => corners.map((value, k) => (k % 2 ? -value : value))

// Corners around the middle, at two distances in turn.
function spokes(count, first, ...distances) {
  const corners = []
  for (let k = 0; k < count; k++) {
    const turn = first + (k * FULL) / count
    const distance = distances[k % distances.length]
    corners.push(distance * Math.cos(turn), distance * Math.sin(turn))
  }
  return corners
}

function plus(r) {
  const a = r * 0.4 // half the width of an arm
  return [-a, -r, a, -r, a, -a, r, -a, r, a, a, a, a, r, -a, r, -a, a, -r, a, -r, -a, -a, -a]
}

// Corners (across, up, across, up, ...) of a mark with straight sides, `r` from its middle to its side.
const STRAIGHT = {
  triangle,
  inverted_triangle: (r) => upsideDown(triangle(r)),
  square,
  diamond: (r) => [-r * 0.8, 0, 0, -r * 1.15, r * 0.8, 0, 0, r * 1.15],
  hex: (r) => spokes(6, 0, r),
  star: (r) => spokes(10, Math.PI / 2, r * 1.15, r * 0.5),
  plus,
}
const HOLLOW = {square_pin: square, triangle_pin: triangle}

function drawPolygon(pen, x, y, corners) {
  pen.moveTo(x + corners[0], y - corners[1])
  for (let k = 2; k < corners.length; k += 2) pen.lineTo(x + corners[k], y - corners[k + 1])
  pen.closePath()
}

// Sides bent inwards, pulled to a third of the way to the middle.
function drawHollow(pen, x, y, corners) {
  const count = corners.length
  pen.moveTo(x + corners[0], y - corners[1])
  for (let k = 0; k < count; k += 2) {
    const [across, up, next, high] = [0, 1, 2, 3].map((j) => corners[(k + j) % count])
    pen.quadraticCurveTo(x + (across + next) / 6, y - (up + high) / 6, x + next, y - high)
  }
  pen.closePath()
}

// Put the outline of a shape, `size` pixels across, into a pen's path.
function outline(pen, shape, x, y, size) {
  const r = size / 2
  pen.beginPath()
  if (shape in STRAIGHT) drawPolygon(pen, x, y, STRAIGHT[shape](r))
  else if (shape in HOLLOW) drawHollow(pen, x, y, HOLLOW[shape](r))
  else pen.arc(x, y, r, 0, FULL)
}

// Draw a mark; its look: shape, size, opacity of the filling (0: hollow) and of the outline, width of the outline.
export function drawMark(pen, look, x, y) {
  const opacity = pen.globalAlpha
  outline(pen, look.shape, x, y, look.size)
  if (look.fill) {
    pen.globalAlpha = opacity * look.fill
    pen.fill()
  }
  if (look.line) {
    pen.globalAlpha = opacity * look.line
    pen.lineWidth = look.width
    pen.stroke()
  }
  pen.globalAlpha = opacity
}
