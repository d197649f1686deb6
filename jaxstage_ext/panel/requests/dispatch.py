"""The requests that the panel's front end makes, answered from Programs.

Nothing is kept between requests but a document's line table.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from typing import Any

from jaxstage_ext.panel import assets, jobs
from jaxstage_ext.panel.pack import pack
from jaxstage_ext.panel.params import (
    MOST_TEXT,
    Answer,
    BadRequest,
    Method,
    Params,
    Programs,
    failure,
    program,
    quoted,
    text,
)
from jaxstage_ext.panel.requests import document_requests
from jaxstage_ext.program import tabs
from jaxstage_ext.report.json_form import is_shallow

MOST_OF_LOG, LONGEST_OF_LOG = 200, 1000
"""Of a worker's log: lines, and characters of each."""


def answer(programs: Programs, method: str, params: Params) -> Answer:
    """The result and binary buffers for one request.

    Raises BadRequest when the method or a parameter is not as it must be.
    """
    if not isinstance(method, str) or method not in (known := methods()):
        raise BadRequest(f"unknown method {quoted(method)}; there are {', '.join(methods())}"[:MOST_TEXT])
    if not isinstance(params, Mapping):
        raise BadRequest(f"params of {method!r} must be an object, not {quoted(params)}")
    return known[method](programs, params)


def reply(programs: Programs, request: Any) -> Answer:
    """The message that answers a front end's request, with its buffers; never raises."""
    try:
        if not isinstance(request, Mapping):
            raise BadRequest("a request must be an object")
        if not is_shallow(request):
            raise BadRequest("a request must not be nested so deeply")
        result, buffers = answer(programs, request.get("method", ""), request.get("params") or {})
    except BaseException as error:  # whatever it is belongs to the reader, not to the kernel's log
        return refusal(request, error)
    return _reply_to(request) | {"result": result}, buffers


def refusal(request: Any, error: BaseException) -> Answer:
    """The message that a request has failed."""
    refused = failure(error)
    text = {"kind": refused.kind, "message": str(refused), "log": refused.has_log}
    return _reply_to(request) | {"error": text}, []


def _reply_to(request: Any) -> dict[str, Any]:
    number = request.get("id") if isinstance(request, Mapping) else None
    return {"kind": "reply", "id": number if isinstance(number, int | str) else None}


def _get_elapsed(programs: Programs, params: Params) -> Answer:
    """Seconds that the running stage has taken, which a reloaded page does not know."""
    running = [seconds for program in programs if (seconds := program.elapsed) is not None]
    return {"elapsed": running[0] if running else None}, []


def _get_log(programs: Programs, params: Params) -> Answer:
    lines = program(programs, params).worker_log().splitlines()
    return {
        "lines": [line[:LONGEST_OF_LOG] for line in lines[-MOST_OF_LOG:]],
        "left_out": max(0, len(lines) - MOST_OF_LOG),
    }, []


def _get_script(programs: Programs, params: Params) -> Answer:
    """The script of a view that is not part of the panel's own."""
    name = text(params, "doc")
    names = assets.scripts()
    if name not in names:
        raise BadRequest(f"there is no script {quoted(name)}; there is {', '.join(names)}")
    return {}, [pack(assets.text(f"{name}.js").encode())]


def _cancel(programs: Programs, params: Params) -> Answer:
    """Stop the job that a request of the method `of` with these parameters began."""
    method = methods().get(text(params, "of"))
    if not isinstance(method, jobs.Slow):
        raise BadRequest(f"{quoted(params['of'])} is not a request that can be stopped")
    return {"stopped": method.stop(programs, {k: v for k, v in params.items() if k != "of"})}, []


COMMON: dict[str, Method] = {
    "elapsed": _get_elapsed,
    "log": _get_log,
    "cancel": _cancel,
    "script": _get_script,
    **document_requests.METHODS,
}
"""The requests that belong to no tab."""


def methods() -> dict[str, Method]:
    """All requests by name: the common ones, and those of each tab."""
    return COMMON | {name: method for tab in tabs.TABS for name, method in _methods_of(tab.name).items()}


@functools.cache
def _methods_of(tab: str) -> Mapping[str, Method]:
    """The METHODS of a tab's file of requests; none for a tab without one."""
    module = f"{__package__}.{tab}_requests"
    try:
        requests: Mapping[str, Method] = importlib.import_module(module).METHODS
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return {}
    return requests
