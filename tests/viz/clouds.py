"""Rows on disk in three clouds, and the settings under which tests learn from them."""

from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import Settings

N, PARTITION = 900, 200

MENU_OPTIONS = {spec.name for spec in MENU["MAC"].form}


def settings_of(**options):
    method = {"n_centers": 20, "max_iter": 3, "early_stopping": False} | options
    return Settings(
        data="rows",
        data_options={"name": "clouds", "target": "labels.npy"},
        method="MAC",
        method_options={key: value for key, value in method.items() if key in MENU_OPTIONS},
        test_share=0.25,
        seed=3,
        speed="fast",
    )
