"""What tests look at within a model: the problem that it solves, and the rows that it learns from."""


def problem_of(model):
    """Return the problem of a fitted model, or of the run of a snapshot."""
    return model._problem(*model._training)


def learnt_rows(model):
    """Return the training rows as the solver sees them."""
    return model._training[0]


def targets_of(model):
    """Return the targets of the training rows as the solver sees them."""
    return model._training[1]
