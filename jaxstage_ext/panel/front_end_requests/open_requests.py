"""`open`: a live panel of an inspection for a tab beside its notebook. `close`: away with one made for a tab alone."""

from __future__ import annotations

from jaxstage_ext.panel.connection import Connection, FrontEndMethod
from jaxstage_ext.panel.front_end_requests.inspection_requests import inspection_of
from jaxstage_ext.panel.inspection_list import Listed
from jaxstage_ext.panel.params import Answer, BadRequest, Params, text
from jaxstage_ext.panel.showing import display

LONGEST_TITLE = 200


def inspection_made(connection: Connection, params: Params, name: str = "id", when: str = "made") -> Listed:
    """The inspection of that number, if it was made at that time: each kernel counts its own from the beginning.

    Raises BadRequest for any other.
    """
    call = inspection_of(connection, params, name)
    made = params.get(when)
    if made is not None and made != call.first.origin.made:
        raise BadRequest("the kernel that had this inspection is gone; run its cell again")
    return call


def _open(connection: Connection, params: Params) -> Answer:
    """Its cell's panel where that is live. Else a new one, which belongs to the tab (`own`) and is closed with it."""
    call = inspection_made(connection, params)
    model, own = display.open_beside(call.programs)
    return {"model": model, "own": own, "title": call.first.name[:LONGEST_TITLE]}, []


def _close(connection: Connection, params: Params) -> Answer:
    return {"closed": display.close_beside(text(params, "model"))}, []


METHODS: dict[str, FrontEndMethod] = {"open": _open, "close": _close}
