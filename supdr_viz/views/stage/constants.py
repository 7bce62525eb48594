"""Sizes, opacities and patterns of what is drawn: the page's scripts and the images off screen share them."""

from __future__ import annotations

import json
from typing import Any

from supdr_viz.ui.own_files import ASSETS

# All sizes are in pixels of the page. The rows' lists are by kind: training rows, test rows, rows without a label.
DRAWN: dict[str, Any] = json.loads(ASSETS.joinpath("stage", "constants.json").read_text(encoding="utf-8"))
