"""What a notebook shows and saves of Programs, richest form first."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.panel.params import Programs
from jaxstage_ext.report.encodable import encodable
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text


def static_bundle(programs: Programs) -> dict[str, Any]:
    """The forms that need no kernel and run no code."""
    parts = Parts()
    html = parts.get("The HTML form", lambda: panel_html(programs), "")
    text = parts.get("The text form", lambda: panel_text(programs), "")
    failures = "\n".join(parts.failures)
    forms = ({"text/html": html} if html else {}) | {"text/plain": text or f"JAXStage\n{failures}"}
    return {kind: encodable(form) for kind, form in forms.items()}
