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
  button.className = `push ${part.look}`
  button.disabled = part.disabled
  button.style.width = part.width ? `${part.width}px` : ""
  button.style.height = part.height ? `${part.height}px` : ""
  const icon = document.createElement("span")
  icon.className = "icon notranslate"
  icon.setAttribute("aria-hidden", "true")
  icon.textContent = part.icon
  button.replaceChildren(...(part.icon ? [icon] : []), part.label)
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
  group.className = part.large ? "choice large" : `choice ${part.kind}`
  const shown = [...group.children].map((button) => button.textContent)
  if (shown.join("\n") !== part.options.join("\n")) {
    group.replaceChildren(...part.options.map((option, number) => makeOption(option, number, press)))
  }
  for (const button of group.children) {
    const on = part.kind === "marks" ? part.value.includes(button.textContent) : part.value === button.textContent
    button.setAttribute("aria-pressed", String(on))
    button.disabled = part.disabled
  }
}

// What a press makes of a choice, shown before the server has heard of it.
function afterPress(part, value) {
  if (part.kind === "toggle") return {...part, value}
  const others = part.value.filter((each) => each !== value)
  return {...part, value: others.length < part.value.length ? others : [...others, value]}
}

export function drawPart(model, name) {
  const host = document.createElement("div")
  let presses = null // of which the server has heard when the last one is counted; null: it has heard of all
  let shown = null
  const draw = (part) => {
    shown = part
    host.className = `part ${name}`
    host.style.display = part.visible ? "" : "none"
    if (!part.visible) return
    if (part.kind === "push") drawPush(host, part, press)
    else drawChoice(host, part, press)
  }
  const press = (value) => {
    presses = (presses ?? shown.heard) + 1
    if (shown.kind !== "push") draw(afterPress(shown, value))
    model.send_msg({part: name, value})
  }
  const update = () => {
    const part = model.parts[name]
    if (presses !== null && part.heard < presses && part.kind !== "push") return
    presses = null
    if (JSON.stringify(part) !== JSON.stringify(shown)) draw(part)
  }
  update()
  model.on("parts", update)
  return host
}
