// Shows a recorded run, a film, in the page: its squares, losses, words and legend at every moment.
import {signed} from "./stage/axes.js"
import {Board, Group} from "./stage/board.js"
import constants from "./stage/constants.json" with {type: "json"}
import {still} from "./stage/motion.js"
import {stage} from "./stage/page.js"
import {decode, isTree} from "./stage/wire.js"

const MOST_CLASSES = 12 // in the legend
const PACE = 150 // milliseconds between two moments
const GENTLE_PACE = 600 // for readers who mind motion

const byId = (id) => document.getElementById(id)
const darkScheme = matchMedia("(prefers-color-scheme: dark)")

function wearScheme() {
  document.documentElement.dataset.theme = darkScheme.matches ? "dark" : "light"
}

// Text -> the bytes that were compressed into it.
async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))
  return new Response(stream).arrayBuffer()
}

// Lay a patch over a copy of a tree.
function patched(tree, patch) {
  const copy = {...tree}
  for (const [name, value] of Object.entries(patch)) {
    copy[name] = isTree(value) && isTree(tree[name]) ? patched(tree[name], value) : value
  }
  return copy
}

// What the squares show at every moment of a film.
async function treesOf(film) {
  const buffers = await Promise.all(film.patches.map(inflate))
  const trees = []
  for (const buffer of buffers) trees.push(patched(trees.at(-1) ?? {}, decode(buffer)))
  return trees
}

// The errors and the objective of a moment, in words.
function numbersOf(moment, task) {
  const unit = task === "regression" ? "" : " %"
  const {numbers} = moment
  const rate = (value) => +value.toPrecision(3) + unit
  const parts = [`iteration ${moment.iteration}`]
  if ("objective" in numbers) parts.push(`objective ${signed(+numbers.objective.toPrecision(4))}`)
  for (const name of ["train", "test"].filter((each) => each in numbers)) {
    const differs = name === "train" && "as new" in numbers && rate(numbers["as new"]) !== rate(numbers.train)
    parts.push(`${name} error ${rate(numbers[name])}${differs ? ` (${rate(numbers["as new"])} as new rows)` : ""}`)
  }
  return parts.join(" · ")
}

// A line's colour and pattern, as the chart draws it, for a bar.
function stroke(colour, dash) {
  const stops = []
  let start = 0
  for (const [number, length] of constants.dashes[dash].entries()) {
    stops.push(`${number % 2 ? "transparent" : colour} ${start}px ${start + length}px`)
    start += length
  }
  return stops.length ? `repeating-linear-gradient(90deg, ${stops})` : colour
}

function legendEntry(name, colour, kind = "point", dash = "solid", outline = "") {
  const entry = document.createElement("span")
  const mark = document.createElement("i")
  entry.className = "key"
  mark.className = kind
  if (["ring", "hollow", "oval"].includes(kind)) mark.style.boxShadow = `inset 0 0 0 1.5px ${colour}`
  else mark.style.background = stroke(colour, dash)
  if (outline) {
    mark.style.clipPath = outline
    mark.style.borderRadius = 0
  }
  entry.append(mark, name)
  return entry
}

export class Player {
  constructor() {
    this.film = null
    this.timer = 0
    this.slider = byId("scrub")
    this.button = byId("play")
    this.board = new Board("film", new Group())
    stage.boards.set("film", this.board)
    for (const name of ["input", "latent", "method"]) this.board.adopt(`planes/${name}`, byId(name))
    this.board.adopt("charts/losses", byId("losses"))
    this.button.addEventListener("click", () => this.press())
    this.slider.addEventListener("input", () => {
      this.stop()
      this.draw()
    })
    addEventListener("resize", () => this.draw())
    darkScheme.addEventListener("change", () => {
      wearScheme()
      this.drawLegend()
      this.draw()
    })
    wearScheme()
  }

  get moment() {
    return this.film.moments[+this.slider.value]
  }
  get last() {
    return this.film.moments.length - 1
  }

  // Put a film into the page.  From `start`, an iteration, it plays if asked to and if the reader does not mind motion.
  async load(film, start = Infinity, plays = false) {
    this.stop()
    this.film = film
    film.trees ??= await treesOf(film)
    if (this.film !== film) return // another one was loaded meanwhile
    const first = film.moments.findIndex((moment) => moment.iteration >= start)
    this.slider.max = this.last
    this.slider.value = first < 0 || (plays && still.matches) ? this.last : first
    this.slider.disabled = this.last < 1
    this.button.disabled = this.last < 1
    for (const [name, text] of Object.entries(film.captions)) byId(`${name}-caption`).textContent = text
    this.drawLegend()
    this.draw()
    if (plays && !still.matches && +this.slider.value < this.last) this.press()
  }

  // Play, from the beginning where the film is at its end, or stop.
  press() {
    if (this.timer) {
      this.stop()
      return
    }
    if (+this.slider.value >= this.last) this.slider.value = 0
    this.button.textContent = "Pause"
    this.timer = setInterval(() => this.advance(), still.matches ? GENTLE_PACE : PACE)
    this.draw()
  }

  advance() {
    this.slider.value = +this.slider.value + 1
    this.draw()
    if (+this.slider.value >= this.last) this.stop()
  }

  stop() {
    clearInterval(this.timer)
    this.timer = 0
    this.button.textContent = "Play"
  }

  draw() {
    if (!this.film?.trees) return // the page was resized before the film was there
    const {moment, film} = this
    const numbers = numbersOf(moment, film.task)
    this.board.tree = film.trees[+this.slider.value]
    this.board.refresh(this.board.tree)
    this.drawMethod(moment)
    const titles = {input: "Input space", latent: "Latent space", method: film.mode?.title}
    for (const [name, plane] of this.board.planes) {
      const more = name === "method" && moment.said ? `, ${moment.said}` : ""
      plane.canvas.setAttribute("aria-label", `${titles[name]}, ${numbers}${more}`)
    }
    byId("numbers").textContent = numbers
    this.slider.setAttribute("aria-valuetext", `iteration ${moment.iteration}`)
  }

  // The words around the method's picture.
  drawMethod(moment) {
    const {mode} = this.film
    byId("method-card").hidden = !mode
    if (!mode) return
    byId("method-caption").textContent = [mode.title, moment.caption || mode.caption].filter(Boolean).join(": ")
    byId("method-numbers").textContent = moment.said
    byId("method-keys").replaceChildren(...moment.keys.map((key) => legendEntry(...key)))
  }

  drawLegend() {
    const entries = this.film.legend.slice(0, MOST_CLASSES)
    byId("legend").replaceChildren(...entries.map((entry) => legendEntry(...entry)))
    const chart = this.board.charts.get("losses")
    const {lines} = this.film.trees[0].charts.losses
    byId("keys").replaceChildren(...lines.map((line) => legendEntry(line.name, chart.colour(line), "line", line.dash)))
  }
}
