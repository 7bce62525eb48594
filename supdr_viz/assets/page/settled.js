// A program that drives the page asks whether all that was begun is done: data-settle="7" of <html> is answered by
// data-settled="7", once nothing is data-moving any more.  A widget reports to the server within a frame, a figure draws
// within three; widgets are drawn whenever the browser has nothing else to do.
const root = document.documentElement
// A browser at rest may forget an idle callback without a time limit: Chromium did for a minute, after a change of the
// window's size, until the next frame was asked for.
const IDLE_WITHIN = 1000 // milliseconds

function idle(act) {
  if (window.requestIdleCallback) requestIdleCallback(act, {timeout: IDLE_WITHIN})
  else requestAnimationFrame(act)
}

function after(frames, act) {
  if (frames) requestAnimationFrame(() => after(frames - 1, act))
  else act()
}

function answer(model) {
  if (root.hasAttribute("data-moving")) after(1, () => answer(model))
  else root.dataset.settled = model.settled
}

function pass(model) {
  if (!root.dataset.settle) return
  after(2, () => {
    model.asked = root.dataset.settle
  })
}

// Answer such questions; the function that comes back ends it.
export function answerWhenSettled(model) {
  const questions = new MutationObserver(() => pass(model))
  questions.observe(root, {attributeFilter: ["data-settle"]})
  pass(model)
  model.on("settled", () => after(3, () => idle(() => after(1, () => idle(() => answer(model))))))
  return () => questions.disconnect()
}
