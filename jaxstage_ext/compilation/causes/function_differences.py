"""Whether two records are of one function object, and if not, how the later one came to be another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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
    yield _other_function(first, second)
    bound = _captured(named_bound(first), named_bound(second))
    yield from (d for d in bound if not (d.what == "self" and d.before == d.now and _called_class(second)))
    for old, new in ((first.captured, second.captured), (first.defaults, second.defaults)):
        yield from _captured(old, new)
    yield from _captured(_globals(before), _globals(now))


def _other_function(first: FunctionIdentity, second: FunctionIdentity) -> Difference:
    cause = _how(first, second)
    if cause is Cause.METHOD_MADE_ANEW and (owner := _called_class(second)):
        return Difference(cause, owner, owner, owner, is_callable_object=True)
    text = function_text(second)
    return Difference(cause, text, function_text(first), text)


def _called_class(function: FunctionIdentity) -> str:
    """The class of an object that is called itself; "" of a method that was read."""
    if "method" in function.layers or "object" not in function.layers:
        return ""
    return next((value.type.rpartition(".")[2] for value in function.bound if value.name == "self"), "object")


def named_bound(function: FunctionIdentity) -> tuple[KeptValue, ...]:
    """The bound values, those that a partial was given by position by the names of the parameters that they fill."""
    if function.layers.count("partial") != 1 or "method" in function.layers or "object" in function.layers:
        return function.bound
    names = dict(enumerate(function.parameters))
    return tuple(
        replace(value, name=names.get(int(value.name), value.name)) if value.name.isdigit() else value
        for value in function.bound
    )


def _globals(record: CompileRecord) -> tuple[KeptValue, ...]:
    """The globals that the function reads, functions left out, as they were at its trace."""
    code = record.function.code if record.function else None
    if code is None or not record.named:
        return ()
    names = global_names(code)
    return tuple(g.value for g in record.named if g.reader is code and g.name in names and g.value.code is None)


def _how(first: FunctionIdentity, second: FunctionIdentity) -> Cause:
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
    """A function as its author writes it: "functools.partial(step)", "jax.grad(loss, argnums=1)", "Model.forward".

    Args:
      function: the function.
      inner: what to write for the innermost one instead of its name.
    """
    name = inner or local_name(function)
    for layer, options in reversed(function.layers_with_options):
        if layer == "partial" or layer.startswith("jax."):
            more = ", ..." if layer == "jax.shard_map" else ""  # it needs a mesh and specs
            more += "".join(f", {option.name}={value_text(option)}" for option in options)
            name = f"{'functools.partial' if layer == 'partial' else layer}({name}{more})"
    return name
