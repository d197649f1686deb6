"""What a call does at run time before the program runs: which arguments are copied, and whether Python takes part."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter
from typing import Any

import jax
import numpy as np

from jaxstage_ext.core.inputs.captured import is_valueless
from jaxstage_ext.core.inputs.pytree_paths import leaves_with_paths, path_text
from jaxstage_ext.core.inputs.signatures import signature_of
from jaxstage_ext.core.jax_private import python_nodes, refs, sharding_internals, tracing
from jaxstage_ext.core.stage import stages
from jaxstage_ext.program.behaviour.python_work import python_work
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.head.dtype_names import short_dtype
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.bounded_repr import type_name
from jaxstage_ext.report.text.units import plural, scaled, with_article
from jaxstage_ext.report.unavailable import Unavailable

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
AS_IT_IS, FROM_HOST, UNUSED = "as it is", "copied from the host", "not passed: unused"
MOVED, RESHARDED, RELAID = "copied to another device", "resharded", "copied to another layout"
UNKNOWN = "unknown: a shape alone"
_MOST_TYPES = 3
_COPIED = (FROM_HOST, MOVED, RESHARDED, RELAID)


@dataclass(frozen=True)
class PassedArray:
    """An array that the call is given."""

    name: str
    given: str
    """What it is, and where it lies."""
    done: str
    """What JAX does with it at each call: AS_IT_IS, FROM_HOST, …"""
    placed: int | None
    """Bytes that each call writes to devices for it; None unknown."""
    remark: str
    by_python: bool = False
    leaf: Any = None
    """The array itself."""
    sharding: Any = None
    """What the executable takes it as; None where it takes none."""


@fact
def passed_arrays(program: Program) -> list[PassedArray]:
    """The arrays that the call is given, those that the program reads first.

    Raises Unavailable where the kernel has no executable of it.
    """
    compiled = program.executable
    if not isinstance(compiled, jax.stages.Compiled):
        raise Unavailable(f"{program.name} is not compiled in this kernel, so nothing is known of its calls here")
    try:
        return sorted(_rows(program, compiled), key=lambda row: row.done == UNUSED)
    except _OtherArguments:
        raise Unavailable(
            f"{program.name} is {with_article(type_name(program.call.fn))}, which gives JAX its arguments in a form of "
            "its own, so what is copied of each is unknown"
        ) from None


@fact
def dispatch(program: Program) -> Table:
    """One row an array that the call is given. Raises Unavailable where the kernel has no executable of it."""
    rows, compiled = passed_arrays(program), program.executable
    columns = {
        "argument": Column([row.name for row in rows]),
        "given": Column([row.given for row in rows], "", "what it is, and where it lies"),
        "at the call": Column([row.done for row in rows]),
        "bytes": Column([row.placed for row in rows], "B", "that each call writes to devices for it"),
    }
    remarks = {(at, "at the call"): row.remark for at, row in enumerate(rows) if row.remark}
    notes = (_copied(rows), *(f"{row.name} {row.remark}." for row in rows if row.remark))
    notes = (*notes, _path(program, compiled, [row.name for row in rows if row.by_python]))
    notes = (*notes, *_in_python(program))
    reasons = {(at, "bytes"): "a shape lies nowhere" for at, row in enumerate(rows) if row.placed is None}
    return Table(f"dispatch of {program.name}", columns, reasons, notes, remarks=remarks)


def _copied(rows: Sequence[PassedArray]) -> str:
    copied = [row for row in rows if row.done in _COPIED]
    shapes = [row.name for row in rows if row.done == UNKNOWN]
    if not copied and shapes:
        rest = "" if len(shapes) == len(rows) else " Every other argument is used as it lies on its devices."
        return f"Unknown what is copied of {', '.join(shapes)}: only a shape is given.{rest}"
    if not copied:
        return "Every argument is used as it lies on its devices."
    placed = scaled(sum(row.placed or 0 for row in copied), "B")
    are = f"{plural(len(copied), 'argument')} of {len(rows)} {'is' if len(copied) == 1 else 'are'}"
    return f"{are} copied at each call: {placed}."


def _path(program: Program, compiled: Any, moved: Sequence[str]) -> str:
    fn, traced = program.call.fn, program.jax_traced
    if jax.config.jax_disable_jit:
        return "jax_disable_jit is on: each operation is dispatched by itself."
    if tracing.is_pmap(fn):
        return "No fast path: what jax.pmap makes prepares its arguments in Python at each call."
    if not (python_nodes.is_jitted(fn) or program.call.given is not None):
        if hasattr(fn, "lower"):
            return f"No fast path: {program.name} is {with_article(type_name(fn))}, whose own Python runs at each call."
        return f"No fast path: {program.name} is not jitted; this is what jax.jit of it does."
    causes = python_nodes.slow_causes(compiled, traced.jaxpr.effects if traced is not None else ())
    if causes:
        return f"No fast path: each call goes through Python, because {' and '.join(causes)}."
    if moved:
        return (
            f"Fast path, but JAX places {', '.join(moved[:4])}{', …' if len(moved) > 4 else ''} in Python at each call."
        )
    return "Fast path: after the first call with such arguments, JAX's own part of a call stays in C++."


def _in_python(program: Program) -> Iterator[str]:
    """What runs in Python at each call, whichever path it takes: pytree nodes and static arguments of the user's."""
    work = python_work(program)
    if work is None:
        return
    nodes = work.nodes
    if nodes.flattened:
        yield (
            f"Each call flattens {counted_nodes(nodes.flattened)} by Python functions that were registered for them: "
            f"{scaled(nodes.seconds, 's')} here."
        )
    if nodes.built:
        yield f"Each call builds {counted_nodes(nodes.built)} of its results by Python functions."
    hashed = list(dict.fromkeys(one.type for one in work.hashed))
    if hashed:
        yield f"Each call hashes and compares static arguments in Python: {', '.join(hashed[:_MOST_TYPES])}."


