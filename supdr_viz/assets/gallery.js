// Examples as pictures: a button that shows the chosen one, and a dialog with all of them.
const CSS = `
* { box-sizing: border-box; } [hidden] { display: none !important; }
button, input { font: inherit; color: inherit; }
:host, dialog { font: calc(13px * var(--supdr-zoom, 1))/1.4 Roboto, Helvetica, Arial, sans-serif; color: var(--supdr-text); }
.chosen { display: flex; gap: 10px; align-items: center; width: 100%; padding: 6px; text-align: left; cursor: pointer;
  background: var(--supdr-card); border: 1px solid var(--supdr-border); border-radius: 8px; }
.chosen:hover, .card:hover { border-color: var(--supdr-primary); }
.chosen img { width: 92px; height: 45px; } .chosen b { display: block; font-weight: 600; overflow-wrap: anywhere; }
small { color: var(--supdr-secondary); font-size: calc(11.5px * var(--supdr-zoom, 1)); }
img { display: block; border-radius: 4px; background: var(--supdr-card); flex: none;
  object-fit: cover; object-position: calc(100% * var(--supdr-dark)) 0; }
:focus-visible { outline: 2px solid var(--supdr-primary); outline-offset: 2px; }
dialog { width: min(1120px, 96vw); max-width: none; height: min(860px, 92vh); max-height: none; padding: 0; border-radius: 10px;
  background: var(--supdr-page); border: 1px solid var(--supdr-border); flex-direction: column; }
dialog[open] { display: flex; } dialog::backdrop { background: rgb(0 0 0 / 50%); }
.bar { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; padding: 12px 16px;
  border-bottom: 1px solid var(--supdr-border); }
h2, h3 { margin: 0; } h2 { font-size: 17px; flex: none; } h3 { font-size: 13px; padding: 16px 0 8px; }
.bar input { flex: 1 1 140px; min-width: 0; padding: 7px 10px; border-radius: 6px; background: var(--supdr-card);
  border: 1px solid var(--supdr-border); }
.bar button { padding: 6px 12px; border-radius: 6px; background: none; border: 1px solid var(--supdr-border); cursor: pointer; }
.body { flex: 1; overflow: auto; padding: 0 16px 20px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(210px, 100%), 1fr)); gap: 12px; }
.card { display: flex; flex-direction: column; gap: 3px; align-items: stretch; justify-content: flex-start; padding: 8px;
  text-align: left; cursor: pointer; background: var(--supdr-card); border: 1px solid var(--supdr-border); border-radius: 8px; }
.card[aria-current] { border-color: var(--supdr-primary); box-shadow: 0 0 0 1px var(--supdr-primary); }
.card img { width: 100%; height: auto; aspect-ratio: 248 / 121; margin-bottom: 4px; } .card b { font-weight: 600; }
.card small { margin-top: auto; padding-top: 2px; }
details { margin-top: 18px; border-top: 1px solid var(--supdr-border); }
summary { padding: 12px 2px; cursor: pointer; font-weight: 600; }
@media (max-width: 599.95px) {
  .card { display: grid; grid-template-columns: 112px 1fr; column-gap: 10px; }
  .card img { width: 112px; grid-row: 1 / span 3; align-self: start; margin: 0; }
  .bar { justify-content: space-between; } .bar input { order: 1; flex-basis: 100%; }
  .card.bare { display: flex; }
}`

function make(kind, attributes = {}, ...content) {
  const element = Object.assign(document.createElement(kind), attributes)
  element.append(...content)
  return element
}

// Its left half is for a light page, its right one for a dark one.
function pictured(address) {
  return make("img", {alt: "", loading: "lazy", width: 248, height: 121, src: address})
}

