"""ClassAtlas's objective and its gradient.

    E(Theta, b) = KL(P || Q(Z)) + lambda^s s / n sum_i KL(p_i || s(z_i)) + s E_room(c, A) + gamma / 2 sum_k |A_k|^2
    Z = s Psi Theta + (1 - s) G,   dE/dTheta = s Psi' dE/dZ, and what c and A add in their own rows

s is the separation.  Neighbours of other classes count epsilon^s in P, see `supdr.methods.class_atlas.affinities`; the
centre of class k on the map is s c_k + (1 - s) g_k, where g_k is the mean of G by the probabilities of the class.

Psi'Psi = V diag(w) V' can be as good as singular: with S = V diag((w + floor n)^-1/2) sqrt(n) the unknowns are v, where
Theta = S v and Z = B v, B = Psi S.  That changes the way to the minimum, not E.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from supdr.engine.interruption import abandonable, checkpoint
from supdr.engine.iterate import Problem
from supdr.methods.class_atlas.affinities import OTHER_CLASS, Affinities, affinities
from supdr.methods.class_atlas.cells import cell_logs, disagreement_with_gate, overlap, radii_around
from supdr.methods.class_atlas.charts import neighbour_map, start_of_neighbour_map
from supdr.methods.class_atlas.layout import first_map
from supdr.methods.class_atlas.model import Atlas, fit_atlas, sharpened
from supdr.methods.class_atlas.neighbours import Embedding, neighbour_loss, others_nearby, turn
from supdr.methods.class_atlas.room import room, second_moments
from supdr.solvers.lbfgs import LBFGSState, lbfgs_start

Array = NDArray[np.float64]

# gamma.
RIDGE = 1e-6

# Of the eigenvalues of Psi'Psi / n in the whitening.
FLOOR = 1e-4

# Neighbours that vote on the class of a row in the plane.
JUDGES = 5


class Basis(NamedTuple):
    """What only steps need.

    features (s, p): B.
    back (p, p): S.
    affinities: P.
    drawn (s, p): psi of the same rows with their own labels.
    proba (s, K): p of these rows, and.
    negative_entropy: sum p log p.
    moments (a, a): M of the charts.
    carried (s, d): (1 - s) G, every row placed by others.
    placed (s, d): the same of the rows in their own places.
    middles (K, d): (1 - s) g_k.
    """

    features: Array
    back: Array
    affinities: Affinities
    drawn: Array
    proba: Array
    negative_entropy: float
    moments: Array
    carried: Array
    placed: Array
    middles: Array


class Picture(NamedTuple):
    """A map at a point: Z (s, d) of the landmarks, Theta (p, d), and the four terms of E."""

    latent: Array
    theta: Array
    terms: tuple[float, float, float, float]


class Settings(NamedTuple):
    """What a state belongs to: checksums of rows and labels, and the parameters that act on a run."""

    rows: int
    labels: int
    tau: float
    perplexity: float
    lam: float | str
    gate: str
    separation: float


class Passed(NamedTuple):
    """A value of lambda that is done with: the rows that err in the plane, left out, and where its run ended."""

    lam: float
    wrong: NDArray
    search: LBFGSState

    @property
    def error(self) -> float:
        """Share of rows that err."""
        return share_of(self.wrong)


class AtlasState(NamedTuple):
    """Where a run stands.  Nothing in it is ever written to.

    search: over (v, log b); its payload is the `Picture`.
    origin (p d + 1,): the point at which every weight begins.
    lam: weight of the gate now.
    steps: taken at this weight.
    passed: weights that are done with.
    complete: whether the path has ended.
    scaling: of the columns.
    embedding: the search for the neighbour map g while it lasts, during which the charts stand still; None else.
    """

    atlas: Atlas
    basis: Basis
    search: LBFGSState
    origin: Array
    lam: float
    steps: int
    passed: tuple[Passed, ...]
    complete: bool
    stage: int
    settings: Settings
    scaling: str
    seed: int
    iteration: int
    embedding: Embedding | None = None

    @property
    def picture(self) -> Picture:
        """The map at this point."""
        return self.search.payload

    @property
    def centres(self) -> Array:
        """Places (K, d) of the classes on the map."""
        return self.settings.separation * self.picture.theta[: self.atlas.proba.shape[1]] + self.basis.middles

    @property
    def beta(self) -> float:
        """Sharpness b of the cells."""
        return float(np.exp(self.search.point[-1]))

    @property
    def radii(self) -> Array:
        """Radius of each chart, (K,): around its centre, .9 of the landmarks of a class lie within."""
        return radii_around(self.drawn, self.atlas.members, self.centres)

    @property
    def drawn(self) -> Array:
        """Places (s, d) of the landmarks by their own labels too; `picture.latent` are those without."""
        return self.settings.separation * (self.basis.drawn @ self.picture.theta) + self.basis.placed

    def image(self, X: Array, proba: Array | None = None) -> Array:
        """Return z (n, d) of preprocessed rows (n, D), by their own probabilities unless others are given."""
        return self.atlas.image(X, self.picture.theta, self.settings.tau, self.settings.separation, proba)


@dataclass(frozen=True, eq=False)
class AtlasProblem(Problem):
    """Data, hyper-parameters and objective; `supdr.methods.class_atlas.solvers` adds the steps.

    `X` (n, D): preprocessed rows; `codes` (n,): classes, -1 where unlabelled; `scaling`: what was applied to the
    columns; `embeds_first`: whether the neighbour map is found before the run begins, instead of step by step.
    """

    X: Array
    codes: NDArray
    n_classes: int
    n_components: int
    tau: float = 4.0
    perplexity: float = 30.0
    lam: float | str = "path"
    charts: str = "pca+embed"
    n_pcs: int = 10
    n_neighbors: int = 5
    n_landmarks: int = 2000
    gate: Any = None
    gate_metadata: Mapping[str, NDArray] = field(default_factory=dict)
    separation: float = 1.0
    scaling: str = "none"
    tol: float = 1e-5
    n_jobs: int | None = None
    embeds_first: bool = False

    advice = "Try a smaller lam."

    @cached_property
    def settings(self) -> Settings:
        """What states of this problem belong to."""
        return Settings(
            zlib.crc32(self.X.data),
            zlib.crc32(self.codes.data),
            self.tau,
            self.perplexity,
            self.lam,
            gate_words(self.gate, self.gate_metadata),
            self.separation,
        )

    @property
    def path(self) -> tuple[float, ...]:
        """Weights of the gate, in turn."""
        raise NotImplementedError

    # --- objective ----------------------------------------------------------------------------------------------------

    def evaluate(self, atlas: Atlas, basis: Basis, lam: float, point: Array) -> tuple[float, Array, Picture]:
        """Return E, its gradient and the map at (v, log b), flattened.  O(s^2 + s p)."""
        K, s = self.n_classes, self.separation
        v, b = point[:-1].reshape(-1, self.n_components), float(np.exp(point[-1]))
        Z, theta = s * (basis.features @ v) + basis.carried, basis.back @ v
        kept, in_latent = neighbour_loss(basis.affinities, Z, self.n_jobs)
        centres = s * theta[:K] + basis.middles
        by_proba = basis.proba, basis.negative_entropy
        concealed, by_gate, in_centres, by_log_b = disagreement_with_gate(Z, centres, b, *by_proba, lam**s * s)
        in_latent += by_gate
        packed, in_theta = room(theta[:K], theta[K:], basis.moments, atlas.charts.classes, atlas.gate_error)
        in_theta = s * in_theta + np.vstack([s * in_centres, RIDGE * theta[K:]])
        ridge = 0.5 * RIDGE * float((theta[K:] ** 2).sum())
        in_v = s * (basis.features.T @ in_latent) + basis.back.T @ in_theta
        gradient = np.append(in_v.ravel(), by_log_b)
        terms = kept, concealed, s * packed, ridge
        return sum(terms), gradient, Picture(Z, theta, terms)

    def terms(self, state: AtlasState) -> dict[str, float]:
        """Return the four terms of E, each with its weight."""
        return dict(zip(("neighbours", "label", "room", "regularisation"), state.picture.terms))

    def readings(self, state: AtlasState) -> dict[str, float]:
        """Return the weight of the gate, b, and the length of the last step."""
        return {"lam": state.lam, "beta": state.beta, "step_size": state.search.step}

    def diagnostics(self, state: AtlasState) -> dict[str, float]:
        """Return left-out errors of gate and plane, how the plane differs from the gate, and how classes overlap."""
        p = state.atlas.proba[state.atlas.rows]
        logs, _ = cell_logs(state.picture.latent, state.centres, state.beta)
        return {
            "gate_error": state.atlas.gate_error,
            "knn_error": share_of(self.wrong_in_plane(state)),
            "doubt": float(1.0 - p.max(axis=1).mean()),
            "disagreement": float((xlogy(p, p) - p * logs).sum() / len(p)),
            "overlap": overlap(state.radii, state.centres),
        }

    def wrong_in_plane(self, state: AtlasState) -> NDArray:
        """Return which labelled landmarks (m,) have a wrong class as new rows in the plane, where 5 others vote."""
        rows = self.judged(state)
        codes = self.codes[state.atlas.rows[rows]]
        if len(codes) < 2:
            return np.zeros(len(codes), dtype=bool)
        index = others_nearby(state.picture.latent[rows], state.drawn[rows], min(JUDGES, len(codes) - 1))
        votes = (codes[index][:, :, None] == np.arange(self.n_classes)).sum(axis=1)
        return votes.argmax(axis=1) != codes

    def wrong_by_gate(self, state: AtlasState) -> NDArray:
        """Return which of the same landmarks (m,) have another class that is more probable."""
        rows = state.atlas.rows[self.judged(state)]
        return state.atlas.proba[rows].argmax(axis=1) != self.codes[rows]

    def judged(self, state: AtlasState) -> NDArray:
        """Return the numbers (m,) of the landmarks that have a label."""
        return np.flatnonzero(self.codes[state.atlas.rows] >= 0)

    # --- the run ------------------------------------------------------------------------------------------------------

    def start(self, seed: int) -> AtlasState:
        """Return the atlas with its classes as discs, and the beginning of the neighbour map."""
        atlas, embedding = self.with_neighbours(self.fitted_atlas(seed), None)
        own = atlas.charts.coordinates(atlas.charts.rows, own=True)
        basis = self.basis(atlas, own)
        theta, b = first_map(atlas, own, self.n_components)
        state = self.state_at(atlas, basis, np.append(np.linalg.solve(basis.back, theta).ravel(), np.log(b)), seed)
        if atlas.neighbours is not None:
            state = self.turned(state)
        return state if embedding is None else self.embedded(state, embedding)

    def turned(self, state: AtlasState) -> AtlasState:
        """Return a start whose classes are turned towards g: the map of separation 0 does not turn with the labels."""
        assert state.atlas.neighbours is not None
        v = state.origin[:-1].reshape(-1, self.n_components)
        v = v @ turn(state.basis.features @ v, state.atlas.neighbours.places)
        return self.state_at(state.atlas, state.basis, np.append(v.ravel(), state.origin[-1]), state.seed)

    def embedded(self, state: AtlasState, embedding: Embedding) -> AtlasState:
        """Return the state with the neighbour map where its search stands.

        When it has ended the charts begin to move; those of a fresh run are turned towards g first.
        """
        while self.embeds_first and not embedding.complete:
            embedding = embedding.after()
        atlas, share, v = state.atlas, 1.0 - self.separation, state.search.point[:-1].reshape(-1, self.n_components)
        assert atlas.neighbours is not None
        atlas = atlas._replace(neighbours=atlas.neighbours._replace(places=embedding.places))
        if embedding.complete:
            carried, placed, middles = self.neighbour_places(atlas)
            basis = state.basis._replace(carried=carried, placed=placed, middles=middles)
            begun = self.state_at(atlas, basis, state.search.point, state.seed)
            begun = self.turned(begun) if state.stage == 0 else begun
            return begun._replace(stage=state.stage + 1, iteration=state.iteration)
        placed = share * embedding.places  # rows are carried by others once these are where they stay
        basis = state.basis._replace(carried=placed, placed=placed, middles=class_means(placed, atlas))
        latent, loss = self.separation * (basis.features @ v) + placed, embedding.best.value
        picture = Picture(latent, state.picture.theta, (loss, 0.0, 0.0, 0.0))
        search = state.search._replace(value=loss, payload=picture)
        return state._replace(atlas=atlas, embedding=embedding, basis=basis, search=search)

    def fitted_atlas(self, seed: int) -> Atlas:
        """Fit gate and charts to these rows."""
        return fit_atlas(
            self.X,
            self.codes,
            self.n_classes,
            self.n_components,
            charts=self.charts,
            n_pcs=self.n_pcs,
            n_neighbors=self.n_neighbors,
            n_landmarks=self.n_landmarks,
            seed=seed,
            gate=self.gate,
            gate_metadata=self.gate_metadata,
        )

    def with_neighbours(self, atlas: Atlas, picture: Array | None) -> tuple[Atlas, Embedding | None]:
        """Return the atlas with the start of its map g, turned onto `picture` (s, d); none at separation 1."""
        if self.separation == 1.0:
            return atlas._replace(neighbours=None), None
        rows = atlas.charts.rows
        embedding = start_of_neighbour_map(rows, self.n_components, self.perplexity, picture)
        places = np.zeros((len(rows), self.n_components)) if embedding is None else embedding.places
        return atlas._replace(neighbours=neighbour_map(rows, places, self.n_neighbors)), embedding

    def basis(self, atlas: Atlas, own: Array) -> Basis:
        """Return whitened features of the landmarks, which have these coordinates (s, a), and their affinities."""
        proba = np.ascontiguousarray(atlas.proba[atlas.rows])
        features = atlas.features(own, proba, self.tau)
        checkpoint()
        back = whitening(features)
        drawn = atlas.features(own, atlas.believed[atlas.rows], self.tau)
        negative_entropy = float(xlogy(proba, proba).sum())
        moments = second_moments(own, atlas.members, atlas.charts.classes)
        places = self.neighbour_places(atlas)
        return Basis(features @ back, back, self.affinities(atlas), drawn, proba, negative_entropy, moments, *places)

    def affinities(self, atlas: Atlas) -> Affinities:
        """Return P of the landmarks."""
        other_class = OTHER_CLASS**self.separation
        return affinities(atlas.charts.rows, atlas.proba[atlas.rows], self.perplexity, other_class)

    def neighbour_places(self, atlas: Atlas) -> tuple[Array, Array, Array]:
        """Return 1 - s times the landmarks' g (s, d) by others, their own g (s, d), and its means (K, d) by classes."""
        size, d = len(atlas.rows), self.n_components
        if atlas.neighbours is None:
            return np.zeros((size, d)), np.zeros((size, d)), np.zeros((self.n_classes, d))
        share = 1.0 - self.separation
        shared = atlas.shared_class(sharpened(atlas.proba[atlas.rows], self.tau), self.separation)
        carried = share * atlas.neighbours.coordinates(atlas.charts.rows, own=True, shared=shared)
        return carried, share * atlas.neighbours.places, class_means(carried, atlas)

    def state_at(self, atlas: Atlas, basis: Basis, point: Array, seed: int) -> AtlasState:
        """Return the state at (v, log b) from which the path of lambda begins."""
        lam = self.path[0]
        search = lbfgs_start(point, lambda each: self.evaluate(atlas, basis, lam, each))
        return AtlasState(atlas, basis, search, point, lam, 0, (), False, 0, self.settings, self.scaling, seed, 0)

    def adopt(self, state: AtlasState) -> AtlasState:
        """Return `state` for these rows, labels and parameters: what still holds stays, the picture is carried over."""
        columns = state.atlas.n_columns
        if columns != self.X.shape[1]:
            raise ValueError(
                f"the snapshot to start from has {columns} columns; these data have {self.X.shape[1]} columns"
            )
        before, now = state.settings, self.settings
        if before == now:
            return state
        (atlas, embedding), basis, point = self.adopted_atlas(state), state.basis, state.search.point
        if atlas.charts is not state.atlas.charts or before.tau != now.tau:
            if self.same_landmarks(state, atlas):
                by_class = basis.features @ point[:-1].reshape(-1, self.n_components)
            else:
                by_class = state.atlas.class_image(self.X[atlas.rows], state.picture.theta, before.tau)
            basis = self.basis(atlas, atlas.charts.coordinates(atlas.charts.rows, own=True))
            point = np.append(fitted_map(basis.features, by_class).ravel(), point[-1])
        elif before.perplexity != now.perplexity or before.separation != now.separation:
            carried, placed, middles = self.neighbour_places(atlas)
            affinities = self.affinities(atlas)
            basis = basis._replace(affinities=affinities, carried=carried, placed=placed, middles=middles)
        fresh = self.state_at(atlas, basis, point, state.seed)
        fresh = fresh._replace(stage=state.stage + 1, iteration=state.iteration)
        return fresh if embedding is None else self.embedded(fresh, embedding)

    def adopted_atlas(self, state: AtlasState) -> tuple[Atlas, Embedding | None]:
        """Return the atlas of a state for this problem, its parts that still hold, others fitted anew, and the search.

        A new neighbour map is turned onto the state's picture.
        """
        atlas, before, now = state.atlas, state.settings, self.settings
        same_gate = before.gate == now.gate and self.n_classes == atlas.proba.shape[1]
        if (before.rows, before.labels) != (now.rows, now.labels) or not same_gate:
            atlas = self.fitted_atlas(state.seed)
        same_landmarks, g = self.same_landmarks(state, atlas), state.atlas.neighbours
        if g is not None and same_landmarks and before.perplexity == now.perplexity and self.separation < 1.0:
            return atlas._replace(neighbours=g), state.embedding
        picture = state.picture.latent if same_landmarks else state.image(self.X[atlas.rows])
        return self.with_neighbours(atlas, picture)

    def same_landmarks(self, state: AtlasState, atlas: Atlas) -> bool:
        """Whether an atlas of these rows has the landmarks of a state."""
        return state.settings.rows == self.settings.rows and np.array_equal(atlas.rows, state.atlas.rows)

    def stage(self, state: AtlasState) -> int:
        """Return how often lambda, or the map by a choice among its values, has changed."""
        return state.stage

    def may_converge(self, previous: Any, state: AtlasState) -> bool:
        """Whether the path has ended."""
        return state.complete


