// What the scripts of one page share, although each brings its own modules: the boards, and the places for their views.
// Boards and places come in any order.
globalThis.supdrStage ??= {boards: new Map(), groups: new Map(), places: new Map()}
export const stage = globalThis.supdrStage

// A place is called "board/kind/view".
export function splitPlace(place) {
  const end = place.indexOf("/")
  return [place.slice(0, end), place.slice(end + 1)]
}

// Let a board draw into an element, until the component that holds it is removed.
export function offerPlace(model, place, host) {
  const [name, view] = splitPlace(place)
  stage.places.set(place, host)
  stage.boards.get(name)?.adopt(view, host)
  model.on("remove", () => {
    if (stage.places.get(place) !== host) return
    stage.places.delete(place)
    stage.boards.get(name)?.dismiss(view)
  })
}
