// Values in motion: what is shown moves from what it was to what came last, and stops exactly there.
export const still = matchMedia("(prefers-reduced-motion: reduce)")
const LONGEST = 250
const SHORTEST = 60

export class Motion {
  constructor(longest = LONGEST) {
    this.values = null
    this.from = null
    this.to = null
    this.began = 0
    this.duration = 0
    this.arrived = 0
    this.interval = 0
    this.longest = longest
    this.gentle = false
  }

  // Go to new values; at once if they are others, or if asked to.
  go(to, now, snap, duration) {
    const since = now - this.arrived
    const earlier = this.interval
    this.arrived = now
    this.interval = since < this.longest ? since : 0
    const sameRows = this.values?.length === to.length
    const jump = snap || still.matches || document.hidden || !sameRows
    this.to = to
    if (jump) {
      this.values = to
      this.from = null
      return
    }
    // As long as the last ones were apart: then the next ones come when these are reached, if some come early, too.
    this.duration = duration || Math.min(this.longest, Math.max(SHORTEST, since, earlier))
    this.gentle = Boolean(duration)
    this.from = this.from ? this.values.slice() : this.values
    this.values = this.from.slice()
    this.began = now
  }

  get moves() {
    return this.from !== null
  }

  // Move on; tell whether there is more to come.
  step(now) {
    if (!this.from) return false
    const passed = (now - this.began) / this.duration
    // Ways of their own begin and end gently; those that are one of many keep their pace.
    const share = this.gentle ? passed * passed * (3 - 2 * passed) : passed
    if (passed >= 1) {
      this.values = this.to
      this.from = null
      return false
    }
    const {values, from, to} = this
    for (let k = 0; k < to.length; k++) {
      const start = from[k]
      values[k] = Number.isNaN(start) ? to[k] : start + (to[k] - start) * share
    }
    return true
  }
}
