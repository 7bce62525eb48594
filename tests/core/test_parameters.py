"""Every hyper-parameter is declared once: signature, docstring, checks and restart set agree with the declaration."""

import inspect
import re

import numpy as np
import pytest
from numpydoc.docscrape import ClassDoc
from sklearn.datasets import load_iris

import supdr
from supdr.baselines import BASELINES, LogisticPCA
from supdr.engine.parameters import NONNEGATIVE, POSITIVE, SHARE, Interval, Parameter, Whole, choice, of_run

ESTIMATORS = {**supdr.METHODS, **BASELINES, "LogisticPCA": LogisticPCA}


def arguments(estimator):
    return inspect.signature(estimator).parameters


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_argument_is_declared_once_and_nothing_else_is(name):
    declared = [parameter.name for parameter in ESTIMATORS[name].parameters]
    assert sorted(declared) == sorted(arguments(ESTIMATORS[name]))


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("attribute", ["validation_fraction", "n_iter_no_change"])
def test_patience_is_a_parameter_or_no_attribute(name, attribute):
    """Scikit-learn's checks set parameters that an estimator has as attributes."""
    assert hasattr(ESTIMATORS[name](), attribute) == (attribute in arguments(ESTIMATORS[name]))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_defaults_are_accepted(name):
    for parameter in ESTIMATORS[name].parameters:
        parameter.check(arguments(ESTIMATORS[name])[parameter.name].default)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_a_form_offers_is_accepted(name):
    for parameter in ESTIMATORS[name].parameters:
        if parameter.kind in ("float", "int") and parameter.label:
            for value in (parameter.low, parameter.high):
                parameter.check(int(value) if parameter.kind == "int" else float(value))
        for value, _ in parameter.choices:
            parameter.check(value)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_docstrings_state_the_true_defaults(name):
    stated = 0
    for entry in ClassDoc(ESTIMATORS[name])["Parameters"]:
        match = re.search(r"default=(.+)$", entry.type)
        names = entry.name.split(", ") if match else []
        values = eval(f"({match[1]},)", {"nan": np.nan}) if match else ()
        for argument, value in zip(names, values * len(names) if len(values) == 1 else values, strict=True):
            default = arguments(ESTIMATORS[name])[argument].default
            assert value == default or (np.isnan(value) and np.isnan(default)), argument
            stated += 1
    assert stated or name not in supdr.METHODS


@pytest.mark.parametrize("name", supdr.METHODS)
def test_values_outside_of_the_declaration_are_refused_by_name(name):
    X, y = load_iris(return_X_y=True)
    estimator = ESTIMATORS[name]
    for parameter in estimator.parameters:
        if parameter.accepts:
            with pytest.raises(ValueError, match=rf"{parameter.name} must be .*; got 'no such value'"):
                estimator(**{parameter.name: "no such value"}).fit(X, y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_restart_set_follows_from_the_declarations(name):
    estimator = ESTIMATORS[name]
    assert estimator.restart_parameters <= {parameter.name for parameter in estimator.parameters if parameter.restart}


@pytest.mark.parametrize(
    ("accepts", "good", "bad", "words"),
    [
        ((POSITIVE,), (0.1, 3, np.float32(1)), (0, -1, np.nan, np.inf, True, "1", None), "a number > 0"),
        ((NONNEGATIVE, None), (0, 1.0, None), (-0.1, "auto"), "a number >= 0, or None"),
        ((SHARE,), (0.5,), (0, 1), "a number in (0, 1)"),
        ((Interval(1e-8, 0.1),), (1e-8, 0.1), (0.2,), "a number in [1e-08, 0.1]"),
        ((Interval(),), (-1, 0), (np.inf,), "a finite number"),
        ((Whole(),), (1, np.int64(7)), (0, 1.0, True), "an integer of at least 1"),
        ((Whole(1, 6),), (1, 6), (7,), "an integer from 1 to 6"),
        (("loo", "median", POSITIVE), ("loo", 2.0), ("mean", 0), "'loo', 'median' or a number > 0"),
        (("a", "b"), ("a",), ("c", 1, None), "one of a, b"),
        (("loo", True, False), ("loo", True, np.bool_(False)), (1, 0, "x"), "'loo', True or False"),
        ((1, 2), (1, 2), (3, True), "1 or 2"),
        ((None, np.random.RandomState), (None, np.random.RandomState(0)), (np.random,), "None or a RandomState"),
    ],
)
def test_accepted_values(accepts, good, bad, words):
    parameter = of_run("x", *accepts)
    assert parameter.accepted == words
    for value in good:
        parameter.check(value)
    for value in bad:
        with pytest.raises(ValueError, match=re.escape(f"x must be {words}; got {value!r}")):
            parameter.check(value)


def test_a_declaration_without_constraint_checks_nothing():
    Parameter("x").check(object())
    assert choice("x", "X", "a", ("b", "B")).accepts == ("a", "b")
