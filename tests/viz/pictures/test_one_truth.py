"""One picture, one truth: rings follow the boundary that is drawn; none is drawn that a hidden axis moves."""

import re
from dataclasses import replace

import numpy as np
import pytest

from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.pictures.error_rates import error_rates
from supdr_viz.presets.catalogue import PRESETS
from supdr_viz.run.session import Session
from supdr_viz.views.points import TEST
from tests.viz.hands import Hands
from tests.viz.visitor import Visitor

CANCER = Settings(data="breast_cancer", method="LSDR", method_options={"init": "random"})


def surface_of(settings):
    """The surface of a run's start, its scene, split and estimator."""
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    session.apply(Experiment(settings))
    hands.until(lambda: session.player.newest)
    fitted = session.player.fitted
    hands.rest()
    return session.player.take_surface(), session.scene, session.split, fitted


def test_rings_follow_the_boundary_over_the_input_space():
    surface, _scene, split, fitted = surface_of(CANCER)
    rows, truth = np.concatenate([split.X_train, split.X_test]), np.concatenate([split.truth_train, split.y_test])
    np.testing.assert_array_equal(surface.beyond, fitted.predict(rows) != truth)
    own = fitted.transduction_ != split.truth_train
    np.testing.assert_array_equal(surface.wrong[: len(own)], own)
    assert (surface.wrong != surface.beyond).any()  # the train error is of rows that saw their labels


@pytest.mark.parametrize("settings", [CANCER, Settings(data="diabetes", method="LSDR", label_share=0.5)])
def test_the_train_error_is_told_of_both_predictors(settings):
    surface, scene, split, fitted = surface_of(settings)
    rates = error_rates(surface, scene, fitted.snapshot_)
    own, new = fitted.transduction_, fitted.predict(split.X_train)
    if scene.task == "classification":
        expected = [100.0 * np.mean(each != split.truth_train) for each in (own, new)]
    else:
        expected = [np.mean((each - split.truth_train) ** 2) for each in (own, new)]
    assert [rates["train"], rates["as new"]] == pytest.approx(expected, rel=1e-5)
    assert expected[0] != pytest.approx(expected[1], rel=0.1)


FEW_ROWS = replace(CANCER, test_share=0.9)  # LSDR keeps the fitted head for new rows


@pytest.mark.parametrize("settings", [CANCER, FEW_ROWS, replace(CANCER, method="NSDR", method_options={})])
def test_rows_that_stand_as_new_ones_have_one_predictor(settings):
    """Regions, rings, colours and errors in both planes."""
    hands = Hands()
    session = Session(hands.pool, lambda: None)
    session.apply(Experiment(settings))
    session.set_display(replace(settings, latent_shown="transform"))
    session.player.request_frame()
    hands.rest()
    session.player.request_frame()
    hands.rest()
    frame, surface = session.player.take_frame(), session.player.take_surface()
    fitted, split = session.player.fitted, session.split
    rows, truth = np.concatenate([split.X_train, split.X_test]), np.concatenate([split.truth_train, split.y_test])
    predicted = fitted.predict(rows)
    np.testing.assert_array_equal(surface.judged, predicted)
    np.testing.assert_array_equal(surface.errors, surface.beyond)
    np.testing.assert_array_equal(surface.errors, predicted != truth)
    head = "calibrated" if fitted.refits_head else "fitted"
    assert (head == "fitted") == (settings is FEW_ROWS)
    scores = fitted.latent_decision_function(frame.latent, head=head)
    assert np.mean((scores > 0) == (predicted == fitted.classes_[1])) > 0.99  # places are rounded
    train = predicted[: len(split.X_train)] != split.truth_train
    assert frame.numbers["train"] == pytest.approx(100.0 * train.mean())
    assert "as new" not in {*frame.numbers, *frame.errors.values}


@pytest.mark.parametrize(("calibrate", "apart"), [(1, True), (0, False)])
def test_a_map_rings_only_rows_that_its_regions_judge(calibrate, apart):
    with Visitor(f"?data=breast_cancer&method=LSDR&method.calibrate={calibrate}") as visitor:
        stage = visitor.stage()
        is_test = stage.get("rows", "kind") == TEST

        def ringed():
            rows = stage.get("planes", "latent", "ring", "rows")
            return np.unpackbits(rows, count=len(is_test), bitorder="little").astype(bool)

        assert visitor.sees("egions hold for filled rows") is apart
        assert ringed()[is_test].any() != apart
        visitor.mark("transform").settle()
        assert ringed()[is_test].any()
        assert not visitor.sees("egions hold for filled rows")


def test_the_status_line_says_how_training_rows_would_err_as_new_ones():
    with Visitor("?data=breast_cancer&method=LSDR") as visitor:
        assert re.search(r"train error [\d.]+ % \([\d.]+ % as new rows\) · test error", visitor.text)
    with Visitor("?data=breast_cancer&method=PCAProjection") as visitor:  # it has one predictor
        assert "as new rows" not in visitor.text
        assert "train error" in visitor.text


@pytest.mark.parametrize("name", ["figure-1", "figure-2-lsdr", "figure-2-nsdr", "breast-cancer"])
def test_no_boundary_is_drawn_that_a_hidden_coordinate_moves(name):
    settings = PRESETS[name].settings
    surface, _scene, _split, fitted = surface_of(settings)
    hides = bool(settings.method_options.get("row_bias"))
    assert (surface.latent is None) == hides
    if not hides and fitted.embedding_.shape[1] == 2:
        scores = fitted.latent_decision_function(fitted.embedding_)
        np.testing.assert_array_equal(fitted.classes_[(scores > 0).astype(int)], fitted.transduction_)


def test_a_plane_without_regions_says_why():
    with Visitor("?data=linear&data.n_samples=40&method=LSDR&method.row_bias=1") as visitor:
        assert "no regions: the classifier uses more than these two coordinates" in visitor.head("Latent space")
        visitor.press("Step").settle()
        assert visitor.stands == ("paused", 1)
