"""A pipeline's passes as records and as an aligned text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jaxstage_ext.report.units import scaled, signed

if TYPE_CHECKING:
    from jaxstage_ext.ir.passes.pipeline import Pass, Pipeline

_HEAD = ("", "pass", "instructions", "fusions", "result bytes", "time")


def records(passes: Iterable[Pass]) -> list[dict[str, Any]]:
    """One flat record a pass, of plain JSON types."""
    return [
        {
            "index": this.index,
            "pipeline": this.pipeline,
            "name": this.name,
            "changed": this.changed,
            "seconds": this.seconds,
            "instructions": this.after.instructions,
            "fusions": this.after.fusions,
            "bytes": this.after.bytes,
            "added instructions": this.after.instructions - this.before.instructions,
            "added fusions": this.after.fusions - this.before.fusions,
            "added bytes": this.after.bytes - this.before.bytes,
        }
        for this in passes
    ]


def text(pipeline: Pipeline) -> str:
    """The passes that changed something, by pipeline: what they added and removed, and their time."""
    rows: list[tuple[str, ...]] = [_HEAD]
    group = None
    for this in pipeline.changed:
        if this.pipeline != group:
            group = this.pipeline
            rows.append(("", group or "(no pipeline)"))
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
    widths = [max(len(row[i]) for row in rows if len(row) > i) for i in range(len(_HEAD))]
    return "\n".join([title(pipeline), *(_line(row, widths) for row in rows), *pipeline.notes])


def title(pipeline: Pipeline) -> str:
    """How many passes ran, how many changed something."""
    changed = len(pipeline.changed)
    if not pipeline.complete:
        return f"{changed:,} passes changed the module; those that changed nothing are not known"
    return f"{len(pipeline):,} passes, {changed:,} of them changed the module"


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [
        cell.ljust(width) if place == 1 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=False))
    ]
    return "  ".join(cells).rstrip()


def change(number: int, unit: str = "") -> str:
    """`+1,200`, `−3`; a dot where nothing changed."""
    return signed(number, unit) if number else "."


def time(seconds: float | None) -> str:
    """`12 µs`, `3.4 ms`; "unknown" for None."""
    return "unknown" if seconds is None else scaled(seconds, "s")
