"""A program compiled with sets of XLA flags, ranked by the estimate of its time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from jaxstage_ext.core.options import flag_values, option_sets, xla_flags
from jaxstage_ext.core.options.trial_flag_help import BY_PLATFORM, TrialFlags
from jaxstage_ext.core.recompile.option_change import with_options
from jaxstage_ext.program.comparing import what_if_wording as wording
from jaxstage_ext.program.comparing.what_if_row import TrialEnd, WhatIfRow
from jaxstage_ext.program.device.target_title import platform
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.progress import Progress, silent
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import html_of
from jaxstage_ext.report.unavailable import Unavailable

FlagSet = str | Mapping[str, Any]
BUDGET = 120.0
"""Seconds after which no further set is compiled."""
_LIMIT, _LEAST = "time limit", 1.0
"""Why a worker died whose time was over, and the least seconds that a compile is given."""


@dataclass(frozen=True, eq=False)
class WhatIf:
    """The program as it is, and with each set of flags, the shortest estimate first."""

    base: WhatIfRow
    rows: Sequence[WhatIfRow]
    """The base first."""
    unknown: Sequence[str] = field(default=())
    """Flags of ours that the installed jaxlib does not have."""

    @cached_property
    def best(self) -> WhatIfRow:
        """The row with the shortest estimate, which may be the base; without estimates the base."""
        estimated = [row for row in self.rows if row.seconds is not None and row.is_comparable]
        return min(estimated, key=lambda row: row.seconds or 0.0, default=self.base)

    @cached_property
    def table(self) -> Table:
        """One row a set of flags."""
        reasons = {
            (at, name): row.why_no_estimate
            for at, row in enumerate(self.rows)
            for name in ("estimate", "exposed")
            if row.seconds is None
        }
        counts = [row.counts for row in self.rows]
        columns = {
            "flags": Column([row.label for row in self.rows]),
            "estimate": Column([row.seconds for row in self.rows], "s", "of one call; notes say whose"),
            "exposed": Column([row.exposed for row in self.rows], "s", "collectives that nothing hides"),
            "lower bound": Column([row.bound for row in self.rows], "s"),
            "memory": Column([row.memory for row in self.rows], "B", "that XLA allocates on one device"),
            "collectives": Column([sum(one.collectives.values()) if one else None for one in counts]),
            "asynchronous": Column([one.asynchronous if one else None for one in counts]),
            "fusions": Column([one.fusions if one else None for one in counts]),
            "changed": Column([wording.changed(row, self.base) for row in self.rows]),
            "effect": Column([row.effect for row in self.rows], "", "what the flags do"),
        }
        return Table("what if", columns, reasons, notes=tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        yield wording.headline(self.rows, self.base)
        if self.base.seconds is not None:
            yield wording.ESTIMATE_NOTE
        if self.best is not self.base:
            yield wording.apply(self.best)
        if left := sum(row.end in (TrialEnd.NO_TIME, TrialEnd.INTERRUPTED) for row in self.rows):
            yield wording.not_tried(left)
        if self.unknown:
            yield wording.unknown_flags(self.unknown)

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of([self.table])


def what_if(
    program: Program, flags: Sequence[FlagSet] | None = None, budget: float = BUDGET, progress: Progress | None = None
) -> WhatIf:
    """A program compiled with each set of flags in a worker; None: those that matter for overlap and fusion.

    Raises:
      OptionError: in one line, for a flag or a value that XLA does not have.
      Unavailable: where nothing was lowered, or the program as it is does not compile.
      TargetError: where the kernel holds the accelerator that it would be compiled for.
    """
    sets, unknown = _own(program) if flags is None else ([_checked(one) for one in flags], ())
    trials = _Trials(program, budget, progress or silent, len(sets) + 1)
    base = trials.base()
    rows = [trials.row(options) for options in sets]
    return WhatIf(base, (base, *sorted(rows, key=lambda row: row.rank)), unknown)


def _checked(given: FlagSet) -> dict[str, Any]:
    """One set of flags as jaxlib takes it: "a=1 b=true", with or without dashes, or values by name."""
    return flag_values.check(given) if isinstance(given, Mapping) else flag_values.build(str(given).split())


def _own(program: Program) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The sets that are tried where the user gives none, and the flags without which jaxlib has none alike."""
    listed = BY_PLATFORM.get(platform(program), ())
    taken = [flags for flags in listed if not _lacking(flags)]
    known = {flags.effect for flags in taken}
    unknown = dict.fromkeys(name for flags in listed if flags.effect not in known for name in _lacking(flags))
    return [flag_values.check(flags.options) for flags in taken], tuple(unknown)


def _lacking(flags: TrialFlags) -> list[str]:
    """The names that the installed jaxlib does not know; only libtpu knows its own."""
    known = xla_flags.installed().by_name
    return [name for name in flags.options if known and name not in known and not name.startswith("xla_tpu_")]


def _first_line(error: StageError | None) -> str:
    return error.message.partition("\n")[0] if error is not None else ""


class _Trials:
    """Compiles, one after the other, until the time is over or the user interrupts."""

    def __init__(self, program: Program, budget: float, progress: Progress, count: int) -> None:
        self._program, self._progress, self._count = program, progress, count
        self._began, self._budget = time.monotonic(), budget
        self._made = 0
        self._interrupted = False

    def base(self) -> WhatIfRow:
        """The program as it is, compiled in a worker as the others are."""
        row = self._compiled(wording.BASE, {}, None)
        if row.program is None:
            if row.end is TrialEnd.INTERRUPTED:
                raise KeyboardInterrupt
            raise Unavailable(wording.not_compiled(row.why))
        return row

    def row(self, options: Mapping[str, Any]) -> WhatIfRow:
        """The program with these options."""
        label, left = option_sets.spelled(options), self._budget - (time.monotonic() - self._began)
        if self._interrupted or left < _LEAST:
            return WhatIfRow(label, options, TrialEnd.INTERRUPTED if self._interrupted else TrialEnd.NO_TIME)
        return self._compiled(label, options, left)

    def _compiled(self, label: str, options: Mapping[str, Any], seconds: float | None) -> WhatIfRow:
        self._made += 1
        self._progress(time.monotonic() - self._began, f"{self._made} of {self._count}: {label}")
        program = Program(with_options(self._program.staged, options, seconds))
        program.advance()
        failed = program.staged.failed
        if failed is None or failed.error is None:
            return WhatIfRow(label, options, TrialEnd.COMPILED, program)
        if isinstance(failed.error, KeyboardInterrupt):
            self._interrupted = True
            return WhatIfRow(label, options, TrialEnd.INTERRUPTED)
        if getattr(failed.error, "cause", "") == _LIMIT:
            return WhatIfRow(label, options, TrialEnd.NO_TIME)
        return WhatIfRow(label, options, TrialEnd.FAILED, why=_first_line(program.error))
