// The page of a recorded run.  A report with a name sends messages to the page around it: which rows are selected and
// which iteration is shown.
import {Player} from "./player.js"

const player = new Player()
const {report} = document.documentElement.dataset

function sendMessages() {
  const send = (message) => parent.postMessage({report, ...message}, "*")
  const sendIteration = () => send({iteration: player.moment.iteration})
  player.board.send = ({kind, rows}) => {
    if (kind !== "select") return
    for (const tree of player.film.trees) tree.selected = rows // also after the slider has moved
    send({rows})
  }
  for (const event of ["input", "change"]) player.slider.addEventListener(event, sendIteration)
  player.button.addEventListener("click", () => {
    if (!player.timer) sendIteration()
  })
}

if (report) sendMessages()
player.load(JSON.parse(document.getElementById("film").textContent))
