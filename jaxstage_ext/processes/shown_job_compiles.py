"""The compile logs of all processes as a value that shows itself, and its tables."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

from jaxstage_ext.processes import job_compiles_wording as wording
from jaxstage_ext.processes.compile_row_form import CompileRowForm
from jaxstage_ext.processes.job_compiles import JobProgram, MergedCompiles, ProgramName
from jaxstage_ext.processes.key_comparison import ComparedKeys
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Column, Place, Table
from jaxstage_ext.report.text.process_names import process_numbers
from jaxstage_ext.report.text.table_forms import Part, html_of, text_of


@dataclass(frozen=True, eq=False, repr=False)
class JobCompiles(MergedCompiles):
    """What all processes of a job have compiled. It shows itself as text and as HTML.

    Attributes:
      keys: how the keys of a program in the persistent cache differ between processes, for the first programs whose
        keys do.
    """

    keys: Mapping[tuple[ProgramName, int], ComparedKeys] = field(default_factory=dict)

    def table(self, eager: bool = False) -> Table:
        """One row a record of each process, in the order of their clocks.

        Operations outside any jitted function on a process's own devices have rows only with `eager`.
        """
        return _records(self.listed(eager))

    def listed(self, eager: bool = False) -> list[tuple[int, CompileRowForm]]:
        """What `table` has rows of: the process and its record."""
        listed = [
            (log["process"], row)
            for log in self.logs
            for row in log["rows"]
            if eager or not row["is_eager"] or len(row["processes"]) > 1
        ]
        return sorted(listed, key=lambda pair: pair[1]["began"])

    def by_program(self) -> Table:
        """One row a program of several processes: the slowest, the wait for it, and what the persistent cache did."""
        made = self.programs
        waits = [self.waited(one) for one in made]
        compared = [self.keys.get((one.name, one.time)) for one in made]
        parts = [
            wording.differing_parts(keys, one.has_other_keys and self.uses_cache)
            for keys, one in zip(compared, made, strict=True)
        ]
        reasons: dict[Place, str] = {}
        for at, (one, waited, differing) in enumerate(zip(made, waits, parts, strict=True)):
            reasons |= {} if waited is not None else {(at, "wait"): self._why_no_wait(one)}
            reasons |= (
                {} if differing is not None else {(at, "cache keys differ in"): wording.missing_key(compared[at])}
            )
        columns = {
            "program": Column([wording.program(one.name) for one in made], doc="The function and its arguments."),
            "line": Column([next(iter(one.rows.values()))["line"] for one in made], doc="The user's line."),
            "processes": Column([process_numbers(one.spans) for one in made], doc="Those whose devices it runs on."),
            "slowest": Column([max(one.seconds, key=one.seconds.__getitem__) for one in made], is_whole=True,
                              doc="The process in which its stages took longest."),
            "seconds": Column([max(one.seconds.values()) for one in made], "s", "Its stages in that process."),
            "wait": Column(waits, "s", "From the first process that had it ready to the last."),
            "cache keys differ in": Column(parts, doc="Parts of the key that differ between processes."),
            "persistent cache": Column([wording.caches(one) for one in made], doc="What JAX's persistent cache did."),
        }  # fmt: skip
        return Table("programs of several processes", columns, reasons)

    def _why_no_wait(self, one: JobProgram) -> str:
        if not self.shares_clock:
            return wording.OTHER_CLOCK
        if not {*self.missing}.isdisjoint(one.absent):
            return wording.NO_LOG
        return wording.NO_RECORD if one.absent else wording.STILL_RUNS

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. Raises ImportError, with the pip line, where pandas is missing."""
        return self.table(eager=True).to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON, eager operations included; `Table.from_json` reads it."""
        return self.table(eager=True).to_json(**rows)

    @property
    def said(self) -> list[str]:
        """What is to be said of all processes, the most important first."""
        return [wording.headline(self), *filter(None, wording.sentences(self)), *self._of_cache()]

    @property
    def parts(self) -> list[Part]:
        """What is said, and the tables that have rows."""
        programs, records = self.by_program(), self.table()
        return [*self.said, *([programs] if len(programs) else []), *([records] if len(records) else [])]

    def _of_cache(self) -> list[str]:
        if not self.uses_cache:
            return []
        platform = self.logs[0]["platform"]
        first = next(iter(self.keys.items()), None)
        said = f"JAX's persistent cache: {'; '.join(map(wording.cache_use, self.cache_uses))}."
        return [said, *([wording.keys(first[0][0], first[1], platform)] if first is not None else [])]

    def __repr__(self) -> str:
        return text_of(self.parts)

    def _repr_html_(self) -> str:
        return html_of(self.parts)


def _records(listed: Sequence[tuple[int, CompileRowForm]]) -> Table:
    rows = [row for _, row in listed]
    stages = {
        "trace": [row["trace"] for row in rows],
        "lower": [row["lower"] for row in rows],
        "compile": [row["compile"] for row in rows],
    }
    reasons: dict[Place, str] = {
        (at, name): wording.NOT_RUN if rows[at]["ended"] is not None else wording.NOT_ENDED
        for name, taken in stages.items()
        for at, one in enumerate(taken)
        if one is None
    }
    columns = {
        "process": Column([process for process, _ in listed], is_whole=True, doc="Its index in the job."),
        "number": Column([row["number"] for row in rows], is_whole=True, doc="Of the record in that process."),
        "program": Column([wording.program((row["program"], row["signature"])) for row in rows],
                          doc="The function and its arguments."),
        "line": Column([row["line"] for row in rows], doc="The user's line."),
        "when": Column([_time(row["began"]) for row in rows], doc="When it began, by the clock of its process."),
        **{name: Column(taken, "s", f"Own seconds of {name}.") for name, taken in stages.items()},
        "outcome": Column([row["outcome"] for row in rows], doc="How it ended."),
        "caches": Column([wording.of_caches(row) for row in rows], doc="What caches did for it."),
        "processes": Column([process_numbers(row["processes"]) for row in rows], doc="Those whose devices it runs on."),
    }  # fmt: skip
    return Table("compiles of all processes", columns, reasons)


def _time(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).isoformat(" ", "milliseconds")
