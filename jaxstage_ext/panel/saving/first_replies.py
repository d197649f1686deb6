"""What cheap tabs ask first, answered when the cell ends, so that a saved notebook has these tabs of small programs.

Nothing here compiles, runs or asks a worker.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jaxstage_ext.panel.jobs import answered_at_once
from jaxstage_ext.panel.params import Params, Programs
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.saving import kernel_replies
from jaxstage_ext.panel.saving.kept_replies import KeptReplies
from jaxstage_ext.report.view_parts import Parts
from jaxstage_ext.views.summaries import summary_of

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program

SECONDS = 0.1
"""Processor time for all programs of a display together; what is not answered by then is left out."""


def keep_first_replies(programs: Programs, kept: KeptReplies, clock: Callable[[], float] = time.thread_time) -> None:
    """Answer what the tabs of small programs ask first, until the time is spent."""
    end = clock() + SECONDS
    for program in programs:
        if program.tab:
            Parts().get(program.tab, lambda: kernel_replies.keep(program, kept), None)  # noqa: B023
            continue
        if clock() < end and (cheap := _cheap(program)):
            for tab, method, params in _asked(summary_of(program)["views"]):
                if cheap(method, params) and clock() < end:
                    Parts().get(tab, lambda: _keep(program, method, params, kept), None)  # noqa: B023


def _asked(views: Sequence[str]) -> Iterator[tuple[str, str, Params]]:
    """What the tabs that a program has ask first: the first request of each, then the second of each, and so on."""
    from jaxstage_ext.program import tabs  # it imports JAX

    rounds = itertools.zip_longest(*([(tab.name, *one) for one in tab.first] for tab in tabs.TABS if tab.name in views))
    yield from (asked for each in rounds for asked in each if asked is not None)


def _cheap(program: Program) -> Callable[[str, Any], bool] | None:
    from jaxstage_ext.program.tab import cheap_facts  # it imports JAX

    if cheap_facts.is_small(program):
        return cheap_facts.answered_cheaply(program)
    if cheap_facts.searched_layouts(program) is not None:
        return lambda method, params: method == "sharding_search"
    return None


def _keep(program: Program, method: str, params: Params, kept: KeptReplies) -> None:
    result, buffers = answered_at_once(dispatch.methods()[method], [program], params)
    kept.keep(program, method, params, result, buffers)
