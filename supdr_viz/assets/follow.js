// Follows a run of another visitor: shows what the server sends of it, and answers that it was painted.
import {Board, Group} from "./stage/board.js"
import {stage} from "./stage/page.js"
import {makeRoom} from "./stage/room.js"
import {openSocket} from "./stage/socket.js"

const AGAIN = 2000 // milliseconds until a lost connection is tried again
const LAST_WORDS = {
  4404: "This run has ended, or the link is incomplete. Ask for a new link.",
  4410: "The run is not shown any more.",
  4429: "As many follow this run as can.",
}
const ticket = new URLSearchParams(location.search).get("ticket") || ""
const darkScheme = matchMedia("(prefers-color-scheme: dark)")
const byId = (id) => document.getElementById(id)
const contentOf = (host) => (host.shadowRoot ? host.shadowRoot.lastElementChild : host)

function chosenTheme() {
  try {
    return localStorage.getItem("supdr-theme")
  } catch {
    return null // the browser keeps nothing
  }
}

function wearTheme() {
  document.documentElement.dataset.theme = chosenTheme() || (darkScheme.matches ? "dark" : "light")
}

function say(text) {
  byId("said").textContent = text
  byId("said").hidden = !text
  document.body.classList.toggle("stale", Boolean(text))
}

// The words around the views: whose run it is, what its colours mean, and how to have it for oneself.
function describe({title, classes, take, iteration}) {
  byId("title").textContent = title
  contentOf(byId("classes")).innerHTML = classes
  byId("take").hidden = false
  byId("take").href = take + (iteration ? `&iteration=${iteration}` : "")
}

function join(board) {
  const socket = openSocket(ticket)
  board.send = (message) => {
    if (message.kind === "painted" && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }
  socket.onmessage = (event) => {
    board.receive(event.data)
    if (board.tree.tool !== "scroll") {
      board.tree.tool = "scroll" // no points are drawn here, and a finger scrolls the page
      board.eachPlane((plane) => plane.pointer.chooseTool())
    }
    if (board.tree.followed) describe(board.tree.followed)
    say("")
  }
  socket.onclose = ({code}) => {
    say(LAST_WORDS[code] || "The connection is lost; trying again …")
    if (code in LAST_WORDS) {
      byId("away").hidden = false
      document.body.classList.toggle("gone", !byId("title").textContent) // nothing was ever shown
    } else setTimeout(join, AGAIN, board)
  }
}

darkScheme.addEventListener("change", wearTheme)
wearTheme()
const board = new Board("follow", new Group())
stage.boards.set("follow", board)
for (const card of document.querySelectorAll(".squares figure")) {
  makeRoom(card, [...card.querySelectorAll(".under")], card.className === "latent")
}
for (const host of document.querySelectorAll("[data-slot]")) board.adopt(host.dataset.slot, contentOf(host))
join(board)
