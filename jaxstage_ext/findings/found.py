"""All findings of a program, the most that can be gained first; what was not looked for says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, overload

from jaxstage_ext.findings import finding_wording as wording
from jaxstage_ext.findings import trial
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.detector_list import DETECTORS
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.finding_rows import finding_row
from jaxstage_ext.findings.trial import Trial
from jaxstage_ext.program.device import device_figures
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.tab import cheap_facts
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.rows import table_rows
from jaxstage_ext.report.saved.format_version import TABLE_VERSION
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import html_of
from jaxstage_ext.report.view_parts import Parts

MOST_SHOWN = 7
LEAST_SHARE = 0.01
"""Of the whole, what is not worth telling."""
_LEAST = {
    StakeMeasure.MEMORY: 16_384.0,
    StakeMeasure.COMPILE: 0.02,
    StakeMeasure.HOST: 20e-6,
}
"""By measure, what is not worth telling whatever its share is."""


@dataclass(frozen=True, repr=False)
class FoundIn(Finding):
    """A finding and the program that it was found in."""

    program: Program = field(kw_only=True, compare=False)
    view: Callable[[Program], Any] | None = field(default=None, kw_only=True, compare=False)
    """What makes of a program what the user sees of it, an Inspection."""

    @property
    def trial(self) -> Trial | None:
        """What trying the change gave; None where nobody tried it."""
        return self._shown(trial.of(self.program, self))

    @property
    def tried(self) -> str:
        """The same in a sentence; "" where nobody tried it."""
        made = self.trial
        return "" if made is None else made.text

    def try_(self, progress: Progress | None = None) -> Trial:
        """Compile the program with the change, and tell what really changes. Runs nothing.

        Raises Unavailable, with the reason, where the change cannot be made, and what such a compile raises.
        """
        made = trial.tried(self.program, self, progress)
        return made if self.view is None else replace(made, view=self.view)

    def _shown(self, made: Trial | None) -> Trial | None:
        return made if made is None or self.view is None else replace(made, view=self.view)

    def __str__(self) -> str:
        return wording.in_full(self, self.tried)

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Findings(Sequence[FoundIn]):
    """The findings of a program, in order."""

    program: Program
    found: tuple[FoundIn, ...]
    looked: tuple[FindingKind, ...]
    """The kinds that were looked for."""
    waiting: tuple[Detector, ...]
    """Those that take a compile of their own."""
    failures: tuple[str, ...]
    """Why a kind could not be looked for, one line each."""
    view: Callable[[Program], Any] | None = field(default=None, repr=False)
    """What makes of a program what the user sees of it, an Inspection."""

    @overload
    def __getitem__(self, index: int) -> FoundIn: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[FoundIn]: ...

    def __getitem__(self, index: int | slice) -> FoundIn | Sequence[FoundIn]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[FoundIn]:
        return iter(self.found)

    @property
    def best(self) -> FoundIn | None:
        """The one with the most to gain; None where there is none, or trying contradicted all."""
        return next((one for one in self.found if not _is_refuted(one)), None)

    @property
    def seconds(self) -> float | None:
        """How long looking for the waiting kinds takes at most: a compile for each thing they need; None unknown."""
        took = self.program.seconds.get("compile")
        needs = {need for detector in self.waiting for need in detector.needs}
        return None if took is None else took * len(needs)

    def all(self, progress: Progress | None = None) -> Findings:
        """With the kinds that take a compile of their own."""
        return found(self.program, everything=True, progress=progress).seen_as(self.view)

    def seen_as(self, view: Callable[[Program], Any] | None) -> Findings:
        """The same, whose trials show the changed program as that makes it of one."""
        return replace(self, found=tuple(replace(one, view=view) for one in self.found), view=view)

    @property
    def table(self) -> Table:
        """One row a finding."""
        columns = {
            "kind": Column([one.kind.value for one in self.found]),
            "finding": Column([one.text for one in self.found]),
            "line": Column([one.line for one in self.found]),
            "stake": Column([wording.gain(one) for one in self.found]),
            "change": Column([one.change.in_line if one.change else "" for one in self.found]),
            "tried": Column([one.tried for one in self.found]),
        }
        return Table("findings", columns, notes=tuple(self.notes))

    @property
    def notes(self) -> list[str]:
        """What was looked for, what was not and what that takes, and what failed."""
        notes = [] if self.found else [wording.nothing_found(self.looked)]
        if (more := len(self.found) - MOST_SHOWN) > 0:
            notes.append(wording.more(more))
        if self.waiting:
            notes.append(wording.waiting([one.kind for one in self.waiting], self.seconds))
        return [*notes, *self.failures]

    def to_json(self, limit: int | None = None) -> str:
        """The findings as versioned JSON in rows: kind, line, stake in numbers with its unit, change, certainty.

        At most `limit` of them. Raises ValueError for a limit below 1.
        """
        table_rows.check_limit(limit, len(self.found))
        shown = self.found if limit is None else self.found[:limit]
        form = {
            "findings": [finding_row(one) for one in shown],
            "left_out": len(self.found) - len(shown),
            "looked_for": [kind.value for kind in self.looked],
            "not_looked_for": [one.kind.value for one in self.waiting],
            "failures": list(self.failures),
        }
        return json.dumps({"jaxstage": TABLE_VERSION, **form})

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.found[:MOST_SHOWN]), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = self.found[:MOST_SHOWN]
        columns = {
            "finding": Column([wording.in_short(one, one.tried) for one in shown], is_answer=True),
            "change": Column([one.change.in_line if one.change else "" for one in shown], is_answer=True),
        }
        return html_of([Table("findings", columns, notes=tuple(self.notes))])


def found(program: Program, everything: bool = False, progress: Progress | None = None) -> Findings:
    """What was found in a program: what takes milliseconds, or with `everything` what takes a compile too."""
    parts, looked, waiting = Parts(), list[FindingKind](), list[Detector]()
    every: list[FoundIn] = []
    for detector in DETECTORS:
        if not parts.get(detector.kind.value, lambda: detector.applies(program), False):  # noqa: B023
            continue
        if not (everything or _is_known(program, detector) or detector.is_cheap(program)):
            waiting.append(detector)
            every += parts.get(detector.kind.value, lambda: _at_once(program, detector), ())  # noqa: B023
            continue
        none: tuple[FoundIn, ...] | None = None
        read = parts.get(detector.kind.value, lambda: _once(program, detector, progress), none)  # noqa: B023
        if read is not None:
            looked.append(detector.kind)
            every += read
    return Findings(program, in_order(every), tuple(looked), tuple(waiting), tuple(parts.failures))


def found_of(program: Program, kind: FindingKind) -> tuple[FoundIn, ...]:
    """The findings of one kind, compiled for where that takes a compile; none where the program cannot have it.

    Raises what looking for it raises, such as Unavailable.
    """
    detector = _detector(kind)
    return in_order(_once(program, detector, None)) if detector.applies(program) else ()


def applies_to(program: Program, kind: FindingKind) -> bool:
    """Whether a program can have a kind of finding, and is far enough to be looked at."""
    return _detector(kind).applies(program)


def _detector(kind: FindingKind) -> Detector:
    return next(detector for detector in DETECTORS if detector.kind is kind)


MOST_SAID = 3
"""Findings that stand in forms which show other things too."""


def said_briefly(program: Program) -> list[list[str]]:
    """Of each of the first findings its sentence and what to write, then how many more there are.

    Only what takes milliseconds.
    """
    made = looked_briefly(program)
    if made is None or not made.looked:
        return []
    said = [
        [wording.in_short(one, one.tried), *([] if _is_refuted(one) else wording.change_in_short(one))]
        for one in made[:MOST_SAID]
    ]
    if (more := len(made) - MOST_SAID) > 0:
        said.append([wording.more_in(more)])
    waiting = [one.kind for one in made.waiting]
    says_what_waits = bool(waiting) and (not said or FindingKind.COLLECTIVE in waiting)
    said = said or [[wording.nothing_found_in(len(made.looked))]]
    return [*said, [wording.waiting(waiting, made.seconds)]] if says_what_waits else said


_TIMED = (StakeMeasure.COMPILE, StakeMeasure.HOST)
"""What is timed, so that it differs from one compile of a program to the next."""


def said_without_times(finding: Finding) -> list[str]:
    """The sentence of a finding and what to write, equal for equal programs: of what is timed, the line alone."""
    if finding.stake.measure in _TIMED:
        return [finding.line, *wording.change_in_short(finding)]
    return [wording.in_short(finding), *wording.change_in_short(finding)]


def said_first(program: Program) -> str:
    """The sentence of the finding with the most to gain; "" where there is none, or finding one takes longer."""
    made = looked_briefly(program)
    best = None if made is None else made.best
    return "" if best is None else wording.in_short(best, best.tried)


def said_of_none(program: Program) -> str:
    """Why `said_first` says nothing: what was not looked for; "" where all was looked for, or something was found."""
    made = looked_briefly(program)
    if made is not None:
        return wording.nothing_yet([one.kind for one in made.waiting]) if made.waiting and made.best is None else ""
    has_none = program.tab or program.saved_summary is not None or program.is_running or not program.has_hlo
    return "" if has_none else wording.NOT_LOOKED


def looked_briefly(program: Program) -> Findings | None:
    """What was found in a program that is small or was looked at; None for others, whose findings take a moment."""
    if program.tab or program.saved_summary is not None or program.is_running:
        return None
    return found(program) if cheap_facts.is_small(program) or _is_looked_at(program) else None


def _is_looked_at(program: Program) -> bool:
    return any(_is_known(program, detector) for detector in DETECTORS)


def _is_known(program: Program, detector: Detector) -> bool:
    return ("finding", detector.kind) in program.results


def _at_once(program: Program, detector: Detector) -> tuple[FoundIn, ...]:
    found = () if detector.at_once is None else detector.at_once(program)
    return tuple(_in(program, one) for one in found if _is_worth(one))


def _once(program: Program, detector: Detector, progress: Progress | None) -> tuple[FoundIn, ...]:
    def compute() -> tuple[FoundIn, ...]:
        return tuple(_in(program, one) for one in detector.find(program, progress) if _is_worth(one))

    if not detector.is_kept:
        return compute()
    until_measured = () if device_figures.is_settled(program) else (_UNTIL_MEASURED,)
    return program.results.once(("finding", detector.kind, *until_measured), compute)


_UNTIL_MEASURED = "until the machine is measured"
"""Of a key: what was found while figures of this machine's CPU were unknown; what is found with them has its own."""


