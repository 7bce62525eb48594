// Curves over iterations: lines, steady axes, the iteration on display, and what stands at the pointer.
const CHART = {left: 46, right: 12, above: 6, below: 24}, DASH = 0.02, SIGNS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

const powerText = (e) => "10" + (e < 0 ? "⁻" : "") + [...`${Math.abs(e)}`].map((digit) => SIGNS[digit]).join("")
function valueText(value, span) {
  const size = Math.abs(value), digits = digitsOf(value, span, 3)
  if (size === 0) return "0"
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(digits)} M`
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(digits)} k`
  return size < 1e-3 ? value.toExponential(0) : tickText(value)
}
const heightText = (tick, log) => {
  const whole = Math.round(tick), exact = Math.abs(tick - whole) < 1e-9
  return !log ? valueText(tick) : exact && (whole > 3 || whole < -2) ? powerText(whole) : valueText(10 ** tick)
}

class Chart {
  constructor(board, name, host) {
    this.board = board; this.name = name; this.host = host; this.tree = null
    this.canvas = document.createElement("canvas")
    this.canvas.setAttribute("role", "img")
    this.canvas.className = "chart"
    this.canvas.style.cssText = "position:absolute;inset:0;width:100%;height:100%"  // of the place, whatever lies between
    host.append(this.canvas)
    this.box = tipBox(host)
    this.pen = this.canvas.getContext("2d", {willReadFrequently: true, alpha: false})
    this.canvas.addEventListener("pointermove", (event) => this.point(event))
    for (const leaving of ["pointerleave", "pointercancel"]) this.canvas.addEventListener(leaving, () => this.leave())
    this.watched = new ResizeObserver(() => this.touch())
    this.watched.observe(this.canvas)
    this.dirty = true
    stageClock.views.add(this)
  }

  remove() {
    stageClock.views.delete(this)
    this.watched.disconnect()
    this.canvas.remove()
    this.box.remove()
  }

  touch() {
    this.dirty = true
    stageClock.wake()
  }

  // Show another tree; it says the same in words.
  show(tree) {
    this.tree = tree
    const last = this.count - 1, known = last >= 0 ? this.valuesNear(this.viewed ?? this.iteration(last)) : []
    const said = known.map(({line, value}) => `${line.name} ${valueText(value, this.span)}`).join(", ")
    this.canvas.setAttribute("aria-label", tree.title + (said && ` at iteration ${this.viewed}: ${said}`))
    this.touch()
  }

  get count() { return this.tree ? this.tree.points.shape[0] : 0 }
  get viewed() { return this.tree.viewed }
  iteration(row) { return this.tree.points[row * (this.tree.lines.length + 1)] }
  value(row, k) { return this.tree.points[row * (this.tree.lines.length + 1) + 1 + k] }
  get span() { return this.tree.log ? undefined : this.tree.extent[3] - this.tree.extent[2] }
  height(value) { return this.tree.log ? Math.log10(value) : value }
  colour(line) { return line.colours[themeNow() === "dark" ? 1 : 0] }

  // Every line's value at the iteration nearest to one that it is known at.
  valuesNear(iteration) {
    return this.tree.lines.flatMap((line, k) => {
      let best = -1
      for (let row = 0; row < this.count; row++) {
        if (!Number.isFinite(this.value(row, k))) continue
        if (best < 0 || Math.abs(this.iteration(row) - iteration) < Math.abs(this.iteration(best) - iteration)) best = row
      }
      return best < 0 ? [] : [{line, value: this.value(best, k), iteration: this.iteration(best)}]
    })
  }

  frameOn(side, tall) {
    const {left, right, above, below} = CHART, [first, last, low, high] = this.tree.extent
    const wide = side - left - right, up = tall - above - below
    return {
      left, top: above, wide, high: up,
      x: (iteration) => left + wide * (iteration - first) / (last - first),
      y: (height) => above + up * (high - height) / (high - low),
      iteration: (place) => first + (last - first) * (place - left) / wide,
    }
  }

