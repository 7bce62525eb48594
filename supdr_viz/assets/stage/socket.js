// The connection on which a board hears from the server.
export function openSocket(ticket) {
  const address = new URL("stage", location.href)
  address.protocol = address.protocol.replace("http", "ws")
  address.search = `?ticket=${encodeURIComponent(ticket)}`
  const socket = new (globalThis.supdrWebSocket ?? WebSocket)(address)
  socket.binaryType = "arraybuffer"
  return socket
}
