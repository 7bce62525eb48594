"""The scores that go with a decision surface: they say what its image says, and stay small."""

import numpy as np
import pytest

from supdr_viz.experiment.build import build_estimator
from supdr_viz.experiment.settings import Settings
from supdr_viz.pictures import surface as surfaces
from supdr_viz.pictures.surface import COARSE, FINE, LatentPlane, evaluate, latent_axes
from tests.viz.prepared import prepared

TWO = Settings(data="zigzag", method="LSDR", method_options={"max_iter": 3})
SIX = Settings(data="spirals", data_options={"n_classes": 6, "n_per_class": 40}, method="LSDR")
NUMBERS = Settings(data="diabetes", method="LSDR", method_options={"max_iter": 3})


def surface_of(settings, resolution):
    dataset, split, scene = prepared(settings)
    estimator = build_estimator(settings, dataset.task, len(split.train)).set_params(n_components=2, max_iter=3)
    fitted = estimator.fit(split.X_train, split.y_train)
    latent = fitted.embedding_
    plane = LatentPlane(*latent_axes(latent), (-4.0, 4.0, -4.0, 4.0))
    return evaluate(fitted, scene, split, plane, iteration=3, resolution=resolution)


@pytest.mark.parametrize("resolution", [COARSE, FINE])
@pytest.mark.parametrize("settings", [TWO, SIX, NUMBERS], ids=["two classes", "six classes", "numbers"])
def test_scores_say_what_the_image_says(settings, resolution):
    surface = surface_of(settings, resolution)
    for sheet in (surface.input, surface.latent):
        levels, classes = sheet.relief.levels, sheet.relief.classes
        assert levels.dtype == np.int16
        assert levels.shape[1] <= COARSE
        scores = levels * sheet.relief.scale
        cells = len(sheet.image) // levels.shape[1]
        centre = sheet.image[cells // 2 :: cells, cells // 2 :: cells]
        if classes is None:
            assert np.abs(scores[0] - centre).max() < 20  # within a cell
            continue
        winner = (scores[0] > 0).astype(int) if len(scores) == 1 else scores.argmax(axis=0)
        assert (classes[winner] == centre).mean() > 0.97  # they may part along the boundary
        assert len(classes) == max(2, len(levels))


def test_scores_of_too_many_classes_are_not_sent(monkeypatch):
    monkeypatch.setattr(surfaces, "MAX_SCORES", 6 * COARSE**2 - 1)
    assert surface_of(SIX, COARSE).input.relief is None
    assert surface_of(TWO, COARSE).input.relief is not None


def test_files_carry_no_scores():
    surface = surface_of(TWO, COARSE)
    still = surface.at_rest()
    assert (still.input.relief, still.latent.relief) == (None, None)
    assert still.input.image is surface.input.image
    assert surface.input.relief is not None
