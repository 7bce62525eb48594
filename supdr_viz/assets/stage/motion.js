// Values on their way: what is shown moves from what it was to what was said last, and stops exactly there.
const still = matchMedia("(prefers-reduced-motion: reduce)")
const LONGEST = 250, SHORTEST = 60

class Moving {
  constructor(longest = LONGEST) {
    this.values = null; this.from = null; this.to = null; this.began = 0; this.lasts = 0; this.heard = 0; this.apart = 0
    this.longest = longest; this.gentle = false
  }

  // Go to new values; at once if they are others, or if asked to.
  go(to, now, snap, lasts) {
    const since = now - this.heard, earlier = this.apart
    this.heard = now
    this.apart = since < this.longest ? since : 0
    const jump = snap || still.matches || !this.values || this.values.length !== to.length || document.hidden
    this.to = to
    if (jump) { this.values = to; this.from = null; return }
    // As long as the last ones were apart: then the next ones come when these are reached, if some come early, too.
    this.lasts = lasts || Math.min(this.longest, Math.max(SHORTEST, since, earlier))
    this.gentle = Boolean(lasts)
    this.from = this.from ? this.values.slice() : this.values
    this.values = this.from.slice()
    this.began = now
  }

  get moves() { return this.from !== null }

  // Move on; tell whether there is more to come.
  step(now) {
    if (!this.from) return false
    const passed = (now - this.began) / this.lasts
    // Ways of their own begin and end gently; those that are one of many keep their pace.
    const share = this.gentle ? passed * passed * (3 - 2 * passed) : passed
    if (passed >= 1) { this.values = this.to; this.from = null; return false }
    const {values, from, to} = this
    for (let k = 0; k < to.length; k++) {
      const start = from[k]
      values[k] = Number.isNaN(start) ? to[k] : start + (to[k] - start) * share
    }
    return true
  }
}

// One clock for all views of the page: they are painted together, and only while something is to be painted.
const stageClock = {
  views: new Set(), asked: false, painted: 0,  // how often squares were painted
  slow: false,  // whether those that move take, with all their pixels, longer than there is time
  wake() {
    if (this.asked) return
    this.asked = true
    document.documentElement.toggleAttribute("data-moving", true)
    requestAnimationFrame((now) => this.paint(now))
  },
  paint() {
    this.asked = false
    const now = performance.now()
    let more = false, any = false, cost = 0
    for (const view of this.views) if (view.moves || now - view.moved < SETTLED) cost += view.cost
    this.slow = cost > SLOW
    for (const view of this.views) {
      if (!view.dirty && !view.moves) continue
      more = view.paint(now) || more
      any ||= view instanceof Plane
    }
    if (any) this.painted += 1
    if (more) this.wake()
    else document.documentElement.toggleAttribute("data-moving", false)
  },
}
