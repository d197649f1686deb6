"""Showing Inspections where the user works: a notebook or a terminal.

In a notebook the panel stands there within a tenth of a second and fills in.
When everything is done sooner than that, its one display message is already
the final one; otherwise the last one replaces it, so that the saved notebook
holds the static forms too.
"""

from __future__ import annotations

import contextvars
import shutil
import sys
import threading
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.assets import FrontEndMissing
from jaxstage_ext.panel.mimebundle import static_bundle
from jaxstage_ext.views import text

if TYPE_CHECKING:
    from jaxstage_ext.panel.panel import Panel

MOST_PANELS = 64
"""Live panels a kernel keeps; beyond it the oldest turn into their static form."""
PATIENCE = 0.1
"""Seconds that a panel waits for its final form before it shows itself."""
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def in_notebook() -> bool:
    """Whether output goes to a front end that can show more than text."""
    return getattr(_shell(), "kernel", None) is not None


def _shell() -> Any:
    interactive = sys.modules.get("IPython")
    return interactive.get_ipython() if interactive else None


def _request() -> tuple[str | None, str, list[str]]:
    """The running cell's id, the id of this run of it, and the ids of cells deleted since."""
    try:
        parent = _shell().kernel.get_parent("shell") or {}
    except (AttributeError, LookupError):
        parent = {}
    metadata, header = parent.get("metadata") or {}, parent.get("header") or {}
    return metadata.get("cellId"), str(header.get("msg_id", "")), metadata.get("deletedCells") or []


@dataclass(eq=False)
class _Open:
    """A live panel and where it stands."""

    panel: Panel
    inspections: Sequence[Any]
    cell: str | None
    run: str
    display_id: str | None

    def again(self) -> None:
        """Show what the Inspections hold now."""
        self.panel.refresh()
        if self.display_id:
            _publish(_view(self.panel) | static_bundle(self.inspections), self.display_id, update=True)

    def freeze(self) -> None:
        """Leave the static form in the panel's place."""
        if self.display_id:
            _publish(static_bundle(self.inspections), self.display_id, update=True)
        self.close()

    def close(self) -> None:
        """Take the panel away, and stop what it still waits for."""
        jobs.stop_all(self.inspections)
        self.panel.close()


_open: OrderedDict[str, _Open] = OrderedDict()


def _remember(panel: Panel, inspections: Sequence[Any], display_id: str | None) -> None:
    cell, run, deleted = _request()
    for model, former in list(_open.items()):
        if former.cell is not None and (former.cell in deleted or (former.cell == cell and former.run != run)):
            _open.pop(model).close()
    _open[panel.model_id] = _Open(panel, inspections, cell, run, display_id)
    while len(_open) > MOST_PANELS:
        _open.popitem(last=False)[1].freeze()


def _publish(data: dict[str, Any], display_id: str, update: bool) -> None:
    from IPython.display import publish_display_data

    publish_display_data(  # type: ignore[no-untyped-call]
        data, {}, transient={"display_id": display_id}, update=update
    )


def _view(panel: Panel) -> dict[str, Any]:
    return {WIDGET_VIEW: {"version_major": 2, "version_minor": 0, "model_id": panel.model_id}}


def _make_panel(inspections: Sequence[Any], busy: bool, display_id: str | None) -> Panel | None:
    """A panel, or None where it was not built; that is said in one line."""
    try:
        from jaxstage_ext.panel.panel import Panel

        panel = Panel(inspections, busy)
    except FrontEndMissing as missing:
        print(missing, file=sys.stderr)
        return None
    _remember(panel, inspections, display_id)
    return panel


def open_view(inspections: Sequence[Any]) -> dict[str, Any]:
    """The live part of a MIME bundle; empty outside a notebook."""
    panel = _make_panel(inspections, False, None) if in_notebook() else None
    return _view(panel) if panel else {}


def show(inspections: Sequence[Any]) -> View:
    """Show Inspections whose stages are about to run."""
    return Shown(inspections) if in_notebook() else Printed()


def show_again(inspections: Sequence[Any]) -> bool:
    """Have the panels that show any of these Inspections tell what they hold now. False where there is none."""
    found = [panel for panel in _open.values() if any(a is b for a in inspections for b in panel.inspections)]
    for panel in found:
        panel.again()
    return bool(found)


class View:
    """A place where the stages of Inspections show as they go."""

    def refresh(self, inspections: Sequence[Any]) -> None:
        """Show how far the stages are."""

    def finish(self, inspections: Sequence[Any]) -> None:
        """Show the end."""


class Printed(View):
    """In a terminal: the text panel, once everything is there."""

    def finish(self, inspections: Sequence[Any]) -> None:
        print(text.panel_text(inspections, shutil.get_terminal_size((100, 24)).columns))


class Shown(View):
    """In a notebook: one output that fills in."""

    def __init__(self, inspections: Sequence[Any], patience: float = PATIENCE) -> None:
        self._display_id = uuid.uuid4().hex
        self._panel = _make_panel(inspections, True, self._display_id)
        self._live = _view(self._panel) if self._panel else {}
        self._publishing = threading.Lock()
        self._published = False
        # the context holds which cell runs; without it a message of another thread may be taken for that
        self._timer = threading.Timer(patience, contextvars.copy_context().run, (self._publish_early,))
        self._timer.daemon = True
        if self._panel:
            self._timer.start()

    @property
    def _open(self) -> bool:
        return self._panel is not None and self._panel.comm is not None

    def _publish_early(self) -> None:
        with self._publishing:
            if not self._published and self._open:
                self._published = True
                _publish(self._live | {"text/plain": "JAXStage: running"}, self._display_id, update=False)

    def refresh(self, inspections: Sequence[Any]) -> None:
        if self._panel:
            self._panel.refresh(inspections, busy=True)

    def finish(self, inspections: Sequence[Any]) -> None:
        """Show the end, and leave in the notebook what can be read without a kernel."""
        self._timer.cancel()
        data = static_bundle(inspections)
        if self._panel:
            self._panel.refresh(inspections)
        with self._publishing:
            _publish(self._live | data if self._open else data, self._display_id, update=self._published)
            self._published = True
