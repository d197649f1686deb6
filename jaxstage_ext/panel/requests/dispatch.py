"""The requests that the panel's front end makes, answered from Programs.

Nothing is kept between requests but a document's line table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxstage_ext.panel import assets, jobs
from jaxstage_ext.panel.pack import pack
from jaxstage_ext.panel.params import (
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
from jaxstage_ext.panel.requests import (
    answer_requests,
    cost_requests,
    document_requests,
    kernel_requests,
    margin_requests,
    memory_requests,
    pass_requests,
    sharding_requests,
)
from jaxstage_ext.program.summary import flag_table

MOST_OF_LOG, LONGEST_OF_LOG = 200, 1000
"""Of a worker's log: lines, and characters of each."""


def answer(programs: Programs, method: str, params: Params) -> Answer:
    """The result and binary buffers for one request.

    Raises BadRequest when the method or a parameter is not as it must be.
    """
    if not isinstance(method, str) or method not in METHODS:
        raise BadRequest(f"unknown method {quoted(method)}; there are {', '.join(METHODS)}")
    if not isinstance(params, Mapping):
        raise BadRequest(f"params of {method!r} must be an object, not {quoted(params)}")
    return METHODS[method](programs, params)


def reply(programs: Programs, request: Any) -> Answer:
    """The message that answers a front end's request, with its buffers; never raises."""
    number = request.get("id") if isinstance(request, Mapping) else None
    message: dict[str, Any] = {"kind": "reply", "id": number}
    try:
        if not isinstance(request, Mapping):
            raise BadRequest("a request must be an object")
        result, buffers = answer(programs, request.get("method", ""), request.get("params") or {})
    except Exception as error:  # whatever it is belongs to the reader, not to the kernel's log
        refused = failure(error)
        return message | {"error": str(refused), "error_kind": refused.kind, "error_log": refused.has_log}, []
    return message | {"result": result}, buffers


def _get_elapsed(programs: Programs, params: Params) -> Answer:
    """Seconds that the running stage has taken: what a page that is loaded anew cannot know."""
    running = [seconds for one in programs if (seconds := one.elapsed) is not None]
    return {"elapsed": running[0] if running else None}, []


def _get_log(programs: Programs, params: Params) -> Answer:
    lines = program(programs, params).worker_log().splitlines()
    return {
        "lines": [line[:LONGEST_OF_LOG] for line in lines[-MOST_OF_LOG:]],
        "left_out": max(0, len(lines) - MOST_OF_LOG),
    }, []


def _get_flags(programs: Programs, params: Params) -> Answer:
    return flag_table(program(programs, params)), []


def _get_script(programs: Programs, params: Params) -> Answer:
    """The script of a view that is not part of the panel's own."""
    name = text(params, "doc")
    names = assets.scripts()
    if name not in names:
        raise BadRequest(f"there is no script {quoted(name)}; there is {', '.join(names)}")
    return {}, [pack(assets.text(f"{name}.js").encode())]


def _cancel(programs: Programs, params: Params) -> Answer:
    """Stop the job that a request of the method `of` with these parameters began."""
    method = METHODS.get(text(params, "of"))
    if not isinstance(method, jobs.Slow):
        raise BadRequest(f"{quoted(params['of'])} is not a request that can be stopped")
    return {"stopped": method.stop(programs, {k: v for k, v in params.items() if k != "of"})}, []


METHODS: dict[str, Method] = {
    "elapsed": _get_elapsed,
    "flags": _get_flags,
    "log": _get_log,
    "cancel": _cancel,
    "script": _get_script,
    **answer_requests.METHODS,
    **cost_requests.METHODS,
    **document_requests.METHODS,
    **kernel_requests.METHODS,
    **margin_requests.METHODS,
    **pass_requests.METHODS,
    **memory_requests.METHODS,
    **sharding_requests.METHODS,
}
