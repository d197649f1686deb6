"""A static argument that has no hash, such as a list."""

from __future__ import annotations

import re

from jaxstage_ext.core.inputs.signatures import signature_of
from jaxstage_ext.core.jax_private import tracing
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.text.bounded_repr import type_name
from jaxstage_ext.report.text.units import with_article

_REFUSED = re.compile(r"[Nn]on-hashable static arguments")
_INSTEAD: dict[type, str] = {list: "a tuple", set: "a frozenset", dict: "a tuple of its items", bytearray: "bytes"}


def explanation(program: Program, error: StageError) -> str | None:
    """Which static argument has no hash, and what to pass instead; None for another error."""
    if not _REFUSED.search(error.message):
        return None
    call = program.call
    numbers, names = tracing.static_arguments(call.fn)
    try:
        given = signature_of(call.fn).bind(*call.args, **call.kwargs).arguments
    except (TypeError, ValueError):
        return None
    placed = list(given)
    static = {*names, *(placed[number] for number in numbers if -len(placed) <= number < len(placed))}
    for name in static & given.keys():
        value = given[name]
        if type(value).__hash__ is None:
            instead = _INSTEAD.get(type(value), "a value that has one, such as a frozen dataclass")
            what = with_article(type_name(value))
            return f"The static argument {name} is {what}, which has no hash; pass {instead}."
    return None
