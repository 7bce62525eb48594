"""The plane in which wide data are shown is that of their principal components, however it is found."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from supdr_viz.pictures.scene import MOST_DECOMPOSED, input_plane


@pytest.mark.parametrize("shape", [(40, 30), (MOST_DECOMPOSED + 50, MOST_DECOMPOSED + 1), (MOST_DECOMPOSED + 1, 500)])
def test_it_shows_the_two_principal_components(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1])) + rng.normal(size=shape)
    names = [f"x{k}" for k in range(shape[1])]
    plane = input_plane(X, X, names)
    scaled = StandardScaler().fit_transform(X)
    components = PCA(2, svd_solver="full").fit(scaled)
    assert plane.share == pytest.approx(components.explained_variance_ratio_.sum(), rel=1e-9)
    np.testing.assert_allclose(abs(plane.project(X)), abs(components.transform(scaled)), atol=1e-6)
    again = input_plane(X.copy(), X.copy(), names)
    np.testing.assert_array_equal(plane.project(X), again.project(X))
