// Buttons and choices: each is drawn as the server says, and tells it what was pressed.
const STEPS = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}

function makeButton(press) {
  const button = document.createElement("button")
  button.type = "button"
  button.onclick = press
  return button
}

function drawPush(host, part, press) {
  if (!host.firstChild) host.append(makeButton(() => press(true)))
  const button = host.firstChild
  button.className = `push ${part.look ?? "outlined"}`
  button.disabled = Boolean(part.disabled)
  button.style.width = part.width ? `${part.width}px` : ""
  button.style.height = part.height ? `${part.height}px` : ""
  const icon = document.createElement("span")
  icon.className = "icon notranslate"
  icon.setAttribute("aria-hidden", "true")
  icon.textContent = part.icon
  const key = document.createElement("kbd") // shown where there is room for it
  key.setAttribute("aria-hidden", "true")
  key.textContent = part.key ?? ""
  button.replaceChildren(...(part.icon ? [icon] : []), part.label, ...(part.key ? [key] : []))
}

// One button of a group is reached by the Tab key, the others by arrows.
function moveFocus(group, event) {
  const step = STEPS[event.key]
  if (!step) return
  event.preventDefault()
  const buttons = [...group.children]
  const next = buttons[(buttons.indexOf(event.target) + step + buttons.length) % buttons.length]
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1
  next.focus()
}

function makeGroup() {
  const group = document.createElement("div")
  group.setAttribute("role", "group")
  group.addEventListener("keydown", (event) => moveFocus(group, event))
  return group
}

function makeOption(option, number, press) {
  const button = makeButton(() => press(option))
  button.textContent = option
  button.tabIndex = number ? -1 : 0
  return button
}

function drawChoice(host, part, press) {
  if (!host.firstChild) host.append(makeGroup())
  const group = host.firstChild
  group.setAttribute("aria-label", part.label)
  group.className = part.large ? "choice large" : `choice ${part.kind}`
  const shown = [...group.children].map((button) => button.textContent)
  if (shown.join("\n") !== part.options.join("\n")) {
    group.replaceChildren(...part.options.map((option, number) => makeOption(option, number, press)))
  }
  for (const button of group.children) {
    const value = part.value ?? []
    const on = part.kind === "marks" ? value.includes(button.textContent) : value === button.textContent
    button.setAttribute("aria-pressed", String(on))
    button.disabled = Boolean(part.disabled)
  }
}

function drawMenu(host, part, press) {
  if (!host.firstChild) {
    const label = document.createElement("label")
    const menu = document.createElement("select")
    menu.onchange = () => press(menu.value)
    label.append(document.createElement("span"), menu)
    host.append(label)
  }
  const [words, menu] = host.firstChild.children
  words.textContent = part.label
  menu.setAttribute("aria-label", part.label)
  const offered = JSON.stringify(part.groups)
  if (menu.offered !== offered) {
    menu.offered = offered
    menu.replaceChildren(
      ...part.groups.flatMap(([heading, start, choices]) => {
        const options = choices.map((each) =>
          typeof each === "string" ? new Option(each, start + each) : new Option(...each),
        )
        if (!heading) return options
        const group = Object.assign(document.createElement("optgroup"), {label: heading})
        group.append(...options)
        return [group]
      }),
    )
  }
  menu.value = part.value ?? ""
  menu.disabled = Boolean(part.disabled)
}

// What the server has written; parts of it with a number can be pressed.
function drawPickable(host, part, press) {
  if (host.shown !== part.html) {
    host.shown = part.html
    host.innerHTML = part.html
  }
  host.onclick = (event) => {
    const key = event.target.closest("[data-pick]")
    if (key) press(Number(key.dataset.pick))
  }
  for (const key of host.querySelectorAll("[data-pick]")) {
    key.setAttribute("aria-pressed", String(part.pressed.includes(Number(key.dataset.pick))))
    key.title ||= "Select these rows"
  }
}

const HINT = `A column and a value (petal length > 5, species = setosa), a class, a text, or a row's number;
and, or, not join them. Enter: next hit, Shift+Enter: the one before.`

function makeSearch(host, press) {
  const field = Object.assign(document.createElement("input"), {type: "search", autocomplete: "off", spellcheck: false})
  const note = document.createElement("output")
  const step = (icon, label, by) => {
    const button = makeButton(() => press(by))
    button.className = "step-hit"
    button.setAttribute("aria-label", label)
    button.textContent = icon
    return button
  }
  let sent = ""
  const look = () => {
    if (field.value === sent) return false
    sent = field.value
    press(sent)
    return true
  }
  field.onkeydown = (event) => {
    if (event.key === "Enter" && !look()) press(event.shiftKey ? -1 : 1)
    else if (event.key === "Escape" && field.value) field.value = ""
    else return
    event.preventDefault()
    event.stopPropagation()
    look()
  }
  field.onsearch = look // the field's own cross
  field.onchange = look
  field.setAttribute("aria-keyshortcuts", "/")
  document.addEventListener("keydown", (event) => {
    const path = event.composedPath().filter((node) => node instanceof Element)
    const isTyping = path.some((node) => node.matches("input, textarea, select, [contenteditable=true], [role=dialog]"))
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping || !field.isConnected) return
    event.preventDefault()
    field.focus()
    field.select() // what was looked for before is typed over
  })
  const hits = document.createElement("div")
  hits.className = "hits"
  hits.append(note, step("‹", "Previous hit", -1), step("›", "Next hit", 1))
  host.append(field, hits)
}

// A field to look for rows; "/" goes there, Enter to the next hit, Shift and Enter to the one before.
function drawSearch(host, part, press) {
  if (!host.firstChild) makeSearch(host, press)
  const [field, hits] = host.children
  const [note, before, next] = hits.children
  field.setAttribute("aria-label", part.label)
  field.placeholder = part.label
  field.title = HINT
  field.setAttribute("aria-invalid", String(Boolean(part.wrong)))
  note.textContent = part.note
  hits.hidden = !part.note
  for (const button of [before, next]) button.hidden = !part.steps
}

const DRAW = {push: drawPush, menu: drawMenu, pickable: drawPickable, search: drawSearch}

// What a press makes of a choice, shown before the server has heard of it.
function afterPress(part, value) {
  if (part.kind === "toggle" || part.kind === "menu") return {...part, value}
  if (part.kind !== "marks") return part
  const before = part.value ?? []
  const others = before.filter((each) => each !== value)
  return {...part, value: others.length < before.length ? others : [...others, value]}
}

// What the server does not say of a part.
const UNSAID = {heard: 0, visible: true, options: [], groups: [], pressed: [], html: "", label: "", note: ""}

export function drawPart(model, name) {
  const host = document.createElement("div")
  let presses = null // of which the server has heard when the last one is counted; null: it has heard of all
  let shown = null
  const draw = (part) => {
    shown = part
    host.className = `part ${name}`
    host.style.display = part.visible ? "" : "none"
    if (!part.visible) return
    const draw = DRAW[part.kind] ?? drawChoice
    draw(host, part, press)
  }
  const press = (value) => {
    presses = (presses ?? shown.heard ?? 0) + 1
    if (shown.kind !== "push") draw(afterPress(shown, value))
    model.send_msg({part: name, value})
  }
  const update = () => {
    const part = {...UNSAID, ...model.parts[name]}
    if (presses !== null && part.heard < presses && part.kind !== "push") return
    presses = null
    if (JSON.stringify(part) !== JSON.stringify(shown)) draw(part)
  }
  update()
  model.on("parts", update)
  return host
}
