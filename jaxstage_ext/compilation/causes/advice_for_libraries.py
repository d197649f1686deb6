"""What to do at the user's own line where a library made and called the jitted function."""

from __future__ import annotations

from typing import Final

from jaxstage_ext.compilation.causes.cause import Advice, Cause, Verdict

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


def library_advice(library: str, verdict: Verdict) -> Advice | None:
    """A sentence without code; None where the user's code has no part in it."""
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
