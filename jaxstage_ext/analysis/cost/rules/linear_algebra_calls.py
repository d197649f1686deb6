"""FLOPs of the custom calls that factorise and solve: of LAPACK, cuSOLVER, cuBLAS and libtpu, by their shapes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from jaxstage_ext.analysis.cost.rules import linear_algebra

Sizes = Sequence[int]


class Operands(NamedTuple):
    """The dimensions of a call's operands, and those of the first array that it gives."""

    operands: Sequence[Sizes]
    result: Sizes


_CPU_OR_GPU = re.compile(
    r"(?:lapack_[sdcz]|(?:cu|hip)(?:solver|blas|sparse|hybrid)_)((?:csr_|coo_)?[a-z0-9]+?)(?:_batched)?(?:_ffi)?"
)
_UNITARY = {"ungqr": "orgqr", "unmqr": "ormqr", "hetrd": "sytrd", "heevd": "syevd"}
"""Names of routines for complex numbers, and those of the same for real ones."""
_ITERATIVE = frozenset(
    ("syevd", "geev", "gees", "gesdd", "gesvd", "gesvdj", "gesvdp", "EighTpu", "EighJacobiSweeps", "Eigh")
)


def of(target: str, shapes: Operands, is_complex: bool) -> float | str | None:
    """FLOPs of a custom call, or why they are unknown; None for a target that is not a factorisation or solve."""
    routine = target
    if match := _CPU_OR_GPU.fullmatch(target):
        routine = _UNITARY.get(match[1], match[1])
    if routine in _ITERATIVE:
        return f"{target} iterates until it converges, so its FLOPs depend on the values"
    if routine in ("gtsv", "gtsv2"):
        return f"how {target} eliminates depends on the values"
    if (counter := _ROUTINES.get(routine)) is None:
        return None
    return counter(shapes) * (linear_algebra.COMPLEX if is_complex or _has_two_halves(target, shapes) else 1.0)


def _has_two_halves(target: str, shapes: Operands) -> bool:
    """Whether a call of libtpu takes complex matrices as two arrays, of the real and of the imaginary parts."""
    matrices = [operand for operand in shapes.operands if len(operand) >= 2]
    return target[:1].isupper() and len(matrices) > 1 and matrices[0] == matrices[1]


def _of_matrix(formula: Callable[[int, int], float]) -> Callable[[Operands], float]:
    """A formula of the two dimensions of the first operand's matrices, one for each of the batch."""

    def counted(shapes: Operands) -> float:
        *batch, m, n = shapes.operands[0]
        return math.prod(batch) * formula(m, n)

    return counted


def _product_of_reflectors(shapes: Operands) -> float:
    *batch, m, n = shapes.operands[0]
    return math.prod(batch) * linear_algebra.product_of_reflectors(m, n, shapes.operands[1][-1])


def _apply_reflectors(shapes: Operands) -> float:
    *batch, m, n = shapes.result
    size, k = shapes.operands[0][-2], shapes.operands[1][-1]
    return math.prod(batch) * linear_algebra.apply_reflectors(m, n, k, size == m)


def _triangular_solve(shapes: Operands) -> float:
    n = shapes.operands[0][-1]
    return linear_algebra.triangular_solve(n, math.prod(shapes.operands[1]) // max(1, n))


def _sparse_product(shapes: Operands) -> float:
    """A multiply-add for each stored value and column of the dense operand."""
    columns = shapes.result[-1] if len(shapes.result) > 1 else 1
    return 2.0 * math.prod(shapes.operands[0]) * columns


def _rank_update(shapes: Operands) -> float:
    *batch, n, k = shapes.operands[0]
    return float(math.prod(batch) * n * n * k)


_ROUTINES: dict[str, Callable[[Operands], float]] = {
    "potrf": _of_matrix(lambda m, n: linear_algebra.cholesky(n)),
    "Cholesky": _of_matrix(lambda m, n: linear_algebra.cholesky(n)),
    "__cusolver$cholesky": _of_matrix(lambda m, n: linear_algebra.cholesky(n)),
    "getrf": _of_matrix(linear_algebra.lu),
    "LuDecomposition": _of_matrix(linear_algebra.lu),
    "LuDecompositionBlock": _of_matrix(linear_algebra.lu),
    "LuRealDecompositionBlock": _of_matrix(linear_algebra.lu),
    "LuComplexDecompositionBlock": _of_matrix(linear_algebra.lu),
    "geqrf": _of_matrix(linear_algebra.householder),
    "geqp3": _of_matrix(linear_algebra.householder),
    "Qr": _of_matrix(linear_algebra.householder),
    "QrDecompositionBlock": _of_matrix(linear_algebra.householder),
    "orgqr": _product_of_reflectors,
    "ProductOfElementaryHouseholderReflectors": _product_of_reflectors,
    "ormqr": _apply_reflectors,
    "trsm": _triangular_solve,
    "__cublas$triangularSolve": _triangular_solve,
    "gehrd": _of_matrix(lambda m, n: linear_algebra.to_hessenberg(n)),
    "sytrd": _of_matrix(lambda m, n: linear_algebra.to_tridiagonal(n)),
    "InvertDiagBlocksLowerTriangular": _of_matrix(lambda m, n: linear_algebra.triangular_inverse(n)),
    "InvertDiagBlocksUpperTriangular": _of_matrix(lambda m, n: linear_algebra.triangular_inverse(n)),
    "CompactWyHelper": _of_matrix(lambda m, n: linear_algebra.triangular_inverse(n)),
    "syrk": _rank_update,
    **dict.fromkeys(("csr_matvec", "csr_matmat", "coo_matvec", "coo_matmat"), _sparse_product),
}
"""libtpu's blocks by the algorithms that they stand for. CompactWyHelper makes the triangle of the compact WY form
column by column, n³/3 as in `CompactWYRepresentation` of XLA's qr_expander.cc."""
