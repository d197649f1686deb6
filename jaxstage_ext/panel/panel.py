"""The interactive panel: an anywidget whose only state is the summaries."""

from __future__ import annotations

import threading
from typing import Any

import anywidget
import traitlets

from jaxstage_ext.panel import assets
from jaxstage_ext.panel.panel_state import state_of
from jaxstage_ext.panel.params import Programs
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.report.encodable import encodable_json
from jaxstage_ext.report.uninterrupted import uninterrupted
from jaxstage_ext.views.summaries import memory_is_known


class Panel(anywidget.AnyWidget):
    """One panel over one or more Programs.

    Raises FrontEndMissing when the front end was not built.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, programs: Programs, busy: bool = False) -> None:
        self._programs = list(programs)
        self._answering = threading.Lock()
        self._memory_known = list(map(memory_is_known, self._programs))
        super().__init__(
            _esm=assets.text("panel.js"), _css=assets.text("panel.css"), state=state_of(self._programs, busy)
        )
        self.on_msg(_answer)

    def refresh(self, programs: Programs | None = None, busy: bool = False) -> None:
        """Show what the Programs hold now."""
        if self.comm is not None:
            self._programs = list(self._programs if programs is None else programs)
            self.state = dict(state_of(self._programs, busy))

    def end(self) -> None:
        """Show that nothing runs any more, whatever else is shown."""
        if self.comm is not None and self.state["busy"]:
            self.state = {**self.state, "busy": False}

    def show_what_became_known(self) -> None:
        """Show the figures that a request has computed, such as the memory needed."""
        known = list(map(memory_is_known, self._programs))
        if known != self._memory_known:
            self._memory_known = known
            self.refresh(busy=self.state["busy"])

    @traitlets.observe("comm")
    def _leave_routing_to_the_page(self, change: Any) -> None:
        """Let requests be answered while a cell runs.

        JupyterLab addresses them to a subshell for that; ipykernel since 7.4 asks the comm instead, which names the
        thread that last sent anything: the busy one.
        """
        if change.new is not None:
            change.new._reply_subshell_for = _address_on_the_message

    def close(self) -> None:
        """Take the panel off the page and let go of its Programs."""
        self.on_msg(_answer, remove=True)
        super().close()
        self.layout.close()  # a widget of its own, which ipywidgets leaves open
        self._programs = []


def _address_on_the_message(data: Any, subshell_id: str | None) -> str | None:
    return subshell_id


def _answer(panel: Panel, content: Any, buffers: Any) -> None:
    """Answer one request; they come on subshell threads while a cell runs."""
    if not isinstance(content, dict) or content.get("kind") != "request":
        return
    try:
        with panel._answering:
            message, answers = dispatch.reply(panel._programs, content)
    except KeyboardInterrupt as interrupt:  # while another thread answers
        message, answers = dispatch.refusal(content, interrupt)
    with uninterrupted():
        if panel.comm is not None:
            try:
                panel.send(message, answers)
            except UnicodeEncodeError:
                panel.send(encodable_json(message), answers)
            panel.show_what_became_known()
