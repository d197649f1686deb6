"""What a module that another process wrote takes and gives, in one line."""

from __future__ import annotations

from jaxstage_ext.analysis.memory.entry_values import Argument, EntryComputation
from jaxstage_ext.core.jax_private.module_lowering import ModuleValue, written_module
from jaxstage_ext.program.head.short_types import short_dtype
from jaxstage_ext.program.program import Program

_MOST_RESULTS = 6


def signature(program: Program) -> str | None:
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
