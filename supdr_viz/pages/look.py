"""How the pages' grids, heads and pictures look: styles that several places of the layouts share."""

from __future__ import annotations

from supdr_viz.kit import widgets

SQUARES_CSS = """
:host { display: grid !important; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); gap: 12px; }
.scroll-button { display: none !important; }
"""
CURVES_CSS = """
:host { display: grid !important; grid-template-columns: minmax(0, 7fr) minmax(0, 5fr); gap: 12px; }
.scroll-button { display: none !important; }
@media (max-width: 899.95px) { :host { grid-template-columns: minmax(0, 1fr); } }
"""

HIDDEN_CSS = """
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
"""
# The status takes one line or two: the room is kept, so that the plots do not move.
STEADY_CSS = """
.status { min-height: 44px; align-content: center; row-gap: 0; }
@media (max-width: 1399.95px) { .status { font-size: 12px; } }
@media (max-width: 599.95px) { .status { min-height: 66px; align-content: start; } }
"""


FREE = {"max-height": "none"}
"""The kit cuts everything to the window's height: what is taller, on a phone, would lie over what follows."""

# A browser keeps what is no longer said of an element: both states name the same properties.
CLEAR = {**FREE, "opacity": "1", "pointer-events": "auto", "transition": "opacity 0.15s"}
DIM = {**FREE, "opacity": "0.3", "pointer-events": "none", "transition": "opacity 0.3s 0.5s"}
"""Plots that show what the controls say, and plots that do not; what passes within half a second does not flicker."""

# Over the method's picture, without being in the way of the mouse.
OVER = {"position": "absolute", "left": "14px", "right": "14px", "pointer-events": "none", "z-index": "2"}
AXIS_WIDTH, AXIS_HEIGHT = "78px", "60px"
"""Room of the picture's axes with their labels, where it has any."""

AT_THE_RIGHT = {"left": "auto", "max-width": f"calc(100% - {AXIS_WIDTH} - 14px)"}
"""For a picture that leaves its lower right free, not its lower left."""

FACTS_CSS = (
    widgets.HEAD_CSS
    + """
:host { width: auto !important; height: auto !important; }
.keys, .said { background: color-mix(in srgb, var(--supdr-card) 78%, transparent); border-radius: 4px; }
.keys { row-gap: 0; font-size: 11.5px; }
.said { display: inline-flex; flex-wrap: wrap; column-gap: 12px; font-size: 11.5px; color: var(--supdr-secondary); }
.said .explained::after { top: auto; bottom: calc(100% + 5px); }
.said b { color: var(--supdr-text); font-variant-numeric: tabular-nums; }
"""
)
