"""Data: generators, bundled sets, OpenML, and files of one's own. Every source returns a `Dataset`."""

from supdr.datasets._facts import ColumnFacts
from supdr.datasets.bundled import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_digits_bits,
    load_digits_odd_even,
    load_iris,
    load_wine,
    make_multiview_digits,
)
from supdr.datasets.catalogue import BUNDLED, GENERATORS, load
from supdr.datasets.dataset import Dataset
from supdr.datasets.files import EXTENSIONS, Preview, preview, read_file
from supdr.datasets.generators import (
    make_blobs,
    make_curved_sheet,
    make_gauss4,
    make_noise,
    make_noisy_plane,
    make_spirals,
    make_zigzag,
)
from supdr.datasets.labels import encode_labels, guess_task, hide_labels
from supdr.datasets.latent_models import make_latent_glm, make_wide_factors, make_wide_regression
from supdr.datasets.limits import FileProblem, Limits
from supdr.datasets.openml import load_openml
from supdr.datasets.proposals import Proposal
from supdr.rows.dividing import hide_row_labels, split_rows
from supdr.rows.on_disk import read_rows

__all__ = [
    "BUNDLED",
    "EXTENSIONS",
    "GENERATORS",
    "ColumnFacts",
    "Dataset",
    "FileProblem",
    "Limits",
    "Preview",
    "Proposal",
    "encode_labels",
    "guess_task",
    "hide_labels",
    "hide_row_labels",
    "load",
    "load_breast_cancer",
    "load_diabetes",
    "load_digits",
    "load_digits_bits",
    "load_digits_odd_even",
    "load_iris",
    "load_openml",
    "load_wine",
    "make_blobs",
    "make_curved_sheet",
    "make_gauss4",
    "make_latent_glm",
    "make_multiview_digits",
    "make_noise",
    "make_noisy_plane",
    "make_spirals",
    "make_wide_factors",
    "make_wide_regression",
    "make_zigzag",
    "preview",
    "read_file",
    "read_rows",
    "split_rows",
]
