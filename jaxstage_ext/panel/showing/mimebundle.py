"""What a notebook shows and saves of Programs, richest form first."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.panel.params import Programs
from jaxstage_ext.panel.saving.saved_call import RepliesOf
from jaxstage_ext.panel.saving.saved_output import no_replies, saved_output
from jaxstage_ext.report import measuring
from jaxstage_ext.report.text import markup
from jaxstage_ext.report.text.encodable import encodable
from jaxstage_ext.report.text.terminal import clean
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.summaries import summarised_once
from jaxstage_ext.views.text import panel_text


@summarised_once()
def static_bundle(
    programs: Programs, model: str | None = None, in_notebook: bool = False, replies_of: RepliesOf = no_replies
) -> dict[str, Any]:
    """The forms that need no kernel and run no code; in a notebook with the report for our own renderer.

    `model` is the id of the live panel that this renderer puts in its place; `replies_of` gives what was kept of it.
    """
    with measuring.left_alone():
        return _forms(programs, model, in_notebook, replies_of)


def _forms(programs: Programs, model: str | None, in_notebook: bool, replies_of: RepliesOf) -> dict[str, Any]:
    parts = Parts()
    html = parts.get("The HTML form", lambda: panel_html(programs), markup.NOTHING)
    text = parts.get("The text form", lambda: panel_text(programs), "")
    saved: dict[str, Any] = {}
    if in_notebook:
        saved = parts.get("The saved report", lambda: saved_output(programs, model, replies_of), saved)
    said = "\n".join([text or "JAXStage", *map(clean, parts.failures)])
    forms = ({"text/html": markup.together((html, *map(_failed, parts.failures)))} if html else {}) | {
        "text/plain": said
    }
    return saved | {kind: encodable(form) for kind, form in forms.items()}


def _failed(failure: str) -> markup.Html:
    """A line for a form that is missing."""
    return markup.paragraph(markup.said(failure))
