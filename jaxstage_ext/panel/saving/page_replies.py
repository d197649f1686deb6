"""What the tabs of an offline page ask, answered beforehand: where the answers are known, or all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jaxstage_ext.panel.jobs import answered_at_once
from jaxstage_ext.panel.params import Answer, BadRequest, Params
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.saving.saved_call import SavedReplies
from jaxstage_ext.panel.saving.saved_reply import reply_key, saved_reply
from jaxstage_ext.program import tabs
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.tab import cheap_facts
from jaxstage_ext.program.tab.tab_record import Price, Tab
from jaxstage_ext.report.saved import saved_source

MOST_BYTES = 600_000
"""Bytes of the replies of one tab; what comes after is left out, and the page says so where it is asked for."""
MOST_OF_TIMELINE = 6_000_000
"""The same of a timeline, most of which is its picture."""
_FAILS = (BadRequest, RuntimeError, ValueError, OSError)


def replies(program: Program, source: bool | None = None, every: bool = False) -> SavedReplies:
    """The replies of a call's tabs; of those that nobody has looked at only what is cheap, or with `every` all of them.

    `source` is whether they hold source, None for the default.
    """
    names = tabs.tabs(program)
    made = {tab.name: dict(_of_tab(program, tab, source, every)) for tab in tabs.TABS if tab.name in names}
    held = {key: reply for of_tab in made.values() for key, reply in of_tab.items()}
    return SavedReplies(frozenset(name for name, of_tab in made.items() if of_tab), held)


def _of_tab(program: Program, tab: Tab, source: bool | None, every: bool) -> Iterator[tuple[str, Any]]:
    """The replies of a tab that do not fail, until there are too many bytes."""
    is_wanted = _is_wanted(program, tab, every)
    left = MOST_BYTES if tab.name != "timeline" else MOST_OF_TIMELINE
    for method, params in tab.requests(program):
        if not is_wanted(method, params):
            continue
        try:
            answer = answered_at_once(dispatch.methods()[method], [program], params)
        except _FAILS:
            continue
        left -= _size(answer)
        if left < 0:
            return
        yield reply_key(method, params), saved_reply(*answer, saved_source.is_kept(source))


def _is_wanted(program: Program, tab: Tab, every: bool) -> Callable[[str, Params], bool]:
    is_known = tab.fact is not None and tab.fact.is_known(program)
    if every or is_known or tab.price is Price.NOTHING:
        return lambda method, params: True
    if tab.price is Price.COMPILE or (tab.price is Price.SIZE and not cheap_facts.is_small(program)):
        return lambda method, params: False
    return cheap_facts.answered_cheaply(program)


def _size(answer: Answer) -> int:
    return len(str(answer[0])) + sum(len(buffer) * 4 // 3 for buffer in answer[1])
