"""What the user sets: forms that write `Settings`."""

from supdr_viz.controls.data import DataControls, SplitControls
from supdr_viz.controls.display import DisplayControls
from supdr_viz.controls.method import MethodControls
from supdr_viz.controls.sidebar import Controls

__all__ = [
    "Controls",
    "DataControls",
    "DisplayControls",
    "MethodControls",
    "SplitControls",
]
