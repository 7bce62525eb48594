// One square view: a canvas, what it shows, and where everything stands on it.
const masks = new Masks()
const MOST_PIXELS = 900, SLOW = 14, SHARP_AGAIN = 2000, SETTLED = 200, TURNING = 1400, SMALL = 5, RING_GAP = 5.5

// A step by which all of so many rows are reached, neighbours in the table far apart: none of the classes lies on top.
function strideOf(count) {
  const divides = (a, b) => (b ? divides(b, a % b) : a)
  let stride = Math.max(1, Math.round(count * 0.618))
  while (divides(count, stride) > 1) stride += 1
  return stride
}

// Images in the colours of a theme, made once.
class Tints {
  constructor() { this.known = new Map() }
  of(name, levels, table, make = tinted) {
    const known = this.known.get(name), theme = themeNow()
    if (known && known.levels === levels && known.theme === theme) return known.image
    const image = make(levels, table())
    this.known.set(name, {levels, theme, image})
    return image
  }
  forget() { this.known.clear() }
}

class Plane {
  constructor(board, name, host) {
    this.board = board; this.name = name; this.view = name; this.host = host
    this.canvas = document.createElement("canvas")
    this.canvas.setAttribute("role", "img")
    this.canvas.className = "stage"
    this.canvas.style.cssText = "display:block;width:100%;aspect-ratio:1;outline-offset:-2px"
    host.style.position = "relative"
    host.append(this.canvas)
    this.pen = this.canvas.getContext("2d", {willReadFrequently: true, alpha: false})
    this.base = document.createElement("canvas")
    this.basePen = this.base.getContext("2d", {willReadFrequently: true, alpha: false})
    this.tints = new Tints(); this.thumbnails = new Thumbnails(this)
    this.position = new Moving(); this.end = new Moving(); this.bounds = new Moving(); this.relief = new Relief()
    this.zoom = null; this.token = null; this.cost = 0; this.moved = 0; this.sharp = 0; this.stale = true; this.dirty = true
    this.tree = {}
    this.watched = new ResizeObserver(() => this.touch())
    this.watched.observe(this.canvas)
    stageClock.views.add(this)
  }

  remove() {
    stageClock.views.delete(this)
    this.watched.disconnect()
    this.hands?.remove()
    this.canvas.remove()
  }

  // Something is to be painted anew; the base (all that lies under the rows) too, unless only rows have changed.
  touch(base = true) {
    this.dirty = true
    this.stale ||= base
    stageClock.wake()
  }

  // Show another view of the run, on which the rows move over to where they stand there.
  turn(view, tree) {
    this.view = view; this.tree = tree; this.end = new Moving(); this.relief = new Relief()
    this.zoom = null; this.token = tree.token
    this.tints.forget()
    this.apply(tree, performance.now(), false, TURNING)
  }

  // Take what a patch has changed; `lasts` milliseconds, or as long as news usually takes.
  apply(patch, now, snap, lasts) {
    const tree = this.tree
    if (patch.place) this.position.go(unpackPlaces(tree.place), now, snap || tree.token !== this.token, lasts)
    if (patch.ends) this.end.go(unpackPlaces(tree.ends), now, snap)
    if (patch.extent || patch.token !== undefined) {
      const fresh = tree.token !== this.token
      if (fresh) { this.zoom = null; this.token = tree.token }
      this.bounds.go(Float64Array.from(tree.extent), now, snap || fresh, lasts)
    }
    if (patch.relief !== undefined) this.relief.go(tree.relief, now, snap || this.cost > SLOW)
    if (patch.label !== undefined) this.canvas.setAttribute("aria-label", tree.label)
    // Rows and their rings lie over all the rest: what is under them stays, unless it is joined to them.
    this.touch(this.joined || Object.keys(patch).some((name) => name !== "place" && name !== "ring"))
  }

  get moves() { return this.position.moves || this.end.moves || this.bounds.moves || this.relief.moves }
  get places() { return this.position.values || new Float64Array(0) }
  get tips() { return this.end.values || new Float64Array(0) }
  get extent() { return this.zoom || this.bounds.values || [0, 1, 0, 1] }
  get axes() { return this.tree.picture && this.tree.picture.axes }
  get rowsShown() { return this.position.values !== null && (this.view !== "method" || Boolean(this.tree.picture && this.tree.picture.rows)) }
  get joined() { return Boolean(this.tree.threads || this.tipsShown) }
  get tipsShown() { return Boolean(this.tree.picture && this.tree.picture.tips && this.rowsShown) }

