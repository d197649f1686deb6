"""Four questions about a program, each answered in one sentence, with the source line that it points to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxstage_ext.analysis.memory.buffers import ARGUMENT, KINDS
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.report.progress import Progress, silent
from jaxstage_ext.report.table import Column, Table, scaled

if TYPE_CHECKING:
    from jaxstage_ext.inspection import Inspection


@dataclass(frozen=True)
class Answer:
    """The answer to one question.

    Attributes:
      line: the source line that it is about, "" for none.    row: of the HLO document, -1 for none.
      state: "yes" or "no" where that is the answer, "unknown" where there is none, else "".
      view: the tab of the panel that has it in full.
    """

    text: str
    line: str = ""
    row: int = -1
    state: str = ""
    view: str = ""


def bound(inspection: Inspection, progress: Progress = silent) -> Answer:
    """What bounds the program, and the line that most of its least time goes to; without peaks, most bytes."""
    roof = inspection.cost.roofline
    is_unknown = roof.verdict.startswith("What bounds it is unknown")
    line, share = _largest(roof.line, roof.seconds - roof.hidden if roof.total else roof.moved)
    row = next((int(row) for at, row in zip(roof.line, roof.row, strict=True) if at == line), -1) if line else -1
    what = "the bytes that are moved" if not roof.total else "the time that is known" if is_unknown else "that time"
    most = f" {line} takes {share:.0%} of {what}." if line else ""
    return Answer(roof.verdict + most, line, row, "unknown" if is_unknown else "", "cost")


def fit(inspection: Inspection, progress: Progress = silent) -> Answer:
    """Whether the device has room for the program."""
    found = inspection.memory_look.memory(progress).fit
    state = "unknown" if found.fits is None else "yes" if found.fits else "no"
    return Answer(found.text, state=state, view="memory")


def memory(inspection: Inspection, progress: Progress = silent) -> Answer:
    """The line whose values take most of what lives at the worst moment; arguments belong to no line."""
    found = inspection.memory_look.memory(progress)
    space = found.space()
    rows = found.laid.buffers.at(space.position, space.color)
    kinds, sizes = found.laid.buffers.kind[rows], found.laid.buffers.size[rows]
    lines = [_made_at(found, int(row)) if kind != ARGUMENT else "" for row, kind in zip(rows, kinds, strict=True)]
    line, _ = _largest(lines, sizes)
    given, live = int(sizes[kinds == ARGUMENT].sum()), scaled(space.peak, "B")
    taken = f"arguments take {scaled(given, 'B')}" if given else "there are no arguments"
    if not line:
        return Answer(f"None: {live} live at the peak; {taken}.", view="memory")
    mine = np.array([one == line for one in lines])
    first, held = int(rows[mine][np.argmax(sizes[mine])]), int(sizes[mine].sum())
    row = int(found.places.row[found.laid.buffers.instruction[first]])
    what = f"{scaled(held, 'B')}{_kinds(kinds[mine], sizes[mine])}"
    text = f"{line}: {what} of the {live} that live at the peak; {taken}."
    if given > held:
        text = (
            f"Most are arguments: {scaled(given, 'B')} of the {live} that live at the peak. Of lines, {line}: {what}."
        )
    return Answer(text, line, row, view="memory")


def _kinds(kinds: Any, sizes: Any) -> str:
    """Of one line's bytes, what they are: the most first."""
    totals = {KINDS[kind]: int(sizes[kinds == kind].sum()) for kind in np.unique(kinds).tolist()}
    told = [f"{scaled(size, 'B')} {name}" for name, size in sorted(totals.items(), key=lambda item: -item[1]) if size]
    return f" ({', '.join(told)})" if len(told) > 1 else f", {next(iter(totals))}"


def _made_at(found: Memory, row: int) -> str:
    made = int(found.laid.buffers.instruction[row])
    return found.places.line[made] if made >= 0 else ""


def collective(inspection: Inspection, progress: Progress = silent) -> Answer:
    """The collective that takes longest, or where no time is known sends most, with its line and cause."""
    found = inspection.find_collectives(progress)
    if not len(found):
        return Answer(found.headline, view="collectives")
    costliest = found.rows[0]
    line = found.line(costliest).partition(", ")[0]
    return Answer(found.headline, line, found.document_row(costliest), view="collectives")


def _largest(lines: Iterable[str], weights: Any) -> tuple[str, float]:
    """(the line of most weight, its share of all); unknown lines count in the whole alone."""
    total: dict[str, float] = {}
    for line, weight in zip(lines, np.nan_to_num(np.asarray(weights, np.float64)).tolist(), strict=True):
        total[line] = total.get(line, 0.0) + weight
    whole = sum(total.values())
    line = max((one for one in total if one), key=lambda one: total[one], default="")
    return (line, total[line] / whole) if line and total[line] else ("", 0.0)


QUESTIONS: dict[str, tuple[str, Callable[[Inspection, Progress], Answer]]] = {
    "bound": ("What bounds it?", bound),
    "fit": ("Does it fit?", fit),
    "memory": ("Which line holds most memory?", memory),
    "collective": ("Which collective costs most?", collective),
}


def table(inspection: Inspection) -> Table:
    """All four; what cannot be answered says why. Memory and collectives compile once more."""
    found = [_tried(inspection, ask) for _, ask in QUESTIONS.values()]
    columns = {
        "question": Column([question for question, _ in QUESTIONS.values()]),
        "answer": Column([one.text for one in found]),
        "line": Column([one.line for one in found]),
        "row": Column([one.row for one in found], "", "row of the HLO document"),
    }
    return Table("answers", columns)


def _tried(inspection: Inspection, ask: Callable[[Inspection, Progress], Answer]) -> Answer:
    try:
        return ask(inspection, silent)
    except (ValueError, RuntimeError, OSError, MemoryError) as error:
        return Answer(f"unknown: {' '.join(str(error).split())}", state="unknown")
