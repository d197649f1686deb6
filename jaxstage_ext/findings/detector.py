"""What looks for a kind of finding."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jaxstage_ext.core.recompile import recompiled_buffers
from jaxstage_ext.findings.finding import Finding
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import collectives as exchanged
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.program.questions.passes import passes
from jaxstage_ext.report.progress import Progress


class Need(enum.Enum):
    """What a detector reads that takes a compile of its own, unless somebody has looked at it already."""

    MEMORY = "the buffers, by one more compile"
    CAUSES = "what caused the collectives, by one more compile"
    PASSES = "the passes, by one more compile"
    TRIAL = "a compile of the changed program"

    def is_known(self, program: Program) -> bool:
        """Whether it is known, or takes milliseconds."""
        return _KNOWN[self](program)


def _never(program: Program) -> bool:
    return False


_KNOWN: dict[Need, Callable[[Program], bool]] = {
    Need.MEMORY: lambda program: memory.is_known(program) or recompiled_buffers.came_with_compile(program.staged),
    Need.CAUSES: lambda program: exchanged.collectives.is_known(program) or not exchanged.count(program),
    Need.PASSES: passes.is_known,
    Need.TRIAL: _never,
}


def _always(program: Program) -> bool:
    return True


def is_compiled(program: Program) -> bool:
    """Whether there is an optimised module to look at."""
    return program.has_hlo


def is_traced(program: Program) -> bool:
    """Whether JAX traced the call here, so that there is a jaxpr to look at."""
    return program.jax_traced is not None


@dataclass(frozen=True)
class Detector:
    """What looks for one kind of finding in a program."""

    kind: FindingKind
    find: Callable[[Program, Progress | None], Sequence[Finding]]
    """Raises Unavailable where the program does not tell. What it returns need not be in order."""
    applies: Callable[[Program], bool] = _always
    """Whether a program can have such a finding; false before the stage that shows it."""
    needs: tuple[Need, ...] = ()
    """What it reads that takes a compile."""
    at_once: Callable[[Program], Sequence[Finding]] | None = None
    """Finds what shows without what it needs, until that is looked at; None where nothing does."""
    is_kept: bool = True
    """Whether what it found is kept with the program; not of what the process goes on doing, such as compiles."""

    def is_cheap(self, program: Program) -> bool:
        """Whether it takes milliseconds: what it needs is known or came with the compile."""
        return all(need.is_known(program) for need in self.needs)
