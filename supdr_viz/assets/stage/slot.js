// A place of the page that a board fills.
import {offerPlace} from "./page.js"

export function render({model}) {
  const host = document.createElement("div")
  offerPlace(model, model.slot, host)
  return host
}
