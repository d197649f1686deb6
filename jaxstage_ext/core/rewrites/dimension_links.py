"""Which dimensions of an equation's operands and results are one: a piece of one is computed of a piece of another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

WHOLE = None
"""In place of a dimension: the value is read, or made, whole."""
Places = tuple[int | None, ...]


class Link(NamedTuple):
    """A dimension of an equation that it can be computed in pieces of."""

    ins: Places
    """Of each operand, the dimension of which a piece is read; None where it is read whole."""
    outs: Places
    """Of each result, the dimension of which a piece is made; None where pieces are added up, or the largest taken."""
    combine: str = ""
    """How the results of pieces make the whole: "" put side by side, or the primitive."""


_ELEMENTWISE = frozenset(
    """
    abs add add_any and asin acos atan acosh asinh atanh atan2 bitcast_convert_type cbrt ceil clamp
    convert_element_type copy copy_p cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt imag
    integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not one_minus_square or pow
    real reduce_precision rem round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin
    sinh sqrt square stop_gradient sub tan tanh xor
    """.split()  # noqa: SIM905
)
_ALONG = {"cumsum": "axis", "cumprod": "axis", "cummax": "axis", "cummin": "axis", "cumlogsumexp": "axis",
          "sort": "dimension", "concatenate": "dimension", "split": "axis"}  # fmt: skip
_SUMS = {"reduce_sum": "add", "reduce_max": "max", "reduce_min": "min"}
_REDUCTIONS = (*_SUMS, "reduce_prod", "reduce_and", "reduce_or", "reduce_xor", "argmax", "argmin")


def links(eqn: Any) -> Iterator[Link]:
    """The dimensions that an equation can be computed in pieces of; none of a primitive that is not known."""
    name = eqn.primitive.name
    ins, outs = [v.aval for v in eqn.invars], [v.aval for v in eqn.outvars]
    if eqn.effects or not all(hasattr(aval, "shape") for aval in (*ins, *outs)):
        return
    if name in _ELEMENTWISE:
        yield from _elementwise(ins, outs)
    elif name in _ALONG:
        rank, along = len(outs[0].shape), int(eqn.params[_ALONG[name]])
        for dim in range(rank):
            if dim != along % rank:
                yield Link((dim,) * len(ins), (dim,) * len(outs))
    elif name in _REDUCTIONS:
        yield from _reduction(eqn, len(ins[0].shape), _SUMS.get(name, ""))
    elif (rule := _RULES.get(name)) is not None:
        yield from rule(eqn, ins, outs)


def params_of_piece(eqn: Any, link: Link, count: int) -> dict[str, Any]:
    """The parameters of an equation that computes one of `count` pieces."""
    name, params = eqn.primitive.name, dict(eqn.params)
    if name in ("broadcast_in_dim", "iota", "reshape") and link.outs[0] is not None:
        key = "new_sizes" if name == "reshape" else "shape"
        params[key] = _cut(params[key], link.outs[0], count)
    elif name in ("gather", "slice") and link.ins[0] is not None:
        key = "slice_sizes" if name == "gather" else "limit_indices"
        if params[key][link.ins[0]] > 1:
            params[key] = _cut(params[key], link.ins[0], count)
    return params


def _cut(sizes: Sequence[int], dim: int, count: int) -> tuple[int, ...]:
    return tuple(size // count if at == dim else size for at, size in enumerate(sizes))


def _elementwise(ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    """Operands are of the result's shape, of one element, or since jax 0.12 of dimensions of 1 that are broadcast."""
    shape = outs[0].shape
    if any(aval.shape != shape for aval in outs) or any(len(aval.shape) not in (0, len(shape)) for aval in ins):
        return
    for dim, size in enumerate(shape):
        given = (dim if aval.shape and aval.shape[dim] == size else WHOLE for aval in ins)
        yield Link(tuple(given), (dim,) * len(outs))


def _reduction(eqn: Any, rank: int, combine: str) -> Iterator[Link]:
    axes = {int(axis) % rank for axis in eqn.params["axes"]}
    kept = [dim for dim in range(rank) if dim not in axes]
    for at, dim in enumerate(kept):
        yield Link((dim,), (at,))
    if combine:
        for dim in sorted(axes):
            yield Link((dim,), (WHOLE,), combine)