function card(model, dialog, chosen, shelf, each) {
  const element = make("button", {type: "button", className: each.picture ? "card" : "card bare"})
  if (each.picture) element.append(pictured(each.picture))
  element.append(make("b", {}, each.title), make("span", {}, each.line), make("small", {}, each.source))
  element.onclick = () => {
    dialog.close()
    chosen.blur() // the keyboard is the page's: the Space key runs the example
    model.value = each.name
  }
  const words = [shelf.title, each.title, each.line, each.source, each.more].join(" ").toLowerCase()
  return {element, name: each.name, words}
}

// Arrows lead from card to card, as Tab does.
function walk(event, cards) {
  const way = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key]
  const shown = cards.map((each) => each.element).filter((each) => each.checkVisibility())
  const at = shown.indexOf(event.target)
  if (!way || at < 0) return
  event.preventDefault()
  shown[Math.min(Math.max(at + way, 0), shown.length - 1)].focus()
}

export function render({model}) {
  const image = make("img", {alt: "", width: 92, height: 45})
  const title = make("b")
  const chosen = make(
    "button",
    {type: "button", className: "chosen"},
    image,
    make("span", {}, make("small", {}, "Example"), title, make("small", {}, "Choose another …")),
  )
  chosen.setAttribute("aria-haspopup", "dialog")
  const search = make("input", {type: "search", placeholder: "Search: a method, data, an idea"})
  search.setAttribute("aria-label", "Search the examples")
  const found = make("small")
  const close = make("button", {type: "button"}, "Close")
  const body = make("div", {className: "body"})
  found.setAttribute("role", "status")
  const heading = make("h2", {id: "gallery"}, "Examples")
  const dialog = make("dialog", {}, make("div", {className: "bar"}, heading, search, found, close), body)
  dialog.setAttribute("aria-labelledby", "gallery")
  let sections = []
  let folds = []

  const all = () => sections.flatMap((each) => each.cards)
  const build = () => {
    const kept = new Map()
    sections = model.shelves.map((shelf) => {
      const cards = shelf.cards.map((each) => card(model, dialog, chosen, shelf, each))
      const grid = make("div", {className: "cards"}, ...cards.map((each) => each.element))
      const element = make("section", {}, make("h3", {}, shelf.title), grid)
      if (shelf.fold && !kept.has(shelf.fold))
        kept.set(shelf.fold, make("details", {}, make("summary", {}, shelf.fold)))
      return {element, cards, fold: kept.get(shelf.fold)}
    })
    folds = [...kept.values()]
    for (const {element, fold} of sections) (fold ?? body).append(element)
    body.append(...folds)
    show()
  }
  const filter = () => {
    const words = search.value.toLowerCase().split(" ").filter(Boolean)
    for (const {element, cards} of sections) {
      for (const each of cards) each.element.hidden = !words.every((word) => each.words.includes(word))
      element.hidden = cards.every((each) => each.element.hidden)
    }
    for (const fold of folds) {
      fold.hidden = sections.every((each) => each.fold !== fold || each.element.hidden)
      fold.open = words.length > 0
    }
    const count = all().filter((each) => !each.element.hidden).length
    found.textContent = words.length ? `${count} ${count === 1 ? "example" : "examples"}` : ""
  }
  const show = () => {
    title.textContent = model.title
    image.hidden = !model.picture
    if (model.picture) image.src = model.picture
    for (const {element, name} of all()) {
      if (name === model.value) element.setAttribute("aria-current", "true")
      else element.removeAttribute("aria-current")
    }
  }
  chosen.onclick = () => {
    if (search.value) {
      search.value = ""
      filter()
    }
    model.send_msg({kind: "opened"})
    dialog.showModal()
  }
  close.onclick = () => dialog.close()
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close()
  }
  // What is pressed in here is no key of the page's.
  dialog.onkeydown = (event) => {
    event.stopPropagation()
    walk(event, all())
  }
  search.oninput = filter
  model.on("shelves", build)
  for (const each of ["title", "picture", "value"]) model.on(each, show)
  build()
  return make("div", {}, make("style", {}, CSS), chosen, dialog)
}
