"""The equations of a jaxpr that read nothing but captured arrays, which XLA computes while it compiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxstage_ext.core.jax_private import jaxprs

_CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call")
_NOT_FOLDED = ("broadcast_in_dim", "iota", "while", "scan", "cond", "sharding_constraint", "optimization_barrier")
"""XLA leaves a broadcast as it is, and folds no loop."""

_NONE = frozenset[int]()


@dataclass(frozen=True)
class ConstantEquation:
    """An equation that reads constants alone."""

    eqn: Any
    steps: int
    """Multiplications of a dot or a convolution; else the elements of the largest array that it reads or makes."""
    constants: frozenset[int]
    """The ids of the captured arrays that it is computed of."""


def constant_equations(closed: Any) -> list[ConstantEquation]:
    """Those of a closed jaxpr and of the functions that it calls, in order."""
    jaxpr = getattr(closed, "jaxpr", closed)
    known = {var: frozenset([id(const)]) for var, const in zip(jaxpr.constvars, closed.consts, strict=True)}
    return list(_of(jaxpr, known))


def _of(jaxpr: Any, known: dict[Any, frozenset[int]]) -> Iterator[ConstantEquation]:
    for eqn in jaxpr.eqns:
        read = [atom for atom in eqn.invars if not jaxprs.is_literal(atom)]
        inner = _called(eqn)
        if inner is not None:
            given = zip(inner.invars, eqn.invars, strict=True)
            own = {
                v: _NONE if jaxprs.is_literal(a) else known[a] for v, a in given if jaxprs.is_literal(a) or a in known
            }
            yield from _of(inner, own)
            made = zip(eqn.outvars, inner.outvars, strict=True)
            known.update((outer, own[v]) for outer, v in made if _has(own, v))
        elif all(atom in known for atom in read) and not eqn.effects:
            constants, name = _NONE.union(*(known[atom] for atom in read)), eqn.primitive.name
            if constants and name not in _NOT_FOLDED:
                yield ConstantEquation(eqn, _steps(eqn), constants)
            if name not in _NOT_FOLDED[1:]:
                known.update(dict.fromkeys(eqn.outvars, constants))


def _has(known: dict[Any, frozenset[int]], atom: Any) -> bool:
    return not jaxprs.is_literal(atom) and atom in known


def _called(eqn: Any) -> Any:
    """The jaxpr of a function that is called with the operands as they are; None of other equations."""
    if not eqn.primitive.name.startswith(_CALLS):
        return None
    inner: Sequence[Any] = jaxprs.inner_jaxprs(eqn)
    is_plain = len(inner) == 1 and not inner[0].constvars and len(inner[0].invars) == len(eqn.invars)
    return inner[0] if is_plain else None


def _steps(eqn: Any) -> int:
    largest = max(map(_size, (*eqn.invars, *eqn.outvars)))
    if eqn.primitive.name == "dot_general":
        (contracted, _), _ = eqn.params["dimension_numbers"]
        return max(largest, _size(eqn.outvars[0]) * int(np.prod([eqn.invars[0].aval.shape[at] for at in contracted])))
    if eqn.primitive.name == "conv_general_dilated":
        kernel, made = eqn.invars[1], eqn.params["dimension_numbers"].rhs_spec[0]
        return max(largest, _size(eqn.outvars[0]) * (_size(kernel) // max(1, int(kernel.aval.shape[made]))))
    return largest


def _size(atom: Any) -> int:
    return int(np.prod(getattr(atom.aval, "shape", ()), dtype=np.int64))
