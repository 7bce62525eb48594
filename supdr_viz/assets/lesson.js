// The page of a lesson: one step at a time, its question, and the recorded run that goes with it.
import {Player} from "./player.js"

const player = new Player()
const lesson = JSON.parse(document.getElementById("lesson").textContent)
const sections = [...document.querySelectorAll(".step")]
const answered = sections.map(() => false)
const back = document.getElementById("back")
const next = document.getElementById("next")
let current = -1

const stepInAddress = () => +location.hash.slice(1) - 1
const optionsOf = (section) => [...section.querySelectorAll(".options button")]
const waitsForAnswer = () => sections[current].querySelector(".options") !== null && !answered[current]

function showFilm({film: number, start, plays}) {
  const film = lesson.films[number]
  document.getElementById("run").textContent = film.title
  player.load(film, start, plays)
}

function labelButtons() {
  back.disabled = current === 0
  next.disabled = current === sections.length - 1 && !waitsForAnswer()
  next.textContent = waitsForAnswer() ? "Show answer" : "Next"
}

function show(step) {
  if (step === current || !(step >= 0 && step < sections.length)) return
  current = step
  for (const [number, section] of sections.entries()) section.hidden = number !== step
  document.getElementById("count").textContent = `Step ${step + 1} of ${sections.length} · ${lesson.minutes} minutes`
  history.replaceState(null, "", `#${step + 1}`)
  const {before, after} = lesson.steps[step]
  showFilm(answered[step] && after ? after : before)
  labelButtons()
}

// Take an answer and show the right one; -1: the reader wants to see it at once.
function answer(option) {
  if (!waitsForAnswer()) return
  const section = sections[current]
  const {right, after} = lesson.steps[current]
  const buttons = optionsOf(section)
  if (option >= buttons.length) return
  answered[current] = true
  for (const [number, button] of buttons.entries()) {
    button.disabled = true
    button.classList.toggle("right", number === right)
  }
  const verdict = option === right ? "Right." : `The answer is ${buttons[right].textContent}.`
  section.querySelector(".verdict").textContent = verdict
  section.querySelector(".answer").hidden = false
  if (after) showFilm(after)
  labelButtons()
}

function goOn() {
  if (waitsForAnswer()) answer(-1)
  else show(current + 1)
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === "PageDown" || event.key === "n") goOn()
  else if (event.key === "PageUp" || event.key === "b") show(current - 1)
  else if (/^[1-6]$/.test(event.key)) answer(+event.key - 1)
  else return
  event.preventDefault()
}

next.addEventListener("click", goOn)
back.addEventListener("click", () => show(current - 1))
for (const section of sections) {
  for (const [number, button] of optionsOf(section).entries()) button.addEventListener("click", () => answer(number))
  for (const text of section.querySelectorAll(".answer")) text.hidden = true
}
addEventListener("hashchange", () => show(stepInAddress()))
addEventListener("keydown", onKey)
show(stepInAddress())
if (current < 0) show(0)
