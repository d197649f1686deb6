"""Comparison of objects that belong to the user: equal, different, or unknown."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.compilation.records.compile_record import KeptValue


def equal(first: Any, second: Any) -> bool | None:
    """Whether two objects are equal; None where their `__eq__` fails or does not answer with a truth value."""
    try:
        return first is second or bool(first == second)
    except Exception:
        return None


def is_same_tree(first: Any, second: Any) -> bool:
    """Whether JAX takes two tree definitions for one.

    Those of two dataclasses of one form are equal, and only their hashes tell that the classes are two.
    """
    return first is second or (equal(first, second) is True and _hash(first) == _hash(second))


def _hash(tree: Any) -> int:
    try:
        return hash(tree)
    except Exception:  # what a class of the user's says of itself may have no hash
        return 0


def is_number(value: Any) -> bool:
    """Whether a static value could be an ordinary argument."""
    return isinstance(value, int | float | complex) and not isinstance(value, bool)


def same_object(first: KeptValue, second: KeptValue) -> bool | None:
    """Whether two records mean one object, which a weak reference tells even when the object is gone.

    Python gives the same weak reference for an object as long as somebody keeps it, and both records do.
    """
    if first.ref is None or second.ref is None:
        return None
    return first.ref is second.ref


def same_value(first: KeptValue, second: KeptValue) -> bool | None:
    """Whether JAX's caches take two values for one; None where that cannot be known any more."""
    if first.type != second.type or first.is_kept != second.is_kept or first.shape != second.shape:
        return False
    if first.is_kept:
        return equal(first.value, second.value)
    if is_of_new_class(first, second):
        return False
    same = same_object(first, second)
    if same is False and first.hash_is_identity:
        return False
    parts = same_parts(first, second)
    if same or parts is False:
        return parts is not False
    return _by_value(first, second, parts)


def is_of_new_class(first: KeptValue, second: KeptValue) -> bool:
    """Whether the classes of two values have one name, and are two classes: it was defined again."""
    return first.type == second.type and None not in (first.kind, second.kind) and first.kind is not second.kind


def same_parts(first: KeptValue, second: KeptValue) -> bool | None:
    """Whether what two values hold is equal, as far as it was kept; None where too little was."""
    if len(first.parts) != len(second.parts):
        return False
    if not first.parts:
        return None
    every = [
        one.name == other.name and same_value(one, other) for one, other in zip(first.parts, second.parts, strict=True)
    ]
    if False in every:
        return False
    return None if None in every else True


def _by_value(first: KeptValue, second: KeptValue, parts: bool | None) -> bool | None:
    alive, other = (value.ref() if value.ref else None for value in (first, second))
    return parts if alive is None or other is None else equal(alive, other)
