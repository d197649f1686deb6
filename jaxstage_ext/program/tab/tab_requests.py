"""What the views of each tab ask, the first view of it first; what replies lead to once these are known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from jaxstage_ext.ir import operation_help
from jaxstage_ext.program.machine_code.kernels import kernels
from jaxstage_ext.program.predicting.chosen_timeline import TimelineKind, chosen_kind, timeline_kinds
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.answers import QUESTIONS
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.program.questions.passes import passes
from jaxstage_ext.program.searching.program_search import kept_search
from jaxstage_ext.program.tab.tab_record import Request

MOST_MAPS, MOST_KERNELS = 64, 200
MOST_LAYOUTS, MOST_DETAILS = 2_000, 12
"""Layouts of a search that a page asks for first, which a saved notebook has room for, and those told in detail."""
TIMELINE_TABLES = ("lines", "ops", "kernels", "scopes", "kinds", "gaps", "waits", "compiles", "steps", "ranges")
PREDICTED_TABLES = ("lines", "exposed", "ops", "scopes", "kinds", "gaps")
"""Tables of a timeline that was measured, and of one that is predicted, the one that opens first."""
_GROUPS = ("line", "scope", "computation", "opcode", "dtype")
_EQUATION_GROUPS = ("line", "scope", "primitive", "dtype")


def always(*requests: Request) -> Callable[[Program], Iterator[Request]]:
    """The same requests of every program."""
    return lambda program: iter(requests)


def of_code(program: Program) -> Iterator[Request]:
    """The help on operations that each document has."""
    yield from (("operations", {"doc": kind}) for kind in program.documents if kind in operation_help.HELP)


def of_comparison(program: Program) -> Iterator[Request]:
    """The lines that differ from the row that is compared with first, then from the others."""
    rows = list(program.targets.values())
    first = next((at for at, other in enumerate(rows) if other.is_earlier), 0)
    pairs = itertools.permutations(range(len(rows)), 2)
    yield from (
        ("difference", {"before": before, "after": after})
        for before, after in sorted(pairs, key=lambda pair: (pair[0] != first, pair))
    )


def of_answers(program: Program) -> Iterator[Request]:
    """Every question."""
    yield from (("answer", {"question": question}) for question in QUESTIONS)


def of_timeline(program: Program) -> Iterator[Request]:
    """Its lanes as a coarse picture, its headline and its tables; those of a prediction beside a measured one too."""
    for kind in timeline_kinds(program):
        is_first = kind is chosen_kind(program, None)
        of: dict[str, str] = {} if is_first else {"of": kind.value}
        tables = PREDICTED_TABLES if kind is TimelineKind.PREDICTED else TIMELINE_TABLES
        yield from (("timeline", of), ("timeline head", of))
        yield from (("timeline table", {"table": name, **of}) for name in tables)


def of_cost(program: Program) -> Iterator[Request]:
    """The tables of the module and of the jaxpr, with the roofline."""
    yield from ((method, {}) for method in ("ledger", "cost", "roofline", "equations"))
    yield from (("cost_groups", {"group": group}) for group in _GROUPS)
    yield from (("equation_groups", {"group": group}) for group in _EQUATION_GROUPS)
    yield "cost_parts", {}


def of_memory(program: Program) -> Iterator[Request]:
    """The peak of each memory space, and what the backward pass keeps."""
    yield "memory", {}
    if (known := memory.known(program)) is not None:
        for space in known.spaces:
            yield "memory at", {"space": space.color, "position": space.position}
    yield "kept", {"policy": ""}


def of_shardings(program: Program) -> Iterator[Request]:
    """All values, and the maps of the first of them."""
    yield from (("shardings", {"all": each}) for each in (False, True))
    yield from (("sharding_map", {"all": False, "value": value}) for value in range(MOST_MAPS))


def of_sharding_search(program: Program) -> Iterator[Request]:
    """The map of what was found, and the layouts on the first screen: the best of each kind and the user's own."""
    if (search := kept_search(program)) is None:
        return
    yield "sharding_search", {"most": MOST_LAYOUTS}
    shown = {layout.kind: layout for layout in reversed(search.found.layouts)}.values()
    numbers = {layout.number for layout in shown} | {layout.number for layout in search.found.layouts if layout.is_own}
    yield from (("sharding_search_layout", {"layout": number}) for number in sorted(numbers)[:MOST_DETAILS])


def of_passes(program: Program) -> Iterator[Request]:
    """The list, and of the passes that changed the module, the last ones first, what they changed with the texts."""
    yield "passes", {}
    for each in reversed([one for one in passes.known(program) or () if one.changed]):
        yield "pass_diff", {"pass": each.index}
        for version in (each.version - 1, each.version):
            yield from ((method, {"doc": f"pass:{version}"}) for method in ("document", "columns"))


def of_machine_code(program: Program) -> Iterator[Request]:
    """The kernels, their figures, and the texts of the first of them."""
    yield "kernels", {}
    yield "figures", {"bundled": False}
    listed = kernels.known(program)
    for row in listed.rows[:MOST_KERNELS] if listed is not None else ():
        for stage in (stage for stage, lacks in row.stages.items() if not lacks):
            doc = {"doc": f"{stage}:{row.key}"}
            yield from ((method, doc) for method in ("kernel", "document", "columns"))
