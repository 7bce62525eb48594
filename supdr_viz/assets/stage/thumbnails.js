// Rows that are pictures, drawn as such: as many as find room side by side; the others stay marks.  Zooming in makes room.
import {channels, shade, themeNow} from "./colours.js"
import {UNSELECTED} from "./paint.js"
import {strideOf} from "./rows.js"

const TILE = 26
const APART = TILE + 2

export class Thumbnails {
  constructor(plane) {
    this.plane = plane
    this.shown = []
    this.tiles = new Map()
  }

  get isShown() {
    const {board, name} = this.plane
    const {facts, images} = board.tree
    return Boolean(images && name === "latent" && facts?.images && this.plane.rowsShown)
  }

  // The rows that are drawn as pictures: those of before first, so that none blinks while rows move.
  chooseRows() {
    const {board, places, frame} = this.plane
    const count = Math.min(board.count, places.length / 2)
    const taken = new Map()
    const rows = []
    const seen = new Set()
    const admit = (row) => {
      if (seen.has(row) || row >= count || Number.isNaN(places[2 * row])) return
      seen.add(row)
      const x = frame.x(places[2 * row])
      const y = frame.y(places[2 * row + 1])
      if (!frame.shows(x, y)) return
      const column = Math.floor(x / APART)
      const line = Math.floor(y / APART)
      for (let across = -1; across <= 1; across++) {
        for (let down = -1; down <= 1; down++) {
          const other = taken.get(4096 * (column + across) + line + down)
          if (other && Math.abs(other[0] - x) < APART && Math.abs(other[1] - y) < APART) return
        }
      }
      taken.set(4096 * column + line, [x, y])
      rows.push(row)
    }
    this.shown.forEach(admit)
    const stride = strideOf(count)
    for (let k = 0, row = 0; k < count; k++, row = (row + stride) % count) admit(row)
    return rows
  }

  // A row's picture between the card's colour and its own.
  tile(row, colour) {
    const {images} = this.plane.board.tree.facts
    const key = `${row} ${colour} ${themeNow()}`
    const tile = this.tiles.get(key)
    if (tile?.images === images) return tile.canvas
    if (this.tiles.size > 4000) this.tiles.clear()
    const [, high, wide] = images.shape
    const canvas = new OffscreenCanvas(wide, high)
    const pen = canvas.getContext("2d")
    const image = new ImageData(wide, high)
    const [from, to] = [channels(shade("card")), channels(colour)]
    for (let k = 0; k < high * wide; k++) {
      const share = images[row * high * wide + k] / 255
      image.data.set([...from.map((value, j) => value + (to[j] - value) * share), 255], 4 * k)
    }
    pen.putImageData(image, 0, 0)
    this.tiles.set(key, {images, canvas})
    return canvas
  }

  draw(pen) {
    if (!this.isShown) {
      this.shown = []
      return
    }
    const {plane} = this
    const {board, places, frame} = plane
    const reach = TILE / 2
    this.shown = this.chooseRows()
    pen.save()
    pen.imageSmoothingEnabled = false
    pen.lineWidth = 1
    for (const row of this.shown) {
      const colour = plane.colourOf(row)
      const x = frame.x(places[2 * row]) - reach
      const y = frame.y(places[2 * row + 1]) - reach
      pen.globalAlpha = board.selected && !board.selected.has(row) ? UNSELECTED : 1
      pen.drawImage(this.tile(row, colour), x, y, TILE, TILE)
      pen.strokeStyle = colour
      pen.beginPath()
      pen.rect(x, y, TILE, TILE)
      pen.stroke()
    }
    pen.restore()
  }
}