def counted_nodes(types: Mapping[str, int]) -> str:
    """`2,000 pytree nodes (Cell)`."""
    most = sorted(types, key=lambda name: -types[name])
    listed = ", ".join(most[:_MOST_TYPES]) + (", …" if len(most) > _MOST_TYPES else "")
    return f"{plural(sum(types.values()), 'pytree node')} ({listed})"


class _OtherArguments(Exception):
    """The executable takes other arrays than the call gives."""


def _rows(program: Program, compiled: Any) -> Iterator[PassedArray]:
    args, kwargs = stages.dynamic_arguments(program.staged)
    wanted_args, wanted_kwargs = sharding_internals.input_formats(compiled)
    if len(args) != len(wanted_args) or kwargs.keys() != wanted_kwargs.keys():
        raise _OtherArguments
    static = _static_names(program, len(args))
    for name, value, wanted in (
        *zip(_names(program, static, len(args)), args, wanted_args, strict=True),
        *((key, value, wanted_kwargs[key]) for key, value in kwargs.items()),
    ):
        given, wants = leaves_with_paths(value), jax.tree.leaves(wanted)
        if len(given) != len(wants):
            raise _OtherArguments
        for (path, leaf), wanted_leaf in zip(given, wants, strict=True):
            made = _passed(name + path_text(path), leaf, wanted_leaf)
            yield replace(made, leaf=leaf, sharding=wanted_leaf.sharding)


def _static_names(program: Program, count: int) -> set[int]:
    function = program.staged.function
    numbers, _ = tracing.static_arguments(program.call.fn if function is None else function)
    given = len(program.call.args)
    return {number % given for number in numbers if -given <= number < given} if given > count else set()


