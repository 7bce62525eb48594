// Where rows stand in other fits: small light points under the rows.
import {setColour} from "./colours.js"
import {unpackPlaces} from "./wire.js"

const SIDE = 2 // pixels
const OPACITY = 0.4
const unpacked = new WeakMap()

function placesOf({place}) {
  if (!unpacked.has(place.levels)) unpacked.set(place.levels, unpackPlaces(place))
  return unpacked.get(place.levels)
}

// All of them; where rows are selected, only theirs.
export function drawGhosts(pen, {frame, board, tree}) {
  const {rows} = tree.ghosts
  const places = placesOf(tree.ghosts)
  pen.globalAlpha = OPACITY
  for (let k = 0; k < rows.length; k++) {
    const row = rows[k]
    if (Number.isNaN(places[2 * k]) || (board.selected && !board.selected.has(row))) continue
    setColour(pen, board.colourOf(row))
    pen.fillRect(frame.x(places[2 * k]) - SIDE / 2, frame.y(places[2 * k + 1]) - SIDE / 2, SIDE, SIDE)
  }
  pen.globalAlpha = 1
}
