// Curves over iterations: lines, steady axes, the iteration on display, and what stands at the pointer.

import {baseOf, digitsOf, drawTicks, nameFrom, signed, tickFrom, ticksToEnd, tickText} from "./axes.js"
import {clock} from "./clock.js"
import {shade, themeNow} from "./colours.js"
import constants from "./constants.json" with {type: "json"}
import {drawSentence} from "./paint.js"
import {tooltipBox} from "./tooltip.js"

const CHART = {left: 52, right: 12, above: 6, below: 24}
const BAND = 0.35 // opacity of a range
const SPARSE = 12 // values, at most, of a line that marks them: what is between was not measured
const DOT = 2.5 // radius of a value that is marked, and more for one that stands alone
const BESIDE = 12 // pixels between an iteration and its tooltip
const SIGNS = "⁰¹²³⁴⁵⁶⁷⁸⁹"

const powerText = (e) => `10${e < 0 ? "⁻" : ""}${[...`${Math.abs(e)}`].map((digit) => SIGNS[digit]).join("")}`
function valueText(value, span) {
  const size = Math.abs(value)
  const digits = digitsOf(value, span, 3)
  if (size === 0) return "0"
  if (size >= 1e6) return `${signed(+(value / 1e6).toPrecision(digits))} M`
  if (size >= 1e4) return `${signed(+(value / 1e3).toPrecision(digits))} k`
  if (size >= 1e-3) return tickText(value)
  const [mantissa, power] = value.toExponential(0).split("e")
  return `${signed(mantissa)}·${powerText(+power)}`
}
const heightText = (tick, log) => {
  const whole = Math.round(tick)
  const exact = Math.abs(tick - whole) < 1e-9
  if (!log) return valueText(tick)
  return exact && (whole > 3 || whole < -2) ? powerText(whole) : valueText(10 ** tick)
}

const element = (kind, text) => Object.assign(document.createElement(kind), {textContent: text})

export class Chart {
  constructor(board, name, host) {
    this.board = board
    this.name = name
    this.host = host
    this.tree = null
    this.canvas = document.createElement("canvas")
    this.canvas.setAttribute("role", "img")
    this.canvas.className = "chart"
    this.canvas.style.cssText = "position:absolute;inset:0;width:100%;height:100%" // of the place, whatever lies between
    host.append(this.canvas)
    this.box = tooltipBox(host)
    this.pen = this.canvas.getContext("2d", {willReadFrequently: true, alpha: false})
    this.canvas.addEventListener("pointermove", (event) => this.point(event))
    for (const leaving of ["pointerleave", "pointercancel"]) this.canvas.addEventListener(leaving, () => this.leave())
    this.observer = new ResizeObserver(() => this.touch())
    this.observer.observe(this.canvas)
    this.dirty = true
    clock.views.add(this)
  }

  remove() {
    clock.views.delete(this)
    this.observer.disconnect()
    this.canvas.remove()
    this.box.remove()
  }

  touch() {
    this.dirty = true
    clock.wake()
  }

  // Show another tree; it says the same in words.
  show(tree) {
    this.tree = tree
    const last = this.count - 1
    const values = last >= 0 ? this.valuesNear(this.viewed ?? this.iteration(last)) : []
    const text = values.map(({line, value}) => `${line.name} ${valueText(value, this.span)}`).join(", ")
    this.canvas.setAttribute("aria-label", tree.title + (text && ` at iteration ${this.viewed}: ${text}`))
    this.touch()
  }

  get count() {
    return this.tree ? this.tree.points.shape[0] : 0
  }
  get viewed() {
    return this.tree.viewed
  }
  iteration(row) {
    return this.tree.points[row * (this.tree.lines.length + 1)]
  }
  value(row, k) {
    return this.tree.points[row * (this.tree.lines.length + 1) + 1 + k]
  }
  get span() {
    return this.tree.log ? undefined : this.tree.extent[3] - this.tree.extent[2]
  }
  height(value) {
    return this.tree.log ? Math.log10(value) : value
  }
  colour(line) {
    return line.colours[themeNow() === "dark" ? 1 : 0]
  }

  // Every line's value at the iteration nearest to one that it is known at.
  valuesNear(iteration) {
    return this.tree.lines.flatMap((line, k) => {
      let best = -1
      for (let row = 0; row < this.count; row++) {
        if (!Number.isFinite(this.value(row, k))) continue
        if (best < 0 || Math.abs(this.iteration(row) - iteration) < Math.abs(this.iteration(best) - iteration))
          best = row
      }
      return best < 0 ? [] : [{line, value: this.value(best, k), iteration: this.iteration(best)}]
    })
  }

  frameOn(side, tall) {
    const {left, right, above, below} = CHART
    const [first, last, low, high] = this.tree.extent
    const wide = side - left - right
    const up = tall - above - below
    return {
      left,
      top: above,
      wide,
      high: up,
      x: (iteration) => left + (wide * (iteration - first)) / (last - first),
      y: (height) => above + (up * (high - height)) / (high - low),
      iteration: (place) => first + ((last - first) * (place - left)) / wide,
    }
  }

