// The still of the page, which lies over it until it is drawn.
const LOOK = 50 // milliseconds between two looks
const MOST = 20000 // milliseconds after the first picture of the stage
const SLIDE = 250 // milliseconds in which the drawer of a narrow window slides shut

let ends = false

// The stage has drawn; the still goes once the kit has drawn its widgets, too, and has hidden the outline of the page.
export function endStill() {
  const still = document.getElementById("still")
  if (!still || ends) return
  ends = true
  const latest = performance.now() + MOST
  const slide = matchMedia("(max-width: 899.95px)").matches ? SLIDE : 0
  let drawnAt = Number.POSITIVE_INFINITY
  const look = () => {
    const now = performance.now()
    if (document.getElementById("loader").style.display === "none") drawnAt = Math.min(drawnAt, now)
    if (now >= drawnAt + slide || now > latest) {
      still.remove()
      document.documentElement.dataset.stillEnded = performance.now()
    } else setTimeout(look, LOOK)
  }
  look()
}
