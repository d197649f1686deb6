"""FLOPs of a jaxpr, before compilation: per equation, inner jaxprs included, loops by their length.

Only attributes of the jaxpr are read; JAX is not imported. An elementwise primitive counts the elements of its result,
a multiply-add counts two, and transcendental functions are counted separately, as in `flops`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


TRANSCENDENTAL = _named(
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh digamma erf erf_inv erfc exp exp2 expm1 igamma igammac "
    "lgamma log log1p logistic pow rsqrt sin sinh sqrt tan tanh"
)
ELEMENTWISE = _named(
    "abs add add_any and ceil clamp complex conj convert_element_type div eq eq_to floor ge gt imag is_finite le "
    "le_to lt lt_to max min mul ne neg nextafter not or population_count clz real reduce_precision rem round "
    "select_n shift_left shift_right_arithmetic shift_right_logical sign square sub xor"
)
MOVES = _named(
    "bitcast_convert_type broadcast_in_dim concatenate copy copy_p device_put dynamic_slice dynamic_update_slice "
    "empty expand_dims gather iota optimization_barrier pad pvary reshape reshard rev sharding_constraint slice split "
    "squeeze stop_gradient transpose name layout_constraint random_seed random_wrap random_unwrap axis_index "
    "all_gather all_to_all ppermute mesh_cast pbroadcast get_aval create_token"
)
"""Primitives that compute nothing."""
_REDUCTIONS = _named("argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor")
_CUMULATIVE = _named("cumsum cumprod cummax cummin cumlogsumexp")
_UPDATES = {"scatter": 0, "scatter-add": 1, "scatter_add": 1, "scatter-mul": 1, "scatter_mul": 1, "scatter-min": 1,
            "scatter_min": 1, "scatter-max": 1, "scatter_max": 1}  # fmt: skip


@dataclass(frozen=True)
class Work:
    """Known FLOPs and transcendentals, and why the rest is unknown."""

    flops: float = 0.0
    transcendentals: float = 0.0
    unknown: tuple[str, ...] = ()

    def __add__(self, other: Work) -> Work:
        return Work(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            tuple(dict.fromkeys(self.unknown + other.unknown)),
        )

    def __mul__(self, times: float) -> Work:
        return Work(self.flops * times, self.transcendentals * times, self.unknown)


class JaxprPart(NamedTuple):
    """A jaxpr that an equation runs: how often, why that is uncertain, and whether another may run instead."""

    jaxpr: Any
    times: float = 1.0
    why: str = ""
    is_branch: bool = False


class Leaf(NamedTuple):
    """An equation that contains no jaxpr: how often it runs, why that is uncertain, whether it is in a branch."""

    eqn: Any
    runs: float
    why: str
    is_branch: bool


def total(jaxpr: Any) -> Work:
    """The work of a jaxpr or ClosedJaxpr."""
    return sum((equation(eqn) for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns), Work())


def leaves(jaxpr: Any, runs: float = 1.0, why: str = "", is_branch: bool = False) -> Iterator[Leaf]:
    """The equations that compute something themselves; an equation of a shared jaxpr comes once per use."""
    for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        held = parts(eqn)
        if not held:
            yield Leaf(eqn, runs, why, is_branch)
        for part in held:
            yield from leaves(part.jaxpr, runs * part.times, why or part.why, is_branch or part.is_branch)


def parts(eqn: Any) -> list[JaxprPart]:
    """The jaxprs that an equation runs; empty where it computes something itself."""
    name, params = eqn.primitive.name, eqn.params
    if name in _COMPUTES:
        return []
    if name == "scan":
        return [JaxprPart(params["jaxpr"], float(params["length"]))]
    if name == "while":
        return [JaxprPart(params[part], 1.0, _IN_LOOP) for part in ("body_jaxpr", "cond_jaxpr")]
    if name == "cond":
        return [JaxprPart(branch, is_branch=True) for branch in params["branches"]]
    if name == "shard_map":
        return [JaxprPart(params["jaxpr"], _devices(params))]
    if name in _CUSTOM and (called := params.get("call_jaxpr", params.get("fun_jaxpr"))) is not None:
        return [JaxprPart(called)]
    return [JaxprPart(inner) for inner in _inner(eqn)]


_IN_LOOP = "in a loop of unknown length, counted once"
_CUSTOM = ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr")


def _devices(params: Any) -> float:
    """How many devices run the body of a shard_map: the product of its manual axes."""
    sizes = dict(getattr(params.get("mesh"), "shape", {}))
    manual = params.get("manual_axes") or sizes.keys() - set(params.get("auto", ()))
    return float(math.prod(size for axis, size in sizes.items() if axis in manual))


def equation(eqn: Any) -> Work:
    """The work of one equation, with the jaxprs inside it."""
    held = parts(eqn)
    if not held:
        return _own(eqn)
    works = [total(part.jaxpr) * part.times for part in held]
    unknown = (sum(works, Work()) + Work(unknown=tuple(part.why for part in held if part.why))).unknown
    if held[0].is_branch:
        most = max(works, key=lambda work: work.flops + work.transcendentals)
        return Work(most.flops, most.transcendentals, unknown)
    done = sum(works, Work())
    return Work(done.flops, done.transcendentals, unknown)


def _own(eqn: Any) -> Work:
    """The work of an equation that contains no jaxpr."""
    name = eqn.primitive.name
    if name in MOVES:
        return Work()
    if not all(is_known(getattr(var.aval, "shape", ())) for var in (*eqn.invars, *eqn.outvars)):
        return Work(unknown=(f"{name} has a shape that is unknown before it runs",))
    if name in TRANSCENDENTAL:
        return Work(transcendentals=_out(eqn))
    if name in ELEMENTWISE:
        return Work(_out(eqn))
    if name in _REDUCTIONS:
        return Work(max(0.0, _in(eqn) - _out(eqn)))
    if name in _CUMULATIVE:
        axis = eqn.invars[0].aval.shape[eqn.params["axis"]]
        return Work(_in(eqn) * max(0, math.ceil(math.log2(axis)) if axis else 0))
    if name in _UPDATES:
        return Work(_UPDATES[name] * _elements(eqn.invars[-1]))
    return _SPECIAL[name](eqn) if name in _SPECIAL else Work(unknown=(f"{name} has no formula",))


def is_known(shape: Any) -> bool:
    """Whether all sizes are numbers; jax.export may have symbols instead."""
    return all(isinstance(size, int) for size in shape)


def _elements(var: Any) -> float:
    return float(math.prod(getattr(var.aval, "shape", ())))


def _in(eqn: Any) -> float:
    return _elements(eqn.invars[0])


def _out(eqn: Any) -> float:
    return _elements(eqn.outvars[0])


def _inner(eqn: Any) -> Iterator[Any]:
    for value in eqn.params.values():
        for part in value if isinstance(value, tuple | list) else (value,):
            if hasattr(getattr(part, "jaxpr", part), "eqns"):
                yield part


def _dot(eqn: Any) -> Work:
    (contracting, _), _ = eqn.params["dimension_numbers"]
    shape = eqn.invars[0].aval.shape
    return Work(2.0 * _out(eqn) * math.prod(shape[axis] for axis in contracting))


def _conv(eqn: Any) -> Work:
    """Multiply-adds with the input's own elements, padding left out."""
    numbers, lhs, rhs, out = eqn.params["dimension_numbers"], *_shapes(eqn)
    positions = 1
    spatial = zip(numbers.lhs_spec[2:], numbers.rhs_spec[2:], numbers.out_spec[2:], strict=True)
    for i, (of_lhs, of_rhs, of_out) in enumerate(spatial):
        positions *= _met(eqn.params, i, lhs[of_lhs], rhs[of_rhs], out[of_out])
    features = lhs[numbers.lhs_spec[1]] // eqn.params["feature_group_count"]
    batch = lhs[numbers.lhs_spec[0]] // eqn.params["batch_group_count"]
    return Work(2.0 * features * out[numbers.out_spec[1]] * batch * positions)


