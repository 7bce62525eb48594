// The columns of a table: what each holds, and what is done with it.
// From the server: `columns`, `roles`, `views`, `proposals`, `rules`.
const ROLES = ["use", "leave out", "target"]
const CSS = `
.columns { max-width: 760px; max-height: min(420px, 50vh); overflow: auto; border: 1px solid var(--supdr-border); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; font: 12px Roboto, sans-serif; color: var(--supdr-text); }
th { text-align: left; font-weight: 400; padding: 3px 6px; overflow-wrap: anywhere; }
th b { font-weight: 600; } small { display: block; color: var(--supdr-secondary); font-size: 11px; }
thead th { position: sticky; top: 0; z-index: 1; background: var(--supdr-card); color: var(--supdr-secondary); }
td { padding: 3px 6px; vertical-align: middle; width: 104px; } tr + tr:not(.asked) > * { border-top: 1px solid var(--supdr-border); }
.asked td { padding-top: 0; }
tr.out b, tr.out svg { opacity: 0.5; } svg { display: block; width: 60px; height: 14px; fill: var(--supdr-secondary); }
select, input { font: inherit; width: 104px; height: 30px; box-sizing: border-box; padding: 4px 8px; border-radius: 8px; color: inherit;
  background: var(--supdr-card); border: 1px solid var(--supdr-border); }
select { appearance: none; padding-right: 20px; cursor: pointer; text-overflow: ellipsis;
  background: var(--supdr-card) var(--supdr-chevron) no-repeat right 3px center / 18px; }
:is(select, input):hover { border-color: var(--supdr-secondary); }
:is(select, input):focus-visible { outline: 2px solid var(--supdr-primary); outline-offset: -1px; }
input[type=checkbox] { height: auto; accent-color: var(--supdr-primary); }
label { display: flex; align-items: start; gap: 6px; padding: 2px 0; font-weight: 400; overflow-wrap: anywhere; }
label i { font-style: normal; color: var(--supdr-secondary); }
label input { width: auto; flex: none; margin: 1px 0 0; } .whole { padding: 3px 6px; font: 12px Roboto, sans-serif; color: var(--supdr-text); }
@media (max-width: 599.95px) { .values { display: none; } td, select, input { width: 76px; } }`
// Heads of the table: what stands below, and what it means.
const HEADS = [
  ["Column", ""],
  ["Values", "How often the values occur"],
  ["Role", "What the column is used for"],
  ["View", "Name of a group of columns, for methods that learn from several views; may stay empty"],
]

function bars(counts) {
  const most = Math.max(1, ...counts)
  const width = 60 / Math.max(1, counts.length)
  const rects = counts.map((count, k) => {
    const height = (14 * count) / most
    return `<rect x="${k * width}" y="${14 - height}" width="${Math.max(width - 1, 0.5)}" height="${height}"/>`
  })
  return `<svg viewBox="0 0 60 14" aria-hidden="true">${rects.join("")}</svg>`
}

function labelled(kind, text) {
  const element = document.createElement(kind)
  element.setAttribute("aria-label", text)
  return element
}

// A switch for what the cells may mean beyond what is written.
function proposed(model, proposal) {
  const line = document.createElement("label")
  const box = document.createElement("input")
  const words = document.createElement("span")
  box.type = "checkbox"
  box.checked = proposal.accepted
  const otherwise = document.createElement("i")
  words.textContent = `${proposal.text} (${proposal.size}${proposal.example ? `: ${proposal.example}` : ""}). `
  otherwise.textContent = `Otherwise ${proposal.otherwise}.`
  words.append(otherwise)
  box.onchange = () => {
    model.rules = {...model.rules, [proposal.key]: box.checked}
  }
  line.append(box, words)
  return line
}

function row(model, column) {
  const made = document.createElement("tr")
  const head = document.createElement("th")
  const cell = document.createElement("td")
  const name = document.createElement("b")
  const facts = document.createElement("small")
  head.scope = "row"
  name.textContent = column.name
  const gaps = column.missing ? ` · ${column.missing.toLocaleString("en")} missing` : ""
  const against = column.against ? ` · ${column.against}` : ""
  facts.textContent = `${column.kind} · ${column.distinct.toLocaleString("en")} distinct${gaps}${against}`
  head.append(name, facts)
  const values = document.createElement("td")
  values.className = "values"
  values.insertAdjacentHTML("beforeend", bars(column.histogram))
  const role = labelled("select", `What to do with ${column.name}`)
  const view = labelled("input", `View of ${column.name}`)
  role.append(...ROLES.map((each) => new Option(each, each)))
  view.maxLength = 40
  view.placeholder = "none"
  role.onchange = () => {
    model.roles = {...model.roles, [column.name]: role.value}
  }
  view.onchange = () => {
    model.views = {...model.views, [column.name]: view.value.trim()}
  }
  const group = document.createElement("td")
  cell.append(role)
  group.append(view)
  made.append(head, values, cell, group)
  const asked = document.createElement("tr")
  const answers = asked.insertCell()
  answers.colSpan = HEADS.length
  answers.append(...model.proposals.filter((each) => each.column === column.name).map((each) => proposed(model, each)))
  asked.className = "asked"
  const show = () => {
    role.value = model.roles[column.name] || "use"
    view.value = model.views[column.name] || ""
    view.hidden = role.value !== "use"
    made.className = role.value === "leave out" ? "out" : ""
  }
  show()
  return {made: answers.childElementCount ? [made, asked] : [made], show}
}

function heads() {
  const made = document.createElement("thead")
  const line = made.insertRow()
  for (const [text, help] of HEADS) {
    const head = document.createElement("th")
    head.scope = "col"
    head.textContent = text
    head.title = help
    if (text === "Values") head.className = "values"
    line.append(head)
  }
  return made
}

export function render({model}) {
  const box = document.createElement("div")
  const style = document.createElement("style")
  let rows = []
  style.textContent = CSS
  box.className = "columns"
  box.tabIndex = 0
  box.setAttribute("role", "region")
  box.setAttribute("aria-label", "Columns of the table")
  const build = () => {
    const table = document.createElement("table")
    rows = model.columns.map((column) => row(model, column))
    const body = document.createElement("tbody")
    body.append(...rows.flatMap((each) => each.made))
    table.append(heads(), body)
    const whole = document.createElement("div")
    const known = new Set(model.columns.map((column) => column.name))
    whole.className = "whole"
    whole.append(...model.proposals.filter((each) => !known.has(each.column)).map((each) => proposed(model, each)))
    box.replaceChildren(whole, table)
  }
  const show = () => {
    for (const each of rows) each.show()
  }
  build()
  model.on("columns", build)
  model.on("proposals", build)
  model.on("roles", show)
  model.on("views", show)
  const all = document.createElement("div")
  all.append(style, box)
  return all
}
