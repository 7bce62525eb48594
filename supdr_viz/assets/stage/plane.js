// One square view: a canvas, what it shows, and where everything stands on it.
import {drawAxes, drawAxisWords, drawEdge, WORDS} from "./axes.js"
import {clock, SETTLED, tooSlow} from "./clock.js"
import {pixelOf, shade, tonesOf} from "./colours.js"
import constants from "./constants.json" with {type: "json"}
import {drawGhosts} from "./ghosts.js"
import {ImageCache} from "./images.js"
import {drawArrows, drawThreads, drawTips} from "./joins.js"
import {Motion} from "./motion.js"
import {drawAbove, drawPictureBelow, drawRows, drawSurface} from "./paint.js"
import {reachOf, sheetOf} from "./raster.js"
import {rasters} from "./rasters.js"
import {Relief} from "./relief.js"
import {bit} from "./rows.js"
import {Thumbnails} from "./thumbnails.js"
import {unpackPlaces} from "./wire.js"

const MOST_PIXELS = 900 // across, where the screen has several for each of the page's
const SHARP_AGAIN = 2000 // milliseconds after which all pixels are tried again
const TURNING = 1400 // milliseconds that rows take to another view
const NONE = {left: 0, above: 0, below: 0}
const ROWS = ["place", "ring", "support"] // what of a view lies over its base
const BEYOND = 20 // device pixels beyond the edge within which a mark may reach into the view
const USUAL = 420 // pixels across of a view, up to which marks have their usual size
const MOST_MAGNIFIED = 1.7
const MANY = 5000 // rows
const MARGINS = 8 // device pixels by which margins differ
const {small: SMALL, ring_gap: RING_GAP} = constants.rows

export class Plane {
  constructor(board, name, host) {
    this.board = board
    this.name = name
    this.view = name
    this.host = host
    this.canvas = document.createElement("canvas")
    this.canvas.setAttribute("role", "img")
    this.canvas.className = "stage"
    this.canvas.style.cssText = "display:block;width:100%;aspect-ratio:1;outline-offset:-2px"
    host.style.position = "relative"
    host.append(this.canvas)
    this.pen = this.canvas.getContext("2d", {willReadFrequently: true, alpha: false})
    this.base = document.createElement("canvas")
    this.basePen = this.base.getContext("2d", {willReadFrequently: true, alpha: false})
    this.images = new ImageCache()
    this.thumbnails = new Thumbnails(this)
    this.position = new Motion()
    this.end = new Motion()
    this.bounds = new Motion()
    this.relief = new Relief()
    this.zoom = null
    this.token = null
    this.blank = true // nothing of these rows was shown yet
    this.cost = 0
    this.moved = 0
    this.sharp = 0
    this.stale = true
    this.dirty = true
    this.rasters = rasters
    this.margin = 0
    this.tree = {}
    this.observer = new ResizeObserver(() => this.touch())
    this.observer.observe(this.canvas)
    clock.views.add(this)
  }

  remove() {
    clock.views.delete(this)
    this.observer.disconnect()
    this.pointer?.remove()
    this.canvas.remove()
  }

  // Something is to be painted anew; the base (all that lies under the rows) too, unless only rows have changed.
  touch(base = true) {
    this.dirty = true
    this.stale ||= base
    clock.wake()
  }

  // Show another view of the run, on which the rows move over to where they stand there.
  turn(view, tree) {
    this.view = view
    this.tree = tree
    this.end = new Motion()
    this.relief = new Relief()
    this.zoom = null
    this.token = tree.token
    this.images.clear()
    this.apply(tree, performance.now(), false, TURNING)
  }

  // Move to what a patch has changed; `duration` milliseconds; without it, as long as news usually take.
  apply(patch, now, snap, duration) {
    const tree = this.tree
    if (patch.place) this.position.go(unpackPlaces(tree.place), now, snap || tree.token !== this.token, duration)
    if (patch.ends) this.end.go(unpackPlaces(tree.ends), now, snap)
    if (patch.extent || patch.token !== undefined) {
      const fresh = tree.token !== this.token
      if (fresh) {
        this.zoom = null
        this.token = tree.token
        this.blank = true
      }
      this.bounds.go(Float64Array.from(tree.extent), now, snap || this.blank, duration)
    }
    if (this.blank) this.blank = !(tree.picture || this.places.some((value) => !Number.isNaN(value)))
    if (patch.relief !== undefined) this.relief.go(tree.relief, now, snap || tooSlow(this.cost))
    if (patch.label !== undefined) this.canvas.setAttribute("aria-label", tree.label)
    // Rows and their rings lie over all the rest: what is under them stays, unless it is joined to them.
    this.touch(this.hasJoins || Object.keys(patch).some((name) => !ROWS.includes(name)))
  }

