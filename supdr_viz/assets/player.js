"use strict"
// Shows a recorded run: load(film) puts one into the page, another one takes its place.
let film = null
const dark = matchMedia("(prefers-color-scheme: dark)")
const still = matchMedia("(prefers-reduced-motion: reduce)")
const scrub = document.getElementById("scrub"), play = document.getElementById("play")
const CURVES = 8

const places = (text) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
  return new Uint16Array(bytes.buffer)
}
function unpack(film) {
  if (film.places) return
  film.places = places(film.input)
  for (const moment of film.moments) {
    moment.places = places(moment.latent)
    moment.images = moment.sheets.map((sheet) => {
      if (!sheet) return null
      const image = new Image()
      image.onload = () => { if (shown() === moment) draw() }
      image.src = "data:image/png;base64," + sheet.png
      return image
    })
  }
}
const shown = () => film.moments[+scrub.value]

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--supdr-" + name).trim()
const mode = () => (dark.matches ? "dark" : "light")

function prepared(id) {
  const canvas = document.getElementById(id), ratio = devicePixelRatio || 1
  const width = canvas.clientWidth, height = canvas.clientHeight
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio)
  const pen = canvas.getContext("2d")
  pen.scale(ratio, ratio)
  pen.clearRect(0, 0, width, height)
  return [canvas, pen, width, height]
}

function plane(id, shares, extent, image, sheet, wrong) {
  const [canvas, pen, width] = prepared(id), colours = film.colours[mode()]
  if (image && image.complete && sheet) {
    const x = (v) => width * (v - extent[0]) / (extent[1] - extent[0])
    const y = (v) => width * (1 - (v - extent[2]) / (extent[3] - extent[2]))
    const [left, right, low, high] = sheet.extent
    pen.globalAlpha = 0.2
    pen.imageSmoothingEnabled = false
    pen.drawImage(image, x(left), y(high), x(right) - x(left), y(low) - y(high))
    pen.globalAlpha = 1
  }
  const count = shares.length / 2, radius = Math.min(4.5, Math.max(1.8, 4.5 - 2 * Math.log10(count / 200)))
  const at = (row) => [width * shares[2 * row] / 65535, width * (1 - shares[2 * row + 1] / 65535)]
  for (let row = 0; row < count; row++) {
    pen.beginPath(); pen.arc(...at(row), radius, 0, 7)
    pen.strokeStyle = pen.fillStyle = colours[row]; pen.lineWidth = 1.3
    film.test[row] ? pen.stroke() : pen.fill()
  }
  pen.strokeStyle = colour("error"); pen.lineWidth = 1.5
  for (const row of wrong) { pen.beginPath(); pen.arc(...at(row), radius + 2.6, 0, 7); pen.stroke() }
  return canvas
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
  plane("input", film.places, film.extent, moment.images[0], moment.sheets[0], moment.wrong)
    .setAttribute("aria-label", "Input space, " + text)
  plane("latent", moment.places, moment.extent, moment.images[1], moment.sheets[1], [])
    .setAttribute("aria-label", "Latent space, " + text)
  losses(moment.iteration).setAttribute("aria-label", "Losses until " + text)
  document.getElementById("numbers").textContent = text
  scrub.setAttribute("aria-valuetext", "iteration " + moment.iteration)
}

function legend() {
  const key = (name, colour) => {
    const span = document.createElement("span"), mark = document.createElement("i")
    span.className = "key"; mark.style.background = colour
    span.append(mark, name); return span
  }
  const shown = film.classes.slice(0, 12).map((name, k) => key(name, film.legend[mode()][k]))
  document.getElementById("legend").replaceChildren(...shown)
  const names = Object.keys(film.losses).map((name, k) => key(name, colour("k-" + (k % CURVES))))
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
