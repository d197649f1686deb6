"""What a notebook shows and saves of Inspections, richest form first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text


def static_bundle(inspections: Sequence[Any]) -> dict[str, Any]:
    """The forms that need no kernel and run no code."""
    return {"text/html": panel_html(inspections), "text/plain": panel_text(inspections)}


def bundle(inspections: Sequence[Any]) -> dict[str, Any]:
    """All forms; in a notebook with the live panel before the static ones."""
    from jaxstage_ext.panel import display

    return display.open_view(inspections) | static_bundle(inspections)
