"""The explorer's examples: the figures and tables of the papers, and a few friendly places to start.

Each has a note of what to look at.  The notes are honest about what was measured: where a paper's claim does not show,
they say so.
"""

from __future__ import annotations

from supdr_viz.experiment.settings import read_table
from supdr_viz.presets import OPENING
from supdr_viz.presets.reading import read_presets

# The explorer's presets.
PRESETS = read_presets(("start", "mac", "sldr", "sdr_glm", "snf", "nsdr"), read_table, opening=OPENING)
