"""`compiled`: a call's program on a target, and assertions about it that survive XLA's renaming of instructions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar

from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.cost import cost_wording
from jaxstage_ext.analysis.cost.work_range import WorkRange
from jaxstage_ext.analysis.memory.fit import Fit
from jaxstage_ext.api.inspect import inspect
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.findings import finding_wording, found
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.ir.hlo.module import COLLECTIVE_KINDS
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.collectives import exchanges
from jaxstage_ext.report import measuring
from jaxstage_ext.report.text.units import scaled
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.testing import assertion_wording as wording
from jaxstage_ext.testing.asserted_donation import undonated
from jaxstage_ext.testing.asserted_dtypes import dtypes_of
from jaxstage_ext.testing.finding_kinds import kinds_named
from jaxstage_ext.testing.observers import OBSERVERS
from jaxstage_ext.testing.quantity import quantity

Value = TypeVar("Value")
_KINDS = tuple(kind.decode() for kind in COLLECTIVE_KINDS)


@dataclass(frozen=True, eq=False)
class CompiledProgram:
    """A program to assert things of. Each assertion returns it, so that they can be chained.

    A failure is an AssertionError with the figure or finding and its source line. What is unknown fails as unknown,
    with the reason: it is never taken for 0.

    Attributes:
      inspection: the Inspection, for anything else: `program.inspection.near("fusion.3")`.
    """

    inspection: Inspection

    @property
    def _program(self) -> Program:
        return self.inspection.program

    def collectives(self, at_most: Mapping[str, int] | None = None, sent: float | str | None = None) -> CompiledProgram:
        """That there are at most so many collectives of each kind, and that a device sends at most so many bytes a run.

        Kinds are XLA's opcodes without "-start": "all-gather", "all-reduce", "reduce-scatter", "all-to-all",
        "collective-permute". One in a loop is one, however often it runs; `sent` counts all runs.
        """
        if unknown := [kind for kind in at_most or {} if kind not in _KINDS]:
            raise ValueError(wording.no_kind(unknown[0], _KINDS))
        most = None if sent is None else quantity(sent, "B")
        made = self._known("what it exchanges", lambda: exchanges(self._program))
        count = Counter(row.op.kind for row in made.rows)
        wrong = {kind: (count[kind], allowed) for kind, allowed in (at_most or {}).items() if count[kind] > allowed}
        if wrong:
            said = "; ".join(wording.too_many(kind, *counts) for kind, counts in wrong.items())
            self._fail(said, [_exchange(made, row) for row in made.rows if row.op.kind in wrong])
        if most is not None:
            self._sent(made, most)
        return self

    def _sent(self, made: Collectives, most: float) -> None:
        sent = made.sent
        if sent.most > most:
            self._fail(wording.sends_too_much(sent.most, most), [_exchange(made, row) for row in made.rows])
        if sent.is_least:
            self._fail(wording.unknown("what each device sends", made.notes[-1] if made.notes else ""))

    def memory(self, at_most: float | str) -> CompiledProgram:
        """That the executable needs at most so much memory on one device: 14e9, "14 GB", or "14 GiB" of 1024³."""
        most, fit = quantity(at_most, "B"), self._fit()
        if fit.needed is None:
            self._fail(wording.unknown("the memory needed", fit.reason))
        elif fit.needed > most:
            largest = self._largest_values()
            self._fail(wording.too_much("the memory needed", fit.needed, most, "B"), largest)
        return self

    def _fit(self) -> Fit:
        """Whether it fits; where XLA gives no total, by its buffers, for which it is compiled once more."""
        fit = device_fit(self._program)
        if fit.needed is not None:
            return fit
        try:
            return self.inspection.memory.fit
        except (ValueError, RuntimeError, OSError, MemoryError) as error:
            return replace(fit, reason=f"{fit.reason}; {error}")

    def _largest_values(self) -> list[str]:
        """What is live at the peak, the largest first; nothing where that is not known."""
        try:
            peak = self.inspection.memory.peak_set
        except (ValueError, RuntimeError, OSError):
            return []
        rows = sorted(peak, key=lambda row: -(row["size"] or 0))[:5]
        return [f"{row['line'] or row['kind']}: {row['buffer']} {row['shape']}, {scaled(row['size'] or 0, 'B')}"
                for row in rows]  # fmt: skip

    def flops(self, at_most: float | str) -> CompiledProgram:
        """That one run does at most so many FLOPs on one device: 1e12, or "1 TFLOP"."""
        work = self._known("the FLOPs", lambda: self.inspection.cost.work)
        return self._at_most("FLOPs", work.flops_range, quantity(at_most, "FLOP"), "FLOP")

    def bytes_moved(self, at_most: float | str) -> CompiledProgram:
        """That one run reads and writes at most so many bytes on one device: 2e9, or "2 GB"."""
        work = self._known("the bytes moved", lambda: self.inspection.cost.work)
        return self._at_most("bytes moved", work.bytes_range, quantity(at_most, "B"), "B")

    def _at_most(self, what: str, work: WorkRange, most: float, unit: str) -> CompiledProgram:
        """Of a range the least is compared first: what is known to be done is too much whatever else is."""
        if work.least > most:
            self._fail(wording.too_much(what, work.least, most, unit), self._costliest(what))
        if work.most is None:
            self._fail(wording.unknown(what, cost_wording.work_reasons(work, unit)))
        elif work.most > most:
            reason = cost_wording.work_reasons(work, unit)
            self._fail(wording.too_much(what, work.most, most, unit), [reason, *self._costliest(what)])
        return self

    def _costliest(self, what: str) -> list[str]:
        """The source lines with most of a figure."""
        rows = [row for row in self.inspection.cost.by("line") if row["line"]]
        amount = (lambda row: row["FLOPs"] or 0) if what == "FLOPs" else _moved
        ordered, unit = sorted(rows, key=amount, reverse=True), "FLOP" if what == "FLOPs" else "B"
        return [f"{row['line']}: {scaled(amount(row), unit)}" for row in ordered[:5]]

    @measuring.left_alone()
    def no_finding(self, *kinds: str | FindingKind) -> CompiledProgram:
        """That there is no finding of these kinds, or of any kind where none is named.

        A kind is named by its title or a part of it: "missing donation", "promotion". What takes a compile of its own
        is compiled for it where it is named; without a name, what takes milliseconds is looked for: of a program that
        JAX did not trace here, what its HLO shows. Findings whose stake is next to nothing are none, as in
        `inspection.findings`.
        """
        made = [one for kind in kinds_named(kinds) for one in self._found(kind)] if kinds else self._every()
        if made:
            titles = ", ".join(dict.fromkeys(one.kind.value for one in made))
            self._fail(wording.has_finding(titles, len(made)), [finding_wording.in_short(one) for one in made])
        return self

    def _every(self) -> Sequence[found.FoundIn]:
        """Those of every kind that takes milliseconds; a kind that could not be looked for fails."""
        every = self.inspection.findings
        if every.failures and not every:
            self._fail(wording.not_all_looked_for(len(every.failures)), every.failures)
        return every

    def _found(self, kind: FindingKind) -> Sequence[found.FoundIn]:
        if self._program.jax_traced is None and not found.applies_to(self._program, kind):
            self._fail(wording.not_looked_for(kind.value, wording.NOT_TRACED))
        try:
            return found.found_of(self._program, kind)
        except (ValueError, RuntimeError, OSError, MemoryError) as error:
            self._fail(wording.not_looked_for(kind.value, str(error)))

    def donates(self, *names: str) -> CompiledProgram:
        """That these arguments are donated, and that a result takes the memory of each of their leaves."""
        for name in names:
            try:
                wrong, total = self._known(f"what becomes of {name}", lambda: undonated(self._program, name))  # noqa: B023
            except LookupError as error:
                self._fail(str(error.args[0]))
            if wrong:
                leaves = [wording.leaf(one.name, one.shape, one.donation.value) for one in wrong]
                self._fail(wording.not_donated(name, len(wrong), total), leaves)
        return self

    def dtype_of(self, line: str | int) -> frozenset[str]:
        """The dtypes of what a source line computes, as "bf16", by the jaxpr: `== {"bf16"}` asserts them.

        `line` is its number, `file.py:12`, or a piece of its text, such as "x @ w", which survives edits. Raises
        AssertionError where no equation is of it.
        """
        try:
            return self._known("what lines compute", lambda: dtypes_of(self._program, line))
        except LookupError as error:
            self._fail(str(error.args[0]))

    def _known(self, what: str, ask: Callable[[], Value]) -> Value:
        try:
            return ask()
        except Unavailable as why:
            self._fail(wording.unknown(what, why.reason))

    def _fail(self, what: str, details: Iterable[str] = ()) -> NoReturn:
        __tracebackhide__ = True
        raise AssertionError(wording.failed(self._program.name, self._program.label, what, details))

    def __repr__(self) -> str:
        return self.inspection._repr_llm_()


def compiled(
    fn: Callable[..., Any],
    *args: Any,
    target: str = "local",
    mesh: Any = None,
    in_specs: Any = (),
    out_specs: Any = None,
    compiler_options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> CompiledProgram:
    """The program of `fn(*args, **kwargs)` on a target, compiled and not run; the arguments may be shapes.

        compiled(step, params, batch, target="h100:8").memory(at_most="60 GiB")

    Arguments are those of `jaxstage_ext.inspect`, for one target. A program that was compiled for another test is not
    compiled again. Raises what `inspect` raises.
    """
    __tracebackhide__ = True
    inspection = inspect(fn, *args, target=target, mesh=mesh, in_specs=in_specs, out_specs=out_specs,
                         compiler_options=compiler_options, **kwargs)  # fmt: skip
    program = CompiledProgram(inspection)
    for observe in OBSERVERS:
        observe(program)
    return program


def _exchange(made: Collectives, row: CollectiveRow) -> str:
    over = f" over {', '.join(map(str, row.groups.axes))}" if row.groups.axes else ""
    return f"{made.line(row) or 'no known source line'}: {row.op.kind} of {scaled(row.payload, 'B')}{over}"


def _moved(row: Mapping[str, Any]) -> float:
    return float((row["bytes read"] or 0) + (row["bytes written"] or 0))
