"""What an offline page answers of a timeline: its lanes as a coarse picture, its headline and its tables."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.panel.jobs import answered_at_once
from jaxstage_ext.panel.params import Answer, BadRequest, Params
from jaxstage_ext.panel.requests import timeline_requests, timeline_table_requests
from jaxstage_ext.panel.saved_reply import reply_key, saved_reply
from jaxstage_ext.program.program import Program
from jaxstage_ext.report import saved_source
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
            replies[reply_key(method, params)] = saved_reply(*answer, saved_source.is_kept(source))
    return replies


def _answer(program: Program, method: str, params: Params) -> Answer | None:
    """What a request answers; None where it fails, as it would in the notebook."""
    try:
        return answered_at_once(timeline_requests.METHODS[method], [program], params)
    except (BadRequest, Unavailable):
        return None
