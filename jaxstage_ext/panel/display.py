"""Showing Programs where the user works: a notebook or a terminal.

In a notebook the panel stands there within a tenth of a second and fills in.
When everything is done sooner than that, its one display message is already
the final one; otherwise the last one replaces it, so that the saved notebook
holds the static forms too.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import shutil
import sys
import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jaxstage_ext.panel import jobs
from jaxstage_ext.panel.assets import FrontEndMissing
from jaxstage_ext.panel.mimebundle import static_bundle
from jaxstage_ext.panel.params import Programs
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views import text

if TYPE_CHECKING:
    from jaxstage_ext.panel.panel import Panel

MOST_PANELS = 64
"""Live panels a kernel keeps; beyond it the oldest turn into their static form."""
PATIENCE = 0.1
"""Seconds that a panel waits for its final form before it shows itself."""
UNFINISHED = "JAXStage: not finished when this was saved; run the cell again"
"""What a notebook holds of a cell until its end, and for ever if the kernel dies meanwhile."""
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
    programs: Programs
    cell: str | None
    run: str
    display_id: str | None

    def update(self) -> None:
        """Show the current state of the Programs."""
        self.panel.refresh()
        if self.display_id:
            _publish(_view(self.panel) | static_bundle(self.programs), self.display_id, update=True)

    def freeze(self) -> None:
        """Leave the static form in the panel's place."""
        try:
            if self.display_id:
                _publish(static_bundle(self.programs), self.display_id, update=True)
        finally:
            self.close()

    def close(self) -> None:
        """Take the panel away, and stop what it still waits for."""
        jobs.stop_all(self.programs)
        self.panel.close()


_open: OrderedDict[str, _Open] = OrderedDict()


def _remember(panel: Panel, programs: Programs, display_id: str | None) -> None:
    cell, run, deleted = _request()
    for model, former in list(_open.items()):
        if former.cell is not None and (former.cell in deleted or (former.cell == cell and former.run != run)):
            _open.pop(model).close()
    _open[panel.model_id] = _Open(panel, programs, cell, run, display_id)
    while len(_open) > MOST_PANELS:
        _open.popitem(last=False)[1].freeze()


def freeze_all() -> None:
    """Leave the static form in the place of every live panel."""
    with contextlib.ExitStack() as each:
        while _open:
            each.callback(_open.popitem(last=False)[1].freeze)


def _publish(data: dict[str, Any], display_id: str, update: bool) -> None:
    from IPython.display import publish_display_data

    publish_display_data(  # type: ignore[no-untyped-call]
        data, {}, transient={"display_id": display_id}, update=update
    )


def _view(panel: Panel) -> dict[str, Any]:
    return {WIDGET_VIEW: {"version_major": 2, "version_minor": 0, "model_id": panel.model_id}}


def _make_panel(programs: Programs, busy: bool, display_id: str | None) -> Panel | None:
    """A panel, or None where it was not built; that is said in one line."""
    try:
        from jaxstage_ext.panel.panel import Panel

        panel = Panel(programs, busy)
    except FrontEndMissing as missing:
        print(missing, file=sys.stderr)
        return None
    _remember(panel, programs, display_id)
    return panel


def open_view(programs: Programs) -> dict[str, Any]:
    """The live part of a MIME bundle; empty outside a notebook."""
    panel = _make_panel(programs, False, None) if in_notebook() else None
    return _view(panel) if panel else {}


def bundle(programs: Programs) -> dict[str, Any]:
    """All forms; in a notebook with the live panel before the static ones."""
    return open_view(programs) | static_bundle(programs)


def show(programs: Programs) -> View:
    """Show Programs whose stages are about to run."""
    return Shown(programs) if in_notebook() else Printed()


def refresh_shown(programs: Programs) -> bool:
    """Refresh the panels that show any of these Programs. False if there is none."""
    showing = [panel for panel in _open.values() if any(a is b for a in programs for b in panel.programs)]
    for panel in showing:
        panel.update()
    return bool(showing)


class View:
    """A place where the stages of Programs show as they go."""

    def refresh(self, programs: Programs) -> None:
        """Show how far the stages are."""

    def finish(self, programs: Programs) -> None:
        """Show the end."""


class Printed(View):
    """In a terminal: the text panel, once everything is there."""

    def finish(self, programs: Programs) -> None:
        print(text.panel_text(programs, shutil.get_terminal_size((100, 24)).columns, source=True))


class Shown(View):
    """In a notebook: one output that fills in."""

    def __init__(self, programs: Programs, patience: float = PATIENCE) -> None:
        self._display_id = uuid.uuid4().hex
        self._panel = _make_panel(programs, True, self._display_id)
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
                _publish(self._live | {"text/plain": UNFINISHED}, self._display_id, update=False)

    def refresh(self, programs: Programs) -> None:
        if self._panel:
            Parts().get("The panel", functools.partial(self._panel.refresh, programs, busy=True), None)

    def finish(self, programs: Programs) -> None:
        """Show the end, and leave in the notebook what can be read without a kernel."""
        self._timer.cancel()
        try:
            data = static_bundle(programs)
            if self._panel:
                self._panel.refresh(programs)
            with self._publishing:
                _publish(self._live | data if self._open else data, self._display_id, update=self._published)
                self._published = True
        finally:
            if self._panel:
                self._panel.end()
