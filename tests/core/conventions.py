"""scikit-learn's checks of conventions, and how often each runs.

An estimator inherits most conventions from its shell, so all checks of every configuration prove the same again and
again.  ``make test`` runs every check for the estimators that a test names, in its strictest variant, and for the
``others`` beside them those that ask for numbers.  ``make test-all`` runs every check and variant for each, and for
the ``rest``: settings that combine parts of those.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

NUMERIC = {
    # fit and what follows from it agree
    "check_estimators_pickle",
    "check_decision_proba_consistency",
    "check_transformer_general",
    "check_dict_unchanged",
    # kinds of numbers
    "check_estimators_dtypes",
    # small and odd data
    "check_classifiers_train",
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_regressors_train",
    "check_regressors_int",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    # the same rows give the same numbers
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
}
"""Names of the checks that every configuration can fail by itself; the other checks concern the shell."""

OTHER_MEANING = {
    f"check_sample_weight_equivalence_on_{kind}_data": "weights multiply the label term alone: see test_weights.py"
    for kind in ("dense", "sparse")
}
"""Checks of what is not promised, and why."""


def check_conventions(*estimators, others=(), rest=(), without=None):
    """Parametrise a test with all checks; those that the shell decides are slow for `others`, all for the `rest`.

    `without`: a word of the names of checks that ask for what these estimators refuse.
    """
    in_full, in_part = ({id(estimator) for estimator in some} for some in (estimators, others))
    mark = parametrize_with_checks([*estimators, *others, *rest])
    names, pairs = mark.args
    pairs = list(pairs)
    in_memory = {check.func.__name__ for _, check in pairs if check.keywords.get("readonly_memmap")}

    def is_quick(estimator, check):
        if id(estimator) not in in_full:
            return id(estimator) in in_part and is_numeric(check)
        # Of a check in variants, the one with doubles that cannot be written to asks for all that the plain one does.
        # The third converts the rows first, as check_estimators_dtypes does.
        return check.func.__name__ not in in_memory or check.keywords == {"readonly_memmap": True}

    params = [
        pair if is_quick(*pair) else pytest.param(*pair, marks=pytest.mark.slow)
        for pair in pairs
        if pair[1].func.__name__ not in OTHER_MEANING and (without is None or without not in pair[1].func.__name__)
    ]
    return pytest.mark.parametrize(names, params, **mark.kwargs)


def is_numeric(check):
    """Whether a check is one of `NUMERIC`, without the variants that only map the data into memory."""
    return check.func.__name__ in NUMERIC and not check.keywords.get("readonly_memmap")
