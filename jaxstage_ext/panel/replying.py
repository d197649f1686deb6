"""Replies to the requests of a page, which is untrusted: a result, or an error of one line; never an exception."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from jaxstage_ext.panel.params import MOST_TEXT, Answer, BadRequest, Params, failure, quoted
from jaxstage_ext.report.saved.json_form import is_shallow

Known = TypeVar("Known")
LONGEST_ID = 100


def replied(request: Any, answer: Callable[[str, Params], Answer]) -> Answer:
    """The message that answers a request, with its buffers; never raises."""
    try:
        if not isinstance(request, Mapping):
            raise BadRequest("a request must be an object")
        if not is_shallow(request):
            raise BadRequest("the request is nested too deeply")
        result, buffers = answer(request.get("method", ""), request.get("params") or {})
    except BaseException as error:  # whatever it is belongs to the reader, not to the kernel's log
        return refusal(request, error)
    return _reply_to(request) | {"result": result}, buffers


def refusal(request: Any, error: BaseException) -> Answer:
    """The message that a request has failed."""
    refused = failure(error)
    text = {"kind": refused.kind, "message": str(refused), "log": refused.has_log}
    return _reply_to(request) | {"error": text}, []


def named(methods: Mapping[str, Known], method: Any, params: Any) -> Known:
    """The method of that name. Raises BadRequest where there is none, or where its parameters are not an object."""
    if not isinstance(method, str) or method not in methods:
        raise BadRequest(f"unknown method {quoted(method)}; there are {', '.join(methods)}"[:MOST_TEXT])
    if not isinstance(params, Mapping):
        raise BadRequest(f"params of {method!r} must be an object, not {quoted(params)}")
    return methods[method]


def _reply_to(request: Any) -> dict[str, Any]:
    number = request.get("id") if isinstance(request, Mapping) else None
    is_id = isinstance(number, int) or (isinstance(number, str) and len(number) <= LONGEST_ID)
    return {"kind": "reply", "id": number if is_id else None}
