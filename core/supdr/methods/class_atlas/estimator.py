"""ClassAtlas: one chart per class, laid out by one objective, so that classes separate and neighbours stay neighbours.

    z(x) = sum_k q_k(x) (c_k + A_k phi_k(x)),   q_k = p_k^tau / sum_l p_l^tau
    E(c, A, b) = KL(P || Q(Z)) + lam / n sum_i KL(p_i || s(z_i)) + E_room(c, A) + gamma / 2 sum_k |A_k|^2
    s_k(z) = softmax_k(-b |z - c_k|^2),   Q_ij proportional to 1 / (1 + |z_i - z_j|^2)

p (K,) gate: class probabilities, of training rows without their own label   phi_k(x) (d_k,) chart of class k
c_k (d,), A_k (d, d_k) its place and its map   P neighbours of the rows, those of one class first
E_room, above 0 where charts of a sure gate fill less than half of their layout: `supdr.methods.class_atlas.room`

That is the map of separation 1.  With less, it is joined with a neighbour embedding of all rows that knows no classes:
see `supdr.methods.class_atlas.model` for the map and `supdr.methods.class_atlas.problem` for the objective.

A method of this library; its parts: leave-one-out codes of two-layer MAC, gated local projections of SLDR, and the
neighbour loss of L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", JMLR 9 (2008).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _num_samples

from supdr.engine.docstrings import with_entries_of
from supdr.engine.iterate import Snapshot
from supdr.engine.parameters import Parameter
from supdr.engine.preprocessing import Preprocessing, fit_preprocessing
from supdr.engine.progress import with_callbacks
from supdr.engine.reuse import reused
from supdr.engine.targets import Targets
from supdr.engine.unweighted import Unweighted
from supdr.methods.class_atlas.fitted import FittedClassAtlas
from supdr.methods.class_atlas.parameters import PARAMETERS
from supdr.methods.class_atlas.solvers import GatePath
from supdr.solvers.leave_one_out import best_scaling


@dataclass(eq=False, repr=False)
class ClassAtlas(FittedClassAtlas):
    """Supervised map: a gate decides between one chart per class, and one objective lays the charts out.

    The gate's class probabilities come from kernel ridge regression, joined with linear discriminants where that helps
    on left-out rows, and are never computed with a row's own label.
    Every class has coordinates of its own; the map is linear in what is learnt, and new rows have a formula.  Doubt
    becomes position: a row with probabilities .6 and .4 lies near the border between two classes.

    Parameters
    ----------
    n_components : int, default=2
        d, dimension of the map, >= 1.
    tau : float, default=4.0
        Power of the probabilities that mix the charts, > 0.  1: strings of doubtful rows between the classes; 8: rows
        keep to one chart.
    lam : float or "path", default="path"
        lambda, how much the plane must give back the gate, 0 to 1e6.  "path": 1, 3, 10 in turn, until the left-out
        error of 5 neighbours in the plane is within a standard error of the gate's, or no longer falls; the smallest
        that does as well as any.
    perplexity : float, default=30.0
        Neighbours that a row counts, > 0; lowered to a third of the rows.
    separation : float, default=1.0
        How far classes are moved apart, 0 to 1.  1: one chart per class, as above.  0: a neighbour embedding of all
        rows, in which labels have no part; new rows are placed between their nearest training rows.  Between: the sum
        of both with weights `separation` and 1 - `separation`; the embedding is found in the first iterations, with
        five steps each, then the charts are learnt beside it.
    charts : {"pca+embed", "pca", "embed"}, default="pca+embed"
        Coordinates of a class: principal components, a neighbour embedding of its rows (12 or more), or both.
    n_pcs : int, default=10
        Most principal components of a class, >= 1; no more than a fifth of its rows, but 2.
    n_neighbors : int, default=5
        Rows that carry a new row into an embedding, of a class or of all rows, >= 1.
    gate : classifier or None, default=None
        What places rows: a classifier of scikit-learn's kind with ``predict_proba``, in place of our own.  It sees
        prepared columns.  Training rows get probabilities from copies fitted to the other four of five folds, so that
        their own labels have no part in them.  Metadata that its ``fit`` requests, such as ``sample_weight``, reach it
        from `fit` of the map, where scikit-learn's metadata routing is enabled.
    n_landmarks : int, default=2000
        Most rows that the map is learnt from, >= 1; 20 of every class in any case.  Also most centres of the gate,
        which has 2,000 at most.  Beyond 2,000 landmarks the sums over pairs come from a grid, in at most 2 dimensions.
    preprocessing : {"loo", "zscore", "none", "minmax", "whiten"}, default="loo"
        Fitted inside.  "loo": "zscore" or "none", by the leave-one-out error of kernel ridge regression on at most 400
        rows.
    early_stopping : bool, default=False
        Whether to hide `validation_fraction` of the labels and keep the iterate whose cells are right most often.
    validation_fraction, n_iter_no_change
        As in `SupervisedReducer`.
    max_iter : int, default=300
        Steps of L-BFGS, >= 1; the path takes at most 100 at each weight, the neighbour embedding of a `separation`
        below 1 at most 40 before.
    tol : float, default=1e-5
        A weight is done with when E falls by no more than this share of itself.
    random_state
        As in `SupervisedReducer`.
    n_jobs : int or None, default=None
        Threads over rows in the sums over all pairs; they change no number.
    verbose, missing_label
        As in `SupervisedReducer`.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        Places of the training rows by their own labels too, as far as labels are believed: by `proba_` times 1 - e of
        the own class, times e / (n_classes - 1) of the others, e being `gate_error_`.
    left_out_embedding_ : array of shape (n_samples, n_components)
        Their places by probabilities without their own labels, where new rows like them would lie.
    transduction_ : array of shape (n_samples,)
        Classes of the cells in which they lie; `predict` asks the gate instead.
    training_decision_ : array of shape (n_samples,) or (n_samples, n_classes)
        -b |z - c_k|^2 of the training rows; for two classes their difference.
    proba_ : array of shape (n_samples, n_classes)
        p of the training rows; of labelled rows without their own label.
    doubt_ : array of shape (n_samples,)
        1 - max p.
    cells_ : array of shape (n_samples, n_classes)
        s(z) of the training rows: what the map says of their classes, at the places `embedding_`.
    centres_ : array of shape (n_classes, n_components)
        Places of the classes on the map: `separation` times c, plus 1 - `separation` times the mean place of the class
        in the embedding of all rows.
    radii_ : array of shape (n_classes,)
        Around its centre, .9 of the landmarks of a class lie within.
    axes_ : tuple of arrays of shape (d_k, n_components)
        `separation` times A_k' of every class: principal coordinates, then those of its embedding.
    theta_ : array of shape (n_classes + sum of d_k, n_components)
        Everything that is learnt but b: c, then A' of all principal coordinates, then that of all embeddings.
    beta_ : float
        b.
    gate_ : Gate or ForeignGate
        x -> p: centres, coefficients, calibration, discriminants, and what was chosen (`share` is the weight of the
        kernel ridge regression; `mapping.kind` its kernel, `mapping.scale`, if any, what columns are multiplied by in
        its distances); or the classifier that was given, fitted.  It and `charts_` see prepared rows; those with more
        than twice as many columns as there are rows, in their span.
    charts_ : Charts
        x -> phi: axes, landmarks and their places.
    landmarks_ : int array of shape (n_landmarks,)
        Training rows that the map was learnt from.
    gate_error_ : float
        Share of labelled rows whose most probable class, without their own label, is another.  Width and ridge of the
        gate were chosen by it, so that it is low for few rows of noise; cross-validation is not.
    lam_ : float
        Weight of the gate at this iterate.
    stages_ : tuple of (float, float)
        Weights that are done with, and the left-out error of 5 neighbours in the plane at the end of each.
    scaling_ : str
        What was applied to the columns, chosen or given.
    classes_, n_features_in_, feature_names_in_, n_iter_, stop_, snapshot_
        As in `SupervisedReducer`.
    history_ : dict of str to array
        "objective" = E and its terms "neighbours", "label" (with its weight), "room", "regularisation"; "lam",
        "beta", "step_size"; of the last step only, nan before: "gate_error", "knn_error" (left out, 5 neighbours in
        the plane), "doubt" (mean), "disagreement" (mean KL(p || s): how much the picture lies about the gate),
        "overlap" (largest sum of two radii by the distance of their centres).

    Notes
    -----
    The map makes about as many errors as its gate: where that fails, by default a Gaussian or exponential kernel or a
    plane, so does the map.  E never rises at one weight.  Copies of a row see each other's label, so that left-out
    errors of repeated rows are too good.  A class of a single row is drawn where its neighbours are.  A resumed run may
    have other rows or labels: the picture is carried over.  With ``separation=0`` labels still choose the scaling of
    the columns (``preprocessing="loo"``) and, beyond `n_landmarks` rows, which rows are landmarks.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from supdr import ClassAtlas
    >>> X, y = load_iris(return_X_y=True)
    >>> ClassAtlas(random_state=0).fit_transform(X, y).shape
    (150, 2)
    """

    parameters: ClassVar[tuple[Parameter, ...]] = PARAMETERS

    n_components: int = 2
    _: KW_ONLY
    tau: float = 4.0
    lam: float | str = "path"
    perplexity: float = 30.0
    separation: float = 1.0
    charts: str = "pca+embed"
    n_pcs: int = 10
    n_neighbors: int = 5
    gate: Any = None
    n_landmarks: int = 2000
    preprocessing: str = "loo"
    early_stopping: bool = False
    validation_fraction: float = 0.2
    n_iter_no_change: int = 10
    max_iter: int = 300
    tol: float = 1e-5
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    missing_label: Any = np.nan

    # --- metadata of the gate -----------------------------------------------------------------------------------------

    @with_callbacks
    @with_entries_of(Unweighted.iterate)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, start: Snapshot | None = None, **metadata: Any) -> Self:
        """Run `iterate` to its end.

        Parameters
        ----------
        X, y, start
            As in `iterate`.
        **metadata : dict of arrays of shape (n_samples,)
            What ``fit`` of `gate` requests, such as ``sample_weight`` after ``set_fit_request(sample_weight=True)``;
            needs ``sklearn.set_config(enable_metadata_routing=True)``.  Charts and layout do not see it.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            If metadata are given that no gate requests, while routing is disabled, or without an entry for each row.
        """
        self._gate_metadata = self._routed(X, metadata)
        try:
            return self._run(X, y, start)
        finally:
            self._gate_metadata = {}

    @with_entries_of(Unweighted.iterate)
    def fit_transform(  # type: ignore[override]
        self, X: ArrayLike, y: ArrayLike | None = None, start: Snapshot | None = None, **metadata: Any
    ) -> NDArray:
        """Fit and return ``transform(X)``, the latent rows that X has as new data; not `embedding_`.

        Parameters
        ----------
        X, y, start
            As in `iterate`.
        **metadata : dict of arrays of shape (n_samples,)
            As in `fit`.

        Returns
        -------
        array of shape (n_samples, n_components)
        """
        return self.fit(X, y, start, **metadata).transform(X)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata reach the gate.

        Returns
        -------
        MetadataRouter
            Of scikit-learn.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        if self.gate is None:
            return router
        to_fit = MethodMapping().add(caller="fit", callee="fit").add(caller="fit_transform", callee="fit")
        return router.add(gate=self.gate, method_mapping=to_fit)

    def _routed(self, X: ArrayLike, metadata: dict[str, Any]) -> dict[str, NDArray]:
        """Return the arguments of the gate's ``fit``, an entry a row."""
        if not metadata:
            return {}
        if not get_config()["enable_metadata_routing"]:
            raise ValueError(
                f"fit passes {', '.join(metadata)} on to the gate where metadata routing is enabled: "
                "call sklearn.set_config(enable_metadata_routing=True)"
            )
        routed = process_routing(self, "fit", **metadata)
        given = {} if self.gate is None else {name: np.asarray(each) for name, each in routed.gate.fit.items()}
        for name, values in given.items():
            if values.shape != (_num_samples(X),):
                raise ValueError(f"{name} must have an entry for each of {_num_samples(X)} rows; got {values.shape}")
        return given

    def _unfitted(self) -> Self:
        run = super()._unfitted()
        run._gate_metadata = dict(self._gate_metadata)
        return run

    # --- the hooks of the shell ---------------------------------------------------------------------------------------

    def _check_parameters(self, X: NDArray, targets: Targets) -> None:
        usable = hasattr(self.gate, "predict_proba") and not isinstance(self.gate, type)
        if self.gate is not None and not usable:
            raise TypeError(f"gate must be None or a classifier with predict_proba; got {self.gate!r}")

    def _problem(self, X: NDArray, targets: Targets) -> GatePath:
        assert targets.classes is not None
        return GatePath(
            X,
            targets.codes,
            len(targets.classes),
            int(self.n_components),
            tau=float(self.tau),
            perplexity=float(self.perplexity),
            lam=self.lam if isinstance(self.lam, str) else float(self.lam),
            charts=self.charts,
            n_pcs=int(self.n_pcs),
            n_neighbors=int(self.n_neighbors),
            n_landmarks=int(self.n_landmarks),
            gate=self.gate,
            gate_metadata=self._gate_metadata,
            separation=float(self.separation),
            scaling=self._preprocessing.kind,
            tol=float(self.tol),
            n_jobs=self.n_jobs,
            embeds_first=bool(self.early_stopping),  # it counts steps that do not lower the error
        )

    def _fit_preprocessing(self, X: NDArray, targets: Targets, start: Snapshot | None) -> Preprocessing:
        if self.preprocessing != "loo":
            return fit_preprocessing(X, self.preprocessing)
        if start is not None:
            return fit_preprocessing(X, start.state.scaling)
        assert targets.classes is not None
        rows, corners = targets.labelled, np.eye(len(targets.classes)) - 1.0 / len(targets.classes)
        inputs = (X, rows, targets.codes)
        kind = reused(
            "ClassAtlas scaling",
            lambda: inputs,
            lambda: best_scaling(X, rows, targets.codes[rows], corners, ("zscore", "none")),
        )
        return fit_preprocessing(X, kind)

    @classmethod
    def _warm_up_settings(cls) -> Iterator[dict[str, Any]]:
        """Yield constructor parameters whose fits on a few rows compile every kernel."""
        yield {"max_iter": 2}
        yield {"max_iter": 2, "n_components": 3, "n_jobs": 2}
