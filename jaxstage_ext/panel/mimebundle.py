"""What a notebook shows and saves of Programs, richest form first."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.panel.params import Programs
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text


def static_bundle(programs: Programs) -> dict[str, Any]:
    """The forms that need no kernel and run no code."""
    return {"text/html": panel_html(programs), "text/plain": panel_text(programs)}
