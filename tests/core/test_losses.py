"""Every loss against finite differences, and its proximal map against a grid."""

import math

import numpy as np
import pytest

from supdr.functions import losses

SIGNS = (-1.0, 1.0)
KINKS = {"hinge": [1.0], "smooth_hinge": [0.0, 1.0]}
all_losses = pytest.mark.parametrize("name", losses.LOSSES)


def targets_of(name):
    return (-1.3, 0.4, 2.0) if name == "squared" else SIGNS


def smooth_points(name, y):
    """Scores around zero, away from the kinks of the second derivative."""
    scores = np.linspace(-3.0, 3.0, 61) + 0.013
    kinks = KINKS.get(name, [])
    return [z for z in scores if all(abs(y * z - kink) > 1e-3 for kink in kinks)]


def reference(name, y, z):
    t = y * z
    return {
        "squared": (y - z) ** 2,
        "logistic": math.log1p(math.exp(-t)),
        "hinge": max(0.0, 1 - t),
        "smooth_hinge": 0.5 - t if t < 0 else 0.5 * max(0.0, 1 - t) ** 2,
    }[name]


@all_losses
def test_value_derivative_curvature(name):
    code = losses.loss_code(name)
    for y in targets_of(name):
        for z in smooth_points(name, y):
            assert losses.loss_value(code, y, z) == pytest.approx(reference(name, y, z), abs=1e-12)
            h = 1e-5
            slope = (losses.loss_value(code, y, z + h) - losses.loss_value(code, y, z - h)) / (2 * h)
            bend = (losses.loss_derivative(code, y, z + h) - losses.loss_derivative(code, y, z - h)) / (2 * h)
            assert losses.loss_derivative(code, y, z) == pytest.approx(slope, abs=1e-8)
            assert losses.loss_curvature(code, y, z) == pytest.approx(bend, abs=1e-8)
            assert losses.loss_curvature(code, y, z) <= losses.LARGEST_CURVATURE[code]


@all_losses
def test_continuous_at_the_kinks(name):
    """The smooth hinge as printed jumps by a half at t = 0."""
    code = losses.loss_code(name)
    for y in SIGNS:
        for kink in (0.0, 1.0):
            below, above = (losses.loss_value(code, y, y * (kink + side)) for side in (-1e-9, 1e-9))
            assert below == pytest.approx(above, abs=1e-8)


@all_losses
def test_prox_beats_every_point_of_a_grid(name):
    code = losses.loss_code(name)
    for y in targets_of(name):
        for free in np.linspace(-4.0, 4.0, 33):
            for q in (0.0, 1e-6, 0.05, 0.7, 3.0, 100.0):
                z = losses.loss_prox(code, y, free, q)

                def objective(z, y=y, free=free, q=q):
                    return 0.5 * (z - free) ** 2 + q * reference(name, y, z)

                span = abs(z - free) + 1.0
                grid = [objective(point) for point in np.linspace(z - span, z + span, 401)]
                assert objective(z) <= min(grid) + 1e-12 * (1 + objective(z))


@pytest.mark.parametrize("name", ["squared", "logistic", "smooth_hinge"])
@pytest.mark.parametrize("q", [1e-8, 1.0, 1e4, 1e10])
def test_prox_solves_its_equation(name, q):
    code = losses.loss_code(name)
    for y in targets_of(name):
        for free in (-50.0, -1.0, 0.0, 0.99, 30.0):
            z = losses.loss_prox(code, y, free, q)
            residual = z - free + q * losses.loss_derivative(code, y, z)
            assert abs(residual) <= 1e-11 * (1 + abs(free) + q * losses.LARGEST_CURVATURE[code] * abs(z) + q * 1e-3)


@all_losses
def test_extreme_scores_stay_finite(name):
    code = losses.loss_code(name)
    for y in SIGNS:
        for z in (-1e6, 1e6):
            assert math.isfinite(losses.loss_value(code, y, z))
            assert math.isfinite(losses.loss_derivative(code, y, z))
            assert math.isfinite(losses.loss_prox(code, y, z, 2.0))


@all_losses
def test_array_forms_agree_with_the_scalar_ones(name):
    code = losses.loss_code(name)
    rng = np.random.default_rng(0)
    scores, targets = rng.standard_normal((8, 3)), np.where(rng.random((8, 3)) < 0.5, -1.0, 1.0)
    cells = [(i, k) for i in range(8) for k in range(3)]
    total = sum(losses.loss_value(code, targets[c], scores[c]) for c in cells)
    assert losses.total_loss(code, targets, scores) == pytest.approx(total)
    value, gradient = losses.loss_gradient(code, targets, scores)
    assert value == pytest.approx(total)
    assert all(gradient[c] == losses.loss_derivative(code, targets[c], scores[c]) for c in cells)
    column = np.ascontiguousarray(targets[:, 0]), np.ascontiguousarray(scores[:, 0])
    value, first, second = losses.loss_expansion(code, *column)
    assert value == pytest.approx(sum(losses.loss_value(code, *pair) for pair in zip(*column)))
    assert all(first[i] == losses.loss_derivative(code, column[0][i], column[1][i]) for i in range(8))
    assert all(second[i] == losses.loss_curvature(code, column[0][i], column[1][i]) for i in range(8))


def test_unknown_loss():
    with pytest.raises(ValueError, match=r"loss must be one of squared, logistic, hinge, smooth_hinge; got 'cubic'"):
        losses.loss_code("cubic")
