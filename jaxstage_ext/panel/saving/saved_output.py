"""What a display saves for our own renderer: the bounded reports, and the id of the panel while it is open."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.panel.params import Programs
from jaxstage_ext.panel.saving.saved_bounds import BoundedReports, bounded
from jaxstage_ext.panel.saving.saved_call import RepliesOf, SavedReplies, saved_calls
from jaxstage_ext.report import kernel_settings
from jaxstage_ext.report.text.encodable import encodable
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.report.unavailable import Unavailable

MIME_TYPE = "application/vnd.jaxstage.v1+json"
VERSION = 1
_AROUND = 2_000
"""Bytes of a payload beside its reports."""
_MOST_SENTENCES = 12


def no_replies(program: Any) -> SavedReplies:
    """Of a program whose tabs nobody has opened."""
    return SavedReplies()


def saved_output(programs: Programs, model: str | None, replies_of: RepliesOf = no_replies) -> dict[str, Any]:
    """Our MIME type and its payload; nothing where the settings allow no bytes."""
    allowed = kernel_settings.now().saved_bytes
    if not allowed:
        return {}
    most = allowed - _AROUND
    reports = bounded(list(saved_calls(programs, None, replies_of)), most) if most > 0 else None
    if reports is None:
        raise Unavailable(f"it does not fit in the {scaled(allowed, 'B')} that the settings allow")
    return {MIME_TYPE: payload(reports, model)}


def unfinished(model: str) -> dict[str, Any]:
    """Our MIME type with nothing but the id of a panel whose stages still run."""
    return {MIME_TYPE: {"version": VERSION, "model": model, "reports": "", "left_out": []}}


def payload(reports: BoundedReports, model: str | None) -> dict[str, Any]:
    """The payload of a display; `model` is the id of its live panel."""
    left_out = [encodable(sentence)[:200] for sentence in reports.left_out]
    more = len(left_out) - _MOST_SENTENCES
    if more > 0:
        left_out[_MOST_SENTENCES:] = [f"and {more:,} more things are not in the saved notebook"]
    return {"version": VERSION, "model": model, "reports": reports.data, "left_out": left_out}
