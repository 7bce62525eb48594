"""Every data set by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supdr.datasets import bundled, generators, latent_models
from supdr.datasets.dataset import Dataset
from supdr.datasets.openml import load_openml

BUNDLED: dict[str, Callable[..., Dataset]] = {
    "breast_cancer": bundled.load_breast_cancer,
    "wine": bundled.load_wine,
    "iris": bundled.load_iris,
    "digits": bundled.load_digits,
    "digits_odd_even": bundled.load_digits_odd_even,
    "digits_bits": bundled.load_digits_bits,
    "diabetes": bundled.load_diabetes,
}

GENERATORS: dict[str, Callable[..., Dataset]] = {
    "noisy_plane": generators.make_noisy_plane,
    "spirals": generators.make_spirals,
    "blobs": generators.make_blobs,
    "noise": generators.make_noise,
    "latent_glm": latent_models.make_latent_glm,
    "wide_factors": latent_models.make_wide_factors,
    "wide_regression": latent_models.make_wide_regression,
    "curved_sheet": generators.make_curved_sheet,
    "zigzag": generators.make_zigzag,
    "gauss4": generators.make_gauss4,
    "multiview_digits": bundled.make_multiview_digits,
}

OPENML_PREFIX = "openml:"


def load(name: str, **options: Any) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        A key of `BUNDLED` or `GENERATORS`, or "openml:" followed by a name or id.
    **options
        Parameters of the generator, or `version`, `target`, `task`, … of `load_openml`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no such name; the message lists those that exist.

    Examples
    --------
    >>> load("spirals", n_classes=3, random_state=0).X.shape
    (1500, 2)
    >>> load("iris").target_names
    ('setosa', 'versicolor', 'virginica')
    """
    if isinstance(name, str) and name.lower().startswith(OPENML_PREFIX):
        return load_openml(name[len(OPENML_PREFIX) :], **options)
    sources = BUNDLED | GENERATORS
    if name not in sources:
        raise ValueError(f"name must be one of {', '.join(sources)} or openml:NAME or openml:ID, got {name!r}")
    return sources[name](**options)
