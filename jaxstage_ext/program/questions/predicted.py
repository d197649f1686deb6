"""The predicted timeline of a program."""

from __future__ import annotations

from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.fact import slow_fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable


@slow_fact
def predicted(program: Program, progress: Progress | None) -> Timeline:
    """The timeline that a compiler predicts. Raises Unavailable, with the reason, where there is none."""
    raise Unavailable("nothing predicts it")
