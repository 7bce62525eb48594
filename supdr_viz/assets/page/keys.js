// Keys of the page: which of them are the page's own, and how the keyboard opens and leaves the kit's menus.
const QUIET =
  "input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, " +
  "[contenteditable=true], [role=combobox], [role=listbox], [role=menu], [role=dialog]"
const PRESSED_BY_SPACE = "button, a[href], input, summary, [role=tab], [role=button]"
const MOVED_BY_ARROWS = "input[type=range], [role=tab], [role=radio]"
const OPENS_MENU = {keydown: ["Enter", "ArrowDown", "ArrowUp"], keyup: [" "]}
const CHOOSES = {keydown: "Enter", keyup: " "}
const CLOSED_MENU = "[role=combobox][aria-haspopup=listbox][aria-expanded=false]"
const MOST_FRAMES = 60 // within which a menu that is left has the focus again

const elementsOf = (event) => event.composedPath().filter((node) => node instanceof Element)
const matchesAny = (elements, selector) => elements.some((element) => element.matches(selector))

// The key of an event if the page takes it; null: a widget does, or it is none of the page's keys.
export function pageKey(event, keys) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return null
  const path = elementsOf(event)
  if (matchesAny(path, QUIET)) return null
  if (event.key === " " && path[0]?.matches(PRESSED_BY_SPACE)) return null
  if (["ArrowLeft", "ArrowRight"].includes(event.key) && matchesAny(path, MOVED_BY_ARROWS)) return null
  return keys.includes(event.key) ? event.key : null
}

function focusedElement() {
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  return element
}

// The kit's menus open by the mouse alone.  The Space key opens them when it is let go of, else it would choose, too.
function openMenu(event) {
  const element = event.composedPath()[0]
  if (!OPENS_MENU[event.type].includes(event.key)) return
  if (element instanceof Element && element.matches(CLOSED_MENU)) element.click()
}

// After a choice the keyboard is the page's: the Space key runs, and does not open the menu again.  The Tab key goes on
// from the menu.  A menu that was closed without a choice keeps the focus.
function leaveMenu(event) {
  if (event.key !== CHOOSES[event.type]) return
  const path = elementsOf(event)
  const ofMenu = matchesAny(path, "[role=option], [role=menuitem]")
  if (!ofMenu && !(event.type === "click" && matchesAny(path, ".chooses"))) return
  const leave = (frames) => {
    const element = focusedElement()
    const chosen = ofMenu ? element?.matches("[role=combobox][aria-expanded=false]") : path.includes(element)
    if (chosen) element.blur()
    else if (frames) requestAnimationFrame(() => leave(frames - 1))
  }
  requestAnimationFrame(() => leave(MOST_FRAMES))
}

const LISTENERS = [
  ["keydown", openMenu, false],
  ["keyup", openMenu, false],
  ["click", leaveMenu, true],
  ["keydown", leaveMenu, true],
  ["keyup", leaveMenu, true],
]

// Let the keyboard work the kit's menus; the function that comes back ends it.
export function workMenus() {
  for (const listener of LISTENERS) document.addEventListener(...listener)
  return () => {
    for (const listener of LISTENERS) document.removeEventListener(...listener)
  }
}
