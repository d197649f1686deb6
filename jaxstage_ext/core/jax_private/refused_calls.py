"""The errors with which JAX refuses a call before it traces, told by their messages: none has a type of its own.

Checked with jax 0.10.2 and 0.12.0.1.
"""

from __future__ import annotations

import enum


class Refusal(enum.Enum):
    """Why a call was refused."""

    UNHASHABLE_STATIC = "unhashable static argument"
    DELETED_ARRAY = "deleted array"


_UNHASHABLE = "Non-hashable static arguments are not supported"
_DELETED = ("Array has been deleted", "Buffer has been deleted or donated")


def refusal(error: BaseException) -> Refusal | None:
    """Why JAX refused a call; None of any other error."""
    if type(error) not in (ValueError, RuntimeError) or not error.args or type(error.args[0]) is not str:
        return None
    message = error.args[0][:2000]
    if message.startswith(_UNHASHABLE):
        return Refusal.UNHASHABLE_STATIC
    return Refusal.DELETED_ARRAY if any(text in message for text in _DELETED) else None


_CONCRETE_TYPES = (
    "ConcretizationTypeError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "NonConcreteBooleanIndexError",
)
_SHAPES = "Shapes must be 1D sequences of concrete values"


def needs_concrete_value(error: str) -> bool:
    """Whether a trace failed because a traced value set a shape or decided a branch; of "type: first line"."""
    kind, _, message = error.partition(": ")
    return kind.rpartition(".")[2] in _CONCRETE_TYPES or message.startswith(_SHAPES)
