"""The named dimensions of a program as tables: sizes and costs, the axes of arguments, where two meet."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jaxstage_ext.analysis.sharding.naming import dimension_names
from jaxstage_ext.analysis.sharding.naming import naming_wording as wording
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf
from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension
from jaxstage_ext.analysis.sharding.naming.split_alone import SplitCost
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.table_forms import Part, html_of, text_of

if TYPE_CHECKING:
    from jaxstage_ext.ir.partitioning.partitionable_module import PartitionOp

MOST_LISTED, MOST_DIVISORS = 4, 6
_PRODUCTS = {"stablehlo.dot": "dot_general"}
"""What XLA makes of a product with one axis to sum over; JAX has one name for both."""
NO_DIMENSION = "-"
"""An axis of no dimension: one that cannot be split."""


@dataclass(frozen=True, eq=False)
class Dimensions:
    """The named dimensions of a program, in the order of its arguments.

    Attributes:
      named: the dimensions.
      arguments: those of the module, with their names and shapes.
      ops: the module's operations; those of a dimension are numbers of them.
      costs: by the number of a dimension ("d3") what splitting it alone costs.
      devices: those of the target; 1 without one.
    """

    title: str
    named: tuple[NamedDimension, ...]
    arguments: tuple[NamedLeaf, ...]
    ops: Sequence[PartitionOp] = field(repr=False)
    costs: Mapping[str, SplitCost] = field(repr=False)
    devices: int = 1
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.named)

    def __iter__(self) -> Iterator[NamedDimension]:
        return iter(self.named)

    def __getitem__(self, name: str) -> NamedDimension:
        """A dimension by its name or its number. Raises KeyError, with the near names."""
        for one in self.named:
            if name in (one.name, one.number):
                return one
        raise KeyError(wording.unknown(name, dimension_names.near(name, self.named)))

    def cost(self, one: NamedDimension) -> SplitCost:
        """What splitting a dimension alone costs; unknown where it was not asked for."""
        return self.costs.get(one.number) or SplitCost(0, (), wording.NOT_ASKED)

    def renamed(self, names: Mapping[str, str]) -> Dimensions:
        """The same with your names for some, `{"d3": "hidden"}`. Raises UnknownDimension, which is a ValueError."""
        return replace(self, named=dimension_names.renamed(self.named, names))

    @property
    def headline(self) -> str:
        """How many there are, and what their costs are of."""
        return wording.headline(len(self), self.devices) if self.named else wording.none(self.title)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known about the whole."""
        return (wording.left_out(self.left_out),) if self.left_out else ()

    @cached_property
    def table(self) -> Table:
        """A row for each dimension, with what splitting it alone costs."""
        costs = [self.cost(one) for one in self.named]
        columns = {
            "dimension": Column([one.name for one in self.named]),
            "size": Column([one.size for one in self.named], doc="elements along its axes"),
            "split over": Column(
                [None if cost.why else cost.devices for cost in costs], doc="devices, it alone", is_whole=True
            ),
            "sent": Column(
                [math.nan if cost.sent is None else cost.sent for cost in costs],
                "B",
                "by each device in one run, lower bound",
            ),
            "collectives": Column(
                [None if cost.why else collectives_text(cost) for cost in costs], doc="that splitting it alone needs"
            ),
            "axes": Column([self._axes(one) for one in self.named], doc="arguments that have it, and their axes"),
            "devices": Column(
                [divisors_text(one.size) for one in self.named], doc="numbers of devices that it splits evenly over"
            ),
            "line": Column([_line(cost) for cost in costs], doc="of the collective that sends most"),
            "number": Column([one.number for one in self.named], doc="by which it can be named too"),
        }
        return Table("dimensions", columns, self._reasons(costs), self.notes)

    @staticmethod
    def _reasons(costs: Sequence[SplitCost]) -> dict[tuple[int, str], str]:
        reasons: dict[tuple[int, str], str] = {}
        for row, cost in enumerate(costs):
            if cost.why_unknown:
                reasons |= {(row, name): cost.why_unknown for name in ("split over", "collectives", "sent")}
            if _line(cost) is None:
                reasons[row, "line"] = cost.why or wording.NO_LINE
        return reasons

    def _axes(self, one: NamedDimension) -> str:
        """The arguments that have it; layers and moments once."""
        alike: dict[str, list[str]] = defaultdict(list)
        for leaf, axis in one.arguments:
            path = self.arguments[leaf].path
            alike[f"{path.short} axis {axis}"].append(path.name)
        texts = [f"{text} ×{len(names)}" if len(names) > 1 else text for text, names in alike.items()]
        more = len(texts) - MOST_LISTED
        return ", ".join(texts[:MOST_LISTED]) + (f", {more:,} more" if more > 0 else "")

    @cached_property
    def axes(self) -> tuple[tuple[int, ...], ...]:
        """By argument and axis the place of its dimension in `named`, -1 for none."""
        places = {member: at for at, one in enumerate(self.named) for member in one.arguments}
        return tuple(
            tuple(places.get((number, axis), -1) for axis in range(len(leaf.shape)))
            for number, leaf in enumerate(self.arguments)
        )

    @cached_property
    def alike(self) -> tuple[tuple[int, int], ...]:
        """(argument, how many are like it) of each that differs in shape, dimensions or more of its path than numbers."""
        first: dict[object, int] = {}
        counted: Counter[int] = Counter()
        for number, leaf in enumerate(self.arguments):
            counted[first.setdefault((leaf.path.pattern, leaf.shape, self.axes[number]), number)] += 1
        return tuple(counted.items())

    @cached_property
    def argument_table(self) -> Table:
        """A row for each argument, with the dimension of each of its axes; those of all layers once."""
        numbers = [number for number, _ in self.alike]
        columns = {
            "argument": Column([self.arguments[number].name for number in numbers]),
            "shape": Column(["×".join(map(str, self.arguments[number].shape)) for number in numbers]),
            "dimensions": Column([self.axes_text(number) for number in numbers], doc="of its axes, in order"),
            "alike": Column([count for _, count in self.alike], doc="arguments of equal paths but for numbers"),
        }
        return Table("arguments by dimension", columns)

    def axes_text(self, argument: int) -> str:
        """The dimensions of an argument's axes, "embed, up"."""
        return ", ".join(self.named[at].name if at >= 0 else NO_DIMENSION for at in self.axes[argument])

    @cached_property
    def meetings(self) -> Table:
        """Matrix products and convolutions in which two dimensions or more meet, the most frequent first."""
        counted = Counter(
            (_PRODUCTS.get(op.name) or op.name.rpartition(".")[2], tuple(self.named[at].name for at in places), op.line)
            for op, places in self._products()
            if len(places) > 1
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

    def _products(self) -> Iterator[tuple[PartitionOp, tuple[int, ...]]]:
        places: dict[int, list[int]] = defaultdict(list)
        for at, one in enumerate(self.named):
            for op in one.ops:
                places[op].append(at)
        yield from ((self.ops[op], tuple(found)) for op, found in sorted(places.items()) if self.ops[op].is_matmul)

    @cached_property
    def met(self) -> tuple[tuple[int, ...], ...]:
        """By dimension the places of those that it meets in a matrix product or a convolution."""
        found: list[dict[int, None]] = [{} for _ in self.named]
        for _, places in self._products():
            for at in places:
                found[at].update(dict.fromkeys(other for other in places if other != at))
        return tuple(tuple(sorted(each)) for each in found)

    def lines(self, one: NamedDimension, most: int = 40) -> list[str]:
        """The source lines of its operations: of its costliest collective, of products, then of the others."""
        products = [op for op in one.ops if self.ops[op].is_matmul]
        found = [each.line for each in self.cost(one).collectives]
        found += [self.ops[op].line for op in (*products, *one.ops)]
        return list(dict.fromkeys(line for line in found if line))[:most]

    def about(self, one: NamedDimension) -> list[str]:
        """What is to be known about a dimension."""
        said = [wording.layers(len(one.classes))] if len(one.classes) > 1 else []
        said += [wording.REPEATED] if one.repeated else []
        return said + ([] if one.arguments else [wording.ONLY_RESULTS])

    @cached_property
    def collectives(self) -> Table:
        """A row for each collective of splitting each dimension alone."""
        rows = [(one.name, each) for one in self.named for each in self.cost(one).collectives]
        columns = {
            "dimension": Column([name for name, _ in rows]),
            "collective": Column([each.kind for _, each in rows]),
            "count": Column([each.count for _, each in rows], doc="of this kind, payload and line in the program"),
            "payload": Column([each.payload for _, each in rows], "B", "of one, per device and run"),
            "runs": Column([each.runs for _, each in rows], "", "of one in one run of the program", is_whole=True),
            "sent": Column(
                [math.nan if each.sent is None else each.sent for _, each in rows],
                "B",
                "by each device in all runs of all of them, lower bound",
            ),
            "line": Column([each.line or None for _, each in rows]),
        }
        reasons = {(row, "line"): wording.NO_LINE for row, (_, each) in enumerate(rows) if not each.line}
        for row, (_, each) in enumerate(rows):
            if each.sent is None:
                reasons |= {(row, "sent"): wording.UNKNOWN_LOOP}
            if each.runs is None:
                reasons |= {(row, "runs"): wording.UNKNOWN_LOOP}
        return Table("collectives of splitting one dimension", columns, reasons)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self) -> str:
        """The table as versioned JSON."""
        return self.table.to_json()

    def _parts(self) -> list[Part]:
        if not self.named:
            return [self.headline]
        return [self.headline, self.table, "", self.argument_table, "", self.meetings]

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self._parts())


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


def divisors_text(size: int) -> str:
    """The numbers of devices, from 2, that divide a size: "2, 4, 8, 16, … 512"."""
    found = divisors(size)
    if len(found) <= MOST_DIVISORS:
        return ", ".join(f"{each:,}" for each in found)
    return ", ".join(f"{each:,}" for each in found[: MOST_DIVISORS - 1]) + f", … {found[-1]:,}"


def divisors(size: int) -> list[int]:
    """The numbers from 2 that divide a size, in order."""
    small = [each for each in range(1, math.isqrt(size) + 1) if size % each == 0]
    return sorted({*small, *(size // each for each in small)} - {1})