def _names(program: Program, static: set[int], count: int) -> list[str]:
    call = program.call
    try:
        signature_of(call.fn).bind(*call.args, **call.kwargs)
        names = [p.name for p in signature_of(call.fn).parameters.values() if p.kind in _POSITIONAL]
    except (TypeError, ValueError):
        names = []
    names += [f"args[{at}]" for at in range(len(names), len(call.args))]
    return [name for at, name in enumerate(names[: len(call.args)]) if at not in static][:count]


def _passed(name: str, leaf: Any, wanted: Any) -> PassedArray:
    if wanted.sharding is None:
        return PassedArray(name, _given(leaf), UNUSED, 0, "")
    if refs.is_ref(leaf):
        return PassedArray(name, _given(leaf), AS_IT_IS, 0, "")
    if refs.is_token(leaf):
        return PassedArray(name, _given(leaf), AS_IT_IS, 0, "")
    several = wanted.sharding.num_devices > 1
    if not isinstance(leaf, jax.Array):
        if is_valueless(leaf):
            return PassedArray(name, _given(leaf), UNKNOWN, None, "")
        seen = np.asarray(leaf)
        dtype = jax.dtypes.canonicalize_dtype(seen.dtype)
        remark = (
            ""
            if dtype == seen.dtype or not isinstance(leaf, np.ndarray | np.generic)
            else f"is converted from {seen.dtype} to {dtype} first"
        )
        return PassedArray(name, _given(leaf), FROM_HOST, _placed(wanted, seen.shape, dtype.itemsize), remark, several)
    if not leaf.sharding.is_equivalent_to(wanted.sharding, leaf.ndim):
        done = RESHARDED if several or leaf.sharding.num_devices > 1 else MOVED
        placed = _placed(wanted, leaf.shape, leaf.dtype.itemsize, leaf.sharding)
        return PassedArray(name, _given(leaf), done, placed, "", several)
    if not _is_laid_out_so(leaf, wanted):
        return PassedArray(name, _given(leaf), RELAID, _placed(wanted, leaf.shape, leaf.dtype.itemsize), "", True)
    return PassedArray(name, _given(leaf), AS_IT_IS, 0, "")


def _is_laid_out_so(leaf: Any, wanted: Any) -> bool:
    """Whether an array has the layout that the executable takes; one that is not known is taken to be it."""
    own = getattr(getattr(leaf, "format", None), "layout", None)
    return own is None or wanted.layout is None or own == wanted.layout


def _placed(wanted: Any, shape: tuple[int, ...], itemsize: int, own: Any = None) -> int:
    """Bytes of the shards on all devices, without those that are the whole array and lie there already."""
    sharding, holders = wanted.sharding, set()
    if own is not None and sharding.shard_shape(shape) == own.shard_shape(shape) == shape:
        holders = sharding.addressable_devices & own.addressable_devices
    return int(math.prod(sharding.shard_shape(shape))) * itemsize * len(sharding.addressable_devices - holders)


def _given(leaf: Any) -> str:
    if refs.is_ref(leaf):
        return f"jax.Ref {short_dtype(leaf.dtype)}[{','.join(map(str, leaf.shape))}]"
    if refs.is_token(leaf):
        return "token"
    if is_valueless(leaf):
        return f"shape {short_dtype(leaf.dtype)}[{','.join(map(str, leaf.shape))}]"
    if isinstance(leaf, jax.Array):
        devices = leaf.sharding.num_devices
        where = f"on {plural(devices, 'device')}" if devices > 1 else f"on device {next(iter(leaf.devices())).id}"
        spec = getattr(leaf.sharding, "spec", None)
        more = f" {spec}".replace("PartitionSpec", "P") if spec is not None and devices > 1 else ""
        free = "" if leaf.committed else ", uncommitted"
        return f"jax {short_dtype(leaf.dtype)}[{','.join(map(str, leaf.shape))}] {where}{more}{free}"
    if isinstance(leaf, np.ndarray | np.generic):
        return f"numpy {short_dtype(leaf.dtype)}[{','.join(map(str, leaf.shape))}]"
    return f"Python {type_name(leaf)}"
