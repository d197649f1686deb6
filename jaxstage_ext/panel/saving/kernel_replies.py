"""What views of the kernel ask, answered for saved notebooks and offline pages: as much as fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from jaxstage_ext.panel.jobs import answered_at_once
from jaxstage_ext.panel.params import Answer, Method, Params
from jaxstage_ext.panel.requests import compile_cache_requests, compiles_requests, job_compiles_requests
from jaxstage_ext.panel.saving.kept_replies import KeptReplies
from jaxstage_ext.panel.saving.saved_call import SavedReplies
from jaxstage_ext.panel.saving.saved_reply import reply_key, saved_reply
from jaxstage_ext.report.saved import saved_source

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

SavedRequests: TypeAlias = Callable[[Any, int, int, float], Iterator[tuple[str, Params, Method]]]
"""Of a program: its requests for lists of so many rows and the details of so many, in about so many seconds."""
_OF_TAB: Mapping[str, SavedRequests] = {
    "compiles": compiles_requests.saved_requests,
    "compile_cache": compile_cache_requests.saved_requests,
    "job_compiles": job_compiles_requests.saved_requests,
}
_IN_NOTEBOOK = ((400, 24), (200, 12), (100, 6), (50, 0))
"""Rows and details that a saved notebook holds, tried until they fit."""
_ON_PAGE = ((20_000, 300), (5_000, 200), (1_000, 100), (200, 20))
SECONDS_IN_NOTEBOOK, SECONDS_ON_PAGE = 0.05, 10.0
"""Processor time for what takes a comparison of the rows, so that a busy machine saves the same."""
LARGEST_ON_PAGE = 3_000_000
"""Bytes of the replies on an offline page."""


def keep(program: Program, kept: KeptReplies) -> None:
    """Keep the replies of a view of the kernel for the saved notebook; nothing of a call."""
    for rows, details in _IN_NOTEBOOK:
        answers = list(_answers(program, rows, details, SECONDS_IN_NOTEBOOK))
        lists = [each for each in answers if "number" not in each[1]]
        if all(kept.keep(program, *each) or _is_kept(program, kept, each) for each in lists):
            for each in answers:
                kept.keep(program, *each)
            return


def _is_kept(program: Program, kept: KeptReplies, answer: tuple[str, Params, dict[str, Any], list[bytes]]) -> bool:
    """Whether just this answer is kept already."""
    method, params, result, buffers = answer
    known = kept.of(program).replies.get(reply_key(method, params))
    return known == saved_reply(result, buffers, saved_source.is_kept())


def replies(program: Program, source: bool | None) -> SavedReplies:
    """The replies of a view of the kernel for an offline page; none of a call."""
    for rows, details in _ON_PAGE if program.tab in _OF_TAB else ():
        made = {
            reply_key(method, params): saved_reply(result, buffers, saved_source.is_kept(source))
            for method, params, result, buffers in _answers(program, rows, details, SECONDS_ON_PAGE)
        }
        if sum(map(_size, made.values())) <= LARGEST_ON_PAGE:
            return SavedReplies(frozenset([program.tab]), made)
    return SavedReplies()


def _size(reply: Mapping[str, Any]) -> int:
    return len(str(reply["result"])) + sum(map(len, reply["buffers"]))


def _answers(
    program: Program, rows: int, details: int, seconds: float
) -> Iterator[tuple[str, Params, dict[str, Any], list[bytes]]]:
    requests = _OF_TAB.get(program.tab)
    for method, params, answered in requests(program, rows, details, seconds) if requests else ():
        answer: Answer = answered_at_once(answered, [program], params)
        yield method, params, *answer
