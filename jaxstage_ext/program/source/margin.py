"""What stands beside the lines of a program's documents, and the warnings at them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from jaxstage_ext.analysis.margin import dtype_margin, resharding_warnings, sharding_margin, time_margin
from jaxstage_ext.analysis.margin.line_values import Lane
from jaxstage_ext.analysis.margin.resharding_warnings import Warned
from jaxstage_ext.program.kinds.recorded_program import timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.collectives import collectives
from jaxstage_ext.program.questions.dtypes import dtypes
from jaxstage_ext.program.questions.propagated_module import propagated_module
from jaxstage_ext.program.questions.shardings import shardings
from jaxstage_ext.program.source.instruction_places import instruction_places
from jaxstage_ext.report.progress import Progress


class WarningsAtLines(NamedTuple):
    """What is resharded or gathered whole: at the lines, in itself, and where each stands, as (document, row)."""

    lane: Lane
    warnings: tuple[Warned, ...]
    places: list[list[tuple[str, int]]]


def sharding_lane(program: Program, progress: Progress | None = None) -> Lane:
    """The sharding of each value at its line; that of values between is asked of the compiler, as for `intermediates`.

    Raises Unavailable where nothing was lowered.
    """
    values, notes, module = shardings(program).values, list[str](), None
    try:
        module = propagated_module(program, progress)
    except (RuntimeError, ValueError, OSError, MemoryError) as error:  # arguments and results hold without it
        notes.append(f"Of arguments and results alone: {' '.join(str(error).split())[:300]}")
    documents = program.readable
    optimised = (program.module, instruction_places(program)) if program.has_hlo else None
    frames = program.frame_table.freeze()
    return sharding_margin.lane(
        sharding_margin.MarginInputs(frames, documents, values, module, optimised, program.definition, tuple(notes))
    )


def dtype_lane(program: Program, progress: Progress | None = None) -> Lane:
    """Each change of dtype at its line. Raises Unavailable where nothing was traced."""
    conversions = dtypes(program).conversions
    return dtype_margin.lane(program.readable, program.frame_table.freeze(), conversions)


def time_lane(program: Program, progress: Progress | None = None) -> Lane:
    """The measured time of each line, by the newest profile. Raises Unavailable where the program was not profiled."""
    measured = timeline(program)
    return time_margin.lane(program.readable, measured.by_line(), measured.by_op())


LANES: Mapping[str, Callable[[Program, Progress | None], Lane]] = {
    "sharding": sharding_lane,
    "dtypes": dtype_lane,
    "time": time_lane,
}
"""What can stand beside the lines, by name."""


def warnings(program: Program, progress: Progress | None = None) -> WarningsAtLines:
    """The warnings of collectives that were not asked for. Raises Unavailable where nothing was compiled."""
    warned = resharding_warnings.read(collectives(program, progress), program.documents["hlo"])
    lane, places = resharding_warnings.lane(warned, program.readable)
    return WarningsAtLines(lane, warned, places)
