// Buttons and choices: each is drawn as the server says, and tells it what was pressed.
function pushPart(host, part, press) {
  let button = host.firstChild
  if (!button) {
    button = document.createElement("button")
    button.type = "button"
    button.onclick = () => press(true)
    host.append(button)
  }
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

// One of a row is reached by the Tab key, the others by arrows.
function choicePart(host, part, press) {
  let group = host.firstChild
  if (!group) {
    group = document.createElement("div")
    group.setAttribute("role", "group")
    group.addEventListener("keydown", (event) => {
      const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key]
      if (!by) return
      event.preventDefault()
      const all = [...group.children], next = all[(all.indexOf(event.target) + by + all.length) % all.length]
      for (const each of all) each.tabIndex = each === next ? 0 : -1
      next.focus()
    })
    host.append(group)
  }
  group.className = part.large ? "choice large" : `choice ${part.kind}`
  const known = [...group.children].map((each) => each.textContent)
  if (known.join("\n") !== part.options.join("\n")) {
    group.replaceChildren(...part.options.map((option, number) => {
      const button = document.createElement("button")
      button.type = "button"
      button.textContent = option
      button.tabIndex = number ? -1 : 0
      button.onclick = () => press(option)
      return button
    }))
  }
  for (const button of group.children) {
    const on = part.kind === "marks" ? part.value.includes(button.textContent) : part.value === button.textContent
    button.setAttribute("aria-pressed", String(on))
    button.disabled = part.disabled
  }
}

// What a press makes of a choice, shown before the server has heard of it.
function pressed(part, value) {
  if (part.kind === "toggle") return {...part, value}
  const others = part.value.filter((each) => each !== value)
  return {...part, value: others.length < part.value.length ? others : [...others, value]}
}

function drawPart(model, name) {
  const host = document.createElement("div")
  let sent = null, shown = null
  const draw = (part) => {
    shown = part
    host.className = `part ${name}`
    host.style.display = part.visible ? "" : "none"
    if (part.visible) (part.kind === "push" ? pushPart : choicePart)(host, part, press)
  }
  const press = (value) => {
    sent = (sent ?? shown.heard) + 1
    if (shown.kind !== "push") draw(pressed(shown, value))
    model.send_msg({part: name, value})
  }
  const follow = () => {
    const part = model.parts[name]
    if (sent !== null && part.heard < sent && part.kind !== "push") return  // it has not heard of the last press yet
    sent = null
    if (JSON.stringify(part) !== JSON.stringify(shown)) draw(part)
  }
  follow()
  model.on("parts", follow)
  return host
}
