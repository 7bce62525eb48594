// A view as a picture of the user's: its title, what it shows, the legend, and the view itself below them.
const SHARP = 2  // pixels of a PNG for each of the page's, at least
const EDGE = 12, LINE = 18, FONT = "Roboto, Helvetica, Arial, sans-serif"

// What a colour of the page's style sheet comes to.
function settled(colour) {
  const probe = document.createElement("i")
  probe.style.color = colour
  document.body.append(probe)
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}

// The mark of an entry of the legend, with its middle at a place.
function mark(pen, {kind, colour, dash, shape}, x, y) {
  const shades = kind === "scale" ? colour.match(/#\w{6}/g) ?? [] : []
  shades.forEach((shade, k) => {
    pen.fillStyle = shade
    pen.fillRect(x - 14 + (28 * k) / shades.length, y - 4, 28 / shades.length, 8)
  })
  if (kind === "scale") return
  pen.fillStyle = pen.strokeStyle = settled(colour)
  if (kind === "point") return drawMark(pen, {shape: SHAPES[shape], size: 9, fill: 1, line: 0}, x, y)
  pen.lineWidth = 2
  pen.setLineDash(kind !== "line" || dash === "solid" ? [] : dash === "dotted" ? [2, 3] : [6, 4])
  pen.beginPath()
  if (kind === "line") { pen.moveTo(x - 9, y); pen.lineTo(x + 9, y) }
  else pen.arc(x, y, 4.5)
  pen.stroke()
  pen.setLineDash([])
}

// A drawing with words above it, as SVG.
function framed(drawing, {title, note, legend}) {
  const wide = drawing.size[0] + 2 * EDGE, pen = new SvgPen(wide, 0), text = settled("var(--supdr-text)")
  let x = EDGE, y = EDGE + 8
  pen.textBaseline = "middle"
  const say = (words, weight, size, colour) => {
    pen.font = `${weight} ${size}px ${FONT}`
    pen.fillStyle = colour
    pen.fillText(words, x, y)
  }
  say(title, 700, 14, text)
  if (note) { y += LINE; say(note, 400, 11, settled("var(--supdr-secondary)")) }
  if (legend.length) y += LINE + 2
  for (const entry of legend) {
    pen.font = `400 12px ${FONT}`
    const half = entry.kind === "scale" ? 15 : entry.kind === "line" ? 10 : 6, long = pen.measureText(entry.name).width
    if (x > EDGE && x + 2 * half + 6 + long > wide - EDGE) { x = EDGE; y += LINE }
    mark(pen, entry, x + half, y)
    x += 2 * half + 5
    say(entry.name, 400, 12, text)
    x += long + 14
  }
  const top = y + LINE, high = top + drawing.size[1] + EDGE
  pen.size = [wide, high]
  const inner = drawing.text.replace("<svg ", `<svg x="${EDGE}" y="${top}" `)
  pen.parts = [`<rect width="${wide}" height="${high}" fill="${settled("var(--supdr-card)")}"/>`, ...pen.parts, inner]
  return {text: pen.text, wide, high}
}

async function painted({text, wide, high}) {
  const image = new Image(), canvas = document.createElement("canvas"), sharp = Math.max(SHARP, devicePixelRatio)
  image.src = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}))
  await image.decode()
  canvas.width = sharp * wide
  canvas.height = sharp * high
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
  URL.revokeObjectURL(image.src)
  return new Promise((done) => canvas.toBlob(done, "image/png"))
}

async function save(board, {view, format, name, words}) {
  const whole = framed((board.planes.get(view) ?? board.charts.get(view)).drawing(), words)
  const blob = format === "svg" ? new Blob([whole.text], {type: "image/svg+xml"}) : await painted(whole)
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = `${name}.${format}`
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}
