// Buttons and choices in a row.
import {drawPart} from "./parts.js"

export function render({model}) {
  const row = document.createElement("div")
  row.className = "bar"
  row.append(...Object.keys(model.parts).map((name) => drawPart(model, name)))
  return row
}
