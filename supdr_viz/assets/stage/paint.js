// The layers of a view, each drawn by a pen: that of a canvas, or one that writes SVG.
// `view` has frame (values -> places), tree (what it shows) and board (rows, colours).
const DASHES = {solid: [], dashed: [6, 4], dotted: [1.5, 3.5], dotdash: [1.5, 3.5, 6, 3.5]}
const FADED = 0.12, THICK = 1, UNCHOSEN = 0.25, THREAD = 0.55, MARK = 11, HEAD = 5.5, ORIGIN = {shape: "circle", size: 3.5, fill: 0.35, line: 0, width: 0}

// Lines through points (x, y, x, y, ...); NaN stands between lines.
function linePath(pen, frame, points) {
  pen.beginPath()
  let open = false
  for (let k = 0; k < points.length; k += 2) {
    if (Number.isNaN(points[k])) { open = false; continue }
    const x = frame.x(points[k]), y = frame.y(points[k + 1])
    open ? pen.lineTo(x, y) : pen.moveTo(x, y)
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
  if (!density || !density.levels) return
  const colours = density.colours[themeNow() === "dark" ? 1 : 0]
  const image = view.tints.of("density", density.levels, () => colours, mixed)
  drawImageIn(pen, view.frame, image, density.extent, view.board.selected ? UNCHOSEN : THICK, true)
}

// Decision regions, boundary and margins.
function drawSurface(pen, view) {
  const {region, boundary, margin} = view.tree, {frame, board, relief} = view, moves = relief.moves
  if (region && region.image && moves) {
    drawImageIn(pen, frame, tinted(relief.image, board.surfaceTable(), relief.canvas), relief.shown.extent, region.alpha)
  } else if (region && region.image) {
    const image = view.tints.of("region", region.image, () => board.surfaceTable())
    drawImageIn(pen, frame, image, region.extent, region.alpha)
  }
  drawDensity(pen, view)
  pen.strokeStyle = shade("boundary"); pen.lineJoin = "round"
  const lines = [[boundary, [0], 1.4, 0.75, []], [margin, [-1, 1], 1.1, 0.6, [5, 4]]]
  for (const [points, values, width, opacity, dash] of lines) {
    if (!points || !points.length) continue
    if (moves) relief.path(pen, frame, ...values)
    else linePath(pen, frame, points)
    pen.lineWidth = width; pen.globalAlpha = opacity; pen.setLineDash(dash)
    pen.stroke()
  }
  pen.setLineDash([]); pen.globalAlpha = 1
}

// What of a method's picture lies under the rows: image, areas, strokes.
function drawPictureBelow(pen, view) {
  const {picture} = view.tree, {frame} = view, named = view.roleColours()
  if (picture.image) {
    const image = view.tints.of("image", picture.image, () => shaded(named, picture.shades))
    drawImageIn(pen, frame, image, picture.extent, picture.image_alpha, picture.smooth)
  }
  if (picture.photo) {
    const image = view.tints.of("photo", picture.photo, () => greys(shade("card"), shade("text")))
    drawImageIn(pen, frame, image, picture.extent, 1)
  }
  for (const area of picture.areas) {
    linePath(pen, frame, area.points); pen.closePath()
    pen.fillStyle = pen.strokeStyle = named[area.role]; pen.lineWidth = 1
    pen.globalAlpha = area.alpha; pen.fill()
    pen.globalAlpha = 0.5; pen.stroke()
  }
  drawStrokes(pen, view, false)
}

// Those of a picture's strokes that lie over the rows, or those that lie under them.
function drawStrokes(pen, view, above) {
  const {picture} = view.tree, {frame} = view, named = view.roleColours()
  pen.lineJoin = "round"
  for (const stroke of picture.strokes) {
    if (stroke.above !== above) continue
    linePath(pen, frame, stroke.points)
    pen.globalAlpha = stroke.alpha; pen.setLineDash(DASHES[stroke.dash])
    if (stroke.edge) { pen.strokeStyle = shade("card"); pen.lineWidth = stroke.width + 2 * stroke.edge; pen.stroke() }
    pen.strokeStyle = named[stroke.role]; pen.lineWidth = stroke.width; pen.stroke()
  }
  pen.globalAlpha = 1; pen.setLineDash([])
}

// Thin lines from rows to their other ends.
function drawThreads(pen, view, ends, colour) {
  const {frame, board} = view, places = view.places
  pen.strokeStyle = colour; pen.lineWidth = 1
  for (const [chosen, opacity] of board.selected ? [[false, 0.1], [true, THREAD]] : [[null, THREAD]]) {
    pen.globalAlpha = opacity
    pen.beginPath()
    for (let row = 0; row < ends.length / 2; row++) {
      if (chosen !== null && board.selected.has(row) !== chosen) continue
      const x = ends[2 * row], from = places[2 * row]
      if (Number.isNaN(x) || Number.isNaN(from)) continue
      pen.moveTo(frame.x(from), frame.y(places[2 * row + 1]))
      pen.lineTo(frame.x(x), frame.y(ends[2 * row + 1]))
    }
    pen.stroke()
  }
  pen.globalAlpha = 1
}

// The rows that a row is joined to: its line of a table that ends with -1.
function linked(table, row) {
  const wide = table.shape[1], rows = Array.from(table.subarray(row * wide, (row + 1) * wide))
  return rows.filter((other) => other >= 0)
}

// Lines from a row to the neighbours that it lost, and to those who only look like neighbours.
function drawLinks(pen, view, row) {
  const {frame, places, board} = view, {links} = board.tree
  if (Number.isNaN(places[2 * row])) return
  for (const [table, colour, width, dash] of [[links.false, "secondary", 1, [1.5, 3]], [links.lost, "error", 1.4, []]]) {
    pen.strokeStyle = shade(colour); pen.lineWidth = width; pen.setLineDash(dash)
    pen.beginPath()
    const ends = linked(table, row).filter((other) => !Number.isNaN(places[2 * other]))
    for (const other of ends) {
      pen.moveTo(frame.x(places[2 * row]), frame.y(places[2 * row + 1]))
      pen.lineTo(frame.x(places[2 * other]), frame.y(places[2 * other + 1]))
    }
    pen.stroke()
    pen.setLineDash([])
    for (const other of table === links.lost ? ends : []) {
      drawMark(pen, {shape: "circle", size: board.size + RING_GAP, fill: 0, line: 1, width}, frame.x(places[2 * other]), frame.y(places[2 * other + 1]))
    }
  }
}

// Where the rows of a picture came from, or are drawn to.
function drawTips(pen, view, shafts) {
  const {picture} = view.tree, {frame} = view, tips = view.tips, places = view.places, ring = picture.tip_mark === "ring"
  if (picture.tip_mark === "origin") {
    if (shafts) drawThreads(pen, view, tips, shade("muted"))
  }
  for (let row = 0; row < tips.length / 2; row++) {
    if (Number.isNaN(tips[2 * row]) || Number.isNaN(places[2 * row])) continue
    const from = [frame.x(places[2 * row]), frame.y(places[2 * row + 1])]
    const to = [frame.x(tips[2 * row]), frame.y(tips[2 * row + 1])], opacity = view.board.opacityOf(row)
    pen.strokeStyle = pen.fillStyle = view.colourOf(row)
    if (picture.tip_mark === "origin") {
      pen.globalAlpha = opacity
      if (shafts) drawMark(pen, ORIGIN, ...to)
      continue
    }
    pen.globalAlpha = opacity * (shafts ? 0.8 : 1)
    if (shafts) {
      pen.lineWidth = ring ? 0.8 : 1.4
      pen.beginPath(); pen.moveTo(...from); pen.lineTo(...to); pen.stroke()
    } else if (ring) {
      drawMark(pen, {shape: view.board.shapeOf(row), size: 7, fill: 0, line: 1, width: 1}, ...to)
    } else {
      const turn = Math.atan2(to[1] - from[1], to[0] - from[0]), reach = HEAD * 0.7
      pen.beginPath()
      for (const [k, way] of [0, 2.4, -2.4].entries()) {
        const corner = [to[0] + reach * Math.cos(turn + way), to[1] + reach * Math.sin(turn + way)]
        k ? pen.lineTo(...corner) : pen.moveTo(...corner)
      }
      pen.closePath(); pen.fill()
    }
  }
  pen.globalAlpha = 1
}

// Rows and their rings, one by one: for SVG; the screen gets them as pixels.
function drawRows(pen, view) {
  const {places, frame} = view
  view.eachMark((row, look, colour, opacity) => {
    pen.globalAlpha = opacity
    pen.fillStyle = pen.strokeStyle = colour
    drawMark(pen, look, frame.x(places[2 * row]), frame.y(places[2 * row + 1]))
  })
  pen.globalAlpha = 1
}

// What lies over the rows: strokes, marks, words, drawn points.
function drawAbove(pen, view) {
  const {picture, drawn} = view.tree, {frame} = view
  if (picture) {
    const named = view.roleColours()
    drawStrokes(pen, view, true)
    for (let k = 0; picture.marks && k < picture.marks.length; k += 2) {
      pen.fillStyle = named[picture.mark_role[k / 2]]; pen.strokeStyle = shade("card")
      drawMark(pen, {shape: "circle", size: MARK, fill: 1, line: 1, width: 1.6}, frame.x(picture.marks[k]), frame.y(picture.marks[k + 1]))
    }
    pen.font = "11px Roboto, sans-serif"; pen.textBaseline = "middle"
    for (const [x, y, text, role, align] of picture.tags) {
      const wide = pen.measureText(text).width, place = [frame.x(x), frame.y(y)]
      const left = place[0] - {left: 0, center: wide / 2, right: wide}[align]
      pen.textAlign = align; pen.globalAlpha = 0.75; pen.fillStyle = shade("card")
      pen.fillRect(left - 1, place[1] - 7, wide + 2, 14)
      pen.globalAlpha = 1; pen.fillStyle = named[role]
      pen.fillText(text, ...place)
    }
  }
  for (const [x, y, code] of drawn || []) {
    pen.fillStyle = view.board.classColour(code); pen.strokeStyle = shade("boundary")
    drawMark(pen, {shape: SHAPES[code % SHAPES.length], size: 12, fill: 1, line: 1, width: 1.6}, frame.x(x), frame.y(y))
  }
  if (view.tree.empty) {
    pen.fillStyle = shade("secondary"); pen.font = "13px Roboto, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle"
    view.tree.empty.split("\n").forEach((line, k, all) => {
      pen.fillText(line, frame.left + frame.wide / 2, frame.top + frame.high / 2 + 18 * (k - (all.length - 1) / 2))
    })
  }
}
