"""What tests look at within a model: the problem that it solves, and the rows that it learns from."""

from supdr.rows.in_memory import InMemoryRows
from supdr.solvers.linear_heads import fit_heads_over, head_rows


def problem_of(model):
    """Return the problem of a fitted model, or of the run of a snapshot."""
    return model._problem(*model._training)


def learnt_rows(model):
    """Return the training rows as the solver sees them."""
    return model._training[0]


def targets_of(model):
    """Return the targets of the training rows as the solver sees them."""
    return model._training[1]


def fit_heads(features, targets, code, coef, intercept, *, weight=1.0, reg=0.5, max_steps=20, **about_rows):
    """Fit linear heads to rows in memory; `about_rows`: `row_weights` and `offset`, (n,)."""
    part = head_rows(features, targets, weight, about_rows.get("row_weights"), about_rows.get("offset"))
    settings = {"weight": weight, "reg": reg, "max_steps": max_steps}
    return fit_heads_over(InMemoryRows(len(features)), part, code, coef, intercept, **settings)
