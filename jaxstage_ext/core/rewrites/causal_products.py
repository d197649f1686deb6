"""Products of which a causal mask throws a part away: scores that it hides, and those that read the hidden ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from jaxstage_ext.core.jax_private import jaxprs

_LEAST_SIDE = 256
_LEAST_HIDDEN = 0.25
"""Of a product, below which its blocks are as small as they should be."""
_CALLS = frozenset({
    "jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr",
    "checkpoint", "remat", "remat2",
})  # fmt: skip
_COMPARES = frozenset({"ge", "gt", "le", "lt"})
_PASSED_ON = frozenset({
    "add", "add_any", "and", "broadcast_in_dim", "convert_element_type", "copy", "custom_jvp_call", "div", "exp",
    "exp2", "expand_dims", "max", "mul", "neg", "not", "or", "reduce_precision", "reshape", "select_n", "squeeze",
    "stop_gradient", "sub", "tanh", "transpose", "eq", "ne",
})  # fmt: skip


class _Trait(Enum):
    INDEX = "computed of positions alone"
    CAUSAL = "a comparison of positions along two axes"
    SCORES = "a product with two long axes"
    MASKED = "scores with a causal mask"


@dataclass(frozen=True)
class _Known:
    trait: _Trait | None = None
    products: frozenset[int] = frozenset()
    """Ids of the equations that made the scores."""
    positions: tuple[int, int] | None = None
    """Of positions, how many and the first; None unknown."""
    hidden: float = 0.0
    """The share of the scores that a mask hides."""


@dataclass(eq=False)
class MaskedProducts:
    """The products that a program computes in full."""

    equations: list[Any] = field(default_factory=list)
    masks: list[Any] = field(default_factory=list)
    """The equations that apply the masks."""
    flops: float = 0.0
    """Of those products, over all runs."""
    hidden: float = 0.0
    """Of these, those whose results are hidden."""


def masked_products(jaxpr: Any) -> MaskedProducts:
    """Those of a jaxpr and of all that it runs."""
    walk = _Walk()
    if not any(_is_of_scores(eqn) for each in jaxprs.all_jaxprs(jaxpr) for eqn in each.eqns):
        return walk.found
    walk.run(jaxpr, [_Known()] * (len(jaxpr.constvars) + len(jaxpr.invars)))
    return walk.found


class _Walk:
    def __init__(self) -> None:
        self.found = MaskedProducts()
        self._products: dict[int, tuple[Any, float]] = {}
        self._counted: set[int] = set()
        self._runs = 1.0

    def run(self, jaxpr: Any, given: Sequence[_Known]) -> list[_Known]:
        return jaxprs.evaluated(
            jaxpr, given, lambda eqn, read: self._equation(eqn, list(map(read, eqn.invars))), _of_literal
        )

    def _equation(self, eqn: Any, ins: list[_Known]) -> list[_Known]:
        name = eqn.primitive.name
        inner = jaxprs.inner_jaxprs(eqn)
        if name in _CALLS and len(inner) == 1 and len(inner[0].constvars) + len(inner[0].invars) == len(ins):
            return self.run(inner[0], ins)
        if inner:
            self._inside(eqn, inner, ins)
            return [_Known()] * len(eqn.outvars)
        if name == "dot_general":
            return [self._product(eqn, ins)]
        return [self._combined(eqn, ins)] * len(eqn.outvars)

    def _inside(self, eqn: Any, inner: Sequence[Any], ins: Sequence[_Known]) -> None:
        outer, self._runs = self._runs, self._runs * (eqn.params["length"] if eqn.primitive.name == "scan" else 1)
        fixed = jaxprs.parts_of_scan(eqn.params, ins)[0] if eqn.primitive.name == "scan" else []
        for body in inner:
            count = len(body.constvars) + len(body.invars)
            self.run(body, [*fixed, *[_Known()] * (count - len(fixed))][:count])
        self._runs = outer

    def _product(self, eqn: Any, ins: Sequence[_Known]) -> _Known:
        hidden = max((one.hidden for one in ins if one.trait is _Trait.MASKED), default=0.0)
        if hidden:
            self._count(eqn, self._runs, hidden)
        if not _is_of_scores(eqn):
            return _Known()
        self._products[id(eqn)] = (eqn, self._runs)
        return _Known(_Trait.SCORES, frozenset({id(eqn)}))

    def _combined(self, eqn: Any, ins: Sequence[_Known]) -> _Known:
        name = eqn.primitive.name
        traits = {one.trait for one in ins}
        if name == "iota":
            return _Known(_Trait.INDEX, positions=(eqn.params["shape"][eqn.params["dimension"]], 0))
        if ins and traits <= {_Trait.INDEX}:
            hidden = _hidden(eqn, ins) if name in _COMPARES else 0.0
            return _Known(_Trait.CAUSAL, hidden=hidden) if hidden else _Known(_Trait.INDEX, positions=_moved(name, ins))
        if name not in _PASSED_ON:
            return _Known()
        products = frozenset[int]().union(*(one.products for one in ins))
        hidden = max(one.hidden for one in ins)
        if products and (_Trait.MASKED in traits or (_Trait.CAUSAL in traits and name in ("select_n", "add", "mul"))):
            if _Trait.MASKED not in traits:
                self.found.masks.append(eqn)
            for product in products:
                self._count(*self._products[product], hidden)
            return _Known(_Trait.MASKED, products, hidden=hidden)
        if products:
            return _Known(_Trait.SCORES, products)
        is_mask = traits <= _OF_POSITIONS or (name in ("and", "or") and traits <= {_Trait.CAUSAL, None})
        return _Known(_Trait.CAUSAL, hidden=hidden) if is_mask and hidden else _Known()

    def _count(self, eqn: Any, runs: float, hidden: float) -> None:
        if id(eqn) not in self._counted and hidden >= _LEAST_HIDDEN:
            self._counted.add(id(eqn))
            self.found.equations.append(eqn)
            self.found.flops += _flops(eqn) * runs
            self.found.hidden += _flops(eqn) * runs * hidden


def _is_of_scores(eqn: Any) -> bool:
    """Whether an equation is a product with two long axes."""
    if eqn.primitive.name != "dot_general":
        return False
    longest = sorted(eqn.outvars[0].aval.shape)[-2:]
    return len(longest) == 2 and longest[0] >= _LEAST_SIDE


_OF_POSITIONS = {_Trait.CAUSAL, _Trait.INDEX}
_SAME = frozenset({"broadcast_in_dim", "convert_element_type", "copy", "expand_dims", "reshape", "squeeze"})


def _of_literal(atom: Any) -> _Known:
    value = np.asarray(atom.val)
    is_number = value.ndim == 0 and value.dtype.kind in "iu"
    return _Known(_Trait.INDEX, positions=(1, int(value)) if is_number else None)


def _moved(name: str, ins: Sequence[_Known]) -> tuple[int, int] | None:
    """The positions after an operation that shifts or reshapes them."""
    if name in _SAME and len(ins) == 1:
        return ins[0].positions
    if name not in ("add", "sub") or ins[0].positions is None or ins[1].positions is None:
        return None
    (count, first), (other, shift) = ins[0].positions, ins[1].positions
    return (max(count, other), first + (shift if name == "add" else -shift)) if min(count, other) == 1 else None


def _hidden(eqn: Any, ins: Sequence[_Known]) -> float:
    """The smaller share of a comparison of positions along two long axes; 0 where it is not one, or unknown."""
    shape = [size for size in eqn.outvars[0].aval.shape if size >= _LEAST_SIDE]
    left, right = ins[0].positions, ins[1].positions
    if len(shape) < 2 or left is None or right is None or min(left[0], right[0]) < _LEAST_SIDE:
        return 0.0
    rows = np.arange(left[1], left[1] + left[0])
    below = np.clip(rows - right[1] + (eqn.primitive.name in ("ge", "lt")), 0, right[0])
    share = float(below.sum()) / (left[0] * right[0])
    return min(share, 1 - share)


def _flops(eqn: Any) -> float:
    (contracted, _), _ = eqn.params["dimension_numbers"]
    shape = eqn.invars[0].aval.shape
    return 2.0 * float(math.prod(eqn.outvars[0].aval.shape)) * float(math.prod(shape[axis] for axis in contracted))
