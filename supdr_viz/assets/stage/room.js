// Words of a card take their room from its view, so that none lies over it, and the card stays as high.  Where a number
// becomes shorter the room is kept, and if `always` also while there are none, as during a run: what is looked at must
// not move.  The observer that comes back ends it.
export function makeRoom(card, words, always) {
  let wide = 0
  const observer = new ResizeObserver(() => {
    const kept = wide === card.clientWidth
    wide = card.clientWidth
    for (const each of words) {
      if (!kept) each.style.minHeight = ""
      else if ((each.shadowRoot?.lastElementChild ?? each).textContent) each.style.minHeight = `${each.offsetHeight}px`
      else if (!always) each.style.minHeight = ""
    }
    const room = words.reduce((sum, each) => sum + each.getBoundingClientRect().height, 0)
    card.style.setProperty("--words", `${Math.ceil(room)}px`)
  })
  for (const each of [card, ...words]) observer.observe(each)
  return observer
}
