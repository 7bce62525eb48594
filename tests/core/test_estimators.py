"""scikit-learn's own checks, for every method and task; no failure is expected."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import supdr

TASKS = {
    "LSDR": ("classification", "regression"),
    "NSDR": ("classification",),
    "MAC": ("classification",),
    "SDRGLM": ("classification", "regression"),
    "SLDR": ("classification",),
    "SNF": ("regression", "classification"),
}

# Seeded: the checks' random labels are hard problems, and a test is the same every time.
ESTIMATORS = [
    supdr.METHODS[name](random_state=0, **({"task": task} if len(tasks) > 1 else {}))
    for name, tasks in TASKS.items()
    for task in tasks
]


def test_every_method_is_checked():
    assert set(TASKS) == set(supdr.METHODS)


@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")  # some checks have a single column
@pytest.mark.filterwarnings("ignore:1 of 3 classifiers")  # some have a class of one row
@parametrize_with_checks(ESTIMATORS)
def test_conventions(estimator, check):
    check(estimator)
