"""`hello`: the extension is on the page, and draws panels from our own MIME type."""

from __future__ import annotations

from jaxstage_ext.panel.connection import Connection, FrontEndMethod
from jaxstage_ext.panel.params import Answer, Params
from jaxstage_ext.panel.showing import display


def _hello(connection: Connection, params: Params) -> Answer:
    """From now on displays leave out the widget, which a saved notebook cannot find; those that stand lose it too."""
    connection.draws_panels = True
    display.leave_out_widgets(True)
    return {"version": 1}, []


METHODS: dict[str, FrontEndMethod] = {"hello": _hello}
