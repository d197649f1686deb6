"""What to do where a function was made anew: keep one object, or pass what differs as an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jaxstage_ext.compilation.causes.cause import Advice, Cause, Difference, Verdict
from jaxstage_ext.compilation.causes.function_differences import function_text, named_bound
from jaxstage_ext.compilation.causes.precedents import LAMBDA
from jaxstage_ext.compilation.records.compile_record import CompileRecord, KeptValue
from jaxstage_ext.compilation.records.equinox_call import LAYER
from jaxstage_ext.compilation.records.function_source import (
    decorators,
    definition,
    imported_as,
    is_jitted_by_name,
    short_name,
)
from jaxstage_ext.report.text.bounded_repr import plain_repr

_JITS: Final = {LAYER: LAYER, "JitFn": "nnx.jit"}
"""Functions of other libraries that jit, by the layer that they put around the user's function."""


def cell_advice(record: CompileRecord, verdict: Verdict) -> Advice:
    """A cell that defines and calls."""
    name = variable(record)
    return Advice(
        f"Define {name} in a cell of its own, and run again only the cell that calls it.",
        f"# in a cell of its own\n{_made_once(record)}",
    )


def made_anew_advice(record: CompileRecord, verdict: Verdict) -> Advice:
    """A function that a loop or another function makes."""
    if _passable(verdict):
        return captured_advice(record, verdict)
    if _has_captured_function(verdict):
        return _captured_function_advice(record, verdict)
    sentence = "Make the function and jit it once, outside the loop or the function that makes it."
    if record.function is not None and (text := definition(record.function)):
        return Advice(sentence, f"# once, outside the loop\n{text}")
    return Advice(sentence, f"{_made_once(record)}  # once, outside the loop")


def _has_captured_function(verdict: Verdict) -> bool:
    return any(d.is_inside_function or d.now == "function" for d in _captured(verdict))


def _captured_function_advice(record: CompileRecord, verdict: Verdict) -> Advice:
    """A captured function that differs, such as an optimizer's: hoisted as it is, the first one would stay."""
    name = variable(record)
    inside = list(dict.fromkeys(d.what for d in _captured(verdict) if d.is_inside_function))
    if not inside:
        functions = list(dict.fromkeys(d.what for d in _captured(verdict) if d.now == "function"))
        return Advice(
            f"If {_listed(functions)} need not differ, make what {name} captures once, outside the loop, and jit "
            f"{name} once after it."
        )
    known = record.function.captured if record.function else ()
    values = (*known, *(g.value for g in record.named))
    is_optax = any(value.type.startswith("optax.") for value in values)
    injected = "; optax.inject_hyperparams keeps it in the optimizer's state" if is_optax else ""
    return Advice(
        f"{name} holds {_listed(inside)} as a constant. Make {name} once, outside the loop, and pass that value as an "
        f"argument{injected}."
    )


def _made_once(record: CompileRecord) -> str:
    """The definition of the jitted function, as its author wrote it."""
    text = definition(record.function) if record.function else ""
    return text or f"{variable(record)} = {jit(record)}({jitted(record)}{statics(record)})"


def captured_advice(record: CompileRecord, verdict: Verdict) -> Advice:
    """Captured values that differ become arguments."""
    names = _passable(verdict)
    if not names and _has_captured_function(verdict):
        return _captured_function_advice(record, verdict)
    if not names:
        return Advice("Pass what differs as an argument of a function that is jitted once.")
    function = record.function
    parameters = list(dict.fromkeys([*(function.parameters if function else ()), *names]))
    name, row = variable(record), ", ".join(parameters)
    is_lambda = function is not None and short_name(function) == LAMBDA
    code = (
        f"{name} = {jit(record)}(lambda {row}: ...{statics(record)})  # once, outside the loop"
        if is_lambda
        else f"{_decorators(record)}  # once, outside the loop\ndef {name}({row}): ..."
    )
    if len(names) == 1:
        return Advice(f"Pass {names[0]} as an argument instead of capturing it.", code)
    return Advice(f"Pass {_listed(names)} as arguments instead of capturing them.", code)


def _decorators(record: CompileRecord) -> str:
    written = decorators(record.function)
    if written:
        return written
    options = statics(record)
    return f"@functools.partial({jit(record)}{options})" if options else f"@{jit(record)}"


def statics(record: CompileRecord, without: str = "") -> str:
    """The static arguments that a call gave, but for one, as an argument of `jax.jit`."""
    if record.signature is None or (record.function is not None and LAYER in record.function.layers):
        return ""  # Equinox finds them itself
    values = record.signature.statics
    names = tuple(value.name for value in values if value.name != without and value.name.isidentifier())
    return f", static_argnames={names!r}" if names else ""