  get isSquare() {
    return true
  }
  get moves() {
    return this.position.moves || this.end.moves || this.bounds.moves || this.relief.moves
  }
  get places() {
    return this.position.values || new Float64Array(0)
  }
  get tips() {
    return this.end.values || new Float64Array(0)
  }
  get extent() {
    return this.zoom || this.bounds.values || [0, 1, 0, 1]
  }
  get axes() {
    return this.tree.picture?.axes
  }
  // The room around the picture that what is said of its axes takes.
  get room() {
    if (this.axes) return constants.axes
    return this.hasAxisWords && !this.tree.words_inside ? WORDS : NONE
  }
  get hasAxisWords() {
    return !this.axes && Boolean(this.tree.axis_words?.some(Boolean))
  }
  get rowsShown() {
    return this.position.values !== null && (this.view !== "method" || Boolean(this.tree.picture?.rows))
  }
  get hasJoins() {
    return Boolean(this.tree.threads || this.tree.ghosts || this.hasTips)
  }
  get hasTips() {
    return Boolean(this.tree.picture?.tips && this.rowsShown)
  }

  // Values -> places on a square of `side` pixels.
  frameOn(side) {
    const extent = this.extent
    const {left, above: top, below} = this.room
    const wide = side - left - top // as much room on the right as above
    const high = side - top - below
    const across = wide / (extent[1] - extent[0])
    const up = high / (extent[3] - extent[2])
    return {
      left,
      top,
      wide,
      high,
      across,
      up,
      x: (value) => left + (value - extent[0]) * across,
      y: (value) => top + high - (value - extent[2]) * up,
      valueX: (place) => extent[0] + (place - left) / across,
      valueY: (place) => extent[2] + (top + high - place) / up,
      shows: (x, y) => x >= left && x <= left + wide && y >= top && y <= top + high,
    }
  }
  get frame() {
    this.drawnFrame ??= this.frameOn(this.canvas.clientWidth || 300)
    return this.drawnFrame
  }

  roleColours() {
    return this.board.roleColours(this.tree.picture)
  }
  colourOf(row) {
    const roles = this.tree.picture?.row_role
    return roles ? this.roleColours()[roles[row]] : this.board.colourOf(row)
  }

  // Every mark of every row, and their rings, in the order in which they are drawn: act(row, look, colour, opacity).
  eachMark(act) {
    const {board, places} = this
    const looks = board.looksOf(this.small)
    this.eachRing(act, true)
    for (const row of board.order) {
      if (2 * row >= places.length || Number.isNaN(places[2 * row])) continue
      act(row, looks.list[looks.of[row]], this.colourOf(row), board.opacityOf(row))
    }
    this.eachRing(act, false)
  }
  get small() {
    return this.tree.picture?.small ? SMALL : 0
  }

  // The rings that lie under the marks, or those over them.  Rings of support vectors first: those that both planes have
  // lie over them.
  eachRing(act, under) {
    if (this.view === "method") return
    for (const ring of [this.tree.support, this.tree.ring]) {
      if (!ring?.rows || Boolean(ring.under) !== under) continue
      if (ring.edge) this.eachOf({...ring, role: "card", width: ring.width + 2 * ring.edge}, act)
      this.eachOf(ring, act)
    }
  }

  eachOf(ring, act) {
    const {board, places} = this
    const count = Math.min(board.count, places.length / 2)
    const grow = ring.grow ?? 1
    const ringLooks = new Map()
    const lookOf = (factor) => {
      const size = grow * factor * board.size + (ring.gap ?? RING_GAP)
      if (!ringLooks.has(size)) ringLooks.set(size, {shape: "circle", size, fill: 0, line: 1, width: ring.width})
      return ringLooks.get(size)
    }
    const colour = shade(ring.role)
    for (let row = 0; row < count; row++) {
      const isDrawn = bit(ring.rows, row) && !Number.isNaN(places[2 * row])
      if (!isDrawn || (board.selected && !board.selected.has(row))) continue
      const own = board.lookOf(row)
      if (grow > 1) act(row, {...own, size: grow * own.size}, board.colourOf(row), 1)
      act(row, lookOf(board.grownOf(row)), colour, ring.alpha)
    }
  }

