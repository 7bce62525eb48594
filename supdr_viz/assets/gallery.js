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
  .chosen { padding: 3px 6px; } .chosen img { width: 61px; height: 30px; } .chosen small + b + small { display: none; }
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
function makePicture(address) {
  return make("img", {alt: "", loading: "lazy", width: 248, height: 121, src: address})
}

// Arrows lead from card to card, as Tab does.
function moveFocus(event, cards) {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key]
  const shown = cards.map((card) => card.element).filter((element) => element.checkVisibility())
  const at = shown.indexOf(event.target)
  if (!step || at < 0) return
  event.preventDefault()
  shown[Math.min(Math.max(at + step, 0), shown.length - 1)].focus()
}

class Gallery {
  constructor(model) {
    this.model = model
    this.sections = []
    this.folds = []
    this.makeButton()
    this.makeDialog()
    model.on("shelves", () => this.build())
    for (const name of ["kind", "title", "picture", "value"]) model.on(name, () => this.showChoice())
    this.build()
  }

  get cards() {
    return this.sections.flatMap((section) => section.cards)
  }

  // The button that shows the chosen example.
  makeButton() {
    this.image = make("img", {alt: "", width: 92, height: 45})
    this.kind = make("small")
    this.title = make("b")
    const words = make("span", {}, this.kind, this.title, make("small", {}, "Browse examples"))
    this.button = make("button", {type: "button", className: "chosen"}, this.image, words)
    this.button.setAttribute("aria-haspopup", "dialog")
    this.button.onclick = () => this.open()
  }

  makeDialog() {
    const close = make("button", {type: "button", onclick: () => this.dialog.close()}, "Close")
    const heading = make("h2", {id: "gallery"}, "Examples")
    this.search = make("input", {type: "search", placeholder: "Search: a method, data, an idea"})
    this.search.setAttribute("aria-label", "Search the examples")
    this.search.oninput = () => this.filter()
    this.count = make("small")
    this.count.setAttribute("role", "status")
    this.meaning = make("small")
    this.body = make("div", {className: "body"})
    const bar = make("div", {className: "bar"}, heading, this.search, this.count, this.meaning, close)
    this.dialog = make("dialog", {}, bar, this.body)
    this.dialog.setAttribute("aria-labelledby", "gallery")
    this.dialog.onclick = (event) => {
      if (event.target === this.dialog) this.dialog.close()
    }
    this.dialog.onkeydown = (event) => {
      event.stopPropagation() // what is pressed in here is no key of the page's
      moveFocus(event, this.cards)
    }
  }

  makeCard(shelf, example) {
    const element = make("button", {type: "button", className: example.picture ? "card" : "card bare"})
    if (example.picture) element.append(makePicture(example.picture))
    element.append(make("b", {}, example.title), make("span", {}, example.line), make("small", {}, example.source))
    element.onclick = () => this.choose(example.name)
    const words = [shelf.title, example.title, example.line, example.source, example.more].join(" ").toLowerCase()
    return {element, name: example.name, words}
  }

  // Make the sections and their cards; those of the same fold stand in it together.
  build() {
    const folds = new Map()
    this.sections = this.model.shelves.map((shelf) => {
      const cards = shelf.cards.map((example) => this.makeCard(shelf, example))
      const grid = make("div", {className: "cards"}, ...cards.map((card) => card.element))
      const element = make("section", {}, make("h3", {}, shelf.title), grid)
      const summary = shelf.fold && make("summary", {}, shelf.fold)
      if (summary && !folds.has(shelf.fold)) folds.set(shelf.fold, make("details", {}, summary))
      return {element, cards, fold: folds.get(shelf.fold)}
    })
    this.folds = [...folds.values()]
    this.meaning.textContent = this.model.shelves[0]?.meaning ?? ""
    for (const {element, fold} of this.sections) (fold ?? this.body).append(element)
    this.body.append(...this.folds)
    this.showChoice()
  }

  open() {
    if (this.search.value) {
      this.search.value = ""
      this.filter()
    }
    this.model.send_msg({kind: "opened"})
    this.dialog.showModal()
  }

  choose(name) {
    this.dialog.close()
    this.button.blur() // the keyboard is the page's: the Space key runs the example
    this.model.value = name
  }

  // Show the cards that have all words of the search.
  filter() {
    const words = this.search.value.toLowerCase().split(" ").filter(Boolean)
    for (const {element, cards} of this.sections) {
      for (const card of cards) card.element.hidden = !words.every((word) => card.words.includes(word))
      element.hidden = cards.every((card) => card.element.hidden)
    }
    for (const fold of this.folds) {
      fold.hidden = this.sections.every((section) => section.fold !== fold || section.element.hidden)
      fold.open = words.length > 0
    }
    const count = this.cards.filter((card) => !card.element.hidden).length
    this.count.textContent = words.length ? `${count} ${count === 1 ? "example" : "examples"}` : ""
  }

  showChoice() {
    const {kind, title, picture, value} = this.model
    this.kind.textContent = kind
    this.title.textContent = title
    this.image.hidden = !picture
    if (picture) this.image.src = picture
    for (const {element, name} of this.cards) {
      if (name === value) element.setAttribute("aria-current", "true")
      else element.removeAttribute("aria-current")
    }
  }
}

export function render({model}) {
  const gallery = new Gallery(model)
  return make("div", {}, make("style", {}, CSS), gallery.button, gallery.dialog)
}