def _shapes(eqn: Any) -> tuple[Any, Any, Any]:
    return eqn.invars[0].aval.shape, eqn.invars[1].aval.shape, eqn.outvars[0].aval.shape


def _met(params: Any, i: int, size: int, kernel: int, out: int) -> int:
    low, base = params["padding"][i][0], params["lhs_dilation"][i]
    stride, dilation = params["window_strides"][i], params["rhs_dilation"][i]
    last = (size - 1) * base
    return sum(
        0 <= (at := o * stride - low + k * dilation) <= last and at % base == 0
        for o in range(out)
        for k in range(kernel)
    )


def _sort(eqn: Any) -> Work:
    elements = _in(eqn)
    return Work(elements * math.ceil(math.log2(elements)) if elements > 1 else 0.0)


def _power(eqn: Any) -> Work:
    """Repeated squaring of an integer power."""
    y = abs(eqn.params["y"])
    return Work(_out(eqn) * max(0, y.bit_length() - 1 + bin(y).count("1") - 1))


def _pallas(eqn: Any) -> Work:
    estimate = eqn.params.get("cost_estimate")
    if estimate is None:
        return Work(unknown=("pallas_call without a cost_estimate",))
    return Work(float(estimate.flops), float(estimate.transcendentals))


def _window(eqn: Any) -> Work:
    window = math.prod(eqn.params["window_dimensions"])
    return Work(_out(eqn) * (window - 1))


def _all_reduce(eqn: Any) -> Work:
    return Work(sum(_elements(var) for var in eqn.outvars))


def _reduce(eqn: Any) -> Work:
    """A reduction by a function of two scalars."""
    return total(eqn.params["jaxpr"]) * max(0.0, _in(eqn) - _out(eqn))


def _fft(eqn: Any) -> Work:
    lengths = eqn.params["fft_lengths"]
    return Work(8.0 * max(_in(eqn), _out(eqn)) * sum(math.log2(n) for n in lengths if n > 1))


_SPECIAL: dict[str, Callable[[Any], Work]] = {
    "dot_general": _dot,
    "conv_general_dilated": _conv,
    "sort": _sort,
    "integer_pow": _power,
    "one_minus_square": lambda eqn: Work(2 * _out(eqn)),
    "pallas_call": _pallas,
    "reduce_window_sum": _window,
    "reduce_window_max": _window,
    "reduce_window_min": _window,
    "psum": _all_reduce,
    "psum_invariant": _all_reduce,
    "psum2": _all_reduce,
    "reduce_scatter": _all_reduce,
    "fft": _fft,
    "reduce": _reduce,
}
_COMPUTES = frozenset(_SPECIAL) | MOVES | TRANSCENDENTAL | ELEMENTWISE | _REDUCTIONS | _CUMULATIVE | frozenset(_UPDATES)
"""Primitives with a formula; the jaxprs inside some of them are applied to scalars."""
