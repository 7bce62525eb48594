// Rows that are pictures, drawn as such: as many as find room side by side; the others stay marks.  Zooming in makes room.
const TILE = 26, APART = TILE + 2

class Thumbnails {
  constructor(plane) { this.plane = plane; this.shown = []; this.tiles = new Map() }

  get wanted() {
    const {board, name} = this.plane, {facts, images} = board.tree
    return Boolean(images && name === "latent" && facts && facts.images && this.plane.rowsShown)
  }

  // The rows that are drawn as pictures: those of before first, so that none blinks while rows move.
  chosen() {
    const {board, places, frame} = this.plane, count = Math.min(board.count, places.length / 2)
    const taken = new Map(), found = [], seen = new Set()
    const admit = (row) => {
      if (seen.has(row) || row >= count || Number.isNaN(places[2 * row])) return
      seen.add(row)
      const x = frame.x(places[2 * row]), y = frame.y(places[2 * row + 1])
      if (!frame.shows(x, y)) return
      const column = Math.floor(x / APART), line = Math.floor(y / APART)
      for (let across = -1; across <= 1; across++) {
        for (let down = -1; down <= 1; down++) {
          const other = taken.get(4096 * (column + across) + line + down)
          if (other && Math.abs(other[0] - x) < APART && Math.abs(other[1] - y) < APART) return
        }
      }
      taken.set(4096 * column + line, [x, y])
      found.push(row)
    }
    this.shown.forEach(admit)
    const stride = strideOf(count)
    for (let k = 0, row = 0; k < count; k++, row = (row + stride) % count) admit(row)
    return found
  }

  // A row's picture between the card's colour and its own.
  tile(row, colour) {
    const {images} = this.plane.board.tree.facts, key = `${row} ${colour} ${themeNow()}`, known = this.tiles.get(key)
    if (known && known.images === images) return known.canvas
    if (this.tiles.size > 4000) this.tiles.clear()
    const [, high, wide] = images.shape, canvas = new OffscreenCanvas(wide, high), pen = canvas.getContext("2d")
    const image = new ImageData(wide, high), [from, to] = [channels(shade("card")), channels(colour)]
    for (let k = 0; k < high * wide; k++) {
      const share = images[row * high * wide + k] / 255
      image.data.set([...from.map((value, j) => value + (to[j] - value) * share), 255], 4 * k)
    }
    pen.putImageData(image, 0, 0)
    this.tiles.set(key, {images, canvas})
    return canvas
  }

  draw(pen) {
    if (!this.wanted) { this.shown = []; return }
    const {plane} = this, {board, places, frame} = plane, reach = TILE / 2
    this.shown = this.chosen()
    pen.save()
    pen.imageSmoothingEnabled = false
    pen.lineWidth = 1
    for (const row of this.shown) {
      const colour = plane.colourOf(row), x = frame.x(places[2 * row]) - reach, y = frame.y(places[2 * row + 1]) - reach
      pen.globalAlpha = board.selected && !board.selected.has(row) ? UNCHOSEN : 1
      pen.drawImage(this.tile(row, colour), x, y, TILE, TILE)
      pen.strokeStyle = colour
      pen.beginPath(); pen.rect(x, y, TILE, TILE); pen.stroke()
    }
    pen.restore()
  }
}
