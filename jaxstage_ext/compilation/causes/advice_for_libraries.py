"""What to do at the user's own line where a library made and called the jitted function."""

from __future__ import annotations

from typing import Final

from jaxstage_ext.compilation.causes.cause import Advice, Cause, Difference, Verdict
from jaxstage_ext.compilation.records.compile_record import CompileRecord, KeptValue
from jaxstage_ext.compilation.records.equinox_call import LAYER
from jaxstage_ext.ir.sources.source import is_user

_OF_ARGUMENTS: Final = frozenset(
    {Cause.SHAPE, Cause.DTYPE, Cause.WEAK_TYPE, Cause.PYTREE, Cause.ARGUMENT_FORM, Cause.STATIC_VALUE}
)
_OF_OBJECTS: Final = frozenset(
    {
        Cause.STATIC_IDENTITY,
        Cause.CELL_RUN_AGAIN,
        Cause.MADE_ANEW,
        Cause.PARTIAL_MADE_ANEW,
        Cause.METHOD_MADE_ANEW,
        Cause.CAPTURED,
    }
)
_OF_PLACES: Final = frozenset({Cause.PLACEMENT, Cause.SHARDING_TYPE})
_WITHOUT: Final = frozenset({Cause.JIT_OPTIONS, Cause.UNHASHABLE_STATIC, Cause.DONATED_BEFORE})
"""Causes that only the library's own code can avoid."""


def is_of_library(cause: Cause) -> bool:
    """Whether the ordinary advice would tell the user to edit the library."""
    return cause in _OF_ARGUMENTS | _OF_OBJECTS | _OF_PLACES | _WITHOUT


def library_advice(library: str, record: CompileRecord, verdict: Verdict) -> Advice | None:
    """What the user's code can do about it; None where it has no part in it."""
    if (given := _given_by_the_user(library, record, verdict)) is not None:
        return given
    if verdict.cause in _OF_ARGUMENTS:
        return Advice(f"Give {library} the same shapes, dtypes and options in every call where you can.")
    if verdict.cause in _OF_OBJECTS:
        return Advice(
            f"{library} makes this function itself. Where you can, keep the objects that you get from {library} from "
            "call to call and pass the same shapes; it may compile again all the same."
        )
    if verdict.cause in _OF_PLACES:
        return Advice(f"Put the arrays that you pass to {library} on the same devices in every call.")
    return None


def maker_advice(maker: str, record: CompileRecord) -> Advice:
    """Of a function that a library made and the user jits, such as an optimizer's."""
    return Advice(
        f"{maker} makes a new {record.name} for each object that you get from it. Keep one object and its jitted "
        "function from call to call; where something in it must differ, make it inside a function of your own that "
        "takes that as an argument, and jit that function once."
    )


def _given_by_the_user(library: str, record: CompileRecord, verdict: Verdict) -> Advice | None:
    """Of a number or a function of the user's that a library takes as static; None of anything else."""
    main = next((d for d in verdict.differences if d.cause is verdict.cause), Difference(verdict.cause))
    statics = record.signature.statics if record.signature else ()
    value = next((value for value in statics if value.name == main.what), None)
    if value is None:
        return None
    is_of_equinox = record.function is not None and LAYER in record.function.layers
    if verdict.cause is Cause.STATIC_VALUE and is_of_equinox and type(value.value) is float and main.before:
        return _array_advice(library, main.what)
    return _function_advice(main.what) if verdict.cause is Cause.STATIC_IDENTITY and _is_users(value) else None


def _array_advice(library: str, name: str) -> Advice:
    via = "" if library == "equinox" else f", which {library} uses,"
    sentence = f"Pass {name} as an array: equinox.filter_jit{via} takes Python numbers as static."
    return Advice(sentence, f"jnp.asarray({name})" if name.isidentifier() else "")


def _function_advice(name: str) -> Advice:
    return Advice(
        f"Define the function that is given as {name} once, outside the loop or the function that makes it, and pass "
        "what it captures as an argument."
    )


def _is_users(value: KeptValue) -> bool:
    return value.code is not None and is_user(value.code.co_filename)
