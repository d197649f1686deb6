"""Five questions about a program, each answered in one sentence, with the source line that it points to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from jaxstage_ext.analysis.cost import cost_wording
from jaxstage_ext.analysis.cost.ceilings import UNDECIDED
from jaxstage_ext.analysis.memory.buffers import Kind
from jaxstage_ext.profiling.analysis import timeline_wording
from jaxstage_ext.profiling.predictions import predicted_timeline_wording as predicted_wording
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.fact import fact
from jaxstage_ext.program.predicting.chosen_timeline import can_be_predicted
from jaxstage_ext.program.predicting.time_estimate import (
    cheap_prediction,
    known_prediction,
    read_at_hand,
    said_of_exposed,
    why_not_predicted,
)
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import answer_wording as wording
from jaxstage_ext.program.questions.answer_wording import Holding, Measure
from jaxstage_ext.program.questions.collectives import collectives
from jaxstage_ext.program.questions.cost import cost
from jaxstage_ext.program.questions.memory import memory as memory_of
from jaxstage_ext.program.running import measured_wording
from jaxstage_ext.program.source import version_wording
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.table import Column, Table

_ROUNDED = 1.001
"""Times that differ by less than this are one time, summed in another order."""


class State(StrEnum):
    """Whether a question has a yes or no for an answer, or none at all."""

    YES = "yes"
    WITH_SETTING = "only with a setting"
    NO = "no"
    UNKNOWN = "unknown"
    OPEN = ""


@dataclass(frozen=True)
class Answer:
    """The answer to one question."""

    text: str
    line: str = ""
    """The source line that it is about, "" for none."""
    row: int = -1
    """Of the HLO document, -1 for none."""
    state: State = State.OPEN
    view: str = ""
    """The tab of the panel that has it in full."""


def bound(program: Program, progress: Progress | None = None) -> Answer:
    """What bounds the program, and the line that takes most of its lower bound, or of its bytes without peaks."""
    work, roof = cost(program).work, cost(program).roofline
    taken = roof.seconds - roof.hidden if roof.total else roof.moved
    lines, weights = work.shares_by_line(roof.rows, taken, roof.bound)
    line, share = _largest(lines, weights)
    row = int(work.rows_of_parts[np.argmax(np.where(np.array(lines) == line, weights, -1))]) if line else -1
    is_unknown = roof.outcome in UNDECIDED
    measure = Measure.BYTES if not roof.total else Measure.KNOWN_TIME if is_unknown else Measure.LOWER_BOUND
    if roof.total and np.nansum(taken) > _ROUNDED * roof.total:
        measure = Measure.ALL_BRANCHES
    if measure is Measure.BYTES and work.bytes_range.reasons:
        measure = Measure.BYTES_OF_ALL_BRANCHES
    parts = [
        roof.verdict,
        wording.share(line, share, measure, work.is_inferred(line)) if line else "",
        cost_wording.open_work(work.flops_range),
        _estimate(program),
    ]
    text = " ".join(part for part in parts if part)
    return Answer(text, line, row, State.UNKNOWN if is_unknown else State.OPEN, "cost")


def _estimate(program: Program) -> str:
    prediction = known_prediction(program)
    return predicted_wording.estimate(prediction) if prediction is not None else ""


def fit(program: Program, progress: Progress | None = None) -> Answer:
    """Whether the program fits on its device."""
    fits = device_fit(program)
    if fits.needed is None:
        fits = memory_of(program, progress).fit
    return Answer(fits.text, state=State(fits.answer.value), view="memory")


def memory(program: Program, progress: Progress | None = None) -> Answer:
    """The line whose values hold the most memory at the peak; arguments belong to no line."""
    memory = memory_of(program, progress)
    space = memory.space()
    rows = memory.scheduled.buffers.at(space.position, space.color)
    kinds, sizes = memory.scheduled.buffers.kind[rows], memory.scheduled.buffers.size[rows]
    lines, places = memory.lines(rows, space.position)
    lines = [line if kind != Kind.ARGUMENT else "" for line, kind in zip(lines, kinds, strict=True)]
    line, _ = _largest(lines, sizes)
    arguments = int(sizes[kinds == Kind.ARGUMENT].sum())
    if not line:
        return Answer(wording.nothing_held(space.peak, arguments), view="memory")
    own = np.array([at == line for at in lines])
    row = int(places[own][np.argmax(sizes[own])])
    return Answer(
        wording.holds(Holding(line, _totals(kinds[own], sizes[own]), space.peak, arguments)), line, row, view="memory"
    )


def _totals(kinds: Any, sizes: Any) -> dict[Kind, int]:
    """Bytes of each kind, the most first, kinds without any left out."""
    totals = {Kind(kind): int(sizes[kinds == kind].sum()) for kind in np.unique(kinds).tolist()}
    return dict(sorted(((kind, size) for kind, size in totals.items() if size), key=lambda item: -item[1]))


def collective(program: Program, progress: Progress | None = None) -> Answer:
    """The collective that takes longest, or sends most where no time is known, with its line and cause."""
    exchanged = collectives(program, progress)
    if not len(exchanged):
        return Answer(exchanged.headline, view="collectives")
    costliest = exchanged.rows[0]
    line = next(iter(exchanged.lines(costliest)), "")
    text = " ".join(filter(None, [exchanged.headline, said_of_exposed(program)]))
    return Answer(text, line, exchanged.document_row(costliest), view="collectives")


def _largest(lines: Iterable[str], weights: Any) -> tuple[str, float]:
    """(the line of most weight, its share of all); what has no line counts in the whole alone."""
    total: dict[str, float] = {}
    for line, weight in zip(lines, np.nan_to_num(np.asarray(weights, np.float64)).tolist(), strict=True):
        total[line] = total.get(line, 0.0) + weight
    whole = sum(total.values())
    line = max((line for line in total if line), key=lambda line: total[line], default="")
    return (line, total[line] / whole) if line and total[line] else ("", 0.0)


Question = Callable[[Program, Progress | None], Answer]


def time(program: Program, progress: Progress | None = None) -> Answer:
    """The line that takes the time, and whether the device is idle, by the newest profile. Runs nothing."""
    timeline = program.timeline
    if timeline is None:
        if program.is_of_file:
            return Answer(measured_wording.NO_TIMES, state=State.UNKNOWN)
        return _not_measured(program)
    headline = timeline.headline
    return Answer(timeline_wording.sentence(headline), headline.line, headline.row, view="timeline")


def _not_measured(program: Program) -> Answer:
    """What is predicted of a program that was not profiled, where that is known; else how it is measured."""
    if (known := cheap_prediction(program)) is not None:
        headline = known.headline
        return Answer(timeline_wording.sentence(headline), headline.line, headline.row, view="timeline")
    told = measured_wording.not_measured(program.name, program.other_target)
    if can_be_predicted(program):
        why = why_not_predicted(program)
        return Answer(f"{told} {wording.not_predicted(why)}", state=State.UNKNOWN, view="timeline")
    return Answer(told, state=State.UNKNOWN)


QUESTIONS: dict[str, tuple[str, Question]] = {
    "bound": ("What bounds it?", bound),
    "fit": ("Does it fit?", fit),
    "memory": ("Which line holds the most memory?", memory),
    "collective": ("Which collective costs the most?", collective),
    "time": ("Which line takes the time, and is the device idle?", time),
}


@fact
def _lasting(program: Program) -> list[Answer]:
    """The answers that neither a profile changes nor a measurement of the device's peaks."""
    return [_tried(program, ask) for ask in (fit, memory, collective)]


def answers(program: Program) -> Table:
    """All five; what cannot be answered says why. Memory and collectives compile once more."""
    read_at_hand(program)
    answered = [_tried(program, bound), *_lasting(program), _tried(program, time)]
    columns = {
        "question": Column([question for question, _ in QUESTIONS.values()]),
        "answer": Column([answer.text for answer in answered]),
        "line": Column([answer.line for answer in answered]),
        "row": Column([answer.row for answer in answered], "", "row of the HLO document"),
    }
    return Table("answers", columns, notes=tuple(map(version_wording.note, program.old_versions)))


def _tried(program: Program, ask: Question) -> Answer:
    try:
        return ask(program, None)
    except (ValueError, RuntimeError, OSError, MemoryError) as error:
        return Answer(wording.unknown(error), state=State.UNKNOWN)
