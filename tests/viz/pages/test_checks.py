"""Checks of columns: as fits by hand would have them, told while they are made, and forgotten with the settings."""

import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from supdr.baselines import LDA
from supdr.datasets import load_wine
from supdr.quality import label_permutation, stability
from supdr_viz.experiment.experiment import Experiment
from supdr_viz.experiment.settings import Settings
from supdr_viz.pages.compare.checks import CHECKS, answer_text, answers, measurable
from supdr_viz.ui.background import Cancelled
from tests.viz.visitor import Visitor

WINE = Settings(data="wine", method="LDA", test_share=0.3, seed=4)


def answered(name, *experiments, told=lambda *_step: None, **options):
    return answers(CHECKS[name], experiments, told, **options)


def wine():
    X, y = load_wine().to_xy()
    return train_test_split(X, y, test_size=0.3, random_state=4, stratify=y)


def test_mean_and_deviation_are_those_of_fits_by_hand():
    X, y = load_wine().to_xy()
    errors, steps = [], []
    for seed in range(4, 9):
        train_X, test_X, train_y, test_y = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
        errors.append(100 * (1 - LDA(random_state=seed).fit(train_X, train_y).score(test_X, test_y)))
    (answer,) = answered("seeds", Experiment(WINE), told=lambda *step: steps.append(step))
    assert answer.value == pytest.approx(np.mean(errors))
    assert answer.deviation == pytest.approx(np.std(errors, ddof=1))
    assert steps == [(number, 5) for number in range(5)]


def test_p_and_stability_are_the_librarys():
    X, _, y, _ = wine()
    steps = []
    (chance,) = answered("chance", Experiment(WINE), told=lambda *step: steps.append(step))
    found = label_permutation(LDA(random_state=4), X, y, n_permutations=19)
    assert (chance.value, chance.at_most) == (found.pvalue, True)
    assert answer_text("chance", chance, "classification") == "≤ 0.05"
    assert steps[-1] == (19, 19)
    (stays,) = answered("stability", Experiment(WINE))
    kept = stability(LDA(random_state=4), X, y, resample="bootstrap", n=10, random_state=4).kept
    assert stays.value == kept.mean()


@pytest.mark.parametrize("name", CHECKS)
def test_a_column_that_cannot_be_fitted_harms_no_other(name):
    wrong = Experiment(replace(WINE, data="diabetes"))
    right = Experiment(replace(WINE, data="diabetes", method="PLS", method_options={}))
    first, second = answered(name, wrong, right)
    assert first is None
    assert second.value > 0


@pytest.mark.parametrize("name", CHECKS)
def test_work_that_is_cancelled_ends(name):
    def stop(done, _total):
        if done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        answered(name, Experiment(WINE), told=stop)
    long = replace(WINE, method="LSDR", method_options={"max_iter": 100_000, "tol": 0.0})
    began = time.monotonic()
    assert answered(name, Experiment(long), interrupted=lambda: time.monotonic() > began + 0.3)
    assert time.monotonic() < began + 5.0  # a single fit to its end takes longer


def test_without_test_rows_errors_are_not_measured():
    assert measurable(CHECKS["seeds"], [Experiment(WINE)])
    assert not measurable(CHECKS["seeds"], [Experiment(replace(WINE, test_share=0.0))])
    assert measurable(CHECKS["chance"], [Experiment(replace(WINE, test_share=0.0))])
    assert not measurable(CHECKS["chance"], [Experiment(replace(WINE, data="rows"))])


@pytest.mark.parametrize(
    ("button", "title", "answer"),
    [
        ("Repeat with 5 seeds", "Test error, 5 seeds", " ± "),
        pytest.param("Test by 19 shuffles of the labels", "p value, 19 shuffles", "≤ 0.05", marks=pytest.mark.slow),
        pytest.param(
            "Repeat with 10 bootstrap samples",
            "Neighbours that stay, 10 bootstrap samples",
            " %",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_page_says_them_until_the_settings_change(button, title, answer):
    with Visitor("?data=moons&data.n_samples=100&method=LDA&b=PCA", page="compare") as visitor:
        assert not visitor.sees(title)
        visitor.press(button).settle()
        assert answer in visitor.text.partition(title)[2]
        assert "checks=" in visitor.bridge.query
        visitor.choose("Data set", "Iris").settle()
        assert not visitor.sees(title)
        assert "checks=" not in visitor.bridge.query


def test_a_link_has_its_checks_made():
    with Visitor("?data=moons&data.n_samples=60&method=LDA&checks=stability,glory,chance", page="compare") as visitor:
        assert visitor.sees("There is no check 'glory'; accepted are seeds, chance, stability.")
        assert visitor.settle().sees("p value, 19 shuffles")
        assert visitor.sees("Neighbours that stay, 10 bootstrap samples")
        assert "checks=chance,stability" in visitor.bridge.query


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
