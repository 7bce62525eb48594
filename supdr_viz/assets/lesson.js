const lesson = JSON.parse(document.getElementById("lesson").textContent)
const sections = [...document.querySelectorAll(".step")], answered = sections.map(() => false)
const back = document.getElementById("back"), next = document.getElementById("next")
let number = -1

const asks = () => sections[number].querySelector(".options") !== null && !answered[number]

function watch(view) {
  const film = lesson.films[view.film]
  document.getElementById("run").textContent = film.title
  load(film, view.start, view.plays)
}

function name() {
  back.disabled = number === 0
  next.disabled = number === sections.length - 1 && !asks()
  next.textContent = asks() ? "Show answer" : "Next"
}

function show(wanted) {
  if (wanted === number || !(wanted >= 0 && wanted < sections.length)) return
  number = wanted
  sections.forEach((section, k) => { section.hidden = k !== number })
  document.getElementById("count").textContent = `Step ${number + 1} of ${sections.length} · ${lesson.minutes} minutes`
  history.replaceState(null, "", "#" + (number + 1))
  const {before, after} = lesson.steps[number]
  watch(answered[number] && after ? after : before)
  name()
}

function answer(option) {
  if (!asks()) return
  const section = sections[number], {right, after} = lesson.steps[number]
  const buttons = [...section.querySelectorAll(".options button")]
  if (option >= buttons.length) return
  answered[number] = true
  buttons.forEach((button, k) => { button.disabled = true; button.classList.toggle("right", k === right) })
  const verdict = option === right ? "Right." : `The answer is ${buttons[right].textContent}.`
  section.querySelector(".verdict").textContent = verdict
  section.querySelector(".answer").hidden = false
  if (after) watch(after)
  name()
}

const onward = () => (asks() ? answer(-1) : show(number + 1))
next.addEventListener("click", onward)
back.addEventListener("click", () => show(number - 1))
for (const section of sections) {
  section.querySelectorAll(".options button").forEach((button, k) => button.addEventListener("click", () => answer(k)))
  section.querySelectorAll(".answer").forEach((each) => { each.hidden = true })
}
addEventListener("hashchange", () => show(+location.hash.slice(1) - 1))
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === "PageDown" || event.key === "n") onward()
  else if (event.key === "PageUp" || event.key === "b") show(number - 1)
  else if (/^[1-6]$/.test(event.key)) answer(+event.key - 1)
  else return
  event.preventDefault()
})
show(+location.hash.slice(1) - 1)
if (number < 0) show(0)
