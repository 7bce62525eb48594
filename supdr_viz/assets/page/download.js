// Saves what a page holds as a file of the user.
const KEPT = 10000 // milliseconds until the address is given up; the browser has read it by then

export function download(blob, name) {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT)
}
