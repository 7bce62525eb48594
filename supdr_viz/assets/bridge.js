// What only a browser can do: keys, a live region for screen readers, the page's address, window size, downloads.
import {knowReceivedModels} from "./page/bokeh_workarounds.js"
import {copy} from "./page/clipboard.js"
import {download} from "./page/download.js"
import {takeDrops} from "./page/drop.js"
import {HIDDEN} from "./page/hidden.js"
import {pageKey, workMenus} from "./page/keys.js"
import {iterationWhenLost, waitForServer} from "./page/lost.js"
import {answerWhenSettled} from "./page/settled.js"
import {remember, remembered} from "./page/storage.js"

const TALL = 840
const NARROW = 900

function downloadFile({name, text, mime, binary}) {
  const content = binary ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : text
  download(new Blob([content], {type: mime}), name)
}

// The address of the compare page: the run joins the comparison that this tab looked at last.
function comparisonWith({address, query}) {
  const begun = address + (address.includes("?") ? "&" : "?")
  const before = remembered("supdr-comparison")
  return `${begun}${before ? `${before}&` : ""}add=${encodeURIComponent(query)}`
}

function liveRegion(model) {
  const region = document.createElement("div")
  region.id = "status"
  region.setAttribute("role", "status")
  region.setAttribute("aria-live", "polite")
  region.style.cssText = HIDDEN
  document.body.append(region)
  const show = () => {
    region.textContent = model.status
  }
  show()
  model.on("status", show)
  return region
}

// Show the query in the page's address, without a new entry in the history.
function showQuery(model) {
  if (model.memory && model.query) remember(model.memory, model.query)
  // Where several pages are at one address, its query begins with the name of this one.
  const name = new URLSearchParams(location.search).get("page")
  const query = `?${name ? `page=${encodeURIComponent(name)}&` : ""}${model.query}`
  if (!model.query || location.search === query) return
  history.replaceState(null, "", location.pathname + query + location.hash)
}

function reportSize(model) {
  const tall = innerHeight >= TALL
  const narrow = innerWidth < NARROW
  if (tall !== model.tall) model.tall = tall
  if (narrow !== model.narrow) model.narrow = narrow
}

function reportKey(model, event) {
  const key = pageKey(event, model.keys)
  if (key === null) return
  if (!["Escape", "ArrowLeft", "PageDown", "PageUp"].includes(key)) event.preventDefault()
  if (!event.repeat || key === "ArrowRight") model.send_msg({kind: "key", key})
}

// Wait for a server that is lost, and say where the page was when it came back from such a wait.
function watchConnection(model) {
  let waits = false
  for (const shown of Bokeh.documents) {
    knowReceivedModels(shown)
    shown.on_event("connection_lost", () => {
      if (!waits) waitForServer()
      waits = true
    })
  }
  const iteration = iterationWhenLost()
  if (iteration > 0) model.lost_at = iteration
}

async function obey(model, message) {
  if (message.kind === "download") downloadFile(message)
  if (message.kind === "end") {
    const again = location.pathname.split("/").pop() + location.search
    location.replace(`ended?${new URLSearchParams({again})}`)
  }
  if (message.kind === "compare") location.assign(comparisonWith(message))
  if (message.kind === "copy") model.send_msg({kind: "copied", done: await copy(message.text)})
}

export function render({model}) {
  const region = liveRegion(model)
  const show = {
    zoom: () => document.documentElement.style.setProperty("--supdr-zoom", String(model.zoom)),
    query: () => showQuery(model),
  }
  for (const [name, act] of Object.entries(show)) {
    act()
    model.on(name, act)
  }
  const onKey = (event) => reportKey(model, event)
  const onResize = () => reportSize(model)
  document.addEventListener("keydown", onKey)
  window.addEventListener("resize", onResize)
  const endMenus = workMenus()
  onResize()
  if (model.origin !== location.origin + location.pathname) model.origin = location.origin + location.pathname
  watchConnection(model)
  const endDrops = takeDrops(model)
  const endAnswers = answerWhenSettled(model)
  model.on("msg:custom", (event) => obey(model, event.data ?? event))
  model.on("remove", () => {
    endAnswers()
    endDrops()
    endMenus()
    document.removeEventListener("keydown", onKey)
    window.removeEventListener("resize", onResize)
    region.remove()
  })
  return document.createElement("span")
}
