// Tells the page around a report which rows are selected and which iteration is shown.
const told = (what) => parent.postMessage({report: document.documentElement.dataset.report, ...what}, "*")
board.tell = ({kind, rows}) => {
  if (kind !== "select") return
  for (const tree of film.trees) tree.selected = rows  // also after the scrubber has moved
  told({rows})
}
for (const event of ["input", "change"]) scrub.addEventListener(event, () => told({iteration: shown().iteration}))
play.addEventListener("click", () => { if (!timer) told({iteration: shown().iteration}) })
