"""Which layout to take, and which to compile next."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_result import CompiledState, ScoredLayout

_CLEARLY = 0.9
"""Of the time of the first by estimate: what is less is clearly faster."""


def best(layouts: Sequence[ScoredLayout], room: int | None) -> ScoredLayout:
    """The layout to take of those that compile and fit, or may fit.

    The first of these by estimate, unless it was compiled at the default effort: then the one of the least compiled
    time among all that were. Times at low effort do not rank layouts (on a v5e an FSDP step of an MLP has 1.05 ms there
    and 0.14 ms at the default). Raises ValueError where there are none.
    """
    if not layouts:
        raise ValueError("no layout was scored")
    compiled = _compiled(layouts)
    possible = [one for one in layouts if one.compiled is None and not is_known_too_large(one, room)]
    first = (compiled or possible or layouts)[0]
    if first.compiled_seconds is None:
        return first
    return min(
        (one for one in compiled if one.compiled_seconds is not None),
        key=lambda one: (one.compiled_seconds, one.number),
    )


def is_clearly_worse(own: ScoredLayout, other: ScoredLayout) -> bool:
    """Whether a layout takes clearly longer than another one, by compiles at the default effort or by the estimates."""
    mine, theirs = own.compiled_seconds, other.compiled_seconds
    if mine is not None and theirs is not None:
        return theirs < _CLEARLY * mine
    return other.estimate.cost < _CLEARLY * own.estimate.cost


def contenders(layouts: Sequence[ScoredLayout]) -> tuple[int, ...]:
    """The layouts between which compiles at the default effort have to decide; empty where nothing is open.

    The first by estimate and the fastest as compiled at low effort, where these are two and clearly apart: XLA's
    partitioner may choose other collectives than the estimate has (an FSDP step of a conv net: 1.87 ms estimated, 8.59
    ms compiled). The user's own with them, so that what it costs against the best is of compiles as well.
    """
    timed = [one for one in _compiled(layouts) if one.compiled is not None and one.compiled.least is not None]
    if not timed or timed[0].compiled_seconds is not None:
        return ()
    fastest = min(timed, key=_least)
    if _least(fastest) >= _CLEARLY * _least(timed[0]):
        return ()
    own = [one.number for one in layouts if one.is_own]
    return tuple(dict.fromkeys((timed[0].number, fastest.number, *own)))


def _compiled(layouts: Sequence[ScoredLayout]) -> list[ScoredLayout]:
    return [one for one in layouts if one.compiled and one.compiled.state is CompiledState.COMPILED]


def _least(layout: ScoredLayout) -> float:
    figures = layout.compiled
    return float("inf") if figures is None or figures.least is None else figures.least


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
