"use strict"
// Shows a recorded run: load(film) puts one into the page, another one takes its place.
let film = null
const dark = matchMedia("(prefers-color-scheme: dark)")
const still = matchMedia("(prefers-reduced-motion: reduce)")
const scrub = document.getElementById("scrub"), play = document.getElementById("play")
const CURVES = 8

function unpack(film) {
  if (film.places) return
  film.places = places(film.input)
  for (const moment of film.moments) {
    const ready = () => { if (shown() === moment) draw() }
    moment.places = places(moment.latent)
    moment.pulled = moment.pulled && places(moment.pulled)
    moment.images = moment.sheets.map((sheet) => sheet && new Levels(sheet.png, ready))
    if (moment.picture) unpackPicture(moment.picture, ready)
  }
}
const shown = () => film.moments[+scrub.value]

const theme = () => (dark.matches ? "dark" : "light")

function plane(id, shares, extent, image, sheet, wrong, pulled) {
  const [canvas, pen, width] = prepared(id), colours = film.colours[theme()]
  const frame = frameOf(extent, 0, 0, width, width), count = shares.length / 2, radius = dotSize(count)
  const tinted = image && image.tinted(theme(), () => film.regions[theme()].map((each) => [...rgb(each), 255]))
  if (tinted) {
    const [left, right, low, high] = sheet.extent, {x, y} = frame
    pen.globalAlpha = 0.2
    pen.imageSmoothingEnabled = false
    pen.drawImage(tinted, x(left), y(high), x(right) - x(left), y(low) - y(high))
    pen.globalAlpha = 1
  }
  if (pulled) threads(pen, count, (row) => frame.at(shares, row), (row) => frame.at(pulled, row), colour("secondary"))
  dots(pen, count, (row) => frame.at(shares, row), (row) => colours[row], radius, film.test)
  pen.strokeStyle = colour("error"); pen.lineWidth = 1.5
  for (const row of wrong) {
    const place = frame.at(shares, row)
    if (place) { pen.beginPath(); pen.arc(...place, radius + 2.6, 0, FULL); pen.stroke() }
  }
  return canvas
}

function method(moment, text) {
  const picture = moment.picture
  document.getElementById("method-card").hidden = !picture
  if (!picture) return
  const roles = film.roles[theme()], words = (id, said) => { document.getElementById(id).textContent = said }
  drawPicture("method", picture, theme(), roles, film.colours[theme()], film.test)
    .setAttribute("aria-label", `${film.mode.title}, ${text}${picture.numbers && ", " + picture.numbers}`)
  words("method-caption", [film.mode.title, picture.caption || film.mode.caption].filter(Boolean).join(": "))
  words("method-numbers", picture.numbers)
  const keys = picture.keys.map((each) => key(each.name, roles[each.role], each.kind))
  document.getElementById("method-keys").replaceChildren(...keys)
}

function losses(now) {
  const [canvas, pen, width, height] = prepared("losses")
  const names = Object.keys(film.losses), steps = film.iterations
  const all = names.flatMap((name) => film.losses[name].filter((v) => v !== null))
  if (!all.length) return canvas
  const log = Math.min(...all) > 0, scale = (v) => (log ? Math.log10(v) : v)
  const low = scale(Math.min(...all)), high = scale(Math.max(...all)), first = steps[0], last = steps[steps.length - 1]
  const x = (v) => 52 + (width - 62) * (v - first) / Math.max(1, last - first)
  const y = (v) => height - 24 - (height - 34) * (scale(v) - low) / ((high - low) || 1)
  pen.font = "12px sans-serif"; pen.fillStyle = colour("secondary"); pen.strokeStyle = colour("grid")
  for (let k = 0; k < 4; k++) {
    const raw = low + (high - low) * k / 3, value = log ? 10 ** raw : raw
    pen.beginPath(); pen.moveTo(52, y(value)); pen.lineTo(width - 10, y(value)); pen.stroke()
    pen.fillText(String(+value.toPrecision(2)), 4, y(value) + 4)
  }
  pen.fillText(String(first), 52, height - 6); pen.fillText(String(last), width - 34, height - 6)
  names.forEach((name, k) => {
    pen.beginPath(); pen.strokeStyle = colour("k-" + (k % CURVES)); pen.lineWidth = 1.8
    pen.setLineDash(name === "bound" ? [6, 4] : [])
    let open = false
    film.losses[name].forEach((v, i) => {
      if (v === null) return
      open ? pen.lineTo(x(steps[i]), y(v)) : pen.moveTo(x(steps[i]), y(v)); open = true
    })
    pen.stroke()
  })
  pen.setLineDash([]); pen.strokeStyle = colour("muted"); pen.beginPath()
  pen.moveTo(x(now), 6); pen.lineTo(x(now), height - 24); pen.stroke()
  return canvas
}

function said(moment) {
  const unit = film.task === "regression" ? "" : " %", n = moment.numbers, parts = ["iteration " + moment.iteration]
  if ("objective" in n) parts.push("objective " + (+n.objective.toPrecision(4)))
  for (const name of ["train", "test"]) if (name in n) parts.push(`${name} error ${+n[name].toPrecision(3)}${unit}`)
  return parts.join(" · ")
}

function draw() {
  const moment = shown(), text = said(moment)
  plane("input", film.places, film.extent, moment.images[0], moment.sheets[0], moment.wrong, null)
    .setAttribute("aria-label", "Input space, " + text)
  plane("latent", moment.places, moment.extent, moment.images[1], moment.sheets[1], [], moment.pulled)
    .setAttribute("aria-label", "Latent space, " + text)
  method(moment, text)
  losses(moment.iteration).setAttribute("aria-label", "Losses until " + text)
  document.getElementById("numbers").textContent = text
  scrub.setAttribute("aria-valuetext", "iteration " + moment.iteration)
}

function key(name, colour, kind = "point") {
  const span = document.createElement("span"), mark = document.createElement("i")
  span.className = "key"; mark.className = kind
  if (kind === "ring") mark.style.boxShadow = `inset 0 0 0 1.5px ${colour}`
  else mark.style.background = colour
  span.append(mark, name); return span
}

function legend() {
  const shown = film.classes.slice(0, 12).map((name, k) => key(name, film.regions[theme()][k]))
  document.getElementById("legend").replaceChildren(...shown)
  const names = Object.keys(film.losses).map((name, k) => key(name, colour("k-" + (k % CURVES)), "line"))
  document.getElementById("keys").replaceChildren(...names)
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
dark.addEventListener("change", () => { legend(); draw() })

// From `start`, an iteration, it plays if asked to and if the reader does not mind motion.
function load(next, start = Infinity, plays = false) {
  stop()
  film = next
  unpack(film)
  const last = film.moments.length - 1, first = film.moments.findIndex((moment) => moment.iteration >= start)
  scrub.max = last
  scrub.value = first < 0 || (plays && still.matches) ? last : first
  scrub.disabled = play.disabled = last < 1
  for (const [name, text] of Object.entries(film.captions)) document.getElementById(name + "-caption").textContent = text
  legend(); draw()
  if (plays && !still.matches && +scrub.value < last) play.click()
}
