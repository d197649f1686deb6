"""The columns of the tables of named dimensions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jaxstage_ext.analysis.sharding.naming import naming_wording as wording
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf
from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension
from jaxstage_ext.analysis.sharding.naming.split_alone import SplitCost, divisors_text
from jaxstage_ext.report.table import Column, Table

if TYPE_CHECKING:
    from jaxstage_ext.ir.partitioning.partitionable_module import PartitionOp

_PRODUCTS = {"stablehlo.dot": "dot_general"}
"""What XLA makes of a product with one axis to sum over; JAX has one name for both."""
Reasons = dict[tuple[int, str], str]


def dimensions(
    named: Sequence[NamedDimension], costs: Sequence[SplitCost], axes: Sequence[str], notes: tuple[str, ...]
) -> Table:
    """A row for each dimension, with what splitting it alone costs; `axes` has the arguments of each, in words."""
    columns = {
        "dimension": Column([one.name for one in named]),
        "size": Column([one.size for one in named], doc="elements along its axes"),
        "split over": Column(
            [None if cost.why else cost.devices for cost in costs], doc="devices, it alone", is_whole=True
        ),
        "sent": Column(_or_nan([cost.sent for cost in costs]), "B", "by each device in one run, lower bound"),
        "collectives": Column(
            [None if cost.why else collectives_text(cost) for cost in costs], doc="that splitting it alone needs"
        ),
        "axes": Column(list(axes), doc="arguments that have it, and their axes"),
        "devices": Column([divisors_text(one.size) for one in named], doc="numbers that it splits evenly over"),
        "line": Column([_line(cost) for cost in costs], doc="of the collective that sends most"),
        "number": Column([one.number for one in named], doc="by which it can be named too"),
    }
    return Table("dimensions", columns, _reasons(costs), notes)


def _reasons(costs: Sequence[SplitCost]) -> Reasons:
    reasons: Reasons = {}
    for row, cost in enumerate(costs):
        if cost.why_unknown:
            reasons[row, "sent"] = cost.why_unknown
        if cost.why:
            reasons |= {(row, name): cost.why for name in ("split over", "collectives")}
        if _line(cost) is None:
            reasons[row, "line"] = cost.why or wording.NO_LINE
    return reasons


def _line(cost: SplitCost) -> str | None:
    """The line of the collective that sends most; "" without collectives, None where it is unknown."""
    first = cost.collectives[0].line if cost.collectives else ""
    return None if cost.why or (cost.collectives and not first) else first


def collectives_text(cost: SplitCost) -> str:
    """How often each kind stands in the program: 2 all-reduce, all-gather."""
    counts: Counter[str] = Counter()
    for one in cost.collectives:
        counts[one.kind] += one.count
    return ", ".join(f"{count:,} {kind}" if count > 1 else kind for kind, count in counts.items()) or "none"


def arguments(rows: Sequence[tuple[NamedLeaf, str, int]]) -> Table:
    """A row for each (argument, dimensions of its axes, how many are alike)."""
    columns = {
        "argument": Column([leaf.name for leaf, _, _ in rows]),
        "shape": Column(["×".join(map(str, leaf.shape)) for leaf, _, _ in rows]),
        "dimensions": Column([names for _, names, _ in rows], doc="of its axes, in order"),
        "alike": Column([count for _, _, count in rows], doc="arguments of equal paths but for numbers"),
    }
    return Table("arguments by dimension", columns)


def meetings(met: Sequence[tuple[PartitionOp, Sequence[str]]]) -> Table:
    """A row for alike products (operation, names of the dimensions in it), the most frequent first."""
    counted = Counter(
        (_PRODUCTS.get(op.name) or op.name.rpartition(".")[2], tuple(names), op.line) for op, names in met
    )
    rows = counted.most_common()
    columns = {
        "operation": Column([name for (name, _, _), _ in rows]),
        "dimensions": Column([" × ".join(names) for (_, names, _), _ in rows], is_answer=True),
        "operations": Column([count for _, count in rows], doc="of the program, forward and backward"),
        "line": Column([line or None for (_, _, line), _ in rows]),
    }
    reasons = {(row, "line"): wording.NO_LINE for row, ((_, _, line), _) in enumerate(rows) if not line}
    return Table("where dimensions meet", columns, reasons)


def collectives(costs: Sequence[tuple[str, SplitCost]]) -> Table:
    """A row for the collectives that are alike of splitting each dimension, given by its name, alone."""
    rows = [(name, each) for name, cost in costs for each in cost.collectives]
    columns = {
        "dimension": Column([name for name, _ in rows]),
        "collective": Column([each.kind for _, each in rows]),
        "count": Column([each.count for _, each in rows], doc="of this kind, payload and line in the program"),
        "payload": Column([each.payload for _, each in rows], "B", "of one, per device and run"),
        "runs": Column([each.runs for _, each in rows], "", "of one in one run of the program", is_whole=True),
        "sent": Column(
            _or_nan([each.sent for _, each in rows]), "B", "by each device in all runs of all of them, lower bound"
        ),
        "line": Column([each.line or None for _, each in rows]),
    }
    reasons: Reasons = {(row, "line"): wording.NO_LINE for row, (_, each) in enumerate(rows) if not each.line}
    for row, (_, each) in enumerate(rows):
        unknown = {"sent": each.sent, "runs": each.runs}
        reasons |= {(row, name): wording.UNKNOWN_LOOP for name, value in unknown.items() if value is None}
    return Table("collectives of splitting one dimension", columns, reasons)


def _or_nan(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]
