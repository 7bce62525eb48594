"""Two opinions on the classes of rows, joined by a weighted mean of logarithms with the least left-out log loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from supdr.engine.interruption import checkpoint
from supdr.methods.class_atlas.discriminants import Discriminants

Array = NDArray[np.float64]

SHARES = (0.75, 0.5, 0.25, 0.0)
"""omega, if not 1."""

RAREST = 1e-9
"""Probability of a class that was not seen."""


class Joined(NamedTuple):
    """Log loss and probabilities (n, K) of two opinions, and the share of the first; 1: the second is not heard."""

    loss: float
    proba: Array
    share: float


class SecondOpinion(NamedTuple):
    """The same of linear discriminants, if any."""

    loss: float
    proba: Array
    other: Discriminants | None
    share: float


def best_share(proba: Array, logs: Array, codes: NDArray, shares: Sequence[float]) -> Joined:
    """Return probabilities (n, K), joined with others by the mean of logarithms if that lowers the log loss."""
    best, own = Joined(log_loss(proba, codes), proba, 1.0), np.log(proba)
    for share in shares:
        checkpoint()
        tried = np.maximum(softmax(share * own + (1.0 - share) * logs, axis=1), RAREST)
        loss = log_loss(tried, codes)
        if loss < best.loss:
            best = Joined(loss, tried / tried.sum(axis=1, keepdims=True), share)
    return best


def second_opinion(proba: Array, codes: NDArray, opinions: Sequence[Discriminants]) -> SecondOpinion:
    """Return probabilities joined with those of linear discriminants, if that lowers the log loss.

    Parameters
    ----------
    proba : array of shape (n, K)
        Probabilities of the labelled rows, in which their own labels have no part.
    codes : int array of shape (n,)
        Their classes.
    opinions : sequence of Discriminants
        Of the same rows.

    Returns
    -------
    SecondOpinion
    """
    best = SecondOpinion(log_loss(proba, codes), proba, None, 1.0)
    for other in opinions:
        joined = best_share(proba, log_softmax(other.left_out, axis=1), codes, SHARES)
        if joined.loss < best.loss:
            best = SecondOpinion(joined.loss, joined.proba, other, joined.share)
    return best


def log_loss(proba: Array, codes: NDArray) -> float:
    """Return the mean of -log p of the own class."""
    return -float(np.log(proba[np.arange(len(codes)), codes]).mean())
