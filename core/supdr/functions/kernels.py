"""Kernels between latent rows: values, derivatives, the gradient of a quadratic form in the kernel matrix.

    linear   k(z, z') = z.z'
    poly     k(z, z') = (z.z' + coef0)^degree
    rbf      k(z, z') = exp(-gamma |z - z'|^2)

Matrices are computed in blocks of rows that fit into the processor's cache: one matrix product and a vectorised
transform each.  `poly_slope` and `rbf_value` are the scalar forms for loops over pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supdr.engine.checks import check_choice
from supdr.engine.interruption import checkpoint
from supdr.engine.parameters import NONNEGATIVE, POSITIVE, Interval

KERNELS = ("linear", "poly", "rbf")

# Numbers per block of rows: 1 MB, which a second-level cache holds.
BLOCK = 1 << 17

# Rows beyond which a kernel matrix of the training set (8 n^2 bytes: 3.2 GB here) is refused.
LARGEST_MATRIX = 20_000


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel and its parameters.

    Raises ValueError if the name is unknown or a parameter is out of range.

    name (one of "linear", "poly", "rbf"): which kernel.
    degree: power of ``"poly"``, >= 1.
    gamma: inverse squared width of ``"rbf"``, > 0.
    coef0: constant of ``"poly"``, >= 0 (else the kernel need not be positive semi-definite).
    """

    name: str = "rbf"
    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        check_choice("kernel", self.name, KERNELS)
        if self.degree not in Interval(1.0) or self.degree != int(self.degree):
            raise ValueError(f"degree must be an integer of at least 1; got {self.degree!r}")
        if self.gamma not in POSITIVE:
            raise ValueError(f"gamma must be a positive number; got {self.gamma!r}")
        if self.coef0 not in NONNEGATIVE:
            raise ValueError(f"coef0 must be a number >= 0; got {self.coef0!r}")

    def __str__(self) -> str:
        return {
            "linear": "linear kernel",
            "poly": f"polynomial kernel of degree {self.degree}",
            "rbf": f"rbf kernel with gamma {self.gamma:g}",
        }[self.name]

    @property
    def exponent(self) -> int:
        """Power of the inner product; the linear kernel is the polynomial one of degree 1 without a constant."""
        return int(self.degree) if self.name == "poly" else 1

    @property
    def constant(self) -> float:
        """The number that is added to the inner product."""
        return float(self.coef0) if self.name == "poly" else 0.0

    def matrix(self, A: NDArray, B: NDArray | None = None) -> NDArray:
        """Return the values between the rows of `A` and of `B`.  O(n p d).

        `A` (n, d): rows. `B` (p, d): rows; `A` itself if omitted. Returns (n, p). Raises ValueError if the square
        matrix of `A` would have more than `LARGEST_MATRIX` rows; MemoryError if memory is too small.
        """
        if B is None and len(A) > LARGEST_MATRIX:
            raise ValueError(_too_large(len(A)) + f"; at most {LARGEST_MATRIX} labelled rows are accepted")
        values = _empty(len(A), len(A if B is None else B))
        for rows, block in self._inner_products(A, A if B is None else B, values):
            self._apply(block)
            if B is None and self.name == "rbf":
                block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = 1.0
        return values

    def diagonal(self, A: NDArray) -> NDArray:
        """Return k(a, a) of every row of `A`, shape (n,)."""
        if self.name == "rbf":
            return np.ones(len(A))
        return (np.einsum("ij,ij->i", A, A) + self.constant) ** self.exponent

    def gradient(self, Z: NDArray, weights: NDArray) -> NDArray:
        """Return the derivative (n, d) of ``1/2 sum_k sum_il c_ik c_lk k(z_i, z_l)`` in every z_i.  O(n^2 (d + K))."""
        gradient = np.empty_like(Z)
        if self.exponent == 1 and self.name != "rbf":
            return np.matmul(weights, weights.T @ Z, out=gradient)
        slopes = np.empty((min(len(Z), _block_rows(len(Z))), len(Z)))
        for rows, block in self._inner_products(Z, Z, slopes):
            self._apply_slope(block)
            block *= weights[rows] @ weights.T
            np.matmul(block, Z, out=gradient[rows])
            if self.name == "rbf":
                gradient[rows] -= block.sum(axis=1)[:, None] * Z[rows]
        return gradient

    def _inner_products(self, A: NDArray, B: NDArray, out: NDArray) -> Iterator[tuple[slice, NDArray]]:
        """Yield blocks of `out` filled with the argument of the transform; a short `out` is reused for every block."""
        if self.name == "rbf":
            A, B = _distance_factors(A, B, self.gamma)
        step = _block_rows(len(B))
        for start in range(0, len(A), step):
            rows = slice(start, min(start + step, len(A)))
            block = out[rows] if len(out) == len(A) else out[: rows.stop - start]
            np.matmul(A[rows], B.T, out=block)
            yield rows, block
            checkpoint()

    def _apply(self, block: NDArray) -> None:
        """Turn arguments into values, in place."""
        if self.name == "rbf":
            np.exp(block, out=block)
        else:
            _power(block, self.constant, self.exponent)

    def _apply_slope(self, block: NDArray) -> None:
        """Turn arguments into the factors of z_l in the derivative, in place."""
        if self.name == "rbf":
            np.exp(block, out=block)
            block *= 2.0 * self.gamma
        else:
            _power(block, self.constant, self.exponent - 1)
            block *= self.exponent


@njit(cache=True, nogil=True)
def poly_slope(inner: float, degree: int, coef0: float) -> float:
    """Return degree (inner + coef0)^(degree - 1), the derivative of the polynomial kernel in the inner product."""
    slope = float(degree)
    for _ in range(degree - 1):
        slope *= inner + coef0
    return slope


@njit(cache=True, nogil=True)
def rbf_value(squared_distance: float, gamma: float) -> float:
    """Return exp(-gamma * squared_distance)."""
    return np.exp(-gamma * squared_distance)


def _distance_factors(A: NDArray, B: NDArray, gamma: float) -> tuple[NDArray, NDArray]:
    """Return rows whose inner products are -gamma |a - b|^2, so that one matrix product computes all distances."""
    centre = B.mean(axis=0) if len(B) else 0.0  # keeps the distances, and reduces cancellation
    A, B = A - centre, B - centre
    left = np.column_stack([2.0 * gamma * A, -gamma * np.einsum("ij,ij->i", A, A), np.ones(len(A))])
    right = np.column_stack([B, np.ones(len(B)), -gamma * np.einsum("ij,ij->i", B, B)])
    return left, right


def _power(block: NDArray, constant: float, exponent: int) -> None:
    """Replace `block` by (block + constant)^exponent in place; exponent >= 0."""
    if exponent == 0:
        block[:] = 1.0
        return
    block += constant
    if exponent == 2:
        block *= block
    elif exponent > 2:
        base = block.copy()
        for _ in range(exponent - 1):
            block *= base


def _block_rows(columns: int) -> int:
    return max(1, BLOCK // max(columns, 1))


def _empty(rows: int, columns: int) -> NDArray:
    try:
        return np.empty((rows, columns))
    except MemoryError as error:
        raise MemoryError(_too_large(rows, columns)) from error


def _too_large(rows: int, columns: int | None = None) -> str:
    columns = rows if columns is None else columns
    return f"a kernel matrix of {rows} x {columns} numbers needs {8e-9 * rows * columns:.1f} GB of memory"
