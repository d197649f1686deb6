"""Stakes with the wholes that the header and the tabs show, so that a figure is one wherever it stands."""

from __future__ import annotations

from jaxstage_ext.compilation.records.compile_record import CacheOutcome, StageName
from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.findings.finding import Stake, StakeMeasure
from jaxstage_ext.program.behaviour.python_work import python_work
from jaxstage_ext.program.comparing.comparison_figures import target_figures
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.table import is_number

_FIGURES = {
    StakeMeasure.TIME: "time",
    StakeMeasure.MEMORY: "memory",
    StakeMeasure.MOVED: "bytes",
    StakeMeasure.SENT: "sent",
    StakeMeasure.FLOPS: "flops",
    StakeMeasure.COMPILE: "compile",
    StakeMeasure.LAUNCHES: "kernels",
}


def figure(program: Program, measure: StakeMeasure) -> float | None:
    """What the whole program takes of a measure; None where that is unknown, or only its least is.

    Of HOST it is the Python that can be timed without a run, which is no whole.
    """
    if measure is StakeMeasure.HOST:
        work = python_work(program)
        return None if work is None else work.seconds
    name = _FIGURES.get(measure)
    if name is None:
        return None
    known = target_figures(program).figures[name]
    if is_number(known.value):
        return float(known.value)
    return _compiled_before(program) if measure is StakeMeasure.COMPILE else None


def _compiled_before(program: Program) -> float | None:
    """Seconds of the compile that made an executable which JAX had already; None where nobody heard it."""
    record = program.compile_record()
    run = None if record is None else record.stage(StageName.COMPILE)
    if record is None or run is None or (record.persistent and record.persistent.outcome is CacheOutcome.HIT):
        return None
    return run.seconds


def stake(program: Program, measure: StakeMeasure, most: float | None, least: float | None = None) -> Stake:
    """Between `least` and `most` of what the whole program takes; `least` None: 0 to `most` is all that is known."""
    whole = None if measure is StakeMeasure.HOST else figure(program, measure)
    return Stake(measure, least, most if whole is None or most is None else min(most, whole), whole)


def exactly(program: Program, measure: StakeMeasure, amount: float) -> Stake:
    """A gain that was computed."""
    return stake(program, measure, amount, amount)


def temporaries(program: Program) -> float | None:
    """Bytes of the temporary memory, which is all that residuals can take; None where XLA does not say."""
    known = program.memory_statistics.sizes.get("temp_size_in_bytes")
    return None if known is None else float(known)


def compile_seconds(program: Program) -> float | None:
    """Seconds of the program's own compile; None where it was never timed."""
    return program.seconds.get(COMPILE)
