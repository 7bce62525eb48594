"""The comparison with few labels on the rows of a run, measured while its picture is on display."""

from __future__ import annotations

import numpy as np

from supdr_viz.data.split import Split
from supdr_viz.papers.few_labels import CORE, GRAPHS, Study
from supdr_viz.papers.snf_paper import reported
from supdr_viz.pictures.methods.few_labels_errors import BARS, SCALE_UP, FewLabelErrors
from supdr_viz.pictures.methods.mode import Mode
from supdr_viz.pictures.types import Scene

SHARES = (0.05, 0.10, 0.15, 0.20)

# Share of labels of the bars where the method sees all labels.
USUAL_SHARE = 0.1


class FewLabelStudies:
    """One study for each mode that was shown so far; a study keeps its errors while another mode is on display."""

    def __init__(self, scene: Scene, split: Split) -> None:
        labelled = int(scene.is_labelled.sum())
        self._share = labelled / scene.n_train if labelled < scene.n_train else USUAL_SHARE
        self._split = split
        self._studies: dict[str, Study] = {}

    def study(self, mode: Mode | None) -> Study | None:
        """Return the study that a mode shows; None: the mode shows none."""
        if mode is None or not mode.is_measured:
            return None
        if mode.name not in self._studies:
            self._studies[mode.name] = self._new_study(mode)
        return self._studies[mode.name]

    def _new_study(self, mode: Mode) -> Study:
        shares, methods = {BARS.name: ((self._share,), (*CORE, *GRAPHS)), SCALE_UP.name: (SHARES, CORE)}[mode.name]
        X = np.concatenate([self._split.X_train, self._split.X_test])
        return Study(X, np.concatenate([self._split.truth_train, self._split.y_test]), shares, methods)


def errors_of(study: Study) -> FewLabelErrors:
    """Return what a study has measured so far."""
    published = reported(study.X, study.y, study.shares[0]) if study.total else {}
    return FewLabelErrors(
        shares=study.shares,
        n_labelled=study.n_labelled(study.shares[0]),
        methods=study.methods,
        n_draws=study.n_draws,
        errors={cell: tuple(errors) for cell, errors in study.errors.items()},
        published={method: figure.error for method, figure in published.items()},
        done=study.done,
        total=study.total,
        current=study.current,
    )
