"use strict"
// Shows a recorded run: load(film) puts one into the page, another one takes its place.
let film = null
const dark = matchMedia("(prefers-color-scheme: dark)")
const scrub = document.getElementById("scrub"), play = document.getElementById("play")

const board = new Board("film", new Group())
for (const name of ["input", "latent", "method"]) board.adopt("planes/" + name, document.getElementById(name))
board.adopt("charts/losses", document.getElementById("losses"))

// Text -> the bytes that were compressed into it.
async function inflated(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer()
}

// Lay a patch over a copy of a tree.
function grown(tree, patch) {
  const all = {...tree}
  for (const [name, value] of Object.entries(patch)) {
    all[name] = isTree(value) && isTree(tree[name]) ? grown(tree[name], value) : value
  }
  return all
}

// What the squares show at every moment.
async function unpack(film) {
  if (film.trees) return
  const patches = (await Promise.all(film.patches.map(inflated))).map(decode)
  film.trees = patches.reduce((trees, patch) => [...trees, grown(trees[trees.length - 1] || {}, patch)], [])
}
const shown = () => film.moments[+scrub.value]

function method(moment) {
  document.getElementById("method-card").hidden = !film.mode
  if (!film.mode) return
  const words = (id, said) => { document.getElementById(id).textContent = said }
  words("method-caption", [film.mode.title, moment.caption || film.mode.caption].filter(Boolean).join(": "))
  words("method-numbers", moment.said)
  document.getElementById("method-keys").replaceChildren(...moment.keys.map((each) => key(...each)))
}

function said(moment) {
  const unit = film.task === "regression" ? "" : " %", n = moment.numbers, parts = ["iteration " + moment.iteration]
  if ("objective" in n) parts.push("objective " + (+n.objective.toPrecision(4)))
  const rate = (value) => +value.toPrecision(3) + unit
  for (const name of ["train", "test"]) if (name in n) {
    const again = name === "train" && "as new" in n && rate(n["as new"]) !== rate(n.train)
    parts.push(`${name} error ${rate(n[name])}${again ? ` (as new ${rate(n["as new"])})` : ""}`)
  }
  return parts.join(" · ")
}

function draw() {
  const moment = shown(), text = said(moment)
  board.tree = film.trees[+scrub.value]
  board.refresh(board.tree)
  method(moment)
  for (const [name, plane] of board.planes) {
    const title = {input: "Input space", latent: "Latent space", method: film.mode && film.mode.title}[name]
    plane.canvas.setAttribute("aria-label", `${title}, ${text}${name === "method" && moment.said ? ", " + moment.said : ""}`)
  }
  document.getElementById("numbers").textContent = text
  scrub.setAttribute("aria-valuetext", "iteration " + moment.iteration)
}

// A line's colour and pattern, as the chart draws it, for a bar.
function stroked(colour, dash) {
  const stops = []
  let at = 0
  for (const [number, length] of DASHES[dash].entries()) {
    stops.push(`${number % 2 ? "transparent" : colour} ${at}px ${at + length}px`)
    at += length
  }
  return stops.length ? `repeating-linear-gradient(90deg, ${stops})` : colour
}

function key(name, colour, kind = "point", dash = "solid", outline = "") {
  const span = document.createElement("span"), mark = document.createElement("i")
  span.className = "key"; mark.className = kind
  if (kind === "ring") mark.style.boxShadow = `inset 0 0 0 1.5px ${colour}`
  else mark.style.background = stroked(colour, dash)
  if (outline) { mark.style.clipPath = outline; mark.style.borderRadius = 0 }
  span.append(mark, name); return span
}

function legend() {
  const shown = film.classes.slice(0, 12).map(([name, shade, outline]) => key(name, shade, "point", "solid", outline))
  document.getElementById("legend").replaceChildren(...shown)
  const losses = board.charts.get("losses"), {lines} = film.trees[0].charts.losses
  document.getElementById("keys").replaceChildren(...lines.map((line) => key(line.name, losses.colour(line), "line", line.dash)))
}

let timer = 0
const stop = () => { clearInterval(timer); timer = 0; play.textContent = "Play" }
play.addEventListener("click", () => {
  if (timer) return stop()
  if (+scrub.value >= film.moments.length - 1) scrub.value = 0
  play.textContent = "Pause"
  timer = setInterval(() => {
    scrub.value = +scrub.value + 1; draw()
    if (+scrub.value >= film.moments.length - 1) stop()
  }, still.matches ? 600 : 150)
  draw()
})
scrub.addEventListener("input", () => { stop(); draw() })
addEventListener("resize", draw)
const follow = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light" }
dark.addEventListener("change", () => { follow(); legend(); draw() })
follow()

// From `start`, an iteration, it plays if asked to and if the reader does not mind motion.
async function load(next, start = Infinity, plays = false) {
  stop()
  film = next
  await unpack(next)
  if (film !== next) return
  const last = film.moments.length - 1, first = film.moments.findIndex((moment) => moment.iteration >= start)
  scrub.max = last
  scrub.value = first < 0 || (plays && still.matches) ? last : first
  scrub.disabled = play.disabled = last < 1
  for (const [name, text] of Object.entries(film.captions)) document.getElementById(name + "-caption").textContent = text
  legend(); draw()
  if (plays && !still.matches && +scrub.value < last) play.click()
}
