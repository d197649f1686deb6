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
import sys
import threading
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jaxstage_ext.panel import change_notices, jobs
from jaxstage_ext.panel.assets import FrontEndMissing
from jaxstage_ext.panel.params import Programs, only_in
from jaxstage_ext.panel.saving.later_saving import LaterSaving
from jaxstage_ext.panel.saving.saved_output import MIME_TYPE, unfinished
from jaxstage_ext.panel.showing.mimebundle import static_bundle
from jaxstage_ext.panel.showing.printed import Printed, View
from jaxstage_ext.report.view_parts import Parts

if TYPE_CHECKING:
    from jaxstage_ext.panel.panel import Panel

MOST_PANELS = 64
"""Live panels a kernel keeps; beyond it the oldest turn into their static form."""
PATIENCE = 0.1
"""Seconds that a panel waits for its final form before it shows itself."""
UNFINISHED = "JAXStage: not finished when this was saved; run the cell again"
"""Saved in the notebook until the cell ends, and permanently if the kernel dies first."""
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def in_notebook() -> bool:
    """Whether output goes to a front end that can show more than text."""
    return getattr(_shell(), "kernel", None) is not None


def _shell() -> Any:
    interactive = sys.modules.get("IPython")
    return interactive.get_ipython() if interactive else None


def _is_captured() -> bool:
    """Whether what is published goes to a variable of the user's at this moment."""
    publisher = sys.modules.get("IPython.core.displaypub")
    return publisher is not None and isinstance(
        getattr(_shell(), "display_pub", None), publisher.CapturingDisplayPublisher
    )


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
    """A live panel and where it stands.

    `position` counts the panels of one run of a cell; `published` is what stands there, without the widget.
    `is_beside` is whether it stands in a tab of its own and in no cell.
    """

    panel: Panel
    programs: Programs
    cell: str | None
    run: str
    position: int
    display_id: str | None
    published: dict[str, Any] = field(default_factory=dict)
    is_beside: bool = False

    def __post_init__(self) -> None:
        self._later = LaterSaving(self._save_replies)
        self.panel.on_kept = self._later.soon

    def _save_replies(self) -> None:
        """Have the notebook save what a page was answered, where drawing it anew does not disturb the page."""
        if _is_captured():
            self._later.soon()
        elif _widgets_left_out and self._is_whole:
            self.publish(static_bundle(self.programs, self.panel.model_id, True, self.panel.kept.of), update=True)

    @property
    def _is_whole(self) -> bool:
        return MIME_TYPE in self.published and self.panel.comm is not None and not self.panel.state["busy"]

    def update(self) -> None:
        """Show the current state of the Programs."""
        self.panel.refresh()
        if self.display_id:
            self.publish(_saved(self.programs, self.panel), update=True)

    def publish(self, data: dict[str, Any], update: bool) -> None:
        """Show the panel and these forms in its place."""
        self.published = data
        if self.display_id:
            _publish(_view(self.panel, data) | data, self.display_id, update)

    def freeze(self) -> None:
        """Leave the static form in the panel's place."""
        try:
            if self.display_id and not _is_captured():
                _publish(static_bundle(self.programs, None, True, self.panel.kept.of), self.display_id, update=True)
        finally:
            self.close()

    def close(self) -> None:
        """Take the panel away, and stop what it still waits for."""
        self._later.stop()
        jobs.stop_all(only_in(self.programs, (o.programs for o in _open.values() if o is not self)))
        self.panel.close()
        change_notices.changed()


_open: OrderedDict[str, _Open] = OrderedDict()


def _opened(programs: Programs, busy: bool, display_id: str | None) -> _Open:
    """A panel where the running cell shows its next one: that of its former run, or a new one."""
    cell, run, deleted = _request()
    _close([model for model, shown in _open.items() if shown.cell is not None and shown.cell in deleted])
    _close(_left_over(besides=cell))
    position = sum(shown.cell == cell and shown.run == run for shown in _open.values())
    panel = _panel_of_former_run(cell, run, position)
    if panel is None:
        from jaxstage_ext.panel.panel import Panel

        panel = Panel(programs, busy)
    else:
        panel.restart(programs, busy)
    made = _open[panel.model_id] = _Open(panel, programs, cell, run, position, display_id)
    while len(_open) > MOST_PANELS:
        _open.popitem(last=False)[1].freeze()
    change_notices.changed()
    return made


