// Copies text; true: the browser let us.
import {HIDDEN} from "./hidden.js"

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text) // plain http from another machine: no clipboard there
  }
}

function copyBySelection(text) {
  const area = document.createElement("textarea")
  area.value = text
  area.style.cssText = HIDDEN
  document.body.append(area)
  area.select()
  try {
    return document.execCommand("copy")
  } catch {
    return false
  } finally {
    area.remove()
  }
}
