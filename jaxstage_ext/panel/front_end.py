"""The kernel's end of the JupyterLab extension: the comm target `jaxstage`, whose requests are answered like a panel's.

A page sends `{"kind": "request", "id", "method", "params"}` and gets `{"kind": "reply", "id", "result" | "error"}`;
`{"kind": "notice", "what": "inspections"}` says that the list of inspections has changed.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from jaxstage_ext.panel import change_notices
from jaxstage_ext.panel.connection import Connection, NotebookState
from jaxstage_ext.panel.front_end_requests import METHODS
from jaxstage_ext.panel.params import Answer, Params
from jaxstage_ext.panel.replying import named, refusal, replied
from jaxstage_ext.panel.showing import display
from jaxstage_ext.panel.subshells import leave_routing_to_the_page

MOST_CONNECTIONS = 16
"""Comms that stay open; a page that was reloaded leaves one behind."""
QUIET = 0.2
"""Seconds between two notices."""


class FrontEnd:
    """The connections of one kernel."""

    def __init__(self, notebook: NotebookState) -> None:
        self._notebook = notebook
        self._connections: list[Connection] = []
        self._answering, self._noticing = threading.Lock(), threading.Lock()
        self._waiting: threading.Timer | None = None
        self._end = change_notices.listen(self._notice_soon)

    def connect(self, comm: Any, message: Any) -> None:
        """A page has opened a comm."""
        leave_routing_to_the_page(comm)
        connection = Connection(comm, self._notebook)
        comm.on_msg(functools.partial(self._answer, connection))
        comm.on_close(functools.partial(self._forget, connection))
        self._connections.append(connection)
        for oldest in self._connections[:-MOST_CONNECTIONS]:
            self._forget(oldest)
            oldest.close()

    def close(self) -> None:
        """Close every connection; no notice is sent any more."""
        self._end()
        with self._noticing:
            if self._waiting is not None:
                self._waiting.cancel()
        for connection in self._connections:
            connection.close()
        self._connections = []
        display.leave_out_widgets(False)

    def _forget(self, connection: Connection, message: Any = None) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
        display.leave_out_widgets(any(other.draws_panels for other in self._connections))

    def _answer(self, connection: Connection, message: Any) -> None:
        """Answer one request; they come on subshell threads while a cell runs."""
        request = message["content"].get("data")
        if not isinstance(request, dict) or request.get("kind") != "request":
            return
        try:
            with self._answering:
                reply, buffers = replied(request, functools.partial(_answered, connection))
        except KeyboardInterrupt as interrupt:  # while another thread answers
            reply, buffers = refusal(request, interrupt)
        connection.send(reply, buffers)

    def _notice_soon(self) -> None:
        """Send one notice for all changes of a moment."""
        with self._noticing:
            if self._connections and self._waiting is None:
                self._waiting = threading.Timer(QUIET, self._notice)
                self._waiting.daemon = True
                self._waiting.start()

    def _notice(self) -> None:
        with self._noticing:
            self._waiting = None
        for connection in list(self._connections):
            connection.send({"kind": "notice", "what": "inspections"})


def _answered(connection: Connection, method: str, params: Params) -> Answer:
    return named(METHODS, method, params)(connection, params)
