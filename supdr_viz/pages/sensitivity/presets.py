"""Prepared sweeps: the papers' pictures of sensitivity."""

from __future__ import annotations

from supdr_viz.pages.sensitivity.files import sweep_table
from supdr_viz.presets.reading import read_presets

# The sensitivity page's presets.
SWEEP_PRESETS = read_presets(["sweeps"], sweep_table, opening="ridges-cancer")