  drawBelow(pen, side) {
    pen.fillStyle = shade("card")
    pen.fillRect(0, 0, side, side)
    pen.save()
    if (this.axes) drawAxes(pen, this.frame, this.extent, this.tree.picture)
    if (this.room.left) this.clip(pen)
    if (this.tree.picture) drawPictureBelow(pen, this)
    drawSurface(pen, this)
    if (this.tree.threads && this.tips.length) drawThreads(pen, this, this.tips, shade("secondary"))
    if (this.hasTips) drawTips(pen, this, true)
    if (this.tree.ghosts) drawGhosts(pen, this)
    pen.restore()
  }

  drawOver(pen) {
    pen.save()
    if (this.room.left) this.clip(pen)
    if (this.hasTips && this.tree.picture.tip_mark !== "origin") drawTips(pen, this, false)
    drawAbove(pen, this)
    if (this.tree.arrows) drawArrows(pen, this)
    pen.restore()
    const tinted = this.tree.region?.image && this.board.tintsSurface
    if (this.rowsShown && !this.axes && !tinted) drawEdge(pen, this.frame)
    if (this.hasAxisWords) drawAxisWords(pen, this.frame, this.tree.axis_words, this.tree.words_inside)
  }

  clip(pen) {
    const {left, top, wide, high} = this.frame
    pen.beginPath()
    pen.rect(left, top, wide, high)
    pen.clip()
  }

  // Paint; tell whether something still moves.
  paint(now) {
    const began = performance.now()
    const side = this.canvas.clientWidth
    if (!side) {
      this.dirty = false
      this.advance(Infinity)
      return false
    }
    const under = this.bounds.moves || this.relief.moves
    const moving = this.advance(now)
    if (moving) this.moved = now
    // Many pixels are for pictures that stand still where the machine is slow.
    const full = Math.min(devicePixelRatio || 1, Math.max(1, MOST_PIXELS / side))
    const ratio = clock.slow && now - this.moved < SETTLED ? 1 : full
    const resized = this.resize(Math.round(side * ratio))
    this.drawnFrame = this.frameOn(side)
    this.chooseSheet(ratio)
    if (this.stale || under || (moving && this.hasJoins)) this.paintBase(side, ratio)
    this.paintRows(ratio)
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    this.thumbnails.draw(this.pen)
    this.drawOver(this.pen)
    this.pointer?.draw(this.pen)
    this.dirty = false
    if (ratio === full) {
      this.sharp = now
      if (!resized) this.measure(performance.now() - began) // the first picture takes longer
    } else if (!moving) {
      this.sharpening ??= setTimeout(() => this.sharpen(), SETTLED)
    } else if (now - this.sharp > SHARP_AGAIN) {
      this.cost = 0 // something else may have held it up: all pixels are tried again
    }
    return moving || this.dirty
  }

  // Move on all that moves; tell whether there is more to come.
  advance(now) {
    const steps = [this.end, this.position, this.bounds, this.relief].map((part) => part.step(now))
    return steps.some(Boolean)
  }

  // Give the canvases so many pixels; tell whether they had others.
  resize(pixels) {
    if (this.canvas.width === pixels) return false
    for (const canvas of [this.canvas, this.base]) {
      canvas.width = pixels
      canvas.height = pixels
    }
    this.stale = true
    return true
  }

  // Milliseconds that a picture with all pixels takes, whether they are painted while it moves or not.
  measure(milliseconds) {
    this.cost += (this.cost ? 0.2 : 1) * (milliseconds - this.cost)
  }

  // The masks of the rows' marks, and a margin around the picture that takes what they have beyond its edges.
  chooseSheet(ratio) {
    if (!this.drawsRows) return
    const {list} = this.board.looksOf(this.small)
    const shares = this.board.shares.list
    const pixels = this.canvas.width
    const scale = ratio * this.magnified
    const key = [shares, scale, pixels].join(" ")
    if (this.sheet?.list === list && this.sheet.key === key) return
    const margin = MARGINS * Math.ceil((BEYOND + reachOf(list, scale)) / MARGINS)
    this.sheet = {...sheetOf(list, shares, scale, pixels + 2 * margin), list, key}
    this.stale ||= margin !== this.margin
    this.margin = margin
  }
  // By how much marks are larger in a large view, as on a projector; many rows would hide each other.
  get magnified() {
    const side = this.canvas.clientWidth
    return this.board.count > MANY ? 1 : Math.min(Math.max(side / USUAL, 1), MOST_MAGNIFIED)
  }
  get drawsRows() {
    return this.rowsShown && this.board.count > 0
  }

