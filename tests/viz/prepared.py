"""What most tests of pictures begin with, made once for all methods on the same data."""

import functools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supdr.datasets import Dataset
from supdr_viz.frames.scene import build_scene
from supdr_viz.frames.types import Scene
from supdr_viz.settings.making import build_dataset
from supdr_viz.settings.splitting import Split, split
from supdr_viz.settings.state import Settings, from_json, to_json


class Prepared(NamedTuple):
    """Shared between tests: the arrays are read-only."""

    dataset: Dataset
    split: Split
    scene: Scene


def prepared(settings):
    """Return the data set, the split and the scene of these settings."""
    return _of_data(to_json(replace(settings, method=Settings().method, method_options={})))


@functools.cache
def _of_data(text):
    settings, problems = from_json(text)
    assert not problems
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    made = Prepared(dataset, parts, build_scene(dataset, parts))
    for part in made:
        for value in vars(part).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
    return made
