// One clock for all views of the page: they are painted together, and only while something is to be painted.
const SLOW = 14 // milliseconds that painting may take
export const SETTLED = 200 // milliseconds without motion after which a view stands still

export const tooSlow = (milliseconds) => milliseconds > SLOW

export const clock = {
  views: new Set(),
  waits: false, // for the next animation frame
  painted: 0, // how often squares were painted
  slow: false, // whether those that move take, with all their pixels, longer than there is time
  wake() {
    if (this.waits) return
    this.waits = true
    document.documentElement.toggleAttribute("data-moving", true)
    requestAnimationFrame((now) => this.paint(now))
  },
  paint() {
    this.waits = false
    const now = performance.now()
    let more = false
    let anySquare = false
    let cost = 0
    for (const view of this.views) if (view.moves || now - view.moved < SETTLED) cost += view.cost
    this.slow = tooSlow(cost)
    for (const view of this.views) {
      if (!view.dirty && !view.moves) continue
      more = view.paint(now) || more
      anySquare ||= view.isSquare
    }
    if (anySquare) this.painted += 1
    if (more) this.wake()
    else document.documentElement.toggleAttribute("data-moving", false)
  },
}
