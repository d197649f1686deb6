"""FLOPs of the primitives that factorise, solve, select, or multiply sparse and ragged matrices, by their shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jaxstage_ext.analysis.cost.rules import linear_algebra

ITERATIVE = frozenset(("eigh", "svd", "eig", "schur"))


def of(eqn: Any) -> float | str | None:
    """FLOPs of an equation, or why they are unknown; None for a primitive that is none of these."""
    name = eqn.primitive.name
    if name in ITERATIVE:
        return f"{name} iterates until it converges, so its FLOPs depend on the values"
    if name == "tridiagonal_solve":
        return "how tridiagonal_solve eliminates depends on the values"
    if (counter := _COUNTERS.get(name)) is None:
        return None
    return counter(eqn) * (linear_algebra.COMPLEX if name in _PRODUCTS and is_complex(eqn) else 1.0)


def is_complex(eqn: Any) -> bool:
    """Whether the first operand holds complex numbers."""
    dtype = getattr(eqn.invars[0].aval, "dtype", None) if eqn.invars else None
    return getattr(dtype, "kind", "") == "c"


def _shape(eqn: Any, operand: int = 0) -> tuple[int, ...]:
    return tuple(eqn.invars[operand].aval.shape)


def _of_matrix(formula: Callable[[int, int], float]) -> Callable[[Any], float]:
    def counted(eqn: Any) -> float:
        *batch, m, n = _shape(eqn)
        return math.prod(batch) * formula(m, n)

    return counted


def _qr(eqn: Any) -> float:
    """The triangle and reflectors, then the columns of Q."""
    *batch, m, n = (int(size) for size in _shape(eqn))
    k, columns = min(m, n), m if eqn.params.get("full_matrices") else min(m, n)
    product = linear_algebra.product_of_reflectors(m, columns, k)
    return float(math.prod(batch)) * (linear_algebra.householder(m, n) + product)


def _householder_product(eqn: Any) -> float:
    *batch, m, n = _shape(eqn)
    return math.prod(batch) * linear_algebra.product_of_reflectors(m, n, _shape(eqn, 1)[-1])


def _ormqr(eqn: Any) -> float:
    *batch, m, n = _shape(eqn, 2)
    is_left = bool(eqn.params.get("left", _shape(eqn)[-2] == m))
    return math.prod(batch) * linear_algebra.apply_reflectors(m, n, _shape(eqn, 1)[-1], is_left)


def _triangular_solve(eqn: Any) -> float:
    n = _shape(eqn)[-1]
    return linear_algebra.triangular_solve(n, math.prod(_shape(eqn, 1)) // max(1, n))


def _top_k(eqn: Any) -> float:
    return linear_algebra.top_k(math.prod(_shape(eqn)), int(eqn.params["k"]))


def _ragged_dot(eqn: Any) -> float:
    """Each row, or each contracted element, is in one group, so that the groups share the work of one product."""
    numbers = eqn.params["ragged_dot_dimension_numbers"]
    (contracting, _), _ = numbers.dot_dimension_numbers
    lhs, out = _shape(eqn), math.prod(eqn.outvars[0].aval.shape)
    if numbers.lhs_ragged_dimensions[0] in contracting:
        out //= max(1, _shape(eqn, 2)[-1])
    return float(2 * out * math.prod(int(lhs[axis]) for axis in contracting))


def _bcoo_dot(eqn: Any) -> float:
    """A multiply-add for each stored value and each element of the dense operand that is not contracted."""
    (_, contracting), (_, batch) = eqn.params["dimension_numbers"]
    rhs = _shape(eqn, 2)
    free = math.prod(size for axis, size in enumerate(rhs) if axis not in {*contracting, *batch})
    return 2.0 * math.prod(_shape(eqn)) * free


def _matvec(eqn: Any) -> float:
    return 2.0 * math.prod(_shape(eqn))


def _matmat(eqn: Any) -> float:
    return 2.0 * math.prod(_shape(eqn)) * int(eqn.outvars[0].aval.shape[-1])


def _symmetric_product(eqn: Any) -> float:
    *batch, n, k = _shape(eqn)
    return 2.0 * math.prod(batch) * n * n * k


_PRODUCTS: dict[str, Callable[[Any], float]] = {
    "cholesky": _of_matrix(lambda m, n: linear_algebra.cholesky(n)),
    "lu": _of_matrix(linear_algebra.lu),
    "qr": _qr,
    "geqrf": _of_matrix(linear_algebra.householder),
    "geqp3": _of_matrix(linear_algebra.householder),
    "householder_product": _householder_product,
    "ormqr": _ormqr,
    "triangular_solve": _triangular_solve,
    "hessenberg": _of_matrix(lambda m, n: linear_algebra.to_hessenberg(n)),
    "tridiagonal": _of_matrix(lambda m, n: linear_algebra.to_tridiagonal(n)),
    "symmetric_product": _symmetric_product,
    "ragged_dot_general": _ragged_dot,
    "bcoo_dot_general": _bcoo_dot,
    "coo_matvec": _matvec,
    "csr_matvec": _matvec,
    "coo_matmat": _matmat,
    "csr_matmat": _matmat,
}
_COUNTERS = _PRODUCTS | {"top_k": _top_k, "approx_top_k": _top_k}
PRIMITIVES = frozenset(_COUNTERS) | ITERATIVE | {"tridiagonal_solve"}