  draw(pen, side, tall) {
    pen.fillStyle = shade("card")
    pen.fillRect(0, 0, side, tall)
    if (!this.tree) return
    const {extent, ticks, lines, log, unit} = this.tree
    const behind = unit && ` ${unit}`
    const frame = this.frameOn(side, tall)
    const base = log ? 0 : baseOf(extent[2], extent[3])
    const above = tickFrom(base, extent[3] - extent[2])
    drawTicks(pen, frame, ticksToEnd(extent[0], extent[1]), ticks, {
      upright: false,
      across: (value) => value.toLocaleString("en"),
      upward: base ? above : (value) => heightText(value, log) + behind,
    })
    pen.textAlign = "left"
    pen.textBaseline = "top"
    if (base) pen.fillText(nameFrom(-base, ""), frame.left + 4, frame.top)
    pen.fillText("iteration", 0, frame.top + frame.high + 5)
    pen.save()
    pen.beginPath()
    pen.rect(frame.left - 2 * DOT, frame.top, frame.wide + 4 * DOT, frame.high)
    pen.clip()
    if (this.tree.band) this.drawBand(pen, frame, this.tree.band)
    const upright = (iteration, colour) => {
      pen.strokeStyle = colour
      pen.lineWidth = 1.2
      pen.beginPath()
      pen.moveTo(frame.x(iteration), frame.top)
      pen.lineTo(frame.x(iteration), frame.top + frame.high)
      pen.stroke()
    }
    if (this.viewed !== null) upright(this.viewed, shade("muted"))
    if (this.board.pointed !== null) upright(this.board.pointed, shade("border"))
    pen.lineJoin = "round"
    for (const [k, line] of lines.entries()) this.drawLine(pen, frame, line, k)
    pen.setLineDash([])
    pen.restore()
    if (this.count < 2) drawSentence(pen, frame, this.sentence)
  }

  // What is said while there are no curves.
  get sentence() {
    if (!this.count) return "No value is known yet."
    const first = this.iteration(0) // runs that go on begin with 0
    return first === 1 ? "Fitted in one step: there is no curve." : `Iteration ${first} only`
  }

  // A range of values that is the same at all iterations.
  drawBand(pen, frame, [low, high]) {
    const [top, bottom] = [high, low].map((value) => frame.y(this.height(value)))
    pen.globalAlpha = BAND
    pen.fillStyle = shade("muted")
    pen.fillRect(frame.left, top, frame.wide, Math.max(1, bottom - top))
    pen.globalAlpha = 1
  }

  // A value that was not measured is no gap; a single one, and a few among many iterations, are marked by dots.
  drawLine(pen, frame, line, k) {
    const spots = []
    pen.beginPath()
    for (let row = 0; row < this.count; row++) {
      const height = this.height(this.value(row, k))
      if (!Number.isFinite(height)) continue
      const spot = [frame.x(this.iteration(row)), frame.y(height)]
      if (spots.length) pen.lineTo(...spot)
      else pen.moveTo(...spot)
      spots.push(spot)
    }
    const count = spots.length
    pen.strokeStyle = this.colour(line)
    pen.lineWidth = line.width
    pen.setLineDash(constants.dashes[line.dash])
    pen.stroke()
    const iterations = this.count ? this.iteration(this.count - 1) - this.iteration(0) : 0
    if (count !== 1 && (count > SPARSE || 2 * count > iterations)) return
    pen.fillStyle = this.colour(line)
    for (const [across, up] of spots) {
      pen.beginPath()
      pen.arc(across, up, count > 1 ? DOT : 1.6 * DOT, 0, 2 * Math.PI)
      pen.fill()
    }
  }

  paint() {
    this.dirty = false
    const wide = this.canvas.clientWidth
    const tall = this.canvas.clientHeight
    const ratio = devicePixelRatio || 1
    if (!wide || !tall) return false
    const [across, down] = [Math.round(wide * ratio), Math.round(tall * ratio)]
    if (this.canvas.width !== across || this.canvas.height !== down) {
      this.canvas.width = across
      this.canvas.height = down
    }
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    this.draw(this.pen, wide, tall)
    return false
  }

  // The values at the iteration nearest to the pointer, which all charts of the run mark.
  point(event) {
    const wide = this.canvas.clientWidth
    const x = event.clientX - this.canvas.getBoundingClientRect().left
    const frame = this.tree && this.frameOn(wide, this.canvas.clientHeight)
    const inside = this.count && x >= frame.left && x <= frame.left + frame.wide
    const values = inside ? this.valuesNear(frame.iteration(x)) : []
    if (!values.length) {
      this.leave()
      return
    }
    const distance = (value) => Math.abs(frame.x(value.iteration) - x)
    const {iteration} = values.reduce((best, value) => (distance(value) < distance(best) ? value : best))
    this.board.point(iteration)
    const title = element("div", `iteration ${iteration.toLocaleString("en")}`)
    const entries = values.reverse().map((value) => this.entry(value)) // the last line lies on top
    this.box.replaceChildren(title, ...entries)
    this.box.style.display = "block"
    const at = frame.x(iteration)
    const room = this.box.offsetWidth + BESIDE
    this.box.style.left = `${at + room > wide && at > room ? at - room : at + BESIDE}px`
    this.box.style.top = "0"
  }

  // A line's value in the tooltip.
  entry({line, value}) {
    const row = document.createElement("div")
    const mark = document.createElement("i")
    mark.style.cssText = "display:inline-block;width:12px;margin-right:6px;vertical-align:middle"
    mark.style.borderTop = `2.5px solid ${this.colour(line)}`
    row.append(mark, `${line.name} `, element("b", valueText(value, this.span)))
    return row
  }

  leave() {
    this.box.style.display = "none"
    this.board.point(null)
  }

  // Draw the chart by a pen that writes SVG.
  drawOn(pen) {
    this.draw(pen, ...pen.size)
  }
}
