"""Which layout to take, and which to compile next."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_result import CompiledState, ScoredLayout


def best(layouts: Sequence[ScoredLayout], room: int | None) -> ScoredLayout:
    """Of the compiled layouts that fit, or of which it is unknown, the one of the least time.

    Without one the first by the estimate that is not known not to fit. Raises ValueError where there are none.
    """
    if not layouts:
        raise ValueError("no layout was scored")
    compiled = [one for one in layouts if one.compiled and one.compiled.state is CompiledState.COMPILED]
    if compiled:
        return min(compiled, key=_time)
    possible = [one for one in layouts if not is_known_too_large(one, room)]
    return (possible or layouts)[0]


def _time(layout: ScoredLayout) -> tuple[float, int]:
    least = layout.compiled.least if layout.compiled else None
    return (float("inf") if least is None else least), layout.number


def is_known_too_large(layout: ScoredLayout, room: int | None) -> bool:
    """Whether a compile said that it does not fit, or its arguments alone exceed the device."""
    if layout.compiled is not None and layout.compiled.state is CompiledState.DOES_NOT_FIT:
        return True
    return room is not None and layout.estimate.argument_bytes > room


def next_to_compile(
    layouts: Sequence[ScoredLayout], tried: Collection[int], fitting: Collection[int], room: int | None
) -> int | None:
    """The first layout of a kind of which none is compiled yet; where one of its kind did not fit, a smaller one.

    None where there is no other.
    """
    smallest: dict[LayoutKind, int] = {}
    for number in tried:
        kind, size = layouts[number].kind, layouts[number].estimate.argument_bytes
        smallest[kind] = -1 if number in fitting else min(size, smallest.get(kind, size))
    for layout in layouts:
        limit = smallest.get(layout.kind)
        is_smaller = limit is None or layout.estimate.argument_bytes < limit
        if layout.number not in tried and is_smaller and not is_known_too_large(layout, room):
            return layout.number
    return None
