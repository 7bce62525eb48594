"""Prepared sweeps: the papers' pictures of sensitivity."""

from __future__ import annotations

from supdr_viz.presets.reading import read_presets
from supdr_viz.sweeps.files import sweep_table

# The sensitivity page's presets.
SWEEP_PRESETS = read_presets(["sweeps"], sweep_table, opening="ridges-cancer")
