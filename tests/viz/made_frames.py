"""Scenes, frames and surfaces made up for tests of the views."""

import dataclasses
from types import SimpleNamespace

import numpy as np

from supdr_viz.pictures.methods import RECONSTRUCTION
from supdr_viz.pictures.types import Curves, Frame, Lines, Plane, Scene, Sheet, Surface
from supdr_viz.views.stage.wire import decode

SQUARE = (-1.0, 1.0, -1.0, 1.0)


def make_scene(n=40, n_classes=3, task="classification", names=None, **changes):
    rng = np.random.default_rng(0)
    code = (np.arange(n) % n_classes).astype(np.uint8)
    is_test = np.arange(n) >= int(0.75 * n)
    is_labelled = ~is_test
    is_labelled[:4] = False
    plane = Plane("features", ("first", "second"), np.zeros(2), np.eye(2), np.eye(2), True, 1.0, SQUARE)
    regression = task == "regression"
    scene = Scene(
        title="toy",
        description="",
        task=task,
        class_names=() if regression else tuple(names or (f"class {k}" for k in range(n_classes))),
        position=rng.uniform(-1, 1, (n, 2)).astype(np.float32),
        code=np.zeros(n, dtype=np.uint8) if regression else code,
        target=rng.normal(100, 20, n).astype(np.float32) if regression else code.astype(np.float32),
        is_test=is_test,
        is_labelled=is_labelled,
        row=np.arange(n)[::-1].copy(),
        plane=plane,
        n_features=2,
    )
    return dataclasses.replace(scene, **changes)


def make_curves(k, **changes):
    step = np.arange(k)
    losses = {"reconstruction": 5 + 10 * 0.9**step, "label": 1 + 50 * 0.8**step}
    losses["objective"] = losses["reconstruction"] + losses["label"]
    losses["bound"] = 4 - 20 * 0.8**step
    return Curves(step, {**losses, **changes})


def make_picture(scene, iteration=5, mode=RECONSTRUCTION, previous=None, stretch=1.0):
    """What a method shows whose training rows stand at random."""
    rng = np.random.default_rng(iteration)
    scores = stretch * rng.normal(1, 1, (scene.n_train, max(len(scene.class_names), 3)))
    fitted = SimpleNamespace(
        reconstruction_=rng.uniform(-1, 1, (scene.n_train, 2)),
        classes_=np.arange(scores.shape[1]),
        training_decision_=scores,
        label_pull_=rng.uniform(0, 1, scene.n_train),
    )
    return mode.draw({"fitted": fitted, "scene": scene, "plane": None, "snapshot": None, "previous": previous})


def make_frame(scene, iteration=5, **changes):
    rng = np.random.default_rng(iteration)
    n = len(scene.position)
    pulled = rng.normal(size=(n, 2)).astype(np.float32)
    pulled[scene.is_test] = np.nan
    k = iteration + 1
    errors = Curves(np.arange(k), {"train": np.linspace(60, 1, k), "test": np.linspace(65, 3, k)})
    frame = Frame(
        number=iteration,
        iteration=iteration,
        first_iteration=0,
        last_iteration=iteration,
        live=True,
        latent=rng.uniform(-1, 1, (n, 2)).astype(np.float32),
        latent_extent=SQUARE,
        latent_caption="placed using labels",
        pulled=pulled,
        support=~scene.is_test & (rng.uniform(size=n) < 0.3),
        losses=make_curves(k),
        errors=errors,
        numbers={},
        picture=make_picture(scene, iteration),
    )
    return dataclasses.replace(frame, **changes)


def make_surface(scene, **changes):
    n = len(scene.position)
    image = (np.add.outer(np.arange(10), np.arange(10)) % max(len(scene.class_names), 1)).astype(np.uint8)
    lines = Lines([np.zeros(3, np.float32), np.ones(2, np.float32)], [np.arange(3.0), np.arange(2.0)])
    sheet = Sheet(image, SQUARE, lines, Lines([], []))
    wrong = np.arange(n) % 7 == 0
    surface = Surface(5, sheet, sheet, scene.target.astype(np.float32), scene.target.astype(np.float32), wrong, wrong)
    return dataclasses.replace(surface, **changes)


def told(stage):
    """Messages that a stage sends from now on, decoded."""
    messages = []
    stage.connect(lambda message: messages.append(decode(message)))
    messages.clear()
    return messages
