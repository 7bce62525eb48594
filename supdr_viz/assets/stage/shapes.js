// Marks of rows: the outline of each shape, `size` pixels across.
const FULL = 2 * Math.PI
const SHAPES = [
  "circle", "triangle", "square", "diamond", "inverted_triangle",
  "hex", "star", "plus", "square_pin", "triangle_pin",
]

function polygon(pen, x, y, corners) {
  corners.forEach(([across, up], k) => (k ? pen.lineTo(x + across, y - up) : pen.moveTo(x + across, y - up)))
  pen.closePath()
}

const spokes = (count, radius, first, inner) => [...Array(count).keys()].map((k) => {
  const turn = first + k * FULL / count, reach = inner && k % 2 ? inner : radius
  return [reach * Math.cos(turn), reach * Math.sin(turn)]
})

function shapePath(pen, shape, x, y, size) {
  const r = size / 2, low = r / Math.sqrt(3)
  pen.beginPath()
  switch (shape) {
    case "triangle": return polygon(pen, x, y, [[-r, -low], [r, -low], [0, 2 * low]])
    case "inverted_triangle": return polygon(pen, x, y, [[-r, low], [r, low], [0, -2 * low]])
    case "square": return polygon(pen, x, y, [[-r, -r], [r, -r], [r, r], [-r, r]])
    case "diamond": return polygon(pen, x, y, [[-r * 0.8, 0], [0, -r * 1.15], [r * 0.8, 0], [0, r * 1.15]])
    case "hex": return polygon(pen, x, y, spokes(6, r, 0))
    case "star": return polygon(pen, x, y, spokes(10, r * 1.15, Math.PI / 2, r * 0.5))
    case "plus": {
      const arm = r * 0.4
      return polygon(pen, x, y, [
        [-arm, -r], [arm, -r], [arm, -arm], [r, -arm], [r, arm], [arm, arm],
        [arm, r], [-arm, r], [-arm, arm], [-r, arm], [-r, -arm], [-arm, -arm],
      ])
    }
    case "square_pin": case "triangle_pin": {
      const corners = shape === "square_pin"
        ? [[-r, -r], [r, -r], [r, r], [-r, r]] : [[-r, -low], [r, -low], [0, 2 * low]]
      corners.forEach(([across, up], k) => {
        const [next, high] = corners[(k + 1) % corners.length]
        if (!k) pen.moveTo(x + across, y - up)
        pen.quadraticCurveTo(x + (across + next) / 6, y - (up + high) / 6, x + next, y - high)
      })
      return pen.closePath()
    }
    default: return pen.arc(x, y, r, 0, FULL)
  }
}

// How a mark looks: shape, size, opacity of the filling (0: hollow) and of the outline, width of the outline.
function drawMark(pen, look, x, y) {
  const opacity = pen.globalAlpha
  shapePath(pen, look.shape, x, y, look.size)
  if (look.fill) { pen.globalAlpha = opacity * look.fill; pen.fill() }
  if (look.line) { pen.globalAlpha = opacity * look.line; pen.lineWidth = look.width; pen.stroke() }
  pen.globalAlpha = opacity
}
