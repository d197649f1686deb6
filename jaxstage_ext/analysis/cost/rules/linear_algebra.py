"""FLOPs of factorisations and solves by the sizes of their matrices: the terms of highest order, for real numbers.

Source: Blackford and Dongarra, "Installation Guide for LAPACK", LAPACK Working Note 41 (1999), appendix C. Multiplied
by `COMPLEX` they are those for complex numbers: a complex multiplication takes six real operations and an addition
two, so that a multiply-add takes eight where a real one takes two. What iterates until it converges has no count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

COMPLEX = 4.0


def _whole(dividend: int, divisor: int) -> float:
    return float(round(dividend / divisor))


def fft(elements: int, lengths: Sequence[int], is_real: bool) -> float:
    """A Fourier transform of so many elements: 5 N log2 N of complex numbers, half of that where one side is real.

    The convention of https://www.fftw.org/speed, which is what a radix-2 transform takes.
    """
    return (2.5 if is_real else 5.0) * elements * sum(math.log2(length) for length in lengths if length > 1)


def cholesky(n: int) -> float:
    """Potrf of an n x n matrix."""
    return _whole(n**3, 3)


def lu(m: int, n: int) -> float:
    """Getrf of an m x n matrix."""
    short, long = sorted((m, n))
    return long * short**2 - _whole(short**3, 3)


def householder(m: int, n: int) -> float:
    """Geqrf of an m x n matrix: the triangle and the reflectors."""
    short, long = sorted((m, n))
    return 2 * long * short**2 - _whole(2 * short**3, 3)


def product_of_reflectors(m: int, n: int, k: int) -> float:
    """orgqr: n columns of the product of k reflectors of size m."""
    return 4 * m * n * k - 2 * (m + n) * k**2 + _whole(4 * k**3, 3)


def apply_reflectors(m: int, n: int, k: int, is_left: bool) -> float:
    """ormqr: the product of k reflectors applied to an m x n matrix."""
    size = m if is_left else n
    return float(4 * m * n * k - 2 * (m * n // max(1, size)) * k**2)


def triangular_solve(n: int, right_sides: int) -> float:
    """Trsm of an n x n triangle."""
    return float(n**2 * right_sides)


def triangular_inverse(n: int) -> float:
    """Trtri of an n x n triangle."""
    return _whole(n**3, 3)


def to_hessenberg(n: int) -> float:
    """Gehrd of an n x n matrix."""
    return _whole(10 * n**3, 3)


def to_tridiagonal(n: int) -> float:
    """Sytrd of an n x n matrix."""
    return _whole(4 * n**3, 3)


def top_k(elements: int, k: int) -> float:
    """Comparisons that select the k largest: each element against a heap of k, one for k = 1."""
    return float(elements * max(1, math.ceil(math.log2(k)))) if k else 0.0


def sort(elements: int, length: int) -> float:
    """Comparisons that sort along a dimension of this length: n log2 n."""
    return float(elements * math.ceil(math.log2(length))) if length > 1 else 0.0
