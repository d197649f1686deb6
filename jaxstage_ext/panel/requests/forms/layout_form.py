"""What a search of layouts found as the page gets it: all of them as columns, and one in detail."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.panel.params import Answer
from jaxstage_ext.panel.wire_form import CodedTexts, TextLines, joined, packed, packed_table
from jaxstage_ext.program.searching.program_search import ProgramSearch
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.public_paths import public_folders
from jaxstage_ext.report.text.terminal import clean, cut
from jaxstage_ext.search.decision_wording import listed, spec_text
from jaxstage_ext.search.drawn import found_wording as wording
from jaxstage_ext.search.drawn.layout_columns import LayoutColumns, best_of, columns_of, state_of
from jaxstage_ext.search.layout_result import LayoutEstimate, ScoredLayout, SpecGroup
from jaxstage_ext.search.spec_groups import with_states

LONGEST, LONGEST_CODE = 300, 40_000
"""Characters of what is said of one layout, and of one form of its code."""
MOST_GROUPS = 200


def found(search: ProgramSearch, most: int) -> Answer:
    """At most so many layouts, and what is said of them as a whole."""
    shown, room = columns_of(search.found, most), search.room
    best = best_of(search.found, room)
    result, buffers = packed(_columns(shown, best, room))
    return result | {
        "searched": True,
        "headline": wording.take(search.found, room),
        "said": wording.besides(search.found, room),
        "notes": [_said(note) for note in search.found.notes],
        "target": search.title.split(" · ")[0],
        "capacity": room,
        "tried": search.found.tried,
        "seconds": shown.has_seconds,
        "best": _row(shown, best),
        "own": shown.own,
        "own_said": wording.own_said(search.found, room),
        "bests": shown.bests(),
    }, buffers


def _columns(shown: LayoutColumns, best: ScoredLayout | None, room: int | None) -> dict[str, Any]:
    return {
        "number": [layout.number for layout in shown.layouts],
        "time": shown.time,
        "least": shown.least,
        "most": shown.most,
        "arguments": shown.arguments,
        "needed": shown.needed,
        "state": shown.state,
        "front": shown.front,
        "kind": CodedTexts.of(layout.kind.value for layout in shown.layouts),
        "compiled": CodedTexts.of(wording.compiled_text(layout, room) for layout in shown.layouts),
        "ratio": CodedTexts.of(wording.ratio_text(layout, best) for layout in shown.layouts),
        "mesh": CodedTexts.of(_said(wording.mesh_text(layout)) for layout in shown.layouts),
        "title": TextLines(_said(wording.layout_title(layout)) for layout in shown.layouts),
    }


def _row(shown: LayoutColumns, layout: ScoredLayout | None) -> int | None:
    if layout is None:
        return None
    return next((row for row, one in enumerate(shown.layouts) if one.number == layout.number), None)


def about(search: ProgramSearch, layout: ScoredLayout) -> Answer:
    """One layout in detail."""
    number = layout.number
    tables, buffers = joined({"specs": _specs(search.spec_groups(number))})
    return {
        "number": number,
        "title": _said(wording.layout_title(layout)),
        "kind": layout.kind.value,
        "own": layout.is_own,
        "state": int(state_of(layout)),
        "decisions": [_said(text) for text in search.sentences(number)],
        "axes": [_axis(layout, name, size) for name, size in layout.mesh.items()],
        "parts": _parts(layout),
        "counted": wording.counted(layout),
        "collectives": _collectives(layout.estimate),
        "fit": _said(wording.fit(layout, search.room)),
        "notes": [_said(text) for text in layout.estimate.unknown],
        "code": [{"form": form, "text": text[:LONGEST_CODE]} for form, text in search.codes(number).items()],
        **tables,
    }, buffers


def _said(text: str) -> str:
    return cut(public_folders(clean(text)), LONGEST)


def _axis(layout: ScoredLayout, name: str, size: int) -> dict[str, Any]:
    axes = layout.candidate.axes if layout.candidate is not None else ()
    axis = next((axis for axis in axes if axis.name == name), None)
    splits = _said(listed(axis.divides)) if axis is not None else ""
    stores = axis is not None and axis.stores and not axis.follows
    return {"axis": _said(name), "size": size, "splits": splits, "stores": stores}


def _parts(layout: ScoredLayout) -> list[dict[str, Any]]:
    """Seconds of compute, memory and collectives, and of all together; estimated, and of a compile."""
    estimate, compiled = layout.estimate, layout.compiled
    exposed = None if estimate.least is None or estimate.work is None else estimate.least - estimate.work
    rows = [
        ("compute", estimate.compute, estimate.compute, compiled.compute if compiled else None),
        ("memory", estimate.memory, estimate.memory, compiled.memory if compiled else None),
        ("exposed collectives", exposed, estimate.collectives, compiled.exposed if compiled else None),
        ("in all", estimate.least, estimate.most, compiled.least if compiled else None),
    ]
    return [{"name": name, "least": low, "most": high, "compiled": real} for name, low, high, real in rows]


def _collectives(estimate: LayoutEstimate) -> list[dict[str, Any]]:
    """The collectives of one call, the longest first, and those beyond in a row without a kind.

    "bytes" is the payload on one device of all that a row counts, "seconds" their least time, None where unknown.
    """
    rows = [
        {
            "kind": each.kind.value,
            "over": _said(", ".join(each.axes)),
            "count": each.count,
            "bytes": each.bytes,
            "seconds": each.seconds,
            "line": each.line,
            "gradient": each.is_gradient,
        }
        for each in estimate.parts
    ]
    rest = estimate.exchanged_bytes - sum(each.bytes for each in estimate.parts)
    known = sum(each.seconds or 0.0 for each in estimate.parts)
    left = None if estimate.collectives is None else max(estimate.collectives - known, 0.0)
    return [*rows, {"kind": "", "bytes": rest, "seconds": left}] if rest > 0 else rows


def _specs(groups: tuple[SpecGroup, ...]) -> Answer:
    shown = sorted(with_states(groups), key=lambda group: -group.bytes)[:MOST_GROUPS]
    table = Table(
        "specs",
        {
            "group": Column([_said(group.pattern) for group in shown]),
            "shape": Column([",".join(map(str, group.shape)) or "scalar" for group in shown]),
            "spec": Column([_said(spec_text(group.spec)) for group in shown]),
            "leaves": Column([group.leaves for group in shown]),
            "per device": Column([group.bytes for group in shown], "B"),
        },
    )
    titles = {"group": "arguments", "spec": "spec", "per device": "per device", "shape": "shape", "leaves": "arrays"}
    return packed_table(table, titles)