def _panel_of_former_run(cell: str | None, run: str, position: int) -> Panel | None:
    """The live panel that stood at this position of the cell before it ran again; what it waits for is stopped."""
    for model, shown in _open.items():
        is_former = cell is not None and shown.cell == cell and shown.run != run and shown.position == position
        if is_former and shown.panel.comm is not None:
            former = _open.pop(model)
            former._later.stop()
            jobs.stop_all(only_in(former.programs, (other.programs for other in _open.values())))
            return shown.panel
    return None


def _left_over(besides: str | None = None) -> list[str]:
    """The models of panels of former runs, whose cells have shown others since; `besides` still runs."""
    newest = {shown.cell: shown.run for shown in _open.values()}
    return [
        model
        for model, shown in _open.items()
        if shown.cell is not None and shown.cell != besides and shown.run != newest[shown.cell]
    ]


def end_cell() -> None:
    """Close the panels of former runs of the cell that ends, for which it has shown no others."""
    cell, run, _ = _request()
    ended = [model for model, shown in _open.items() if cell is not None and shown.cell == cell and shown.run != run]
    _close(ended)


def _close(models: Iterable[str]) -> None:
    for model in models:
        _open.pop(model).close()


def freeze_all() -> None:
    """Leave the static form in the place of every live panel."""
    leave_out_widgets(False)
    with contextlib.ExitStack() as each:
        while _open:
            each.callback(_open.popitem(last=False)[1].freeze)


def freeze(programs: Programs) -> None:
    """Leave the static form in the place of every live panel that shows any of these Programs."""
    for model, shown in list(_open.items()):
        if any(a is b for a in programs for b in shown.programs):
            _open.pop(model).freeze()


def live_panels() -> list[tuple[str, str | None, Programs]]:
    """The model, the cell's id and the Programs of each live panel."""
    return [(model, shown.cell, shown.programs) for model, shown in list(_open.items())]


def open_beside(programs: Programs) -> tuple[str, bool]:
    """The model of a live panel over these Programs, that of their cell before others, and whether it is in no cell.

    Raises FrontEndMissing where there is none and it was not built.
    """
    shown = [(model, o.is_beside) for model, o in _open.items() if any(a is b for a in programs for b in o.programs)]
    if shown:
        return min(reversed(shown), key=lambda one: one[1])
    from jaxstage_ext.panel.panel import Panel

    panel = Panel(programs)
    _open[panel.model_id] = _Open(panel, programs, None, "", 0, None, is_beside=True)
    change_notices.changed()
    return panel.model_id, True


def live_panel(programs: Programs) -> Panel | None:
    """A new panel over these Programs, of no cell that is known here; None, said in a line, where none was built."""
    shown = _open_panel(programs, False, None)
    return shown.panel if shown else None


def close_live(model: str) -> None:
    """Close the panel of that model, if it is open."""
    if model in _open:
        _close([model])


def close_beside(model: str) -> bool:
    """Close a panel that is in no cell; False where there is none of that model."""
    is_beside = model in _open and _open[model].is_beside
    if is_beside:
        _close([model])
    return is_beside


def _publish(data: dict[str, Any], display_id: str, update: bool) -> None:
    from IPython.display import publish_display_data

    publish_display_data(  # type: ignore[no-untyped-call]
        data, view_metadata(data), transient={"display_id": display_id}, update=update
    )


def view_metadata(data: dict[str, Any]) -> dict[str, Any]:
    """What the host's widgets want beside the view of a panel: Google Colab the address of its widget manager."""
    shown = _open.get(data.get(WIDGET_VIEW, {}).get("model_id"))
    bundle = shown.panel._repr_mimebundle_() if shown else None
    return bundle[1] if bundle else {}


