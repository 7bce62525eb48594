// The cards of a run: a head with tools, a view, and words above and below it; one of them may fill the window.
import {drawPart} from "./parts.js"
import {offerPlace} from "./stage/page.js"
import {makeRoom} from "./stage/room.js"

const SQUARES = {input: [[], []], latent: [[], ["numbers of the map"]], method: [[], ["keys", "numbers"]]} // above, below
const CURVES = {losses: [[], []], errors: [[], []]}
const ICONS = {
  Enlarge: "M21 11V3h-8l3.29 3.29-10 10L3 13v8h8l-3.29-3.29 10-10z",
  Shrink:
    "M22 3.41 16.71 8.7 20 12h-8V4l3.29 3.29L20.59 2 22 3.41zM3.41 22l5.29-5.29L12 20v-8H4l3.29 3.29L2 20.59 3.41 22z",
}
const TOOLS = {input: ["tool"], latent: ["marks"], method: ["mode"]}
const BELOW = {input: ["draw_class"]}
const SVG = "http://www.w3.org/2000/svg"

function made(kind, ...content) {
  const part = document.createElement("div")
  part.className = kind
  part.append(...content.filter(Boolean))
  return part
}

// A place that the stage fills.
function place(model, kind, slot) {
  const host = made(kind)
  offerPlace(model, `${model.board}/${slot}`, host)
  return host
}

function enlargeButton(model, name) {
  const button = document.createElement("button")
  const icon = document.createElementNS(SVG, "svg")
  const path = document.createElementNS(SVG, "path")
  button.type = "button"
  button.className = "enlarge"
  icon.setAttribute("viewBox", "0 0 24 24")
  icon.setAttribute("aria-hidden", "true")
  icon.append(path)
  button.append(icon)
  button.onclick = () => {
    model.enlarged = model.enlarged === name ? "" : name
  }
  const show = () => {
    const word = model.enlarged === name ? "Shrink" : "Enlarge"
    button.setAttribute("aria-label", `${word} ${model.titles[name]}`)
    path.setAttribute("d", ICONS[word])
  }
  show()
  model.on("enlarged", show)
  return button
}

function card(model, name, view, [above, below]) {
  const drawParts = (names) => (names ?? []).map((part) => drawPart(model, part))
  const menu = name === "method" && model.get_child("menu")
  const tools = made("tools", ...drawParts(TOOLS[name]), menu, enlargeButton(model, name))
  const row = made("row", place(model, "words", `words/head of ${name}`), tools)
  const [over, under] = [above, below].map((names) => names.map((each) => place(model, "caption", `words/${each}`)))
  const all = made(`card ${name}`, row, ...drawParts(BELOW[name]), ...over, place(model, "view", view), ...under)
  if (over.length + under.length) {
    const observer = makeRoom(all, [...over, ...under], name === "latent")
    model.on("remove", () => observer.disconnect())
  }
  const mark = () => {
    all.classList.toggle("enlarged", model.enlarged === name)
    all.classList.toggle("off", model.shown.length > 0 && !model.shown.includes(name))
  }
  mark()
  model.on("enlarged", mark)
  model.on("shown", mark)
  return all
}

// What stands around a part of the page is not reached by the keyboard while the part fills the window.
function closeAround(part, closed) {
  for (let node = part; node && node.parentNode !== document.body; node = node.parentNode ?? node.host) {
    for (const each of node.parentNode?.children ?? []) if (each !== node) each.inert = closed
  }
}

// What stands above and below the squares of a presentation; the places of its title, its line and its number.
function surround(model, squares) {
  const texts = ["h2", "p", "small"].map((kind) => document.createElement(kind))
  const part = (name) => drawPart(model, `present ${name}`)
  const tools = made("tools", part("back"), texts[2], ...["next", "class", "leave"].map(part))
  squares.before(made("presented", made("told", texts[0], texts[1]), tools))
  squares.after(made("presented foot", part("run"), part("classes"), place(model, "state", "words/status:presented")))
  return texts
}

export function render({model}) {
  const group = (kind, entries, views) => {
    const cards = Object.entries(entries).map(([name, words]) => card(model, name, `${views}/${name}`, words))
    return made(kind, ...cards)
  }
  const squares = group("squares", SQUARES, "planes")
  const all = made("cards", squares, group("curves", CURVES, "charts"))
  const stretch = () => all.classList.toggle("tall", model.tall)
  stretch()
  model.on("tall", stretch)
  const choose = () => all.classList.toggle("some", model.shown.length > 0)
  choose()
  model.on("shown", choose)
  let texts = null
  const present = () => {
    const {title, line, place} = model.presented
    if (title) texts ??= surround(model, squares)
    for (const [k, text] of [title, line, place].entries()) if (texts) texts[k].textContent = text ?? ""
    all.classList.toggle("presenting", Boolean(title))
    requestAnimationFrame(() => closeAround(all, Boolean(title))) // once it stands in the page
  }
  present()
  model.on("presented", present)
  return all
}