def _broadcast(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    given = {int(out): dim for dim, out in enumerate(eqn.params["broadcast_dimensions"])}
    for out, size in enumerate(outs[0].shape):
        dim = given.get(out)
        is_one = dim is not None and ins[0].shape[dim] == size
        yield Link((dim if is_one else WHOLE, *[WHOLE] * (len(ins) - 1)), (out,))


def _iota(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    for out in range(len(outs[0].shape)):
        if out != eqn.params["dimension"]:
            yield Link((), (out,))


def _transpose(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    for out, dim in enumerate(eqn.params["permutation"]):
        yield Link((int(dim),), (out,))


def _squeeze(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    rank = len(ins[0].shape)
    gone = {int(dim) % rank for dim in eqn.params["dimensions"]}
    for out, dim in enumerate(dim for dim in range(rank) if dim not in gone):
        yield Link((dim,), (out,))


def _reshape(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    """A leading part of one dimension is that of another where as many elements come before both."""
    if len(ins) > 1 or eqn.params.get("dimensions") is not None:
        return
    old, new = ins[0].shape, outs[0].shape
    before = {math.prod(new[:at]): at for at, size in enumerate(new) if size > 1}
    for dim, size in enumerate(old):
        if size > 1 and (out := before.get(math.prod(old[:dim]))) is not None:
            yield Link((dim,), (out,))


def _slice(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    steps = eqn.params["strides"] or (1,) * len(ins[0].shape)
    for dim, (size, made) in enumerate(zip(ins[0].shape, outs[0].shape, strict=True)):
        if size == made and steps[dim] == 1:
            yield Link((dim,), (dim,))


def _pad(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    for dim, (low, high, inner) in enumerate(eqn.params["padding_config"]):
        if not (low or high or inner):
            yield Link((dim, WHOLE), (dim,))


def _dot(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    (left, right), (left_batch, right_batch) = eqn.params["dimension_numbers"]
    for out, (a, b) in enumerate(zip(left_batch, right_batch, strict=True)):
        yield Link((int(a), int(b)), (out,))
    out = len(left_batch)
    for at, (contracted, batch) in enumerate(((left, left_batch), (right, right_batch))):
        for dim in range(len(ins[at].shape)):
            if dim not in contracted and dim not in batch:
                yield Link((dim, WHOLE) if at == 0 else (WHOLE, dim), (out,))
                out += 1
    for a, b in zip(left, right, strict=True):
        yield Link((int(a), int(b)), (WHOLE,), "add")


def _gather(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    batch = [dim for dim in range(len(outs[0].shape)) if dim not in numbers.offset_dims]
    paired = dict(zip(numbers.start_indices_batching_dims, numbers.operand_batching_dims, strict=True))
    for dim in range(len(ins[1].shape) - 1):
        yield Link((paired.get(dim, WHOLE), dim), (batch[dim],))
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    windows = [dim for dim in range(len(ins[0].shape)) if dim not in gone]
    for dim, out in zip(windows, numbers.offset_dims, strict=True):
        if sizes[dim] == ins[0].shape[dim] and dim not in numbers.start_index_map:
            yield Link((dim, WHOLE), (out,))


def _scatter(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    numbers = eqn.params["dimension_numbers"]
    operand, updates = ins[0].shape, ins[2].shape
    batch = [dim for dim in range(len(updates)) if dim not in numbers.update_window_dims]
    paired = dict(zip(numbers.scatter_indices_batching_dims, numbers.operand_batching_dims, strict=True))
    for dim, given in paired.items():
        yield Link((given, dim, batch[dim]), (given,))
    gone = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    windows = [dim for dim in range(len(operand)) if dim not in gone]
    for dim, window in zip(windows, numbers.update_window_dims, strict=True):
        if operand[dim] == updates[window] and dim not in numbers.scatter_dims_to_operand_dims:
            yield Link((dim, WHOLE, window), (dim,))


def _random_bits(eqn: Any, ins: Sequence[Any], outs: Sequence[Any]) -> Iterator[Link]:
    """Of threefry, each key of a batch draws its own bits, whatever the others are."""
    if "fry" in str(ins[0].dtype):
        for dim in range(len(ins[0].shape)):
            yield Link((dim,), (dim,))


_RULES: dict[str, Callable[[Any, Sequence[Any], Sequence[Any]], Iterator[Link]]] = {
    "broadcast_in_dim": _broadcast,
    "iota": _iota,
    "transpose": _transpose,
    "squeeze": _squeeze,
    "reshape": _reshape,
    "slice": _slice,
    "pad": _pad,
    "dot_general": _dot,
    "gather": _gather,
    "random_bits": _random_bits,
    **dict.fromkeys(("scatter", "scatter-add", "scatter_add", "scatter-mul", "scatter-max", "scatter-min"), _scatter),
}
