"""FLOPs of a jaxpr, before compilation: per equation, inner jaxprs included, loops by their length.

Only attributes of the jaxpr are read; JAX is not imported. An elementwise primitive counts the elements of its result,
a multiply-add counts two, and transcendental functions are counted separately, as in `flops`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from jaxstage_ext.analysis.cost.rules import equation_algebra, flops, linear_algebra, windows


def _named(names: str) -> frozenset[str]:
    return frozenset(names.split())


TRANSCENDENTAL = _named(
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh digamma erf erf_inv erfc exp exp2 expm1 igamma igammac "
    "lgamma log log1p log2 logistic pow rsqrt sin sinh sqrt tan tanh"
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
    "all_gather all_to_all ppermute mesh_cast pbroadcast get_aval create_token platform_index lu_pivots_to_permutation "
    "get swap program_id num_programs multiple_of load masked_load masked_swap broadcast_to roll repeat "
    "bcoo_fromdense bcoo_todense bcoo_transpose bcoo_extract bcoo_broadcast_in_dim bcoo_slice bcoo_reshape "
    "coo_fromdense coo_todense csr_fromdense csr_todense"
)
"""Primitives that compute nothing."""
_REDUCTIONS = _named("argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor")
_CUMULATIVE = _named("cumsum cumprod cummax cummin cumlogsumexp")
_ADD, _MULTIPLY, _DIVIDE = (float(flops.COMPLEX_OPERATIONS[name]) for name in ("add", "multiply", "divide"))
_OF_COMPLEX = {
    **dict.fromkeys(_named("add add_any sub neg reduce_sum cumsum scatter-add scatter_add psum psum_invariant"), _ADD),
    **dict.fromkeys(_named("mul square reduce_prod cumprod scatter-mul scatter_mul integer_pow"), _MULTIPLY),
    "div": _DIVIDE,
}
"""Real operations in one operation on complex numbers, as in HLO."""
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
    """An equation that contains no jaxpr: how often it runs, why that is uncertain, whether it is in a branch.

    It counts in the total unless another branch of a conditional has more work.
    """

    eqn: Any
    runs: float
    why: str = ""
    is_branch: bool = False
    counts: bool = True


def total(jaxpr: Any) -> Work:
    """The work of a jaxpr or ClosedJaxpr."""
    return sum((equation(eqn) for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns), Work())


def leaves(jaxpr: Any, outer: Leaf | None = None) -> Iterator[Leaf]:
    """The equations that compute something themselves; an equation of a shared jaxpr comes once per use.

    `outer` is the equation that contains the jaxpr.
    """
    outer = outer or Leaf(None, 1.0)
    for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        held = parts(eqn)
        if not held:
            yield outer._replace(eqn=eqn)
        counted = _most(held) if len(held) > 1 and held[0].is_branch else None
        for place, part in enumerate(held):
            counts = outer.counts and counted in (None, place)
            why, is_branch = outer.why or part.why, outer.is_branch or part.is_branch
            yield from leaves(part.jaxpr, Leaf(eqn, outer.runs * part.times, why, is_branch, counts))


def every(jaxpr: Any) -> Iterator[Any]:
    """The equations of a jaxpr and of those inside it."""
    for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        yield eqn
        for part in parts(eqn):
            yield from every(part.jaxpr)


def _most(branches: list[JaxprPart]) -> int:
    """The branch of most work, which counts."""
    works = [total(part.jaxpr) for part in branches]
    return max(range(len(works)), key=lambda place: works[place].flops + works[place].transcendentals)


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
    if name == "custom_linear_solve":
        return [JaxprPart(params["jaxprs"].solve)]
    if name == "linear_call":
        return [JaxprPart(params["callee"])]
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
    if (counted := equation_algebra.of(eqn)) is not None:
        return Work(unknown=(counted,)) if isinstance(counted, str) else Work(counted)
    if name in _SPECIAL:
        return _SPECIAL[name](eqn)
    applications = _applications(eqn)
    return Work(unknown=(f"{name} has no formula",)) if applications is None else applications * _each(eqn)


def _applications(eqn: Any) -> Work | None:
    """How often a primitive applies an operation to two numbers; None for other primitives."""
    name = eqn.primitive.name
    if name in ELEMENTWISE:
        return Work(_out(eqn))
    if name in _REDUCTIONS:
        return Work(max(0.0, _in(eqn) - _out(eqn)))
    if name in _CUMULATIVE:
        axis = eqn.invars[0].aval.shape[eqn.params["axis"]]
        return Work(_in(eqn) * max(0, math.ceil(math.log2(axis)) if axis else 0))
    return Work(_UPDATES[name] * _elements(eqn.invars[-1])) if name in _UPDATES else None


def _each(eqn: Any) -> float:
    """Real operations in one operation of a primitive."""
    return _OF_COMPLEX.get(eqn.primitive.name, 1.0) if equation_algebra.is_complex(eqn) else 1.0


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
    return Work(2.0 * _out(eqn) * math.prod(shape[axis] for axis in contracting)) * _product(eqn)


def _product(eqn: Any) -> float:
    """Real multiply-adds in one of a product."""
    return linear_algebra.COMPLEX if equation_algebra.is_complex(eqn) else 1.0


def _conv(eqn: Any) -> Work:
    """Multiply-adds with the input's own elements, padding left out."""
    numbers, lhs, rhs, out = eqn.params["dimension_numbers"], *_shapes(eqn)
    positions = 1
    spatial = zip(numbers.lhs_spec[2:], numbers.rhs_spec[2:], numbers.out_spec[2:], strict=True)
    for i, (of_lhs, of_rhs, of_out) in enumerate(spatial):
        positions *= windows.met(lhs[of_lhs], rhs[of_rhs], out[of_out], _spatial(eqn.params, i, rhs[of_rhs]))
    features = lhs[numbers.lhs_spec[1]] // eqn.params["feature_group_count"]
    batch = lhs[numbers.lhs_spec[0]] // eqn.params["batch_group_count"]
    return Work(2.0 * features * out[numbers.out_spec[1]] * batch * positions) * _product(eqn)


