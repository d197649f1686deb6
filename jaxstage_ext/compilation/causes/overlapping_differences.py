"""Differences that are said once: parts of an argument that came or went, and arguments static in one call only."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from jaxstage_ext.compilation.causes.cause import Cause, Difference

AS_ARRAY: Final = "jnp.asarray"
"""The target of an argument that is an array in one call and static in the other, as Equinox has them."""
_STATIC: Final = (Cause.STATIC_VALUE, Cause.STATIC_IDENTITY)
_NOTHING: Final = ("", "None")


def without_overlaps(differences: Sequence[Difference], numbers: Collection[str]) -> tuple[Difference, ...]:
    """Those that say something of their own; `numbers` are the static arguments that are numbers."""
    if not any(difference.cause in _STATIC for difference in differences):
        return tuple(differences)
    return tuple(_merged([each for each in differences if not _is_part_of_whole(each, differences)], numbers))


def _is_part_of_whole(part: Difference, differences: Sequence[Difference]) -> bool:
    """Whether it is a static part of an argument that only one of the calls gives."""
    return part.cause in _STATIC and any(
        part.what.startswith((f"{whole.what}.", f"{whole.what}["))
        for whole in differences
        if whole.cause in (Cause.ARGUMENT_FORM, Cause.PYTREE) and "" in (whole.before, whole.now)
    )


def _merged(differences: Sequence[Difference], numbers: Collection[str]) -> Iterator[Difference]:
    """With an argument that is static in one of the calls as one difference."""
    statics = {each.what: each for each in differences if each.cause in _STATIC}
    merged = {}
    for each in differences:
        static = statics.get(each.what)
        if each.cause is Cause.PYTREE and static is not None and _is_other_side(each, static):
            now = each.now if static.now in _NOTHING else static.now
            before = each.before if static.before in _NOTHING else static.before
            merged[each.what] = replace(each, before=before, now=now, target=AS_ARRAY if each.what in numbers else "")
    for each in differences:
        if each.what not in merged:
            yield each
        elif each.cause is Cause.PYTREE:
            yield merged[each.what]


def _is_other_side(dynamic: Difference, static: Difference) -> bool:
    """Whether each has nothing where the other has a value."""
    return (dynamic.before in _NOTHING) == (static.now in _NOTHING) != (dynamic.now in _NOTHING)
