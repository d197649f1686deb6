"""The requests that the panel's front end makes, answered from Programs.

Nothing is kept between requests but a document's line table.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from typing import Any

from jaxstage_ext.panel import assets, jobs
from jaxstage_ext.panel.params import Answer, BadRequest, Method, Params, Programs, program, quoted, text
from jaxstage_ext.panel.replying import named, replied
from jaxstage_ext.panel.requests import asked_elsewhere, document_requests
from jaxstage_ext.panel.wire_form import pack
from jaxstage_ext.program import tabs
from jaxstage_ext.program.head import compile_wait
from jaxstage_ext.program.tab.tab_record import Tab

MOST_OF_LOG, LONGEST_OF_LOG = 200, 1000
"""Of a worker's log: lines, and characters of each."""


def answer(programs: Programs, method: str, params: Params) -> Answer:
    """The result and binary buffers for one request.

    Raises BadRequest when the method or a parameter is not as it must be.
    """
    answering = named(methods(), method, params)
    if asked_elsewhere.is_there(programs, params, tab_of(method)):
        return asked_elsewhere.answer_there(method, answering, programs, params)
    return answering(programs, params)


def reply(programs: Programs, request: Any) -> Answer:
    """The message that answers a front end's request, with its buffers; never raises."""
    page = request.get("page") if isinstance(request, Mapping) else None
    token = jobs.asker.set(page if isinstance(page, int) else None)
    try:
        return replied(request, functools.partial(answer, programs))
    finally:
        jobs.asker.reset(token)


def _get_elapsed(programs: Programs, params: Params) -> Answer:
    """Seconds that the running stage has taken, which a reloaded page does not know."""
    running = [seconds for program in programs if (seconds := program.elapsed) is not None]
    return {"elapsed": running[0] if running else None}, []


def _get_compile_wait(programs: Programs, params: Params) -> Answer:
    """What to say of a compile that takes long."""
    waits = compile_wait.compile_wait(program(programs, params))
    return {"text": waits.text if waits else None, "can_stop": bool(waits and waits.can_stop)}, []


def _stop_compile(programs: Programs, params: Params) -> Answer:
    """Stop the worker that compiles the call."""
    return {"stopped": compile_wait.stop(program(programs, params))}, []


def _get_log(programs: Programs, params: Params) -> Answer:
    lines = program(programs, params).worker_log().splitlines()
    return {
        "lines": [line[:LONGEST_OF_LOG] for line in lines[-MOST_OF_LOG:]],
        "left_out": max(0, len(lines) - MOST_OF_LOG),
    }, []


def _get_script(programs: Programs, params: Params) -> Answer:
    """The panel's script with its style, or the script of a view that is not part of it."""
    name = text(params, "doc")
    if name == "panel":
        return {}, [pack(assets.text(f"panel.{kind}").encode()) for kind in ("js", "css")]
    names = assets.scripts()
    if name not in names:
        raise BadRequest(f"there is no script {quoted(name)}; there is {', '.join(names)}")
    return {}, [pack(assets.text(f"{name}.js").encode())]


def _cancel(programs: Programs, params: Params) -> Answer:
    """Stop the job that a request of the method `of` with these parameters began."""
    method = methods().get(text(params, "of"))
    if not isinstance(method, jobs.Slow):
        raise BadRequest(f"{quoted(params['of'])} is not a request that can be stopped")
    name, asked = text(params, "of"), {k: v for k, v in params.items() if k != "of"}
    if asked_elsewhere.is_there(programs, asked, tab_of(name)):
        return {"stopped": asked_elsewhere.stop_there(name, programs, asked)}, []
    return {"stopped": method.stop(programs, asked)}, []


COMMON: dict[str, Method] = {
    "elapsed": _get_elapsed,
    "log": _get_log,
    "cancel": _cancel,
    "compile wait": _get_compile_wait,
    "stop compile": _stop_compile,
    "script": _get_script,
    **document_requests.METHODS,
}
"""The requests that belong to no tab."""


def methods() -> dict[str, Method]:
    """All requests by name: the common ones, and those of each tab."""
    return COMMON | {name: method for tab in tabs.TABS for name, method in _methods_of(tab.name).items()}


def tab_of(method: str) -> Tab | None:
    """The tab that makes a request of this name; None for the common ones and for those that there are not."""
    return next((tab for tab in tabs.TABS if method in _methods_of(tab.name)), None)


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
