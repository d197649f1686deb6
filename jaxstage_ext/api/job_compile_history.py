"""What all processes of a job have compiled, which a notebook shows as a panel."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.panel.showing import display
from jaxstage_ext.processes.engines.engine_job import PATIENCE, current_job
from jaxstage_ext.processes.gathered_compiles import gathered_compiles
from jaxstage_ext.processes.shown_job_compiles import JobCompiles


@dataclass(frozen=True, eq=False, repr=False)
class JobCompileHistory(JobCompiles):
    """What all processes of a job have compiled. In a notebook it shows itself as a panel, elsewhere as text."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        if not display.in_notebook():
            return {"text/plain": repr(self), "text/html": self._repr_html_()}
        from jaxstage_ext.program.kinds.job_compiles_program import JobCompilesProgram

        return display.mimebundle([JobCompilesProgram(self, job_compile_history, _ask)])


def job_compile_history() -> JobCompileHistory:
    """What the processes of this kernel's job say now. Those that do not answer within 5 seconds are in `missing`.

    Raises NoJob where there is none.
    """
    made = gathered_compiles(functools.partial(current_job().ask, limit=PATIENCE))
    return JobCompileHistory(made.logs, made.missing, made.keys)


def _ask(function: str, *arguments: object, **how: Any) -> Any:
    """Ask the job that there is when somebody looks."""
    return current_job().ask(function, *arguments, limit=PATIENCE, **how)
