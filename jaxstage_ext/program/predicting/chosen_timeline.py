"""Which timelines a program has, measured or predicted, and the one that is asked for."""

from __future__ import annotations

from enum import StrEnum

from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.kinds import recorded_program
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.predicted import predicted
from jaxstage_ext.report.progress import Progress


class TimelineKind(StrEnum):
    """Where the times of a timeline come from."""

    MEASURED = "measured"
    PREDICTED = "predicted"


_LOOKED_AT = "prediction looked at"
_PREDICTING = ("gpu", "tpu")
"""Platforms for whose devices something predicts times; whether for this device and program, asking tells."""


def can_be_predicted(program: Program) -> bool:
    """Whether a prediction can be asked for: it was compiled for GPUs or TPUs. Computes nothing."""
    if program.tab or program.is_running or program.saved_summary is not None or program.executable is None:
        return False
    return not program.target.is_local and program.platform in _PREDICTING and program.has_hlo


def timeline_kinds(program: Program) -> tuple[TimelineKind, ...]:
    """The timelines that can be asked for, the one that opens first first."""
    measured = (TimelineKind.MEASURED,) if program.timeline is not None else ()
    return (*measured, *((TimelineKind.PREDICTED,) if can_be_predicted(program) else ()))


def chosen_kind(program: Program, kind: TimelineKind | None) -> TimelineKind:
    """The kind that is asked for, or the first that there is; MEASURED where there is none."""
    return kind or next(iter(timeline_kinds(program)), TimelineKind.MEASURED)


def is_known(program: Program, kind: TimelineKind | None = None) -> bool:
    """Whether a timeline was made already. Computes nothing."""
    if chosen_kind(program, kind) is TimelineKind.PREDICTED:
        return predicted.is_known(program)
    return program.timeline is not None


def look_at_prediction(program: Program) -> None:
    """Somebody has looked at the predicted timeline, so that still forms show it."""
    program.results.put(_LOOKED_AT, True)


def looked_at_prediction(program: Program) -> Timeline | None:
    """The predicted timeline, if somebody has looked at it; its time alone may be known without."""
    return predicted.known(program) if _LOOKED_AT in program.results else None


def chosen_timeline(program: Program, kind: TimelineKind | None = None, progress: Progress | None = None) -> Timeline:
    """The timeline of a kind, None for the first that there is. Raises Unavailable where there is none, and why."""
    if chosen_kind(program, kind) is TimelineKind.PREDICTED:
        made = predicted(program, progress)
        look_at_prediction(program)
        return made
    return recorded_program.timeline(program)
