"""The interactive panel: an anywidget whose only state is the summaries."""

from __future__ import annotations

import functools
import itertools
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

from jaxstage_ext.panel import assets, subshells
from jaxstage_ext.panel.panel_state import PanelState, state_of
from jaxstage_ext.panel.params import Programs, with_opened
from jaxstage_ext.panel.replying import refusal
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.saving.kept_replies import KeptReplies
from jaxstage_ext.report.text.encodable import encodable_json
from jaxstage_ext.report.uninterrupted import uninterrupted
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views.summaries import memory_is_known

_FINDINGS_METHODS = ("findings", "try")
_RUNS = itertools.count(1)


class Panel(anywidget.AnyWidget):
    """One panel over one or more Programs.

    Attributes:
      kept: what it has answered, for the saved notebook.
      on_kept: is called, on the thread that answers, when a page has asked for something that is kept.

    Raises FrontEndMissing when the front end was not built.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    panel_id = traitlets.Unicode(help="The model's id, which the page's script is not told otherwise.").tag(sync=True)
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, programs: Programs, busy: bool = False) -> None:
        self._answering = threading.Lock()
        self.kept = KeptReplies()
        self.on_kept: Callable[[], object] = _nothing
        name = uuid.uuid4().hex
        state = self._begin(programs, busy)
        super().__init__(model_id=name, panel_id=name, _esm=assets.text("stub.js"), state=state)
        self.on_msg(_answer)

    def _begin(self, programs: Programs, busy: bool) -> PanelState:
        self._programs = list(programs)
        self._memory_known = list(map(memory_is_known, self._programs))
        return state_of(self._programs, busy, str(next(_RUNS)))

    def restart(self, programs: Programs, busy: bool) -> None:
        """Show other Programs in the place of the former, which are let go of."""
        self.kept.drop()
        self.state = dict(self._begin(programs, busy))

    def refresh(self, programs: Programs | None = None, busy: bool = False) -> None:
        """Show what the Programs hold now."""
        if self.comm is not None:
            self._programs = list(self._programs if programs is None else programs)
            self.kept.drop()
            self._show(busy)

    def _show(self, busy: bool) -> None:
        if self.comm is not None:
            self.state = dict(state_of(self._programs, busy, self.state["run"]))

    def end(self) -> None:
        """Show that nothing runs any more, whatever else is shown."""
        if self.comm is not None and self.state["busy"]:
            self.state = {**self.state, "busy": False}

    def show_what_became_known(self) -> None:
        """Show the figures that a request has computed, such as the memory needed, and the programs that it opened."""
        self._programs = with_opened(self._programs)
        known = list(map(memory_is_known, self._programs))
        if known != self._memory_known:
            self._memory_known = known
            self._show(self.state["busy"])

    def show_best_findings(self) -> None:
        """Show what is the best finding now that more was looked for or tried. The tab that is open stays open."""
        if self.comm is None:
            return
        before, now = self.state["calls"], state_of(self._programs, self.state["busy"], self.state["run"])
        if [one.get("finding") for one in before] != [one.get("finding") for one in now["calls"]]:
            calls = [{**one, "open": was["open"]} for was, one in zip(before, now["calls"], strict=False)]
            self.state = dict(now) | {"calls": calls + now["calls"][len(before) :]}

    def keep(
        self, programs: Programs, request: Mapping[str, Any], reply: Mapping[str, Any], buffers: list[bytes]
    ) -> None:
        """Keep what a page was answered of these Programs, for the saved notebook."""
        params = request.get("params") or {}
        call = params.get("call")
        if "result" not in reply or type(call) is not int or not 0 <= call < len(programs):
            return
        program = programs[call]
        if any(program is shown for shown in self._programs):
            keep = functools.partial(self.kept.keep, program, request["method"], params, reply["result"], buffers)
            if Parts().get("A reply", keep, False):
                self.on_kept()

    @traitlets.observe("comm")
    def _leave_routing_to_the_page(self, change: Any) -> None:
        """Let requests be answered while a cell runs."""
        if change.new is not None:
            subshells.leave_routing_to_the_page(change.new)

    def close(self) -> None:
        """Take the panel off the page and let go of its Programs."""
        self.on_msg(_answer, remove=True)
        super().close()
        self.layout.close()  # a widget of its own, which ipywidgets leaves open
        self._programs, self.on_kept = [], _nothing
        self.kept.drop()


def _nothing() -> None:
    pass


def _answer(panel: Panel, content: Any, buffers: Any) -> None:
    """Answer one request; they come on subshell threads while a cell runs."""
    if not isinstance(content, dict) or content.get("kind") != "request":
        return
    programs: Programs = ()
    try:
        with panel._answering:
            programs = panel._programs  # the cell may run anew while they answer
            message, answers = dispatch.reply(programs, content)
    except KeyboardInterrupt as interrupt:  # while another thread answers
        message, answers = refusal(content, interrupt)
    with uninterrupted():
        if panel.comm is not None:
            try:
                panel.send(message, answers)
            except UnicodeEncodeError:
                panel.send(encodable_json(message), answers)
            panel.show_what_became_known()
            if content.get("method") in _FINDINGS_METHODS and "result" in message:
                panel.show_best_findings()
            panel.keep(programs, content, message, answers)
