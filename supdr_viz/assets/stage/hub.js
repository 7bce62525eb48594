// Opens the board of a stage, and connects it with the server.
import {Board, Group} from "./board.js"
import {clock} from "./clock.js"
import {splitPlace, stage} from "./page.js"
import {saveView} from "./saving.js"
import {openSocket} from "./socket.js"

stage.clock ??= clock

function openBoard(name, group) {
  if (!stage.groups.has(group)) stage.groups.set(group, new Group())
  const board = new Board(name, stage.groups.get(group))
  stage.boards.set(name, board)
  for (const [place, host] of stage.places) {
    const [owner, view] = splitPlace(place)
    if (owner === name) board.adopt(view, host)
  }
  return board
}

// Connect a board by messages of the page, where it has no socket of its own.
function connectByMessages(board, model) {
  board.send = (message) => model.send_msg(message)
  board.send({kind: "hello", first: !stage.byMessages}) // of a page with several stages
  stage.byMessages = true
}

function connectBySocket(board, model) {
  const socket = openSocket(model.ticket)
  board.send = (message) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }
  socket.onmessage = (event) => board.receive(event.data)
  socket.onclose = () => {
    if (!board.gone) connectByMessages(board, model)
  }
  return socket
}

export function render({model}) {
  const board = openBoard(model.board, model.group)
  const socket = model.ticket ? connectBySocket(board, model) : null
  if (!socket) connectByMessages(board, model)
  model.on("msg:custom", (event) => {
    const data = event.data ?? event
    if (data instanceof ArrayBuffer) board.receive(data)
    else if (data?.kind === "save") saveView(board, data)
  })
  model.on("remove", () => {
    board.gone = true
    socket?.close()
    board.remove()
    stage.boards.delete(model.board)
  })
  return document.createElement("span")
}