def _in(program: Program, finding: Finding) -> FoundIn:
    return FoundIn(**{each.name: getattr(finding, each.name) for each in fields(Finding)}, program=program)


def _is_worth(finding: Finding) -> bool:
    stake = finding.stake
    if stake.most is None:
        return True
    return (stake.share is None or stake.share >= LEAST_SHARE) and stake.most >= _LEAST.get(stake.measure, 0.0)


def in_order(findings: Sequence[FoundIn]) -> tuple[FoundIn, ...]:
    """What may make results wrong, then the largest share of the whole; what trying contradicted comes last."""
    return tuple(sorted(findings, key=rank))


def rank(finding: Finding) -> tuple[bool, bool, float, int]:
    """What findings are sorted by."""
    share, made = finding.stake.share or 0.0, finding.trial if isinstance(finding, FoundIn) else None
    if made is not None and made.realised is not None and finding.stake.whole:
        share = made.realised / finding.stake.whole
    certain = [*Certainty].index(finding.certainty)
    return _is_refuted(finding), finding.stake.measure is not StakeMeasure.RESULT, -share, certain


def _is_refuted(finding: Finding) -> bool:
    made = finding.trial if isinstance(finding, FoundIn) else None
    return made is not None and made.outcome not in (TrialOutcome.PAYS, TrialOutcome.UNKNOWN)
