"""What an offline page answers of a timeline: its lanes as a coarse picture, its headline and its tables."""

from __future__ import annotations

import base64
import json
from typing import Any

from jaxstage_ext.panel.jobs import JobProgress
from jaxstage_ext.panel.params import Answer, BadRequest, Params
from jaxstage_ext.panel.requests import timeline_requests, timeline_table_requests
from jaxstage_ext.program.program import Program
from jaxstage_ext.report import saved_source
from jaxstage_ext.report.public_paths import public_folders, public_path
from jaxstage_ext.report.unavailable import Unavailable

LARGEST = 1_500_000
"""Bytes of one reply; a larger one is left out."""
_ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("timeline", {}),
    ("timeline head", {}),
    *(("timeline table", {"table": name}) for name in timeline_table_requests.TABLES),
)


def timeline_replies(program: Program, source: bool | None = None) -> dict[str, Any]:
    """The replies by method and parameters, as `saved_form` has them; none where the program was not profiled.

    `source` is whether they hold source, None for the default.
    """
    if program.timeline is None:
        return {}
    replies = {}
    for method, params in _ASKED:
        answer = _answer(program, method, params)
        if answer is not None and sum(map(len, answer[1])) <= LARGEST:
            replies[f"{method} {json.dumps(params, separators=(',', ':'))}"] = _kept(
                *answer, saved_source.is_kept(source)
            )
    return replies


def _answer(program: Program, method: str, params: Params) -> Answer | None:
    """What a request answers; None where it fails, as it would in the notebook."""
    ask = timeline_requests.METHODS[method]
    compute = getattr(ask, "compute", None)
    try:
        given = {"call": 0, **params}
        answer: Answer = compute([program], given, JobProgress()) if compute else ask([program], given)
    except (BadRequest, Unavailable):
        return None
    return answer


def _kept(result: dict[str, Any], buffers: list[bytes], with_source: bool) -> dict[str, Any]:
    strings = result.get("strings")
    if not with_source and isinstance(strings, dict) and "code" in strings:
        result = result | {"strings": strings | {"code": [""] * len(strings["code"])}}
    return {"result": _public(result), "buffers": [base64.b64encode(buffer).decode() for buffer in buffers]}


def _public(value: Any, key: str = "") -> Any:
    """The same with paths as others may see them; scopes look like paths and stay."""
    if isinstance(value, str):
        return public_path(value) if key == "file" else public_folders(value)
    if isinstance(value, dict):
        return {name: _public(inner, name) for name, inner in value.items()}
    return [_public(inner) for inner in value] if isinstance(value, list | tuple) else value
