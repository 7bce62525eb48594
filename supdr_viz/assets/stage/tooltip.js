// What is said of the row, or the iteration, that the pointer is at.
import {digitsOf, signed} from "./axes.js"
import {shade} from "./colours.js"
import {linkedRows, placeOf} from "./rows.js"

const SPLITS = ["train", "test", "train, label hidden"]
const NEAR = 10 // pixels from the pointer within which a row is looked for
const BESIDE = 14 // pixels between a row and its tooltip
const STYLE = `position: absolute; display: none; pointer-events: none; z-index: 20; width: max-content; max-width: min(260px, 100%);
  box-sizing: border-box; padding: 6px 9px; border-radius: 6px; font: 12px/1.45 Roboto, sans-serif;
  overflow-wrap: anywhere; box-shadow: 0 2px 10px rgba(0, 0, 0, .25); background: var(--supdr-card);
  color: var(--supdr-text); border: 1px solid var(--supdr-border)`

export function tooltipBox(host) {
  const box = document.createElement("div")
  box.className = "stage-tip"
  box.style.cssText = STYLE
  host.append(box)
  return box
}

const element = (kind, text) => Object.assign(document.createElement(kind), {textContent: text})
const between = (low, value, high) => Math.min(Math.max(value, low), Math.max(high, low))

export class Tooltip {
  constructor(plane) {
    this.plane = plane
    this.row = -1
    this.box = tooltipBox(plane.host)
  }
  remove() {
    this.box.remove()
  }

  // Show the row nearest to a place, if one is near.
  point(place) {
    this.show(this.plane.nearest(...place, NEAR), false)
  }

  // Speak of a row; `aloud` to those who do not see it, too.
  show(row, aloud) {
    this.plane.board.group.hover(row)
    if (row < 0) {
      this.hide()
      return
    }
    this.box.setAttribute("aria-live", aloud ? "polite" : "off")
    if (row !== this.row) this.box.replaceChildren(...this.words(row))
    this.row = row
    this.box.style.display = "block"
    this.moveTo(placeOf(this.plane.frame, this.plane.places, row))
  }

  // Beside a place; where no side has room, above or below it.
  moveTo([x, y]) {
    const {canvas} = this.plane
    const {offsetWidth: wide, offsetHeight: high} = this.box
    const across = canvas.clientWidth - wide
    const side = [x + BESIDE, x - BESIDE - wide].find((left) => left >= 0 && left <= across)
    let top = y - high / 2
    if (side === undefined) top = y - BESIDE - high >= 0 ? y - BESIDE - high : y + BESIDE
    this.box.style.left = `${between(0, side ?? x - wide / 2, across)}px`
    this.box.style.top = `${between(0, top, canvas.clientHeight - high)}px`
  }

  hide() {
    this.row = -1
    this.box.style.display = "none"
    this.plane.board.group.hover(-1)
  }

  words(row) {
    const {facts} = this.plane.board.tree
    const lines = [...this.labels(row), ...this.neighbours(row)]
    if (!facts.images) return lines
    const both = document.createElement("div")
    const text = document.createElement("div")
    both.style.cssText = "display:flex;gap:10px"
    text.append(...lines)
    both.append(this.photo(facts.images, row), text)
    return [both]
  }

  // True and predicted label, number and split of a row, and what is measured of it.
  labels(row) {
    const {facts} = this.plane.board.tree
    const write = (value) => {
      if (facts.names.length) return facts.names[value] ?? "–"
      return Number.isFinite(value) ? signed(+value.toPrecision(digitsOf(value, facts.span, 4))) : "–"
    }
    const value = facts.measure ? facts.value?.[row] : undefined
    const measured = Number.isFinite(value) ? ` · ${facts.measure} ${signed(value.toFixed(2))}` : ""
    const predicted = facts.predicted ? write(facts.predicted[row]) : "–"
    return [
      element("b", write(facts.truth[row])),
      element("div", `row ${facts.row[row]} · ${SPLITS[facts.split[row]]}`),
      element("div", `predicted ${predicted}${measured}`),
    ]
  }

  // How many of its neighbours a row lost on the map, where that is measured.
  neighbours(row) {
    const {links} = this.plane.board.tree
    if (!links || !Number.isFinite(links.trust[row])) return []
    const lost = linkedRows(links.lost, row).length
    const wrong = linkedRows(links.false, row).length
    return [
      element("div", `trust ${links.trust[row].toFixed(2)}`),
      this.line(`2.5px solid ${shade("error")}`, `lost neighbours: ${lost} of ${links.lost.shape[1]}`),
      this.line(`2.5px dotted ${shade("secondary")}`, `false neighbours: ${wrong}`),
    ]
  }

  // What is said of the lines of a look.
  line(look, text) {
    const row = document.createElement("div")
    const mark = document.createElement("i")
    mark.style.cssText = "display:inline-block;width:15px;margin-right:6px;vertical-align:middle"
    mark.style.borderTop = look
    row.append(mark, text)
    return row
  }

  // The picture that a row is.
  photo(images, row) {
    const [, high, wide] = images.shape
    const canvas = document.createElement("canvas")
    const size = high * wide
    canvas.width = wide
    canvas.height = high
    canvas.style.cssText = "width:56px;height:56px;flex:none;border-radius:3px;image-rendering:pixelated"
    const image = new ImageData(wide, high)
    for (let k = 0; k < size; k++) image.data.set([...Array(3).fill(images[row * size + k]), 255], 4 * k)
    canvas.getContext("2d").putImageData(image, 0, 0)
    return canvas
  }
}
