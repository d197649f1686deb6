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
        self._leave_routing_to_the_page()

    def refresh(self, programs: Programs | None = None, busy: bool = False) -> None:
        """Show what the Programs hold now."""
        if self.comm is not None:
            self._programs = list(self._programs if programs is None else programs)
            self.state = dict(state_of(self._programs, busy))

    def show_what_became_known(self) -> None:
        """Show the figures that a request has computed, such as the memory needed."""
        known = list(map(memory_is_known, self._programs))
        if known != self._memory_known:
            self._memory_known = known
            self.refresh(busy=self.state["busy"])

    def _send(self, *args: Any, **kwargs: Any) -> None:
        super()._send(*args, **kwargs)
        self._leave_routing_to_the_page()

    def _leave_routing_to_the_page(self) -> None:
        """Let requests be answered while a cell runs.

        JupyterLab addresses them to a subshell for that; ipykernel since 7.4
        hands them to the thread that last sent anything, which is the busy one.
        """
        if self.comm is not None:
            self.comm.__dict__.pop("_reply_subshell_id", None)

    def close(self) -> None:
        """Take the panel off the page and let go of its Programs."""
        self.on_msg(_answer, remove=True)
        super().close()
        self.layout.close()  # a widget of its own, which ipywidgets leaves open
        self._programs = []


def _answer(panel: Panel, content: Any, buffers: Any) -> None:
    """Answer one request; they come on subshell threads while a cell runs."""
    if not isinstance(content, dict) or content.get("kind") != "request":
        return
    with panel._answering:
        message, answers = dispatch.reply(panel._programs, content)
    if panel.comm is not None:
        panel.send(message, answers)
        panel.show_what_became_known()
