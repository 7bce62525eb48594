"""scikit-learn's own checks, for every method and task; no failure is expected."""

import pytest
from sklearn.utils import estimator_checks

import supdr
from tests.core.conventions import NUMERIC, check_conventions

TASKS = {
    "LSDR": ("classification", "regression"),
    "NSDR": ("classification",),
    "MAC": ("classification",),
    "SDRGLM": ("classification", "regression"),
    "SLDR": ("classification",),
    "SNF": ("regression", "classification"),
    "ClassAtlas": ("classification",),
}


def of_task(name, task):
    """Seeded: the checks' random labels are hard problems, and a test is the same every time."""
    starts = {"n_init": 2} if name == "SLDR" else {}
    return supdr.METHODS[name](random_state=0, max_iter=8, **starts, **({"task": task} if len(TASKS[name]) > 1 else {}))


IN_FULL = (
    ("LSDR", "classification"),
    ("MAC", "classification"),
)  # one whose states hold latent rows, and one whose states hold parameters alone
EVERY = {(name, task): of_task(name, task) for name, tasks in TASKS.items() for task in tasks}


def test_every_method_is_checked():
    assert set(TASKS) == set(supdr.METHODS)


def test_the_checks_of_numbers_are_scikit_learns():
    assert set(vars(estimator_checks)) >= NUMERIC


@pytest.mark.filterwarnings("ignore:n_components=:UserWarning")  # some checks have a single column
@pytest.mark.filterwarnings("ignore:[1-3] of [1-3] classifiers")  # some have a class of one row, or of no weight
@check_conventions(
    *(each for name_and_task, each in EVERY.items() if name_and_task in IN_FULL),
    others=[each for name_and_task, each in EVERY.items() if name_and_task not in IN_FULL],
)
def test_conventions(estimator, check):
    check(estimator)