  paintBase(side, ratio) {
    const {margin} = this
    const wide = this.base.width + 2 * margin
    this.basePen.setTransform(ratio, 0, 0, ratio, 0, 0)
    this.drawBelow(this.basePen, side)
    this.below = this.basePen.getImageData(-margin, -margin, wide, wide)
    this.stale = false
  }

  // Rows and rings as pixels over the base.
  paintRows(ratio) {
    const {board, pen, margin} = this
    if (!this.drawsRows) {
      pen.putImageData(this.below, -margin, -margin)
      return
    }
    rasters.paint(board.count, pen, (raster, most) => {
      this.mixRows(raster, ratio, most)
      return raster.show(pen, -margin, -margin)
    })
  }

  // Paint with all pixels, unless it moves again: then that is for later.
  sharpen() {
    this.sharpening = null
    if (!this.moves) this.touch()
  }

  // Mix the marks of the rows into a picture, or those of the first of them.
  mixRows(raster, ratio, most = this.board.count) {
    const {frame, places, extent, board, sheet, margin} = this
    const across = [frame.across * ratio, (frame.left - extent[0] * frame.across) * ratio + margin]
    const up = [-frame.up * ratio, (frame.top + frame.high + extent[2] * frame.up) * ratio + margin]
    const inside = this.insideOf(ratio, this.canvas.width).map((edge) => edge + margin)
    const scale = ratio * this.magnified
    const blitRing = (row, look, colour, opacity) => {
      const x = frame.x(places[2 * row]) * ratio + margin
      const y = frame.y(places[2 * row + 1]) * ratio + margin
      if (x < inside[0] || x > inside[1] || y < inside[2] || y > inside[3]) return
      const share = Math.round(256 * opacity)
      raster.blitMark(look, share, scale, x, y, pixelOf(colour))
    }
    raster.begin(this.below)
    this.eachRing(blitRing, true)
    raster.blitRows({
      frame: Float64Array.of(...across, ...up, ...inside),
      order: most < board.count ? board.order.subarray(0, most) : board.order,
      places,
      looks: board.looksOf(this.small).of,
      shares: board.shares.of,
      tones: this.tones,
      sheet,
    })
    this.eachRing(blitRing, false)
  }

  // The pixel of each row; a picture may have colours of its own.
  get tones() {
    const roles = this.tree.picture?.row_role
    if (!roles) return this.board.tones
    const colours = this.roleColours()
    if (this.toned?.roles !== roles || this.toned.colours.join() !== colours.join()) {
      this.toned = {roles, colours, tones: tonesOf(colours, roles)}
    }
    return this.toned.tones
  }

  // Between which device pixels a mark is to be seen, left, right, top and bottom: near the view, and between the axes
  // where something is said of them.
  insideOf(ratio, side) {
    const {left, top, wide, high} = this.frame
    if (!this.room.left) return [-BEYOND, side + BEYOND, -BEYOND, side + BEYOND]
    return [(left - 1) * ratio, (left + wide + 1) * ratio, (top - 1) * ratio, (top + high + 1) * ratio]
  }

  // Draw the view by a pen that writes SVG.
  drawOn(pen) {
    const [side] = pen.size
    this.drawnFrame = this.frameOn(side)
    this.drawBelow(pen, side)
    pen.save()
    pen.beginPath()
    pen.rect(0, 0, side, side)
    pen.clip()
    drawRows(pen, this)
    this.thumbnails.draw(pen)
    pen.restore()
    this.drawOver(pen)
  }

  // The row nearest to a place, within a reach in pixels; -1 if there is none.
  nearest(x, y, reach) {
    const {places, frame} = this
    let best = reach * reach
    let nearest = -1
    if (!this.rowsShown) return nearest
    for (let row = 0; row < Math.min(places.length / 2, this.board.count); row++) {
      const across = frame.x(places[2 * row]) - x
      const down = frame.y(places[2 * row + 1]) - y
      const far = across * across + down * down
      if (far <= best) {
        best = far
        nearest = row
      }
    }
    return nearest
  }
}
