"""What the steps of lessons measure: errors of their settings over several seeds, with what an answer changes.

    python benchmarks/lesson_figures.py [LESSON ...] [--seeds 5] [--method LSSVM]

Each line: the share of wrong test rows, or the mean squared error, in units of the target, on test rows and on rows
whose label was hidden (from their own latent rows).  Lessons 5 and 6 unless others are named.  With --method another
method, at its defaults, sees the same rows.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.splitting import split
from supdr_viz.lessons import LESSONS

MEASURED = tuple(name for name in LESSONS if name[0] in "56")


def errors(settings: Settings) -> dict[str, float]:
    """Return the errors of one fit by the rows that they belong to."""
    dataset = build_dataset(settings)
    parts = split(dataset, settings)
    model = build_estimator(settings, dataset.task, len(parts.train), dataset.views).fit(parts.X_train, parts.y_train)
    hidden = np.isnan(parts.y_train)
    pairs = {"hidden rows": (model.transduction_[hidden], parts.truth_train[hidden])}
    if len(parts.test):
        pairs["test rows"] = model.predict(parts.X_test), parts.y_test
    wrong = np.not_equal if dataset.task == "classification" else lambda found, true: (found - true) ** 2
    return {rows: float(np.mean(wrong(*pair))) for rows, pair in pairs.items() if len(pair[1])}


def main() -> None:
    """Print the errors of every step that has settings of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lessons", nargs="*", default=MEASURED, metavar="LESSON", help=", ".join(LESSONS))
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--method", default="", help="in place of the steps' own, at its defaults")
    arguments = parser.parse_args()
    for name in arguments.lessons:
        print(LESSONS[name].title)
        for step in LESSONS[name].steps:
            for settings, said in ((step.settings, step.title), (step.then, f"{step.title}, answered")):
                if settings is None or (settings is step.settings and not step.fresh):
                    continue
                if arguments.method:
                    settings = replace(settings, method=arguments.method, method_options={})
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = [errors(replace(settings, seed=seed)) for seed in range(arguments.seeds)]
                for rows in found[0]:
                    values = [each[rows] for each in found]
                    print(f"  {said}: {rows} {np.mean(values):.4g} ± {np.std(values, ddof=1):.2g}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