def _shapes(eqn: Any) -> tuple[Any, Any, Any]:
    return eqn.invars[0].aval.shape, eqn.invars[1].aval.shape, eqn.outvars[0].aval.shape


def _spatial(params: Any, i: int, kernel: int) -> windows.Dimension:
    """A dimension of a convolution's window."""
    (low, high), stride = params["padding"][i], params["window_strides"][i]
    return windows.Dimension(kernel, stride, low, high, params["rhs_dilation"][i], params["lhs_dilation"][i])


def _sort(eqn: Any) -> Work:
    shape = eqn.invars[0].aval.shape
    return Work(linear_algebra.sort(math.prod(shape), shape[eqn.params["dimension"]] if shape else 1))


def _power(eqn: Any) -> Work:
    """Repeated squaring of an integer power."""
    y = abs(eqn.params["y"])
    return Work(_out(eqn) * max(0, y.bit_length() - 1 + bin(y).count("1") - 1)) * _each(eqn)


def _pallas(eqn: Any) -> Work:
    """The kernel once for each step of its grid; the user's estimate where that cannot be counted."""
    grid, estimate = eqn.params["grid_mapping"].grid, eqn.params.get("cost_estimate")
    counted = total(eqn.params["jaxpr"])
    if is_known(grid) and not counted.unknown:
        return counted * float(math.prod(grid))
    if estimate is not None:
        return Work(float(estimate.flops), float(estimate.transcendentals))
    why = counted.unknown or ("the grid of a kernel is known only when it runs",)
    return Work(unknown=tuple(f"a kernel: {reason}" for reason in why))


def _window(eqn: Any) -> Work:
    """Padding and holes of the window meet no element and are left out."""
    met = 1
    for size, to, dimension in zip(eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape, _dimensions(eqn), strict=True):
        met *= windows.met(size, dimension.size, to, dimension)
    return Work(float(max(0, met - _out(eqn)))) * _each(eqn)


def _dimensions(eqn: Any) -> list[windows.Dimension]:
    params, ones = eqn.params, (1,) * len(eqn.invars[0].aval.shape)
    strides, padding = params["window_strides"], params["padding"]
    base, dilation = params.get("base_dilation", ones), params.get("window_dilation", ones)
    low, high = zip(*padding, strict=True) if padding else ((), ())
    columns = (params["window_dimensions"], strides, low, high, dilation, base)
    return [windows.Dimension(*map(int, sizes)) for sizes in zip(*columns, strict=True)]


def _select_and_scatter(eqn: Any) -> Work:
    """Of each window all but one element are compared, and the source's element is added to the chosen one."""
    return Work(_elements(eqn.invars[0]) * math.prod(eqn.params["window_dimensions"]))


def _reduce_window(eqn: Any) -> Work:
    """A reduction of windows by a function of two scalars."""
    return total(eqn.params["jaxpr"]) * _window(eqn).flops


def _all_reduce(eqn: Any) -> Work:
    return Work(sum(_elements(var) for var in eqn.outvars)) * _each(eqn)


def _reduce(eqn: Any) -> Work:
    """A reduction by a function of two scalars."""
    return total(eqn.params["jaxpr"]) * max(0.0, _in(eqn) - _out(eqn))


def _fft(eqn: Any) -> Work:
    is_real = any(var.aval.dtype.kind != "c" for var in (*eqn.invars, *eqn.outvars))
    return Work(linear_algebra.fft(int(max(_in(eqn), _out(eqn))), eqn.params["fft_lengths"], is_real))


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
    "reduce_window": _reduce_window,
    "select_and_scatter_add": _select_and_scatter,
    "addupdate": lambda eqn: Work(_elements(eqn.invars[1])),
    "psum": _all_reduce,
    "psum_invariant": _all_reduce,
    "psum2": _all_reduce,
    "reduce_scatter": _all_reduce,
    "fft": _fft,
    "reduce": _reduce,
}
_COMPUTES = (
    frozenset(_SPECIAL)
    | equation_algebra.PRIMITIVES
    | MOVES
    | TRANSCENDENTAL
    | ELEMENTWISE
    | _REDUCTIONS
    | _CUMULATIVE
    | frozenset(_UPDATES)
)
"""Primitives with a formula; the jaxprs inside some of them are applied to scalars."""
