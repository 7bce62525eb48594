"""What the user sets: forms that write `Settings`, the training bar, sharing."""

from supdr_viz.controls.bundle import Controls
from supdr_viz.controls.data import DataControls, SplitControls
from supdr_viz.controls.display import DisplayControls
from supdr_viz.controls.method import MethodControls
from supdr_viz.controls.share import ShareMenu
from supdr_viz.controls.training import TrainingBar

__all__ = [
    "Controls",
    "DataControls",
    "DisplayControls",
    "MethodControls",
    "ShareMenu",
    "SplitControls",
    "TrainingBar",
]
