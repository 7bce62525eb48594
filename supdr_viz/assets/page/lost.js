// The server is gone, or has forgotten this page: wait until it answers, then open the page again where it was.
import {stage} from "../stage/page.js"
import {forget, remember, remembered} from "./storage.js"

const LOST = "supdr-lost"
const here = () => location.pathname + location.search

async function serverAnswers() {
  try {
    const {status} = await fetch(new URL("stage", location.href), {cache: "no-store"})
    return status < 500
  } catch {
    return false
  }
}

// Not all of a class at once.
const pause = () => new Promise((done) => setTimeout(done, 1000 + 1000 * Math.random()))

export async function waitForServer() {
  const iterations = [...stage.boards.values()].map((board) => board.tree.iteration ?? 0)
  remember(LOST, JSON.stringify({page: here(), iteration: Math.max(0, ...iterations)}))
  do {
    await pause()
  } while (!(await serverAnswers()))
  location.reload()
}

// The iteration that was shown when this page lost its server; 0: it has not.
export function iterationWhenLost() {
  const {page, iteration} = JSON.parse(remembered(LOST) ?? "{}")
  forget(LOST)
  return page === here() ? iteration : 0
}
