"""Kernels that tests of SNF run with."""

import pytest

from supdr.functions.kernels import Kernel

POLYNOMIALS = [
    Kernel("linear"),
    *(Kernel("poly", degree) for degree in (1, 2, 3, 4)),
    Kernel("poly", 3, coef0=0.3),
    Kernel("poly", 2, coef0=0.0),
]


KERNELS = [*POLYNOMIALS, Kernel("rbf", gamma=0.5)]


every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)