def partial_advice(record: CompileRecord, verdict: Verdict) -> Advice:
    """A partial that is made for each call."""
    names = [d.what for d in _captured(verdict)]
    inner, what = _named_and_written(record)
    if any(name.isidentifier() for name in names):
        jitted_once = "" if is_jitted_by_name(record.function) else f"{inner} = jax.jit({what})  # once\n"
        return Advice(
            f"Jit {inner} once, and pass what differs as an argument; name it in static_argnames if it sets a shape.",
            f"{jitted_once}{inner}({_as_arguments(record, names)})",
        )
    bound = record.function.bound if record.function else ()
    words = "".join(f", {v.name}={_written(v)}" if v.name.isidentifier() else f", {_written(v)}" for v in bound)
    return Advice(
        "Make the partial once, outside the loop, and keep it.",
        f"{inner}_partial = jax.jit(functools.partial({what}{words}))  # once, outside the loop",
    )


def _as_arguments(record: CompileRecord, names: Sequence[str]) -> str:
    """The arguments of a call in place of a partial's: those that it was given by position come first."""
    known = record.function
    bound = list(zip(known.bound, named_bound(known), strict=True)) if known else []
    first = [name.name for given, name in bound if given.name.isdigit() and name.name.isidentifier()]
    first = first if set(first) & set(names) else []
    keywords = [f"{name}={name}" for name in names if name.isidentifier() and name not in first]
    return ", ".join([*first, "...", *keywords])


def _named_and_written(record: CompileRecord) -> tuple[str, str]:
    """A name for the innermost function, and what to give to `jax.jit` for it."""
    name = short_name(record.function) if record.function else record.name
    if name == LAMBDA and record.function is not None:
        return "fn", f"lambda {', '.join(record.function.parameters)}: ..."
    return name, name


def method_advice(record: CompileRecord, verdict: Verdict) -> Advice:
    """A bound method: of equal objects it is kept, of others the object becomes an argument."""
    function = record.function
    name = short_name(function) if function else record.name
    bound = next((value.type for value in function.bound if value.name == "self"), "") if function else ""
    owner = bound.rpartition(".")[2] or "object"
    call = name.strip("_") or name
    if any(d.before != d.now for d in _captured(verdict)):
        return Advice(
            f"Pass the object as an argument: register {owner} as a pytree, and jit the function of the class once.",
            f"@jax.tree_util.register_dataclass\n@dataclasses.dataclass\nclass {owner}: ...\n\n"
            f"{call} = jax.jit({owner}.{name})\n{call}({owner.lower()}, ...)",
        )
    if any(d.is_callable_object for d in verdict.differences):
        return Advice(
            "Make the object and jit it once, and keep the result.",
            f"{call} = jax.jit({owner.lower()})  # once, outside the loop",
        )
    return Advice(
        "Make the object and jit its method once, and keep the result.",
        f"{call} = jax.jit({owner.lower()}.{name})  # once, outside the loop",
    )


def _written(value: KeptValue) -> str:
    return plain_repr(value.value, 40, exact=True) if value.is_kept else "..."


def _passable(verdict: Verdict) -> list[str]:
    """The captured variables that can become arguments; a function cannot."""
    roots = [
        d.what.partition("[")[0].partition(".")[0]
        for d in _captured(verdict)
        if d.now != "function" and not d.is_inside_function
    ]
    return [name for name in dict.fromkeys(roots) if name.isidentifier()]


def _captured(verdict: Verdict) -> Sequence[Difference]:
    return [d for d in verdict.differences if d.cause is Cause.CAPTURED]


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def variable(record: CompileRecord) -> str:
    """A name for the jitted function: its own, or one that a lambda or a gradient can have."""
    name = short_name(record.function) if record.function else record.name
    layers = record.function.layers if record.function else ()
    transformations = [layer[4:] for layer in layers if layer.startswith("jax.") and layer[4:].isidentifier()]
    return "_".join([*transformations, name if name.isidentifier() else "fn"])


def jit(record: CompileRecord) -> str:
    """What the user jits with."""
    layers = record.function.layers if record.function else ()
    name = next((name for layer, name in _JITS.items() if layer in layers), "jax.jit")
    module, _, function = name.rpartition(".")
    return f"{imported_as(record.function, module)}.{function}" if module == "equinox" else name


def jitted(record: CompileRecord) -> str:
    """What to give to `jax.jit`."""
    function = record.function
    if function is None:
        return record.name
    if short_name(function) == LAMBDA:
        return function_text(function, f"lambda {', '.join(function.parameters)}: ...")
    return function_text(function)
