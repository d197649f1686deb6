"""A call in one line: its name, what it is given and what it returns, in JAX's short names of types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxstage_ext.analysis.memory.entry_values import Argument, EntryComputation
from jaxstage_ext.core.inputs import pytree_paths
from jaxstage_ext.core.jax_private.module_lowering import ModuleValue, written_module
from jaxstage_ext.core.stage.stage_error import without_addresses
from jaxstage_ext.program.head.call_arguments import CallArgument, SeenType, call_arguments, seen_type
from jaxstage_ext.program.head.dtype_names import short_dtype
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.bounded_repr import type_name
from jaxstage_ext.report.text.shortened import shortened
from jaxstage_ext.report.text.units import plural, scaled

_MOST_OF_VALUE = 40


def signature(program: Program) -> str:
    """`loss(w: f32[128,512], x: f32[8,128], rate: f32[] weak, train=True) -> f32[]`.

    Arrays have the types that JAX traced; what is a constant of the program (a static argument, a default) its value.
    """
    if program.own_signature is not None:
        return program.own_signature
    if (written := signature_as_written(program)) is not None:
        return written
    made = program.jax_traced
    if program.call.given is not None:
        made = made or program.jax_lowered or program.executable
    out = _out_info(made)
    given = ", ".join(_parameter(program, argument) for argument in call_arguments(program))
    return f"{program.name}({given}){f' -> {_result(program, out)}' if out is not None else ''}"


def _out_info(made: Any) -> Any:
    """Shapes and dtypes of the results; None where there are none, or JAX fails to give them, as it does for Refs."""
    try:
        return getattr(made, "out_info", None)
    except ValueError:
        return None


def _parameter(program: Program, argument: CallArgument) -> str:
    if argument.is_constant:
        return f"{argument.name}={_constant(program, argument.value)}"
    leaves = pytree_paths.leaves(argument.value)
    is_leaf = len(leaves) == 1 and leaves[0] is argument.value
    shown = _typed(argument.types[0]) if is_leaf else _tree(argument.value, argument.types)
    return f"{argument.name}: {shown}"


def _result(program: Program, out: Any) -> str:
    leaves = jax.tree.leaves(out)
    types = [seen_type(leaf) for leaf in leaves]
    if len(leaves) == 1 and leaves[0] is out:
        return _typed(types[0])
    return _tree(out, types) if leaves else _constant(program, out)


def _typed(seen: SeenType) -> str:
    dtype = short_dtype(seen.dtype)
    return dtype if dtype == "token" else f"{dtype}[{','.join(map(str, seen.shape))}]{' weak' if seen.is_weak else ''}"


def _tree(value: Any, types: Sequence[SeenType]) -> str:
    sizes = [_size(seen) for seen in types]
    total = f", {scaled(sum(size for size in sizes if size), 'B')}" if None not in sizes else ""
    return f"{type_name(value)} of {plural(len(types), 'leaf', 'leaves')}{total}"


def _size(seen: SeenType) -> int | None:
    try:
        return int(np.prod(seen.shape)) * int(seen.dtype.itemsize)
    except (AttributeError, TypeError):
        return None


def _constant(program: Program, value: Any) -> str:
    """A value as Python writes it, cut short; a function by its name."""
    text = without_addresses(program.call.texts.repr_of(value))
    return shortened(text, _MOST_OF_VALUE)


_MOST_RESULTS = 6


def signature_as_written(program: Program) -> str | None:
    """`main(x: f32[8,?]) -> f32[8]`, as the module's function says it; None of a program of another kind."""
    written, given = written_module(program.jax_lowered), program.call.given
    if written is None or given is None:
        return None
    taken = ", ".join(
        f"{name}: {_type(value)}" for name, value in zip(given.info.arguments, written.arguments, strict=True)
    )
    made = [_type(value) for value in written.results]
    if len(made) == 1:
        return f"{program.name}({taken}) -> {made[0]}"
    shown = f"{len(made)} results" if len(made) > _MOST_RESULTS else ", ".join(made)
    return f"{program.name}({taken}) -> ({shown})"


def entry(program: Program) -> EntryComputation | None:
    """The arguments and results by the names that such a module gives them; None of a program of another kind."""
    written, given = written_module(program.jax_lowered), program.call.given
    if written is None or given is None:
        return None
    if (len(written.arguments), len(written.results)) != tuple(map(len, written.propagates)):
        return EntryComputation((), ())  # XLA numbers tuples whole
    arguments = [
        Argument(name, _type(value), value.size, value.is_donated, True)
        for name, value in zip(given.info.arguments, written.arguments, strict=True)
    ]
    return EntryComputation(tuple(arguments), given.info.results)


def _type(value: ModuleValue) -> str:
    if not value.dtype:
        return value.type
    return f"{short_dtype(value.dtype)}[{','.join('?' if size is None else str(size) for size in value.shape)}]"