  // Values -> places on a square of `side` pixels.
  frameOn(side, height = side) {
    const extent = this.extent, axes = this.axes
    const left = axes ? LEFT : 0, top = axes ? ABOVE : 0, wide = side - left - (axes ? ABOVE : 0), high = height - top - (axes ? BELOW : 0)
    const across = wide / (extent[1] - extent[0]), up = high / (extent[3] - extent[2])
    return {
      left, top, wide, high, across, up,
      x: (value) => left + (value - extent[0]) * across,
      y: (value) => top + high - (value - extent[2]) * up,
      valueX: (place) => extent[0] + (place - left) / across,
      valueY: (place) => extent[2] + (top + high - place) / up,
      shows: (x, y) => x >= left && x <= left + wide && y >= top && y <= top + high,
    }
  }
  get frame() { return this.drawnFrame || (this.drawnFrame = this.frameOn(this.canvas.clientWidth || 300)) }

  roleColours() { return this.board.roleColours(this.tree.picture) }
  colourOf(row) {
    const roles = this.tree.picture && this.tree.picture.row_role
    return roles ? this.roleColours()[roles[row]] : this.board.colourOf(row)
  }

  // Every mark of every row, in the order in which they are drawn: act(row, look, colour, opacity).
  eachMark(act) {
    const {board, places} = this, count = Math.min(board.count, places.length / 2)
    const named = this.tree.picture && this.tree.picture.row_role ? this.roleColours() : null
    const looks = board.looksOf(this.tree.picture && this.tree.picture.small ? SMALL : 0), stride = strideOf(count)
    for (let k = 0, row = 0; k < count; k++, row = (row + stride) % count) {
      if (Number.isNaN(places[2 * row])) continue
      act(row, looks[row], named ? named[this.tree.picture.row_role[row]] : board.colourOf(row), board.opacityOf(row))
    }
    const ring = this.tree.ring
    if (!ring || !ring.rows || this.view === "method") return
    const ease = ring.ease ?? 1, width = ring.width * ease
    const colour = shade(ring.role), look = {shape: "circle", size: board.size + RING_GAP, fill: 0, line: 1, width}
    for (let row = 0; row < count; row++) {
      if (!bit(ring.rows, row) || Number.isNaN(places[2 * row]) || (board.selected && !board.selected.has(row))) continue
      act(row, look, colour, ring.alpha * ease)
    }
  }

  drawBelow(pen, side) {
    pen.fillStyle = shade("card")
    pen.fillRect(0, 0, side, side)
    pen.save()
    if (this.axes) { drawAxes(pen, this.frame, this.extent, this.tree.picture); this.clipped(pen) }
    if (this.tree.picture) drawPictureBelow(pen, this)
    drawSurface(pen, this)
    if (this.tree.threads && this.tips.length) drawThreads(pen, this, this.tips, shade("secondary"))
    if (this.tipsShown) drawTips(pen, this, true)
    pen.restore()
  }

  drawOver(pen) {
    pen.save()
    if (this.axes) this.clipped(pen)
    if (this.tipsShown && this.tree.picture.tip_mark !== "origin") drawTips(pen, this, false)
    drawAbove(pen, this)
    pen.restore()
  }

  clipped(pen) {
    const {left, top, wide, high} = this.frame
    pen.beginPath(); pen.rect(left, top, wide, high); pen.clip()
  }

