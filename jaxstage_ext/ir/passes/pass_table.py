"""A pipeline's passes as records and as an aligned text."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.ir.passes.compiler_passes import Pass, Passes
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text import still_table
from jaxstage_ext.report.text.still_table import Head, StillTable
from jaxstage_ext.report.text.table_forms import html_of
from jaxstage_ext.report.text.units import scaled, signed

_UNTIMED = "XLA's log does not time this pass"
_MOST_ROWS = 200
_HEADS = tuple(
    Head(title, title != "pass") for title in ("", "pass", "instructions", "fusions", "result bytes", "time")
)


def table(passes: Sequence[Pass]) -> Table:
    """One row a pass: what it ran on, and what it added."""
    before, after = [this.before for this in passes], [this.after for this in passes]
    pairs = list(zip(before, after, strict=True))
    columns = {
        "index": Column([this.index for this in passes], doc="place in the order in which the passes ran"),
        "pipeline": Column([this.pipeline for this in passes], doc="pipeline that it belongs to"),
        "name": Column([this.name for this in passes]),
        "changed": Column([this.changed for this in passes], doc="whether it changed the module"),
        "seconds": Column([this.seconds for this in passes], "s"),
        "instructions": Column([size.instructions for size in after], doc="of the module after it"),
        "fusions": Column([size.fusions for size in after], doc="of the module after it"),
        "bytes": Column([size.bytes for size in after], "B", "all results of the module after it"),
        "added instructions": Column([new.instructions - old.instructions for old, new in pairs]),
        "added fusions": Column([new.fusions - old.fusions for old, new in pairs]),
        "added bytes": Column([new.bytes - old.bytes for old, new in pairs], "B"),
    }
    untimed = {(row, "seconds"): _UNTIMED for row, this in enumerate(passes) if this.seconds is None}
    return Table("passes", columns, untimed)


def text(pipeline: Passes) -> str:
    """The passes that changed something, by pipeline: what they added and removed, and their time."""
    rows: list[tuple[str, ...]] = []
    group = None
    for this in pipeline.changed:
        if this.pipeline != group:
            group = this.pipeline
            rows.append(("", group or "(no pipeline)", "", "", "", ""))
        rows.append(
            (
                str(this.index),
                f"  {this.name}",
                change(this.after.instructions - this.before.instructions),
                change(this.after.fusions - this.before.fusions),
                change(this.after.bytes - this.before.bytes, "B"),
                time(this.seconds),
            )
        )
    return "\n".join([title(pipeline), *still_table.lines(StillTable(_HEADS, tuple(rows))), *pipeline.notes])


def html(pipeline: Passes) -> str:
    """The same rows as a table of HTML."""
    changed = pipeline.changed
    pairs = [(this.before, this.after) for this in changed]
    columns = {
        "index": Column([this.index for this in changed], doc="place in the order in which the passes ran"),
        "pass": Column([this.name for this in changed]),
        "pipeline": Column([this.pipeline or "(no pipeline)" for this in changed]),
        "instructions": Column([change(new.instructions - old.instructions) for old, new in pairs], doc="added"),
        "fusions": Column([change(new.fusions - old.fusions) for old, new in pairs], doc="added"),
        "result bytes": Column([change(new.bytes - old.bytes, "B") for old, new in pairs], doc="added"),
        "time": Column([this.seconds for this in changed], "s"),
    }
    untimed = {(row, "time"): _UNTIMED for row, this in enumerate(changed) if this.seconds is None}
    rows = [Table("passes", columns, untimed, tuple(pipeline.notes))] if changed else pipeline.notes
    return html_of([title(pipeline), *rows], _MOST_ROWS)


def title(pipeline: Passes) -> str:
    """How many passes ran, how many changed something."""
    changed = len(pipeline.changed)
    if not pipeline.complete:
        return f"{changed:,} passes changed the module; those that changed nothing are not known"
    return f"{len(pipeline):,} passes, {changed:,} of them changed the module"


def change(number: int, unit: str = "") -> str:
    """`+1,200`, `−3`; a dot where nothing changed."""
    return signed(number, unit) if number else "."


def time(seconds: float | None) -> str:
    """`12 µs`, `3.4 ms`; "unknown" for None."""
    return "unknown" if seconds is None else scaled(seconds, "s")
