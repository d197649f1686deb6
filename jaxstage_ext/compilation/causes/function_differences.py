"""Whether two records are of one function object, and if not, how the later one came to be another."""

from __future__ import annotations

from collections.abc import Iterator

from jaxstage_ext.compilation.causes.cause import Cause, Difference
from jaxstage_ext.compilation.causes.option_differences import value_differences, value_text
from jaxstage_ext.compilation.causes.sameness import same_object, same_value
from jaxstage_ext.compilation.records.code_content import content, global_names
from jaxstage_ext.compilation.records.compile_record import CompileRecord, FunctionIdentity, KeptValue


def is_same_function(first: FunctionIdentity, second: FunctionIdentity) -> bool:
    """Whether both are the very object that was given to `jax.jit`."""
    if first.ref is not None and second.ref is not None:
        return first.ref is second.ref
    return first.identity == second.identity and first.code is second.code


def function_differences(before: CompileRecord, now: CompileRecord) -> Iterator[Difference]:
    """How the function became another object, then what it captured or was bound to that differs."""
    first, second = before.function, now.function
    if first is None or second is None or is_same_function(first, second):
        return
    text = function_text(second)
    yield Difference(_how(before, now, first, second), text, function_text(first), text)
    for old, new in ((first.bound, second.bound), (first.captured, second.captured), (first.defaults, second.defaults)):
        yield from _captured(old, new)
    yield from _captured(_globals(before), _globals(now))


def _globals(record: CompileRecord) -> tuple[KeptValue, ...]:
    """The globals that the function reads, functions left out, as they were at its trace."""
    code = record.function.code if record.function else None
    if code is None or not record.named:
        return ()
    names = global_names(code)
    return tuple(g.value for g in record.named if g.reader is code and g.name in names and g.value.code is None)


def _how(before: CompileRecord, now: CompileRecord, first: FunctionIdentity, second: FunctionIdentity) -> Cause:
    if not is_same_code(first, second) or first.layers != second.layers:
        return Cause.REDEFINED
    if first.code is not second.code:
        return Cause.CELL_RUN_AGAIN
    if "method" in second.layers or "object" in second.layers:
        return Cause.METHOD_MADE_ANEW
    return Cause.PARTIAL_MADE_ANEW if "partial" in second.layers else Cause.MADE_ANEW


def is_same_code(first: FunctionIdentity, second: FunctionIdentity) -> bool:
    """Whether the innermost functions do the same, wherever they are written."""
    if first.code is None or second.code is None:
        return first.code is second.code
    return first.code is second.code or content(first.code) == content(second.code)


def _captured(old: tuple[KeptValue, ...], new: tuple[KeptValue, ...]) -> Iterator[Difference]:
    if not old and not new:
        return
    olds, news = ({value.name or f"argument {at}": value for at, value in enumerate(row)} for row in (old, new))
    for name in dict.fromkeys([*news, *olds]):
        one, other = olds.get(name), news.get(name)
        if one is None or other is None:
            yield Difference(Cause.CAPTURED, name, value_text(one), value_text(other))
        elif _is_other(one, other):
            yield from value_differences(Cause.CAPTURED, name, one, other)


def _is_other(one: KeptValue, other: KeptValue) -> bool:
    if one.is_kept or other.is_kept:
        return same_value(one, other) is not True
    same = same_object(one, other)
    return one.identity != other.identity if same is None else not same


def local_name(function: FunctionIdentity) -> str:
    """The function's name where it is defined: "step", "Model.forward"."""
    return function.qualname.rpartition("<locals>.")[2]


def function_text(function: FunctionIdentity, inner: str = "") -> str:
    """A function as its author writes it: "functools.partial(step)", "jax.grad(loss)", "Model.forward".

    Args:
      function: the function.
      inner: what to write for the innermost one instead of its name.
    """
    name = inner or local_name(function)
    for layer in reversed(function.layers):
        if layer == "partial" or layer.startswith("jax."):
            more = ", ..." if layer == "jax.shard_map" else ""  # it needs a mesh and specs
            name = f"{'functools.partial' if layer == 'partial' else layer}({name}{more})"
    return name
