"""Logarithms of many numbers, by arithmetic that compilers turn into vector instructions: a quarter of the time.

    x = 2^e m,  m in [sqrt(1/2), sqrt(2))      log x = e log 2 + f - s (f - r),   f = m - 1,  s = f / (2 + f)

r is a polynomial of s^2.  Exact to 1e-15 of the result, or of 1.

Source: fdlibm, e_log.c (Sun Microsystems, 1993), whose coefficients these are.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

LOG_2 = math.log(2.0)

# Bits of the mantissa, beyond which the exponent stands.
EXPONENT = np.uint64(52)

MANTISSA = np.uint64((1 << 52) - 1)
# The bits of sqrt(1/2), nearly.
SMALLEST = np.uint64(0x3FE6A09E00000000)

BEYOND_SMALLEST = np.uint64(0x3FF0000000000000 - 0x3FE6A09E00000000)

# The bits of 2^52: with those of a small integer as mantissa they are that integer more.
INTEGER = np.uint64(0x4330000000000000)

INTEGER_ZERO = float(2**52 + 1023)


# Without "reassoc": 2^52 must not be multiplied out.
@njit(cache=True, nogil=True, fastmath={"nsz", "contract"}, error_model="numpy")
def write_logs(numbers: NDArray, out: NDArray, room: NDArray) -> None:
    """Write the logarithms of positive, finite and normal numbers (n,) into out (n,); room (n,) is overwritten too."""
    given, mantissas, exponents = numbers.view(np.uint64), out.view(np.uint64), room.view(np.uint64)
    for i in range(len(numbers)):
        bits = given[i] + BEYOND_SMALLEST
        exponents[i] = (bits >> EXPONENT) | INTEGER
        mantissas[i] = (bits & MANTISSA) + SMALLEST
    for i in range(len(numbers)):
        f = out[i] - 1.0
        s = f / (2.0 + f)
        z = s * s
        r = 0.1531383769920937332 + z * 0.1479819860511658591
        r = 0.2222219843214978396 + z * (0.1818357216161805012 + z * r)
        r = z * (0.6666666666666735130 + z * (0.3999999999940941908 + z * (0.2857142874366239149 + z * r)))
        out[i] = (room[i] - INTEGER_ZERO) * LOG_2 + (f - s * (f - r))