  // Paint; tell whether something still moves.
  paint(now) {
    const began = performance.now(), side = this.canvas.clientWidth
    if (!side) { this.dirty = false; this.position.step(Infinity); this.end.step(Infinity); this.bounds.step(Infinity); this.relief.step(Infinity); return false }
    const ended = this.end.step(now), under = this.bounds.moves || this.relief.moves
    const moving = [this.position.step(now), ended, this.bounds.step(now), this.relief.step(now)].some(Boolean)
    if (moving) this.moved = now
    // Many pixels are for pictures that stand still where the machine is slow.
    const full = Math.min(devicePixelRatio || 1, Math.max(1, MOST_PIXELS / side))
    const ratio = stageClock.slow && now - this.moved < SETTLED ? 1 : full, pixels = Math.round(side * ratio)
    const resized = this.canvas.width !== pixels
    if (resized) {
      for (const canvas of [this.canvas, this.base]) { canvas.width = pixels; canvas.height = pixels }
      this.stale = true
    }
    this.drawnFrame = this.frameOn(side)
    if (this.stale || under || moving && this.joined) {
      this.basePen.setTransform(ratio, 0, 0, ratio, 0, 0)
      this.drawBelow(this.basePen, side)
      this.below = this.basePen.getImageData(0, 0, pixels, pixels)
      this.stale = false
    }
    if (this.rowsShown && this.board.count) this.raster(ratio, pixels)
    else this.pen.putImageData(this.below, 0, 0)
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0)
    this.thumbnails.draw(this.pen)
    this.drawOver(this.pen)
    this.hands?.draw(this.pen)
    this.dirty = false
    // What a picture with all pixels takes, whether they are painted while it moves or not; the first one takes longer.
    if (ratio === full) {
      if (!resized) this.cost += (this.cost ? 0.2 : 1) * (performance.now() - began - this.cost)
      this.sharp = now
    } else if (!moving) {
      this.sharpening ??= setTimeout(() => this.sharpen(), SETTLED)
    } else if (now - this.sharp > SHARP_AGAIN) {
      this.cost = 0  // something else may have held it up: all pixels are tried again
    }
    return moving || this.dirty
  }

  // Paint with all pixels, unless it moves again: then that is for later.
  sharpen() {
    this.sharpening = null
    if (!this.moves) this.touch()
  }

  // Rows and rings as pixels over the base.
  raster(ratio, side) {
    if (!this.image || this.image.width !== side) this.image = new ImageData(side, side)
    const pixels = new Uint32Array(this.image.data.buffer), {frame, places} = this
    pixels.set(new Uint32Array(this.below.data.buffer))
    const looks = new Map(), tones = new Map(), axes = this.axes
    const low = (frame.left - 1) * ratio, right = (frame.left + frame.wide + 1) * ratio
    const top = (frame.top - 1) * ratio, bottom = (frame.top + frame.high + 1) * ratio
    this.eachMark((row, look, colour, opacity) => {
      const x = frame.x(places[2 * row]) * ratio, y = frame.y(places[2 * row + 1]) * ratio
      if (!(x > -20 && y > -20 && x < side + 20 && y < side + 20)) return
      if (axes && (x < low || x > right || y < top || y > bottom)) return
      let ready = looks.get(look)
      if (!ready) looks.set(look, ready = masks.of(look, ratio, side))
      let tone = tones.get(colour)
      if (tone === undefined) tones.set(colour, tone = pixelOf(colour))
      const left = Math.floor(x), above = Math.floor(y)
      const mask = ready[((x - left) * STEPS | 0) + STEPS * ((y - above) * STEPS | 0)]
      blit(pixels, side, side, mask, left, above, tone, Math.round(256 * opacity))
    })
    this.pen.putImageData(this.image, 0, 0)
  }

  // The view, drawn by a pen that writes SVG.
  drawing() {
    const side = this.canvas.clientWidth
    const pen = new SvgPen(side, side)
    this.drawnFrame = this.frameOn(side)
    this.drawBelow(pen, side)
    pen.save()
    pen.beginPath(); pen.rect(0, 0, side, side); pen.clip()
    drawRows(pen, this)
    this.thumbnails.draw(pen)
    pen.restore()
    this.drawOver(pen)
    return pen
  }

  // The row nearest to a place, within a reach in pixels; -1 if there is none.
  nearest(x, y, reach) {
    const {places, frame} = this
    let best = reach * reach, found = -1
    if (!this.rowsShown) return found
    for (let row = 0; row < Math.min(places.length / 2, this.board.count); row++) {
      const across = frame.x(places[2 * row]) - x, down = frame.y(places[2 * row + 1]) - y, far = across * across + down * down
      if (far <= best) { best = far; found = row }
    }
    return found
  }
}