def _is_unattended() -> bool:
    """
    Whether the running cell came from a client that executes notebooks without a user, such as nbconvert. nbclient
    takes no input, and saves the state of every widget: a page made of that shows the widget in place of the static
    form, and loads it from the network.
    """
    try:
        parent = _shell().kernel.get_parent("shell") or {}
    except (AttributeError, LookupError):
        return False
    return (parent.get("content") or {}).get("allow_stdin") is False


_widgets_left_out = False
"""Whether a page draws panels from our own MIME type: then no notebook need hold a widget that dies with its kernel."""


def leave_out_widgets(yes: bool) -> None:
    """Whether displays that have our own MIME type are published without the widget, those that stand included."""
    global _widgets_left_out
    were_left_out, _widgets_left_out = _widgets_left_out, yes
    for shown in list(_open.values()) if yes and not were_left_out else ():
        if MIME_TYPE in shown.published and not _is_captured():
            shown.publish(shown.published, update=True)


def _view(panel: Panel, data: Mapping[str, Any]) -> dict[str, Any]:
    """The widget beside these forms."""
    if _widgets_left_out and MIME_TYPE in data:
        return {}
    return {WIDGET_VIEW: {"version_major": 2, "version_minor": 0, "model_id": panel.model_id}}


def _open_panel(programs: Programs, busy: bool, display_id: str | None) -> _Open | None:
    """A panel and its place, or None where nobody could use it, or where panels were not built, said in one line."""
    if _is_unattended():
        return None
    try:
        return _opened(programs, busy, display_id)
    except FrontEndMissing as missing:
        print(missing, file=sys.stderr)
        return None


def bundle(programs: Programs) -> dict[str, Any]:
    """All forms; in a notebook with the live panel before the static ones."""
    shown = _open_panel(programs, False, None) if in_notebook() else None
    data = _saved(programs, shown.panel if shown else None)
    return _view(shown.panel, data) | data if shown else data


def _saved(programs: Programs, panel: Panel | None) -> dict[str, Any]:
    """The forms that a notebook keeps, which name the panel where it is open."""
    if panel is None:
        return static_bundle(programs, None, in_notebook())
    from jaxstage_ext.panel.saving.first_replies import keep_first_replies  # it imports JAX

    keep_first_replies(programs, panel.kept)
    return static_bundle(programs, panel.model_id, in_notebook(), panel.kept.of)


def mimebundle(programs: Programs) -> Any:
    """All forms, and metadata where the host's widgets want some: what IPython takes from `_repr_mimebundle_`."""
    data = bundle(programs)
    metadata = view_metadata(data)
    return (data, metadata) if metadata else data


def show(programs: Programs) -> View:
    """Show Programs whose stages are about to run."""
    return Shown(programs) if in_notebook() else Printed()


def refresh_shown(programs: Programs) -> bool:
    """Refresh the panels that show any of these Programs. False if there is none."""
    showing = [panel for panel in _open.values() if any(a is b for a in programs for b in panel.programs)]
    for panel in showing:
        panel.update()
    return bool(showing)


class Shown(View):
    """In a notebook: one output that fills in."""

    def __init__(self, programs: Programs, patience: float = PATIENCE) -> None:
        self._display_id = uuid.uuid4().hex
        opened = _open_panel(programs, True, self._display_id)
        self._panel = opened.panel if opened else None
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
            if not self._published and self._panel and self._open:
                self._published = True
                self._publish(unfinished(self._panel.model_id) | {"text/plain": UNFINISHED}, update=False)

    def _publish(self, data: dict[str, Any], update: bool) -> None:
        place = _open.get(self._panel.model_id) if self._panel and self._open else None
        if place is not None:
            place.publish(data, update)
        else:
            _publish(data, self._display_id, update)

    def refresh(self, programs: Programs) -> None:
        if self._panel:
            Parts().get("The panel", functools.partial(self._panel.refresh, programs, busy=True), None)
            change_notices.changed()

    def finish(self, programs: Programs) -> None:
        """Show the end, and leave in the notebook what can be read without a kernel."""
        self._timer.cancel()
        try:
            if self._panel:
                self._panel.refresh(programs)
            data = _saved(programs, self._panel if self._open else None)
            with self._publishing:
                self._publish(data, update=self._published)
                self._published = True
        finally:
            if self._panel:
                self._panel.end()
                change_notices.changed()
