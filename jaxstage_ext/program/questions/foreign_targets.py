"""FFI targets of a program that XLA does not know, and where they stand in the source."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import SourceSpan


def unknown_target(traced: Any, table: FrameTable, message: str) -> tuple[str, SourceSpan | None] | None:
    """The FFI target that a compile's error names, and the line that calls it; None for another error."""
    for eqn, _ in jaxprs.nested_equations(traced.jaxpr.jaxpr):
        target = eqn.params.get("target_name") if eqn.primitive.name == "ffi_call" else None
        if isinstance(target, str) and re.search(rf"(?<!\w){re.escape(target)}(?!\w)", message):
            frame = jaxpr_lines.frame_reader(table)(eqn)
            frames = table.freeze()
            user = int(frames.user[frame]) if frame >= 0 else -1
            return target, frames.span(user) if user >= 0 else None
    return None


def located(traced: Any, table: FrameTable, error: StageError) -> StageError:
    """The error of a compile with the line of the FFI call that it is about, where it has no line of its own."""
    if traced is None or error.span is not None or (found := unknown_target(traced, table, error.message)) is None:
        return error
    return replace(error, span=found[1])
