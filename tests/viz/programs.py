"""Running the programs that the app writes."""

import contextlib
import io
import itertools

from supdr_viz.experiment.build import build_estimator
from supdr_viz.experiment.splitting import split


def run_through_library(settings, segments, dataset):
    parts = split(dataset, settings)
    estimator, snapshot = None, None
    for segment, steps in segments:
        estimator = build_estimator(segment, dataset.task, views=dataset.views).set_params(
            max_iter=max(steps, 1), tol=-1
        )
        snapshots = estimator.iterate(parts.X_train, parts.y_train, start=snapshot)
        snapshot = next(itertools.islice(snapshots, steps, None))
    return estimator.at(snapshot), parts


def execute(code, folder):
    names, printed = {}, io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(compile(code, "snippet.py", "exec"), names)
    return names, printed.getvalue()
