"""The layouts of a search as a table: estimates and compiled figures in columns of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.search import layout_choice
from jaxstage_ext.search import search_wording as wording
from jaxstage_ext.search.layout_result import CompiledFigures, CompiledState, LayoutsFound, ScoredLayout

_TIMES = {
    "estimate": ("middle", "time by estimate, with a quarter of what can be hidden of collectives hidden"),
    "least": ("least", "time by estimate, with collectives hidden as far as there is work"),
    "most": ("most", "time by estimate, with no collective hidden"),
    "compute": ("compute", "of the estimate, operations that arithmetic bounds"),
    "memory": ("memory", "of the estimate, operations that memory bounds"),
    "collectives": ("collectives", "of the estimate, collectives, one after the other"),
}
_EFFORT = "how hard the compiler tried; times of low effort do not rank layouts"
_COMPILED = {
    "compiled_time": ("least", "s", "lower bound of the compiled program's time"),
    "compiled_memory": ("needed", "B", "memory needed per device, by the compiler"),
}


def layout_table(found: LayoutsFound, room: int | None = None) -> Table:
    """One row a layout, the fastest by estimate first; `room` is the memory of one device, where it is known."""
    layouts = found.layouts
    columns = {
        "layout": Column([one.number for one in layouts], doc="its number", is_whole=True),
        "kind": Column([one.kind.value for one in layouts], doc="what its axes do"),
        "mesh": Column([_mesh(one) for one in layouts], doc="axis sizes, the slowest first"),
        "splits": Column([_splits(one) for one in layouts], doc="the dimensions that each axis splits"),
        **{name: _times(layouts, *about) for name, about in _TIMES.items()},
        "arguments": Column(
            [one.estimate.argument_bytes for one in layouts],
            "B",
            "bytes of all arguments per device, exact",
            lower_is_better=True,
        ),
        "exchanged": Column(
            [one.estimate.exchanged_bytes for one in layouts],
            "B",
            "payload of all collectives per device, by estimate",
            lower_is_better=True,
        ),
        "on_front": Column([one.on_front for one in layouts], doc="whether no other is both faster and smaller"),
        **{name: _compiled(layouts, *about) for name, about in _COMPILED.items()},
        "fits": Column([_fits(one, room) for one in layouts], doc="by a compile, or not by its arguments alone"),
        "exchange": Column([_exchange(one) for one in layouts], doc="whether XLA's collectives are the estimate's"),
        "effort": Column([one.compiled.effort.value if one.compiled else None for one in layouts], doc=_EFFORT),
    }
    notes = (wording.extent(found), wording.ESTIMATE, *found.notes)
    return Table("layouts", columns, _reasons(layouts, room), notes)


def _mesh(layout: ScoredLayout) -> str:
    return ", ".join(f"{name}={size}" for name, size in layout.mesh.items())


def _splits(layout: ScoredLayout) -> str:
    own = "your layout" if layout.is_own else ""
    if layout.candidate is None:
        return own
    axes = [f"{axis.name}: {', '.join(sorted(axis.splits))}" for axis in layout.candidate.axes if axis.splits]
    axes += [f"parameters over {axis.name}" for axis in layout.candidate.storing]
    return "; ".join(filter(None, [own, *axes]))


def _times(layouts: Sequence[ScoredLayout], field: str, doc: str) -> Column:
    values = [getattr(one.estimate, field) for one in layouts]
    return Column(values, "s", doc, lower_is_better=True, is_answer=field == "middle")


def _compiled(layouts: Sequence[ScoredLayout], field: str, unit: str, doc: str) -> Column:
    values = [None if one.compiled is None else getattr(one.compiled, field) for one in layouts]
    return Column(values, unit, doc, lower_is_better=True if unit else None)


def _reasons(layouts: Sequence[ScoredLayout], room: int | None) -> Mapping[tuple[int, str], str]:
    reasons: dict[tuple[int, str], str] = {}
    for row, one in enumerate(layouts):
        unknown = "; ".join(one.estimate.unknown)
        reasons |= {(row, name): unknown for name, (field, _) in _TIMES.items() if _lacks(one.estimate, field)}
        why = wording.NOT_COMPILED if one.compiled is None else _why(one.compiled)
        reasons |= {(row, "effort"): why} if one.compiled is None else {}
        reasons |= {(row, "exchange"): _why_no_match(one)} if _exchange(one) is None else {}
        reasons |= {(row, name): why for name, (field, *_) in _COMPILED.items() if _lacks(one.compiled, field)}
        reasons |= {(row, "fits"): why} if _fits(one, room) is None else {}
    return reasons


def _fits(layout: ScoredLayout, room: int | None) -> bool | None:
    """None where it is unknown: memory needed is the compiler's, but never less than the arguments, which are exact."""
    if layout.compiled is None:
        return False if layout_choice.is_known_too_large(layout, room) else None
    return layout.compiled.fits


def _exchange(layout: ScoredLayout) -> str | None:
    match = layout.compiled.match if layout.compiled is not None else None
    return None if match is None else match.value


def _why_no_match(layout: ScoredLayout) -> str:
    if layout.compiled is None:
        return wording.NOT_COMPILED
    is_compiled = layout.compiled.parts is not None or layout.compiled.state is CompiledState.COMPILED
    return wording.LOOPS_UNKNOWN if is_compiled else _why(layout.compiled)


def _lacks(figures: Any, field: str) -> bool:
    return figures is None or getattr(figures, field) is None


def _why(compiled: CompiledFigures) -> str:
    return compiled.reason or wording.COMPILER_SILENT
