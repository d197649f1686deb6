"""Showing Programs in a marimo notebook, where the panel is an anywidget that its cell owns.

marimo calls `_display_` of what a cell ends with, and closes the comms of a cell's widgets when it runs again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jaxstage_ext.panel.params import Programs
from jaxstage_ext.panel.showing import display
from jaxstage_ext.panel.showing.mimebundle import static_bundle

if TYPE_CHECKING:
    from jaxstage_ext.panel.panel import Panel

_sessions: dict[str, threading.Thread] = {}
"""The thread of each panel's session, by the panel's model: `marimo run` has one for each page."""


class StillForm:
    """HTML that runs no code, where nobody could use a live panel."""

    def __init__(self, html: str) -> None:
        self._html = html

    def _repr_html_(self) -> str:
        return self._html


def is_here() -> bool:
    """Whether this thread runs the cells of a marimo notebook that a page shows: no script, and no export."""
    marimo = sys.modules.get("marimo")
    return marimo is not None and bool(marimo.running_in_notebook()) and not _is_exported()


def _is_exported() -> bool:
    """Whether `marimo export` runs the notebook: its file has no kernel, and it alone is refused virtual files."""
    context = sys.modules.get("marimo._runtime.context")
    try:
        return context is not None and not context.get_context().virtual_files_supported
    except Exception:  # a marimo that has moved it
        return False


def shown(programs: Programs, still: Callable[[], str] | None = None) -> Panel | StillForm:
    """What `_display_` gives: the live panel; where there can be none, a form that stands still, `still` if given."""
    panel = _live(programs) if is_here() else None
    if panel is None:
        return StillForm(still() if still else static_bundle(programs).get("text/html", ""))
    return panel


def _live(programs: Programs) -> Panel | None:
    ended = [model for model, session in _sessions.items() if not session.is_alive()]
    for model in ended:
        _close(model)
    panel = display.live_panel(programs)
    if panel is not None:
        _sessions[panel.model_id] = threading.current_thread()
        _close_with_comm(panel.comm, panel.model_id)
    return panel


def _close_with_comm(comm: Any, model: str) -> None:
    """Close the panel of that model when marimo closes its comm."""
    close_comm = comm.close

    def close(*given: Any, **named: Any) -> None:
        close_comm(*given, **named)
        _close(model)

    comm.close = close


def _close(model: str) -> None:
    _sessions.pop(model, None)
    display.close_live(model)
