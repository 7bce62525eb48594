// The still of the page, which lies over it until it is drawn.
const LOOK = 50 // milliseconds between two looks
const RESTS = 4 // looks at which the sidebar ends where it did before: its widgets are drawn one by one
const MOST = 3000 // milliseconds after the first picture of the stage

let ends = false

function find(root, selector) {
  const found = root.querySelector(selector)
  if (found) return found
  const within = [...root.querySelectorAll("*")].filter((each) => each.shadowRoot)
  return within.reduce((other, each) => other ?? find(each.shadowRoot, selector), null)
}

// Where the last widget of the sidebar ends, in pixels; 0: there is none.
const endOfSidebar = () => find(document.body, ".sidebar")?.lastElementChild?.getBoundingClientRect().bottom ?? 0

// The stage has drawn; the still goes once the widgets have, too.
export function endStill() {
  const still = document.getElementById("still")
  if (!still || ends) return
  ends = true
  const latest = performance.now() + MOST
  const look = (before, same) => {
    const end = endOfSidebar()
    const rests = end === before ? same + 1 : 0
    if (rests < RESTS && performance.now() < latest) setTimeout(look, LOOK, end, rests)
    else still.style.display = "none"
  }
  look(0, 0)
}
