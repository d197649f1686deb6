"""A timeline in at most 2 kB for language models: its verdict, the lines that take the time, and what to ask next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.text.brief_text import brief_text
from jaxstage_ext.report.text.cell_text import cell_of, plain
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views.brief import brief_wording as wording

if TYPE_CHECKING:
    from jaxstage_ext.profiling.timeline import Timeline

_ROWS = 5
_COLUMNS = ("line", "op", "kernel", "range", "share", "busy", "self", "count", "code")


def timeline_brief(timeline: Timeline) -> str:
    """The short form; it reads the recording and runs nothing."""
    parts = Parts()
    said = parts.get("The headline", lambda: timeline_wording.sentence(timeline.headline), "")
    covered = parts.get("The coverage", lambda: timeline.coverage, "")
    none: list[str] = []
    rows = parts.get("The table", lambda: _rows(timeline), none)
    between = [covered, *timeline.process_notes, *rows, *parts.failures]
    last = [wording.TIMELINE_MORE, wording.TIMELINE_TABLES]
    return brief_text([f"JAXStage timeline of {timeline.recording.title}", said], filter(None, between), last)


def _rows(timeline: Timeline) -> list[str]:
    tables = {
        "ranges": timeline.by_range,
        "lines": timeline.by_line,
        "ops": timeline.by_op,
        "kernels": timeline.by_kernel,
    }
    table = tables[timeline.opens_with]()
    return [_row(table, row) for row in range(min(len(table), _ROWS))]


def _row(table: Table, row: int) -> str:
    named = [name for name in _COLUMNS if name != ("self" if "busy" in table.columns else "busy")]
    shown = [(name, plain(table[name][row]), table.columns[name].unit) for name in named if name in table.columns]
    cells = [f"{name} {cell_of(name, value, unit)[:80]}" for name, value, unit in shown if value not in (None, "")]
    return f"- {', '.join(cells)}"
