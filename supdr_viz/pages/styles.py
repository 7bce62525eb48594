"""How the pages' grids, heads and pictures look: styles that several places of the layouts share."""

from __future__ import annotations

HIDDEN_CSS = """
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
"""
# The status takes one line or two: the room is kept, so that the plots do not move; of a phone it takes one.
STEADY_CSS = """
.status { min-height: 44px; align-content: center; row-gap: 0; }
@media (max-width: 1399.95px) { .status { font-size: 12px; } }
@media (max-width: 1699.95px) { .numbers:has(.long) .part:has(.aside) { display: none; } }
@media (max-width: 599.95px) {
  .status { min-height: 24px; column-gap: 8px; } .chip { padding: 0 7px; } .before { display: none; }
  .part:has(.aside, .ending), .part:has(+ .part .ending) .dot { display: none; }
}
"""


# The legend of the classes, beside the scrubber: many classes take two lines, and no room from the plots.
CLASSES_CSS = """
:host { max-width: 100%; } .keys { line-height: 1.3; }
@media (min-width: 900px) { :host { max-width: 54%; } }
@media (max-width: 599.95px) { .keys { column-gap: 7px; font-size: 11.5px; } }
"""

# The kit cuts everything to the window's height: what is taller, on a phone, would lie over what follows.
FREE = {"max-height": "none"}

# A browser keeps what is no longer said of an element: both states name the same properties.
CLEAR = {**FREE, "opacity": "1", "pointer-events": "auto", "transition": "opacity 0.15s"}
# Plots that show what the controls say, and plots that do not; what passes within half a second does not flicker.
DIM = {**FREE, "opacity": "0.3", "pointer-events": "none", "transition": "opacity 0.3s 0.5s"}
