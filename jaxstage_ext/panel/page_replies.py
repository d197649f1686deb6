"""What the tabs of an offline page ask, answered beforehand: where the answers are known, or all of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from jaxstage_ext.ir import operation_help
from jaxstage_ext.panel.jobs import answered_at_once
from jaxstage_ext.panel.offline_replies import timeline_replies
from jaxstage_ext.panel.params import Answer, BadRequest, Params
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.panel.saved_call import SavedReplies
from jaxstage_ext.panel.saved_reply import reply_key, saved_reply
from jaxstage_ext.program import cheap_facts, tabs
from jaxstage_ext.program.collectives import collectives
from jaxstage_ext.program.dtypes import dtypes
from jaxstage_ext.program.effects import effects
from jaxstage_ext.program.fact import Fact
from jaxstage_ext.program.kernels import kernels
from jaxstage_ext.program.layouts import layouts
from jaxstage_ext.program.memory import memory
from jaxstage_ext.program.module_work import work
from jaxstage_ext.program.passes import passes
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.shardings import shardings
from jaxstage_ext.report import saved_source

Request = tuple[str, Params]
MOST_BYTES = 600_000
"""Bytes of the replies of one tab; what comes after is left out, and the page says so where it is asked for."""
MOST_MAPS, MOST_KERNELS = 64, 200
_GROUPS = ("line", "scope", "computation", "opcode", "dtype")
_EQUATION_GROUPS = ("line", "scope", "primitive", "dtype")
_FACTS: dict[str, Fact[Any]] = {
    "cost": work,
    "memory": memory,
    "shardings": shardings,
    "collectives": collectives,
    "dtypes": dtypes,
    "layouts": layouts,
    "effects": effects,
    "passes": passes,
    "machine": kernels,
}
"""What a tab shows is known where its fact is."""
_CHEAP = ("code", "compare", "options", "effects")
"""Tabs that take milliseconds of a program of any size."""
_FAILS = (BadRequest, RuntimeError, ValueError, OSError)


def replies(program: Program, source: bool | None = None, every: bool = False) -> SavedReplies:
    """The replies of a call's tabs; of those that nobody has looked at only what is cheap, or with `every` all of them.

    `source` is whether they hold source, None for the default.
    """
    held: dict[str, Any] = timeline_replies(program, source)
    shown = {"timeline"} if held else set()
    for tab in tabs.tabs(program):
        made = dict(_of_tab(program, tab, source, every))
        held |= made
        shown |= {tab} if made else set()
    return SavedReplies(frozenset(shown), held)


def _of_tab(program: Program, tab: str, source: bool | None, every: bool) -> Iterator[tuple[str, Any]]:
    """The replies of a tab until one fails, or there are too many bytes."""
    is_wanted = _is_wanted(program, tab, every)
    left = MOST_BYTES
    for method, params in _REQUESTS.get(tab, _nothing)(program):
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


def _is_wanted(program: Program, tab: str, every: bool) -> Callable[[str, Params], bool]:
    fact = _FACTS.get(tab)
    if every or tab in _CHEAP or (fact is not None and fact.is_known(program)):
        return lambda method, params: True
    if tab in ("passes", "machine") or not (tab == "answers" or cheap_facts.is_small(program)):
        return lambda method, params: False
    cheaply = cheap_facts.answered_cheaply(program)
    return lambda method, params: method not in ("memory at", "kept", "kernels") and cheaply(method, params)


def _size(answer: Answer) -> int:
    return len(str(answer[0])) + sum(len(buffer) * 4 // 3 for buffer in answer[1])


def _nothing(program: Program) -> Iterator[Request]:
    return iter(())


def _code(program: Program) -> Iterator[Request]:
    yield from (("operations", {"doc": kind}) for kind in program.documents if kind in operation_help.HELP)


def _compare(program: Program) -> Iterator[Request]:
    """The lines that differ from the row that is compared with first, then from the others."""
    rows = list(program.targets.values())
    first = next((at for at, other in enumerate(rows) if other.is_earlier), 0)
    pairs = itertools.permutations(range(len(rows)), 2)
    yield from (
        ("difference", {"before": before, "after": after})
        for before, after in sorted(pairs, key=lambda pair: (pair[0] != first, pair))
    )


def _answers(program: Program) -> Iterator[Request]:
    from jaxstage_ext.program.answers import QUESTIONS

    yield from (("answer", {"question": question}) for question in QUESTIONS)


def _cost(program: Program) -> Iterator[Request]:
    yield from ((method, {}) for method in ("ledger", "cost", "roofline", "equations"))
    yield from (("cost_groups", {"group": group}) for group in _GROUPS)
    yield from (("equation_groups", {"group": group}) for group in _EQUATION_GROUPS)
    yield "cost_parts", {}


def _memory(program: Program) -> Iterator[Request]:
    yield "memory", {}
    if (known := memory.known(program)) is not None:
        for space in known.spaces:
            yield "memory at", {"space": space.color, "position": space.position}
    yield "kept", {"policy": ""}


def _shardings(program: Program) -> Iterator[Request]:
    yield from (("shardings", {"all": each}) for each in (False, True))
    yield from (("sharding_map", {"all": False, "value": value}) for value in range(MOST_MAPS))


def _collectives(program: Program) -> Iterator[Request]:
    yield from (("collectives", {"quick": quick}) for quick in (True, False))


def _passes(program: Program) -> Iterator[Request]:
    """The list, and of the passes that changed the module, the last ones first, what they changed with the texts."""
    yield "passes", {}
    for each in reversed([one for one in passes.known(program) or () if one.changed]):
        yield "pass_diff", {"pass": each.index}
        for version in (each.version - 1, each.version):
            yield from ((method, {"doc": f"pass:{version}"}) for method in ("document", "columns"))


def _machine(program: Program) -> Iterator[Request]:
    yield "kernels", {}
    yield "figures", {"bundled": False}
    listed = kernels.known(program)
    for row in listed.rows[:MOST_KERNELS] if listed is not None else ():
        for stage in (stage for stage, lacks in row.stages.items() if not lacks):
            doc = {"doc": f"{stage}:{row.key}"}
            yield from ((method, doc) for method in ("kernel", "document", "columns"))


_REQUESTS: dict[str, Callable[[Program], Iterator[Request]]] = {
    "code": _code,
    "compare": _compare,
    "answers": _answers,
    "cost": _cost,
    "memory": _memory,
    "shardings": _shardings,
    "collectives": _collectives,
    "dtypes": lambda program: iter([("dtypes", {})]),
    "layouts": lambda program: iter([("layouts", {}), ("layout_copies", {})]),
    "effects": lambda program: iter([("effects", {})]),
    "passes": _passes,
    "machine": _machine,
    "options": lambda program: iter([("flags", {})]),
}
"""By tab: what it asks, the first view of it first; what the first replies lead to once these were computed."""
