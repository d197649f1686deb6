"""Changes that are compiled before they are advised: what they save on the links, and that they cost nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from jaxstage_ext.analysis.memory import fit
from jaxstage_ext.findings import stakes, trial
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, StakeMeasure
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.collectives import exchanges
from jaxstage_ext.report.unavailable import Unavailable

LEAST_GAIN = 0.02
"""Of the whole, what a change has to save."""
_MORE_MEMORY, _MORE_BYTES = 0.05, 1 << 20
"""How much more memory a change may take: a share, and what is nothing on any device."""
_MORE_WORK = 0.1
_FLOPS_FOR_A_BYTE = 10.0
"""About what any device computes while it moves a byte."""


@dataclass(frozen=True)
class Candidate:
    """A change that may pay."""

    change: CodeChange
    names: tuple[str, ...] = ()
    """The arguments or results that it is about."""
    line: str = ""
    """Of what is changed, where that is not the line of the collective."""
    caveat: str = ""
    """What it asks of the rest of the user's program."""


@dataclass
class TrialBudget:
    """How many changes of a program are still compiled."""

    left: int


def measure(program: Program) -> StakeMeasure:
    """Time where it is known how long each collective takes, else the bytes sent."""
    timed = all(row.seconds is not None for row in exchanges(program).rows)
    is_known = timed and stakes.figure(program, StakeMeasure.TIME) is not None
    return StakeMeasure.TIME if is_known else StakeMeasure.SENT


def best(
    program: Program,
    budget: TrialBudget,
    candidates: Iterable[Candidate],
    finding: Callable[[Candidate], Finding],
    enough: float,
) -> Finding | None:
    """The finding with the change that saves most, or the first that saves `enough`; None where none pays.

    Its trial is kept, so that it is known at once.
    """
    paying: list[tuple[float, Candidate, Program]] = []
    for candidate in candidates:
        if budget.left <= 0 or candidate.change.stage is None:
            break
        budget.left -= 1
        try:
            after = trial.changed_program(program, candidate.change.stage)
        except (Unavailable, ValueError, TypeError, NotImplementedError):  # not every program can be changed so
            continue
        gained = _gained(program, after)
        paying += [] if gained is None else [(gained, candidate, after)]
        if gained is not None and gained >= enough:
            break
    if not paying:
        return None
    gained, candidate, after = max(paying, key=lambda one: one[0])
    stake = stakes.exactly(program, measure(program), gained)
    made = replace(finding(candidate), change=candidate.change, stake=stake, certainty=Certainty.COUNTED)
    trial.keep(program, made, after)
    return made


def _gained(before: Program, after: Program) -> float | None:
    """What is saved; None where that is too little, or unknown, or the change costs something else."""
    of = measure(before)
    whole, rest = stakes.figure(before, of), stakes.figure(after, of)
    if not whole or rest is None or measure(after) is not of or whole - rest < LEAST_GAIN * whole:
        return None
    return whole - rest if _is_free(before, after, of) else None


def _is_free(before: Program, after: Program, of: StakeMeasure) -> bool:
    """Whether memory and work stay about the same; the lower bound of the time holds the work."""
    memory, more = _memory(before), _memory(after)
    if memory is None or more is None or more > memory + max(_MORE_MEMORY * memory, _MORE_BYTES):
        return False
    if of is StakeMeasure.TIME:
        return True
    work, now = _work(before), _work(after)
    return work is not None and now is not None and now <= work * (1 + _MORE_WORK)


def _memory(program: Program) -> float | None:
    """What the executable needs; where XLA gives no total, what it gives of it, to compare."""
    needed, sizes = stakes.figure(program, StakeMeasure.MEMORY), program.memory_statistics.sizes
    return float(fit.without_constants(sizes)) if needed is None and sizes else needed


def _work(program: Program) -> float | None:
    moved, flops = (stakes.figure(program, of) for of in (StakeMeasure.MOVED, StakeMeasure.FLOPS))
    return None if moved is None or flops is None else moved + flops / _FLOPS_FOR_A_BYTE
