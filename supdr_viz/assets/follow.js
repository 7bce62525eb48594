"use strict"
// Follows a run of somebody else's: shows what the server says of it, and answers that it was painted.
const AGAIN = 2000  // milliseconds until a lost connection is tried again
const LAST_WORDS = {
  4404: "There is nothing to follow here: the run has ended, or the link is not complete.",
  4410: "The run is not shown any more.",
  4429: "As many follow this run as can.",
}
const ticket = new URLSearchParams(location.search).get("ticket") || ""
const byId = (name) => document.getElementById(name)
const inside = (host) => (host.shadowRoot ? host.shadowRoot.lastElementChild : host)

const dark = matchMedia("(prefers-color-scheme: dark)")
const wear = () => {
  let chosen = null
  try { chosen = localStorage.getItem("supdr-theme") } catch (error) {}
  document.documentElement.dataset.theme = chosen || (dark.matches ? "dark" : "light")
}
dark.addEventListener("change", wear)
wear()

const board = new Board("follow", new Group())
for (const host of document.querySelectorAll("[data-slot]")) board.adopt(host.dataset.slot, inside(host))

function say(text) {
  byId("said").textContent = text
  byId("said").hidden = !text
  document.body.classList.toggle("stale", Boolean(text))
}

// What stands around the views: whose run it is, what its colours mean, and how to have it for oneself.
function surround({title, classes, take, iteration}) {
  byId("title").textContent = title
  inside(byId("classes")).innerHTML = classes
  byId("take").hidden = false
  byId("take").href = take + (iteration ? `&iteration=${iteration}` : "")
}

function join() {
  const address = new URL("stage", location.href)
  address.protocol = address.protocol.replace("http", "ws")
  address.search = "?ticket=" + encodeURIComponent(ticket)
  const socket = new WebSocket(address)
  socket.binaryType = "arraybuffer"
  board.tell = (message) => {
    if (message.kind === "painted" && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }
  socket.onmessage = (event) => {
    board.hear(event.data)
    if (board.tree.tool !== "scroll") {  // nothing is drawn here, and a finger scrolls the page
      board.tree.tool = "scroll"
      board.eachPlane((plane) => plane.hands.choose())
    }
    if (board.tree.followed) surround(board.tree.followed)
    say("")
  }
  socket.onclose = ({code}) => {
    say(LAST_WORDS[code] || "The connection is lost; trying again …")
    if (!(code in LAST_WORDS)) setTimeout(join, AGAIN)
  }
}
join()
