"""What most tests of pictures begin with, made once for all methods on the same data."""

import copy
import functools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supdr.datasets import Dataset
from supdr_viz.data.split import Split
from supdr_viz.experiment.build import build_dataset
from supdr_viz.experiment.settings import Settings, from_json, to_json
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.scene import build_scene
from supdr_viz.pictures.types import Scene


class Prepared(NamedTuple):
    """Shared between tests: the arrays are read-only."""

    dataset: Dataset
    split: Split
    scene: Scene


def prepared(settings):
    """Return the data set, the split and the scene of these settings."""
    return _of_data(to_json(replace(settings, method=Settings().method, method_options={})))


def counting(estimator, method):
    """Return the estimator with a method that notes of how many rows it is asked, and the list of these numbers."""
    kind, asked = type(estimator), []

    def counted(self, X):
        asked.append(len(X))
        return getattr(kind, method)(self, X)

    noting = copy.copy(estimator)
    noting.__class__ = type(kind.__name__, (kind,), {method: counted})
    return noting, asked


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
