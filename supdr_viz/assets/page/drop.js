// A file that is dropped anywhere on the page goes to the field that takes files, which the server shows then.
const FIELD = ".takes-drops"
const CHOOSER = "input.filepond--browser"
const OWN_FIELD = ".filepond--root, [role=dialog]" // what takes files itself, or lies over the page
const WAIT = 50 // milliseconds between two looks for the field
const MOST = 200 // looks
const LOOK = `position:fixed;inset:12px;z-index:1400;display:none;align-items:center;justify-content:center;
  pointer-events:none;border:3px dashed var(--supdr-primary);border-radius:12px;
  background:color-mix(in srgb, var(--supdr-card) 88%, transparent);color:var(--supdr-text);
  font:600 20px Roboto, Helvetica, Arial, sans-serif`

function found(root, selector) {
  const here = root.querySelector(selector)
  if (here) return here
  for (const each of root.querySelectorAll("*")) {
    const inside = each.shadowRoot && found(each.shadowRoot, selector)
    if (inside) return inside
  }
  return null
}

function give(file, looks = MOST) {
  const chooser = found(document, FIELD)?.shadowRoot?.querySelector(CHOOSER)
  if (!chooser) {
    if (looks) setTimeout(() => give(file, looks - 1), WAIT)
    return
  }
  const files = new DataTransfer()
  files.items.add(file)
  chooser.files = files.files
  chooser.dispatchEvent(new Event("change", {bubbles: true}))
}

// Let the page take files; the function that comes back ends it.
export function takeDrops(model) {
  const cover = Object.assign(document.createElement("div"), {textContent: "Drop a table to open it"})
  cover.style.cssText = LOOK
  cover.setAttribute("aria-hidden", "true")
  document.body.append(cover)
  const show = (wanted) => {
    cover.style.display = wanted ? "flex" : "none"
  }
  const isOurs = (event) => {
    const path = event.composedPath().filter((node) => node instanceof Element)
    const isFile = event.dataTransfer?.types.includes("Files")
    return model.drops && isFile && !path.some((element) => element.matches(OWN_FIELD))
  }
  const over = (event) => {
    show(isOurs(event))
    if (isOurs(event)) event.preventDefault()
  }
  const leave = (event) => {
    if (!event.relatedTarget) show(false)
  }
  const drop = (event) => {
    show(false)
    const [file] = event.dataTransfer?.files ?? []
    if (!isOurs(event) || !file) return
    event.preventDefault()
    model.send_msg({kind: "dropped"})
    give(file)
  }
  const listeners = {dragenter: over, dragover: over, dragleave: leave, drop}
  for (const [name, listener] of Object.entries(listeners)) document.addEventListener(name, listener)
  return () => {
    for (const [name, listener] of Object.entries(listeners)) document.removeEventListener(name, listener)
    cover.remove()
  }
}
