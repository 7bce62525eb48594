"""The fast sums of ClassAtlas, against the sums themselves in NumPy, and against scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import make_classification
from sklearn.manifold import smacof

from supdr.methods.class_atlas import neighbours, regression
from supdr.methods.class_atlas.affinities import affinities
from supdr.methods.class_atlas.cells import cell_logs, disagreement_with_gate
from supdr.methods.class_atlas.layout import less_stressed
from supdr.methods.class_atlas.neighbours import neighbour_loss
from supdr.solvers.logs import write_logs
from supdr.solvers.pair_sums import summed_exactly


def test_logarithms_are_numpys_to_the_last_digits():
    rng = np.random.default_rng(0)
    numbers = np.concatenate(
        [2.0 ** np.arange(-1000, 1000), 1.0 + 1e-9 * rng.random(999), np.exp(rng.normal(size=999))]
    )
    numbers.setflags(write=False)
    out, room = np.empty_like(numbers), np.empty_like(numbers)
    write_logs(numbers, out, room)
    exact = np.log(numbers)
    assert (np.abs(out - exact) <= 1e-15 * np.maximum(np.abs(exact), 1.0)).all()


@pytest.mark.parametrize("reach", [1.0, 30.0, 1e9])
def test_sums_in_the_plane_are_those_over_all_pairs(reach):
    """Also of rows so far apart that a row would hide all others, were it among them."""
    Z = reach * np.random.default_rng(0).standard_normal((300, 2))
    u = 1.0 / (1.0 + cdist(Z, Z, "sqeuclidean"))
    np.fill_diagonal(u, 0.0)
    total, slopes = summed_exactly(Z)
    assert total == pytest.approx(u.sum(), rel=1e-12)
    expected = -4.0 * (u[:, :, None] ** 2 * (Z[:, None] - Z)).sum(axis=1)
    np.testing.assert_allclose(slopes, expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
    # A map in space that lies in a plane has the same sums.
    in_space = summed_exactly(np.hstack([Z, np.zeros((300, 1))]))
    assert in_space[0] == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(in_space[1][:, :2], slopes, rtol=1e-9, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("perplexity", [2.0, 30.0])
def test_the_neighbour_term_is_its_formula_for_few_partners_and_for_many(perplexity):
    rng = np.random.default_rng(0)
    P = affinities(rng.standard_normal((100, 4)), None, perplexity)
    Z = 3.0 * rng.standard_normal((100, 2))
    dense = np.zeros((100, 100))
    for i in range(100):
        part = slice(P.starts[i], P.starts[i + 1])
        dense[i, P.partners[part]] = dense[P.partners[part], i] = P.values[part] / 2.0
    u = 1.0 / (1.0 + cdist(Z, Z, "sqeuclidean"))
    np.fill_diagonal(u, 0.0)
    kept = dense > 0.0
    assert (kept.mean() > 0.5) == (perplexity > 10.0)
    value, gradient = neighbour_loss(P, Z)
    assert value == pytest.approx((dense[kept] * np.log(dense[kept] * u.sum() / u[kept])).sum(), rel=1e-10)
    expected = 4.0 * ((dense - u / u.sum())[:, :, None] * u[:, :, None] * (Z[:, None] - Z)).sum(axis=1)
    np.testing.assert_allclose(gradient, expected, atol=1e-12)


def test_an_embedding_of_many_rows_ends_no_higher_than_without_exaggeration():
    """Of overlapping clumps it ends lower; a cloud without clumps, which exaggeration draws onto a point, stays."""
    clumps, _ = make_classification(300, 8, n_informative=6, n_clusters_per_class=3, random_state=1)
    cloud = np.random.default_rng(0).standard_normal((300, 10))
    losses = {}
    for name, X in (("clumps", clumps / clumps.std(axis=0)), ("cloud", cloud)):
        begun = neighbours.embedding_of(X, 20.0, X[:, :2])
        for searches in (begun.searches, begun.searches[:1]):
            embedding = begun._replace(searches=searches)
            while not embedding.complete:
                embedding = embedding.after()
            losses[name, len(searches)] = neighbour_loss(affinities(X, None, 20.0), embedding.places)[0]
    assert losses["clumps", 2] < 0.95 * losses["clumps", 1]
    assert losses["cloud", 2] == losses["cloud", 1]


def test_what_the_plane_conceals_is_its_formula():
    rng = np.random.default_rng(0)
    Z, centres, p = rng.standard_normal((40, 2)), rng.standard_normal((5, 2)), rng.dirichlet(np.ones(5), 40)
    negative_entropy = float((p * np.log(p)).sum())

    def value(Z, centres, b):
        """Lambda 3."""
        return 3.0 / 40.0 * (negative_entropy - (p * cell_logs(Z, centres, b)[0]).sum())

    disagreement, in_latent, in_centres, by_log_b = disagreement_with_gate(Z, centres, 0.7, p, negative_entropy, 3.0)
    assert disagreement == pytest.approx(value(Z, centres, 0.7), rel=1e-10)
    step = 1e-6
    assert by_log_b == pytest.approx(
        (value(Z, centres, 0.7 * np.exp(step)) - value(Z, centres, 0.7 * np.exp(-step))) / (2 * step), rel=1e-6
    )
    for row, axis in ((0, 0), (3, 1), (4, 0)):
        move, shift = np.zeros(Z.shape), np.zeros(centres.shape)
        move[row, axis] = shift[row, axis] = step
        difference = value(Z + move, centres, 0.7) - value(Z - move, centres, 0.7)
        assert difference / (2 * step) == pytest.approx(in_latent[row, axis], rel=1e-5, abs=1e-9)
        difference = value(Z, centres + shift, 0.7) - value(Z, centres - shift, 0.7)
        assert difference / (2 * step) == pytest.approx(in_centres[row, axis], rel=1e-5, abs=1e-9)


def test_a_plane_far_from_its_centres_says_nothing_that_is_not_finite():
    Z, centres = np.array([[0.0, 0.0], [1e9, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])
    terms = disagreement_with_gate(Z, centres, 1e3, np.full((2, 2), 0.5), 2 * np.log(0.5), 1.0)
    assert all(np.isfinite(each).all() for each in terms)


def test_classes_are_placed_as_by_scikit_learn():
    rng = np.random.default_rng(0)
    distances, start = squareform(pdist(rng.standard_normal((9, 5)))), rng.standard_normal((9, 2))
    ours = squareform(pdist(less_stressed(start, distances)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, stress = smacof(
            distances, n_components=2, init=start, n_init=1, max_iter=300, eps=1e-9, normalized_stress=False
        )
    assert 0.5 * ((ours - distances) ** 2).sum() == pytest.approx(stress, rel=1e-3)
    np.testing.assert_allclose(ours, squareform(pdist(theirs)), atol=0.02 * distances.max())


def test_log_losses_of_all_factors_are_those_of_each():
    rng = np.random.default_rng(0)
    left, codes = rng.standard_normal((50, 4)), rng.integers(0, 4, 50)
    out = np.empty(len(regression.SHARPNESS))
    regression._log_losses(left, codes, regression.SHARPNESS, out)
    for kappa, loss in zip(regression.SHARPNESS, out):
        logs = kappa * (left - left.max(axis=1, keepdims=True))
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        assert loss == pytest.approx(-logs[np.arange(50), codes].mean(), rel=1e-11)
