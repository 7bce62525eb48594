"""The scores that go with a decision surface: they say what its image says, and stay small."""

import numpy as np
import pytest

from supdr.datasets import make_spirals
from supdr_viz.experiment.build import build_estimator
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.scene import build_scene
from supdr_viz.pictures.surface import COARSE, FINE, MAX_SCORES, LatentPlane, evaluate, latent_axes
from tests.viz.prepared import prepared

TWO = Settings(data="zigzag", method="LSDR", method_options={"max_iter": 3})
SIX = Settings(data="spirals", data_options={"n_classes": 6, "n_per_class": 40}, method="LSDR")
NUMBERS = Settings(data="diabetes", method="LSDR", method_options={"max_iter": 3})


def surface_of(settings, resolution):
    return surface_on(settings, prepared(settings), resolution)


def surface_on(settings, rows, resolution):
    dataset, parts, scene = rows
    estimator = build_estimator(settings, dataset.task, len(parts.train)).set_params(n_components=2, max_iter=3)
    fitted = estimator.fit(parts.X_train, parts.y_train)
    latent = fitted.embedding_
    plane = LatentPlane(*latent_axes(latent), (-4.0, 4.0, -4.0, 4.0))
    return evaluate(fitted, scene, parts, plane, iteration=3, resolution=resolution)


@pytest.mark.parametrize("resolution", [COARSE, FINE])
@pytest.mark.parametrize("settings", [TWO, SIX, NUMBERS], ids=["two classes", "six classes", "numbers"])
def test_scores_say_what_the_image_says(settings, resolution):
    surface = surface_of(settings, resolution)
    for sheet in (surface.input, surface.latent):
        scores, classes = sheet.relief.scores, sheet.relief.classes
        assert scores.shape[1] <= COARSE
        cells = len(sheet.image) // scores.shape[1]
        centre = sheet.image[cells // 2 :: cells, cells // 2 :: cells]
        if classes is None:
            assert np.abs(scores[0] - centre).max() < 20  # within a cell
            continue
        winner = (scores[0] > 0).astype(int) if len(scores) == 1 else scores.argmax(axis=0)
        assert (classes[winner] == centre).mean() > 0.97  # they may part along the boundary
        assert len(classes) == max(2, len(scores))


@pytest.mark.parametrize("n_classes", [MAX_SCORES // COARSE**2, MAX_SCORES // COARSE**2 + 1])
def test_scores_of_too_many_classes_are_not_sent(n_classes):
    dataset = make_spirals(n_classes, 10, random_state=0)
    parts = split(dataset, SIX)
    rows = dataset, parts, build_scene(dataset, parts)
    sent = surface_on(SIX, rows, COARSE).input.relief is not None
    assert sent == (n_classes * COARSE**2 <= MAX_SCORES)


def test_files_carry_no_scores():
    surface = surface_of(TWO, COARSE)
    still = surface.at_rest()
    assert (still.input.relief, still.latent.relief) == (None, None)
    assert still.input.image is surface.input.image
    assert surface.input.relief is not None