def gate_words(gate: Any, metadata: Mapping[str, NDArray]) -> str:
    """Name a gate's class, its parameters and the metadata of its rows: under another gate a run fits it anew."""
    parameters = gate.get_params() if hasattr(gate, "get_params") else {}
    rows = "".join(f" {name} {zlib.crc32(np.ascontiguousarray(values).data)}" for name, values in metadata.items())
    return f"{type(gate).__name__} {sorted((name, repr(value)) for name, value in parameters.items())}{rows}"


def share_of(wrong: NDArray) -> float:
    """Return the share of rows that err, 0 of none."""
    return float(wrong.mean()) if len(wrong) else 0.0


def whitening(features: Array) -> Array:
    """Return S (p, p) of Psi (n, p)."""
    n = len(features)
    w, V = abandonable(lambda: np.linalg.eigh(features.T @ features))
    return V * np.sqrt(n / (np.maximum(w, 0.0) + FLOOR * n))


def class_means(places: Array, atlas: Atlas) -> Array:
    """Return the means (K, d) of the landmarks' places (s, d), each class by its probabilities."""
    proba = atlas.proba[atlas.rows]
    means: Array = proba.T @ places / proba.sum(axis=0)[:, None]
    return means


def fitted_map(features: Array, latent: Array) -> Array:
    """Return v (p, d) with B v near `latent` (n, d): least squares, without directions that the rows hardly span."""
    lengths = (features**2).sum(axis=0)  # B'B is diagonal
    return features.T @ latent / (lengths + 1e-3 * len(features))[:, None]
