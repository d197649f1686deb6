"""The findings of all programs of a session, and the recompiles of all its functions: what costs it the most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import overload

from jaxstage_ext.compilation.history.history import history
from jaxstage_ext.compilation.history.history_totals import seconds
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, StageName
from jaxstage_ext.compilation.records.record_names import function_title
from jaxstage_ext.findings import finding_wording as wording
from jaxstage_ext.findings.compile_time import recompile
from jaxstage_ext.findings.finding import Finding
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.found import Findings, FoundIn, found, rank
from jaxstage_ext.program.kinds import logged_program
from jaxstage_ext.program.tab import cheap_facts
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import html_of
from jaxstage_ext.report.view_parts import Parts

MOST_SHOWN = 10


@dataclass(frozen=True)
class FoundInSession:
    """A finding and where it was found."""

    where: str
    """The program, "step, In [3]"; of a recompile the compile log."""
    finding: Finding

    def __str__(self) -> str:
        return f"{self.where}: {self.finding}" if isinstance(self.finding, FoundIn) else self.text

    __repr__ = __str__

    @property
    def tried(self) -> str:
        """What trying the change showed, in a sentence; "" where nobody tried it."""
        return self.finding.tried if isinstance(self.finding, FoundIn) else ""

    @property
    def change(self) -> str:
        """The lines to write, as one; "" where there are none."""
        return "" if self.finding.change is None else self.finding.change.in_line

    @property
    def text(self) -> str:
        """One paragraph."""
        said = f"{self.where}: {wording.in_short(self.finding, self.tried)}"
        return "\n".join([said, *(f"    {line}" for line in wording.change_in_short(self.finding))])


@dataclass(frozen=True, eq=False)
class SessionFindings(Sequence[FoundInSession]):
    """What was found in a session, the largest share of its whole first."""

    found: tuple[FoundInSession, ...]
    programs: int
    """How many were looked at."""
    compiles: int
    compiling: float
    """How often the user's code compiled, and the seconds that it took."""
    waiting: tuple[FindingKind, ...] = ()
    """Kinds that take a compile and were not looked for in every program."""
    failures: tuple[str, ...] = field(default=(), repr=False)

    @overload
    def __getitem__(self, index: int) -> FoundInSession: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[FoundInSession]: ...

    def __getitem__(self, index: int | slice) -> FoundInSession | Sequence[FoundInSession]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[FoundInSession]:
        return iter(self.found)

    @property
    def headline(self) -> str:
        """How much was looked at."""
        return wording.session(len(self.found), self.programs, self.compiles, self.compiling)

    @property
    def notes(self) -> list[str]:
        """What is not shown, what was not looked for, and what failed."""
        more = len(self.found) - MOST_SHOWN
        notes = [wording.more(more)] if more > 0 else []
        notes += [wording.waiting_in_session(self.waiting)] if self.waiting else []
        return [*notes, *self.failures]

    @property
    def table(self) -> Table:
        """One row a finding."""
        columns = {
            "where": Column([one.where for one in self.found]),
            "kind": Column([one.finding.kind.value for one in self.found]),
            "finding": Column([one.finding.text for one in self.found]),
            "line": Column([one.finding.line for one in self.found]),
            "stake": Column([wording.gain(one.finding) for one in self.found]),
            "change": Column([one.change for one in self.found]),
            "tried": Column([one.tried for one in self.found]),
        }
        return Table("findings", columns, notes=(self.headline, *self.notes))

    def __str__(self) -> str:
        return "\n\n".join([self.headline, *(one.text for one in self.found[:MOST_SHOWN]), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = self.found[:MOST_SHOWN]
        columns = {
            "where": Column([one.where for one in shown]),
            "finding": Column([wording.in_short(one.finding, one.tried) for one in shown], is_answer=True),
            "change": Column([one.change for one in shown], is_answer=True),
        }
        return html_of([Table("findings", columns, notes=(self.headline, *self.notes))])


def of_session(programs: Sequence[tuple[str, Findings]], with_compiles: bool = True) -> SessionFindings:
    """What was found in programs, each with its name, the newest first, and in the compile log.

    Of a program that was inspected more than once, what its newest inspection tells stands for all; of one that only
    compiled, its slowest compiles, where no inspection tells the same of the line.
    """
    parts = Parts()
    log = history()
    compiled = [one for one in log.records if one.asker is Asker.USER and one.stage(StageName.COMPILE) is not None]
    whole = seconds(compiled)
    codes = dict.fromkeys(one.function.code for one in compiled if one.function is not None)
    every: dict[object, FoundInSession] = {}
    none: list[Finding] = []
    nothing: list[tuple[str, Findings]] = []
    for code in filter(None, codes):
        for one in parts.get(FindingKind.RECOMPILE.value, partial(recompile.of_code, code, whole), none):
            every[one.key, one.text] = FoundInSession(wording.COMPILE_LOG, one)
    for where, findings in programs:
        for one in findings:
            if one.kind is not FindingKind.RECOMPILE:
                every.setdefault((findings.program.name, *one.key), FoundInSession(where, one))
    if with_compiles:
        told = {(one.finding.kind, one.finding.line) for one in every.values()}
        for where, findings in parts.get(wording.COMPILE_LOG, partial(_of_slowest, compiled), nothing):
            for one in findings:
                if one.kind is not FindingKind.RECOMPILE and (one.kind, one.line) not in told:
                    every.setdefault((findings.program.name, *one.key), FoundInSession(where, one))
    waiting = dict.fromkeys(detector.kind for _, findings in programs for detector in findings.waiting)
    failures = (*(line for _, findings in programs for line in findings.failures), *parts.failures)
    ordered = sorted(every.values(), key=lambda one: rank(one.finding))
    return SessionFindings(
        tuple(ordered), len(programs), len(compiled), whole, tuple(waiting), tuple(dict.fromkeys(failures))
    )


def _of_slowest(compiled: Sequence[CompileRecord]) -> list[tuple[str, Findings]]:
    """What takes milliseconds to find in the slowest of the compiles that the log has kept."""
    kept = [one for one in compiled if not logged_program.why_not_opened(one)]
    made = []
    for record in sorted(kept, key=lambda record: -record.own_seconds)[:MOST_SHOWN]:
        program = logged_program.logged_program(record)
        if cheap_facts.is_small(program):
            cell = "" if record.cell is None else f"In [{record.cell}]"
            made.append((", ".join(filter(None, (function_title(record), cell))), found(program)))
    return made
