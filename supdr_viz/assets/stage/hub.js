// All boards of the page, by name; views and boards come in any order.
const supdrSlots = (globalThis.supdrSlots ??= new Map())
const supdrStage = (globalThis.supdrStage ??= {boards: new Map(), groups: new Map(), clock: stageClock})
const parts = (slot) => [slot.slice(0, slot.indexOf("/")), slot.slice(slot.indexOf("/") + 1)]
supdrStage.adopt = (slot, host) => supdrStage.boards.get(parts(slot)[0])?.adopt(parts(slot)[1], host)
supdrStage.dismiss = (slot) => supdrStage.boards.get(parts(slot)[0])?.dismiss(parts(slot)[1])

function openBoard(name, group) {
  if (!supdrStage.groups.has(group)) supdrStage.groups.set(group, new Group())
  const board = new Board(name, supdrStage.groups.get(group))
  supdrStage.boards.set(name, board)
  for (const [slot, host] of supdrSlots) if (parts(slot)[0] === name) board.adopt(parts(slot)[1], host)
  return board
}

// Let a board talk to the server: by a socket of its own, or, where there is none, by messages of the page.
function connect(board, model) {
  let socket = null
  const byMessages = () => {
    board.tell = (message) => model.send_msg(message)
    board.tell({kind: "hello", first: !supdrStage.byMessages})  // of a page with several stages
    supdrStage.byMessages = true
  }
  if (!model.ticket) byMessages()
  else {
    const address = new URL("stage", location.href)
    address.protocol = address.protocol.replace("http", "ws")
    address.search = "?ticket=" + encodeURIComponent(model.ticket)
    socket = new (globalThis.supdrWebSocket ?? WebSocket)(address)
    socket.binaryType = "arraybuffer"
    board.tell = (message) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)) }
    socket.onmessage = (event) => board.hear(event.data)
    socket.onclose = () => { if (!board.gone) byMessages() }
  }
  model.on("msg:custom", (event) => {
    const data = event.data ?? event
    if (data instanceof ArrayBuffer) board.hear(data)
    else if (data && data.kind === "save") save(board, data)
  })
  return () => { board.gone = true; socket?.close() }
}

export function render({model}) {
  const board = openBoard(model.board, model.group)
  const disconnect = connect(board, model)
  model.on("remove", () => {
    disconnect()
    board.remove()
    supdrStage.boards.delete(model.board)
  })
  return document.createElement("span")
}
