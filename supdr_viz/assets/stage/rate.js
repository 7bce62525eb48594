// How many frames a second are painted, and how many come: on request, in the corner of a view.
const RATE_EVERY = 1000

class Rate {
  constructor(plane) { this.plane = plane; this.box = null }

  toggle() {
    if (this.box) return this.remove()
    this.box = tipBox(this.plane.host)
    Object.assign(this.box.style, {display: "block", left: "8px", bottom: "8px", fontVariantNumeric: "tabular-nums"})
    this.box.textContent = "counting frames"
    this.known = this.count()
    this.timer = setInterval(() => this.say(), RATE_EVERY)
  }
  remove() {
    clearInterval(this.timer)
    this.box?.remove()
    this.box = null
  }

  count() { return [performance.now() / 1000, stageClock.painted, this.plane.board.received] }
  say() {
    const now = this.count(), [seconds, painted, received] = now.map((value, k) => value - this.known[k])
    this.known = now
    this.box.textContent = `${Math.round(painted / seconds)} painted, ${Math.round(received / seconds)} received a second`
  }
}
