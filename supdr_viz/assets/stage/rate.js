// How many frames a second are painted, and how many come: on request, in the corner of a view.
import {clock} from "./clock.js"
import {tooltipBox} from "./tooltip.js"

const INTERVAL = 1000 // milliseconds

export class Rate {
  constructor(plane) {
    this.plane = plane
    this.box = null
  }

  toggle() {
    if (this.box) {
      this.remove()
      return
    }
    this.box = tooltipBox(this.plane.host)
    Object.assign(this.box.style, {display: "block", left: "8px", bottom: "8px", fontVariantNumeric: "tabular-nums"})
    this.box.textContent = "counting frames"
    this.before = this.count()
    this.timer = setInterval(() => this.show(), INTERVAL)
  }
  remove() {
    clearInterval(this.timer)
    this.box?.remove()
    this.box = null
  }

  count() {
    return [performance.now() / 1000, clock.painted, this.plane.board.received]
  }
  show() {
    const now = this.count()
    const [seconds, painted, received] = now.map((value, k) => value - this.before[k])
    this.before = now
    this.box.textContent = `${Math.round(painted / seconds)} painted, ${Math.round(received / seconds)} received a second`
  }
}
