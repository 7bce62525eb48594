// What draws the marks of rows in all views of a page: the processor or, where a trial shows that it is clearly
// quicker, graphics hardware.  What the browser says of its hardware is not asked: software may stand behind it.
import {Raster} from "./raster.js"
import {WebGLRaster} from "./webgl.js"

const MANY = 20_000 // rows from which a trial is worth its time
const MORE = 3 // times as many rows are worth another one
const FEW = 2_000 // rows with which a trial begins
const TRIES = 2
const QUICKER = 1.3 // times

export const rasters = {
  usual: new Raster(),
  other: null, // graphics hardware where it is the quicker one
  tried: 0, // rows of the last trial
  get chosen() {
    return this.other ?? this.usual
  },

  // Paint so many rows by a pen: draw(raster) draws them by a raster and tells whether they are there; draw(raster, most)
  // draws the first of them.
  paint(count, pen, draw) {
    if (count >= MANY && count >= MORE * this.tried) this.compare(count, pen, draw)
    if (this.other && !drawn(draw, this.other)) this.other = null
    if (!this.other) draw(this.usual)
  },

  // Let both draw the same rows, and keep graphics hardware if it is the quicker one.
  compare(count, pen, draw) {
    this.tried = count
    this.other = null
    const other = this.webgl()
    if (!other) return
    const usual = quickest(pen, draw, this.usual, Infinity)
    if (QUICKER * quickest(pen, draw, other, usual) < usual) this.other = other
    else other.close()
  },

  webgl() {
    try {
      return new WebGLRaster()
    } catch (problem) {
      console.info(`Rows are drawn without WebGL: ${problem.message}`)
      return null
    }
  },
}

function drawn(draw, raster, most) {
  try {
    return draw(raster, most)
  } catch (problem) {
    console.info(`Rows are drawn without WebGL: ${problem.message}`)
    return false
  }
}

// Milliseconds of a drawing.
function timed(pen, draw, raster, most) {
  const began = performance.now()
  if (!drawn(draw, raster, most)) return Infinity
  pen.getImageData(0, 0, 1, 1) // until then the hardware may not have begun
  return performance.now() - began
}

// Milliseconds of the quickest drawing of some: other work may hold one up.  Few rows come first, twice: masks and
// shaders are prepared for them, and where software stands behind the hardware, they take longer than the limit.
function quickest(pen, draw, raster, limit) {
  timed(pen, draw, raster, FEW)
  if (timed(pen, draw, raster, FEW) > limit) return Infinity
  let best = Infinity
  for (let k = 0; k < TRIES; k++) {
    best = Math.min(best, timed(pen, draw, raster))
    if (best > limit) break
  }
  return best
}
