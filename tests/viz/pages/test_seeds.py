"""Columns over seeds: as fits by hand would have it, told while they are made, and forgotten with the settings."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from supdr.baselines import LDA
from supdr.datasets import load_wine
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.compare.seeds import measurable, spreads
from supdr_viz.ui.background import Cancelled
from tests.viz.visitor import Visitor

WINE = Settings(data="wine", method="LDA", test_share=0.3, seed=4)


def test_mean_and_deviation_are_those_of_fits_by_hand():
    X, y = load_wine().to_xy()
    errors = []
    for seed in (4, 5, 6):
        train_X, test_X, train_y, test_y = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        errors.append(100 * (1 - LDA(random_state=seed).fit(train_X, train_y).score(test_X, test_y)))
    steps = []
    (spread,) = spreads([Experiment(WINE)], lambda *step: steps.append(step), seeds=3)
    assert spread.mean == pytest.approx(np.mean(errors))
    assert spread.deviation == pytest.approx(np.std(errors, ddof=1))
    assert steps == [(0, 3), (1, 3), (2, 3)]


def test_a_column_that_cannot_be_fitted_harms_no_other():
    wrong = Experiment(replace(WINE, data="diabetes"))
    right = Experiment(replace(WINE, data="diabetes", method="ElasticNet", method_options={}))
    spread = spreads([wrong, right], lambda *_step: None, seeds=2)
    assert spread[0] is None
    assert spread[1].mean > 0


def test_work_that_is_cancelled_ends():
    def stop(done, _total):
        if done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        spreads([Experiment(WINE)], stop)


def test_without_test_rows_nothing_is_measured():
    assert measurable([Experiment(WINE)])
    assert not measurable([Experiment(replace(WINE, test_share=0.0))])


def test_the_page_says_them_until_the_settings_change():
    with Visitor("?data=moons&data.n_samples=100&method=LDA&b=PCA", page="compare") as visitor:
        assert not visitor.sees("5 seeds Model")
        visitor.press("± over 5 seeds").settle()
        assert visitor.sees("Test error, 5 seeds")
        assert " ± " in visitor.text.partition("Test error, 5 seeds")[2]
        visitor.choose("Data set", "Iris").settle()
        assert not visitor.sees("Test error, 5 seeds")


def test_only_methods_that_learn_the_task_are_offered():
    with Visitor("?data=diabetes&method=ElasticNet", page="compare") as visitor:
        offered = [name for group in visitor.widget("Method to add").groups.values() for name in group.values()]
        assert "LDA" not in offered
        assert "ElasticNet" in offered
        visitor.choose("Data set", "Iris").settle()
        offered = [name for group in visitor.widget("Method to add").groups.values() for name in group.values()]
        assert "LDA" in offered
        assert "ElasticNet" not in offered
    with Visitor("?data=diabetes&method=LSDR") as visitor:
        assert "LDA" in visitor.widget("Method").disabled_options
        assert "LSDR" not in visitor.widget("Method").disabled_options
