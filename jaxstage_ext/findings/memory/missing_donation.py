"""Arguments that are not donated though a result could reuse their memory."""

from __future__ import annotations

import functools

from jaxstage_ext.analysis.memory import memory_advice
from jaxstage_ext.analysis.memory.live_memory import Memory
from jaxstage_ext.analysis.memory.memory_advice import MemoryAdvice, Suggestion
from jaxstage_ext.core.derivative import donation
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.detector import Detector, Need, is_compiled
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.memory import memory
from jaxstage_ext.report.progress import Progress


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all arguments that a result of the same type could replace."""
    read = memory(program, progress)
    return [_finding(program, read, item) for item in read.suggestions if item.kind is Suggestion.NOT_DONATED]


def _finding(program: Program, read: Memory, item: MemoryAdvice) -> Finding:
    return Finding(
        FindingKind.MISSING_DONATION,
        wording.not_donated(item.asked, item.bytes),
        stakes.stake(program, StakeMeasure.MEMORY, float(item.bytes)),
        names=item.names,
        change=CodeChange(wording.donate(item.asked), stage=functools.partial(_donated, read, item.asked)),
        certainty=Certainty.ESTIMATED,
        caveat=wording.DONATED_IS_GONE,
        tab="memory",
    )


def _donated(read: Memory, names: tuple[str, ...], staged: Staged) -> Staged:
    every = [argument.name for argument in read.entry.arguments] if read.entry else []
    numbers = [at for at, path in enumerate(every) if any(memory_advice.concerns(path, name) for name in names)]
    return donation.staged_with(staged, numbers)


DETECTOR = Detector(FindingKind.MISSING_DONATION, find, is_compiled, (Need.MEMORY,))