  draw(pen, side, tall) {
    pen.fillStyle = shade("card"); pen.fillRect(0, 0, side, tall)
    if (!this.tree) return
    const {extent, ticks, lines, log} = this.tree, frame = this.frameOn(side, tall)
    const base = log ? 0 : baseOf(extent[2], extent[3]), above = tickFrom(base, extent[3] - extent[2])
    drawTicks(pen, frame, roundTicks(extent[0], extent[1], 5, true), ticks, {
      upright: false, across: (value) => value.toLocaleString("en"), upward: base ? above : (value) => heightText(value, log),
    })
    if (base) {
      pen.textAlign = "left"; pen.textBaseline = "top"
      pen.fillText(nameFrom(-base, ""), frame.left + 4, frame.top)
    }
    pen.save()
    pen.beginPath(); pen.rect(frame.left, frame.top, frame.wide, frame.high); pen.clip()
    const upright = (iteration, colour) => {
      pen.strokeStyle = colour; pen.lineWidth = 1.2
      pen.beginPath(); pen.moveTo(frame.x(iteration), frame.top); pen.lineTo(frame.x(iteration), frame.top + frame.high)
      pen.stroke()
    }
    if (this.viewed !== null) upright(this.viewed, shade("muted"))
    if (this.board.pointed !== null) upright(this.board.pointed, shade("border"))
    pen.lineJoin = "round"
    lines.forEach((line, k) => this.drawLine(pen, frame, line, k))
    pen.setLineDash([])
    pen.restore()
  }

  // A value that was not measured is no gap; a single one is drawn as a dash.
  drawLine(pen, frame, line, k) {
    let known = 0, x = 0, y = 0
    pen.beginPath()
    for (let row = 0; row < this.count; row++) {
      const height = this.height(this.value(row, k))
      if (!Number.isFinite(height)) continue
      x = frame.x(this.iteration(row)); y = frame.y(height)
      known ? pen.lineTo(x, y) : pen.moveTo(x, y)
      known += 1
    }
    if (known === 1) pen.lineTo(x + DASH * frame.wide, y)
    pen.strokeStyle = this.colour(line); pen.lineWidth = line.width; pen.setLineDash(DASHES[line.dash])
    pen.stroke()
  }

  paint() {
    this.dirty = false
    const wide = this.canvas.clientWidth, tall = this.canvas.clientHeight, ratio = devicePixelRatio || 1
    if (!wide || !tall) return false
    const [across, down] = [Math.round(wide * ratio), Math.round(tall * ratio)]
    if (this.canvas.width !== across || this.canvas.height !== down) { this.canvas.width = across; this.canvas.height = down }
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    this.draw(this.pen, wide, tall)
    return false
  }

  // The values at the iteration nearest to the pointer, which all charts of the run mark.
  point(event) {
    const wide = this.canvas.clientWidth, {left} = this.canvas.getBoundingClientRect(), place = event.clientX - left
    const frame = this.tree && this.frameOn(wide, this.canvas.clientHeight)
    if (!this.count || place < frame.left || place > frame.left + frame.wide) return this.leave()
    const found = this.valuesNear(frame.iteration(place))
    if (!found.length) return this.leave()
    const near = found.reduce((best, each) => (
      Math.abs(frame.x(each.iteration) - place) < Math.abs(frame.x(best.iteration) - place) ? each : best))
    this.board.point(near.iteration)
    const words = (kind, text) => Object.assign(document.createElement(kind), {textContent: text})
    const said = found.reverse().map(({line, value}) => {  // the last line lies on top
      const row = document.createElement("div"), mark = document.createElement("i")
      mark.style.cssText = `display:inline-block;width:12px;margin-right:6px;vertical-align:middle;border-top:2.5px solid ${this.colour(line)}`
      row.append(mark, `${line.name} `, words("b", valueText(value, this.span)))
      return row
    })
    this.box.replaceChildren(words("div", `iteration ${near.iteration.toLocaleString("en")}`), ...said)
    this.box.style.display = "block"
    const x = frame.x(near.iteration), beside = this.box.offsetWidth + 12
    this.box.style.left = `${x + beside > wide && x > beside ? x - beside : x + 12}px`
    this.box.style.top = "0"
  }
  leave() {
    this.box.style.display = "none"
    this.board.point(null)
  }

  // The chart, drawn by a pen that writes SVG.
  drawing() {
    const pen = new SvgPen(this.canvas.clientWidth, this.canvas.clientHeight)
    this.draw(pen, ...pen.size)
    return pen
  }
}
