"""Which questions about a program are answered in milliseconds: without a compile, a run or a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.recompile import recompiled_buffers
from jaxstage_ext.program.device import out_of_memory
from jaxstage_ext.program.device.device_figures import is_settled
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.predicting.chosen_timeline import TimelineKind
from jaxstage_ext.program.predicting.chosen_timeline import is_known as is_timeline_known
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import answer_wording as wording
from jaxstage_ext.program.questions.answers import QUESTIONS, Answer
from jaxstage_ext.program.questions.collectives import collectives, count, exchanges
from jaxstage_ext.program.questions.cost import cost
from jaxstage_ext.program.questions.largest_array import largest_array
from jaxstage_ext.program.questions.memory import memory, memory_needed
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.program.questions.refused_shardings import argument_names
from jaxstage_ext.program.searching.program_search import kept_search
from jaxstage_ext.program.tab.tab_requests import MOST_LAYOUTS
from jaxstage_ext.search.drawn import found_wording
from jaxstage_ext.search.drawn.layout_columns import LayoutColumns, columns_of

MOST_LINES = 8_000
"""Lines of the optimised HLO of a small program."""
_LEAST_ARRAY = 1 << 20
"""Bytes of the largest array below which naming it answers nobody's question."""
MOST_COUNTED_LINES = 60_000
"""Lines up to which work that is known is summed by line for a static form."""


def is_small(program: Program) -> bool:
    """Whether counting the work of a program takes milliseconds; no program that was read from a file is."""
    if program.saved_summary is not None or program.is_running or not program.has_hlo:
        return False
    document = program.documents.get("hlo")
    return document is not None and len(document) <= MOST_LINES


def answered_cheaply(program: Program) -> Callable[[str, Mapping[str, Any]], bool]:
    """Whether a program answers a request of a tab cheaply, by its name and parameters; a large one what is known."""
    small = is_small(program)
    questions: Mapping[str, Callable[[], bool]] = {
        "bound": lambda: is_counted(program),
        "fit": lambda: memory.is_known(program) or (small and device_fit(program).needed is not None),
        "memory": lambda: memory.is_known(program) or (small and recompiled_buffers.came_with_compile(program.staged)),
        "collective": lambda: collectives.is_known(program) or (small and not count(program)),
    }

    def is_cheap(method: str, params: Mapping[str, Any]) -> bool:
        if method.startswith("timeline"):
            return is_timeline_known(program, TimelineKind(params["of"]) if "of" in params else None)
        if method == "sharding_search":
            return kept_search(program) is not None
        if method in ("memory", "kept"):
            return memory.is_known(program)
        if method == "collectives" and not params["quick"]:
            return questions["collective"]()
        cheap = questions.get(params["question"]) if method == "answer" else None
        return cheap is None or cheap()

    return is_cheap


def is_counted(program: Program) -> bool:
    """Whether summing the work of a program by line takes milliseconds: it is small, or its work is known."""
    if not work.is_known(program):
        return is_small(program)
    document = program.documents.get("hlo")
    return document is not None and len(document) <= MOST_COUNTED_LINES


def cheap_answers(program: Program) -> list[tuple[str, Answer]]:
    """The questions that are answered cheaply, with their answers."""
    if program.saved_summary is not None or program.is_running:
        return []
    if not program.has_hlo:
        return [(QUESTIONS["fit"][0], Answer(device_fit(program).text))] if _did_not_fit(program) else []
    is_cheap, found = answered_cheaply(program), []
    for name, (question, ask) in QUESTIONS.items():
        if name != "time" and is_cheap("answer", {"question": name}):
            found.append((question, ask(program, None)))
        elif name == "fit" and memory_needed(program) is not None:
            found.append((question, Answer(device_fit(program).text)))
        elif name == "memory" and program.jax_lowered is not None:
            found.append((question, _largest(program)))
        elif name == "collective" and is_small(program) and count(program):
            found.append((question, Answer(wording.costliest(exchanges(program)))))
    return found


def timeless_answers(program: Program) -> list[str]:
    """The answers that are cheap and hold no times of compiles, with their questions, each in a sentence.

    What bounds a program is left out where that waits for a measurement of this machine (`waits_for_measurement`).
    """
    if program.saved_summary is not None or program.is_running or not program.has_hlo:
        return []
    is_cheap, asked = answered_cheaply(program), ["bound", "fit", "memory", "collective"]
    asked = asked[1:] if waits_for_measurement(program) else asked
    answered = [QUESTIONS[name] for name in asked if is_cheap("answer", {"question": name})]
    return [f"{question} {ask(program, None).text}" for question, ask in answered]


def waits_for_measurement(program: Program) -> bool:
    """Whether what bounds a program is unknown until somebody has this machine's CPU measured."""
    return program.saved_summary is None and program.has_hlo and not is_settled(program)


def heaviest_instruction(program: Program) -> str:
    """The instruction that moves the most bytes; "" where counting takes longer."""
    table = cost(program).work.table if is_counted(program) else None
    return str(table["instruction"][0]) if table is not None and len(table) else ""


def _largest(program: Program) -> Answer:
    """Of a small program the largest array that it makes; what is live at the peak takes a compile."""
    seconds, array = program.seconds.get("compile"), largest_array(program) if is_small(program) else None
    if array is None or array.size < _LEAST_ARRAY:
        return Answer(wording.costs_a_compile(seconds))
    said = wording.largest_alone(array.shape, array.size, array.line, seconds)
    return Answer(said, array.line, array.row, view="memory")


def _did_not_fit(program: Program) -> bool:
    return program.error is not None and out_of_memory.is_out_of_memory(program.error.exception)


def heaviest_rows(program: Program, most: int) -> list[int]:
    """The rows of the HLO document whose instructions move the most bytes, in the order of the document."""
    table = cost(program).work.table if is_counted(program) else None
    rows = [] if table is None else [int(row) for row in table["row"][: 2 * most] if row >= 0]
    return sorted(rows[:most])


def memory_curve(program: Program) -> tuple[Any, int, int] | None:
    """Live bytes at each position of the schedule, the position of the peak, and its bytes; None where unknown."""
    known = memory.known(program)
    if known is None or not known.spaces:
        return None
    space = known.space()
    return known.curve(), space.position, space.peak


def searched_layouts(program: Program) -> tuple[LayoutColumns, int | None] | None:
    """The layouts of a search and the bytes of one device; None where they were not searched."""
    search = kept_search(program)
    return None if search is None else (columns_of(search.found, MOST_LAYOUTS), search.room)


def said_of_layouts(program: Program) -> list[str]:
    """Which layout to take, and what it was compared with; nothing where no layouts were searched."""
    search = kept_search(program)
    if search is None:
        return []
    found, room = search.found, search.room
    return list(filter(None, (found_wording.take(found, room), found_wording.besides(found, room))))


def authors_arguments(program: Program) -> dict[str, str]:
    """The arguments that a library passes on in trees of its own: JAX's name of each with the author's."""
    lowered = program.jax_lowered
    if lowered is None:
        return {}
    names = lowered_modules.signature(program.jax_traced, lowered, captured.namer(program.call.fn)).arguments
    authors = argument_names(program.call, names)
    return {name: said for name, said in zip(names, authors, strict=True) if said != name}
