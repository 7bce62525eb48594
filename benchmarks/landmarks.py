"""What more landmarks do for ClassAtlas's map of a large set.

python benchmarks/landmarks.py [--times 12] [--landmarks 2000 5000 10000]

The set: scikit-learn's digits, every image turned, stretched and moved at random several times; the copies of a
quarter of the images are new rows.  Prints the error of five neighbours on the map, how true it is among the new rows,
and seconds.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.ndimage import affine_transform
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import supdr
from supdr.quality import knn_error, map_quality

MIDDLE = np.array([3.5, 3.5])
NEW_COPIES = 6


def moved(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return images (n, 64), each turned by about .15, stretched by about 6 % and moved by about .4 pixels."""
    copies = []
    for image in images:
        angle, scale = rng.normal(0.0, 0.15), rng.normal(1.0, 0.06)
        turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        offset = MIDDLE - turn @ MIDDLE + rng.normal(0.0, 0.4, 2)
        copies.append(affine_transform(image.reshape(8, 8), turn, offset, order=1).ravel())
    return np.array(copies)


def main() -> None:
    """Measure and print, one line for each number of landmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=12, help="copies of each training image")
    parser.add_argument("--landmarks", type=int, nargs="*", default=[2000, 5000, 10_000])
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    X, y = load_digits(return_X_y=True)
    known, other, y_known, y_other = train_test_split(X / 16.0, y, test_size=0.25, stratify=y, random_state=0)
    train, new = (moved(np.repeat(images, k, axis=0), rng) for images, k in ((known, asked.times), (other, NEW_COPIES)))
    y_train, y_new = np.repeat(y_known, asked.times), np.repeat(y_other, NEW_COPIES)
    supdr.ClassAtlas(max_iter=2).fit(train[:2500], y_train[:2500])  # compiled
    print(f"{len(train)} training rows, {len(new)} new ones")
    for count in asked.landmarks:
        began = time.perf_counter()
        model = supdr.ClassAtlas(n_landmarks=count, preprocessing="none", random_state=0).fit(train, y_train)
        own, seconds = model.embedding_, time.perf_counter() - began
        Z = model.transform(new)
        kept = map_quality(new, Z, n_neighbors=10)
        error = 100.0 * knn_error(Z, y_new, n_neighbors=5, voters=(own, y_train))
        print(
            f"{count:6} landmarks: error {error:.2f} %, trust {kept.trustworthiness:.3f}, continuity "
            f"{kept.continuity:.3f}, overlap {kept.neighbourhood_overlap:.3f}, fit {seconds:.0f} s, "
            f"{model.n_iter_} steps",
            flush=True,
        )


if __name__ == "__main__":
    main()
