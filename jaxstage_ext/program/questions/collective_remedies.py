"""What removes a resharding collective: another sharding of an argument or of the result, compiled and compared."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from jaxstage_ext.analysis.collectives import remedy_wording as wording
from jaxstage_ext.analysis.collectives.collective_causes import CauseKind
from jaxstage_ext.analysis.collectives.collective_rows import CollectiveRow
from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.cost.roofline import Roofline
from jaxstage_ext.analysis.cost.work_range import WorkRange
from jaxstage_ext.core.call import Call
from jaxstage_ext.core.layout import other_shardings
from jaxstage_ext.core.stage import stages
from jaxstage_ext.core.stage.stage_definition import COMPILE
from jaxstage_ext.program.device.device_fit import device_fit
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.fact import slow_fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.causeless_collectives import causeless_collectives
from jaxstage_ext.program.questions.collectives import collectives
from jaxstage_ext.program.questions.module_work import work
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.unavailable import Unavailable

_MOST_TRIED = 6
_REPLICATED = "P()"
"""How an argument is used that is gathered, where the compiler does not say."""


@dataclass(frozen=True)
class Tried:
    """A collective, and what becomes of the program with another sharding."""

    row: CollectiveRow
    line: str
    change: str
    """What to write; "" where none is known."""
    sent: float | None = None
    """Bytes by which each device sends less; negative for more."""
    seconds: float | None = None
    """Seconds by which its collectives take less, at least."""
    memory: int | None = None
    """Bytes that it needs more of per device."""
    flops: float | None = None
    """The FLOPs that it does then, as a multiple of those without."""
    whole: float | None = None
    """Seconds by which the lower bound of the whole program is less; None where it is unknown."""
    why_not: str = ""
    """Why it was not tried, or why that failed."""

    @property
    def helps(self) -> bool | None:
        """Whether each device sends less, and the whole program takes no longer by its lower bound; None untried."""
        return None if self.sent is None else self.sent > 0 and (self.whole is None or self.whole >= 0)


@slow_fact
def collective_remedies(program: Program, progress: Progress | None) -> Table:
    """What was tried against each collective, the costliest first, each by a compile. Raises as `collectives`."""
    found = collectives(program, progress)
    began, tried = time.perf_counter(), list[Tried]()
    done: dict[str, Tried] = {}
    for row in found.rows:
        tried.append(_tried(program, found, row, done, began, progress))
    return _table(tried)


def _tried(
    program: Program,
    found: Collectives,
    row: CollectiveRow,
    done: dict[str, Tried],
    began: float,
    progress: Progress | None,
) -> Tried:
    line, made = found.line(row), list[Tried]()
    failed = wording.no_change(row.causes[0].kind if row.causes else CauseKind.UNKNOWN)
    for change, changed in _changes(program.call, row):
        if change not in done and len(done) >= _MOST_TRIED:
            failed = wording.ENOUGH
            break
        if progress is not None:
            progress(time.perf_counter() - began, f"compiling with {change}")
        try:
            if change not in done:
                done[change] = _compared(program, found, row, line, change, changed())
            made.append(replace(done[change], row=row, line=line))
        except (Unavailable, ValueError, RuntimeError, OSError, MemoryError) as error:
            failed = str(error).split("\n")[0]
    return max(made, key=lambda one: one.sent or 0, default=Tried(row, line, "", why_not=failed))


def _changes(call: Call, row: CollectiveRow) -> Iterator[tuple[str, Callable[[], Call]]]:
    """What may be written instead, for each cause for which that is known, and the call with it."""
    for cause in row.causes:
        if cause.kind is not CauseKind.RESHARDING:
            continue
        if cause.is_result and not cause.users:
            yield wording.WITHOUT_OUT_SPECS, functools.partial(other_shardings.without_out_specs, call)
        elif len(cause.values) == 1:
            [value] = cause.values
            whole = [_REPLICATED] if row.op.kind == "all-gather" else []
            for spec in dict.fromkeys(use.spec for use in cause.after) or whole:
                yield (
                    wording.argument(value, spec),
                    functools.partial(other_shardings.with_argument, call, value, spec),
                )


def _compared(program: Program, found: Collectives, row: CollectiveRow, line: str, change: str, call: Call) -> Tried:
    """What the program sends, takes and needs with a change less than without. Raises what the compile raises."""
    [staged] = stages.plan_each(call, COMPILE, (program.target,), program.limits)
    other = Program(staged)
    other.advance()
    if other.error is not None:
        raise Unavailable(other.error.message.split("\n")[0])
    exchanged = causeless_collectives(other)
    before, after = device_fit(program).needed, device_fit(other).needed
    return Tried(
        row,
        line,
        change,
        sent=found.sent.most - exchanged.sent.most,
        seconds=_seconds(found) - _seconds(exchanged),
        memory=None if before is None or after is None else after - before,
        flops=_ratio(work(other).flops_range, work(program).flops_range),
        whole=_less(device_roofline(program), device_roofline(other)),
    )


def _ratio(flops: WorkRange, before: WorkRange) -> float | None:
    return flops.counted / before.counted if before.counted and None not in (flops.most, before.most) else None


def _less(before: Roofline, after: Roofline) -> float | None:
    """Seconds by which the second lower bound is less; None where one of them is unknown."""
    return before.total - after.total if before.total and after.total else None


def _seconds(exchanged: Collectives) -> float:
    return sum(row.total_seconds or 0.0 for row in exchanged.rows)


def _table(tried: list[Tried]) -> Table:
    columns = {
        "collective": Column([one.row.op.kind for one in tried]),
        "payload": Column([one.row.payload for one in tried], "B", "per device and run"),
        "line": Column([one.line or None for one in tried]),
        "instead": Column([one.change or None for one in tried], "", "what to write, which was compiled"),
        "helps": Column(
            [one.helps for one in tried], "", "whether each device sends less, and the whole's lower bound is no longer"
        ),
        "less sent": Column([one.sent for one in tried], "B", "by each device in one run, with all collectives"),
        "less time": Column([one.seconds for one in tried], "s", "of all collectives, by their lower bounds"),
        "FLOPs": Column([one.flops for one in tried], "", "a multiple of those without the change, per device"),
        "less in all": Column([one.whole for one in tried], "s", "of the program's lower bound"),
        "more memory": Column([one.memory for one in tried], "B", "that one device needs"),
    }
    names = ("instead", "helps", "less sent", "less time", "FLOPs", "less in all", "more memory")
    reasons = {(at, name): one.why_not for at, one in enumerate(tried) if one.why_not for name in names}
    unknown = {"more memory": wording.NO_MEMORY, "less in all": wording.NO_BOUND, "FLOPs": wording.NO_FLOPS}
    reasons |= {
        (at, name): why
        for name, why in unknown.items()
        for at, value in enumerate(columns[name].values)
        if value is None and not tried[at].why_not
    }
    said = [wording.remedy(one.change, one.sent or 0, one.seconds or 0, one.memory, one.flops) for one in tried
            if one.helps] or [wording.NONE_HELPS] * any(one.helps is False for one in tried)  # fmt: skip
    said += [wording.not_removed(one.row.op.kind, one.why_not) for one in tried if one.why_not]
    return Table("collective remedies", columns, reasons, tuple(dict.fromkeys(said)))
