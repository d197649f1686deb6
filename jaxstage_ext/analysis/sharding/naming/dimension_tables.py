"""The named dimensions of a program as tables: sizes and costs, the axes of arguments, where two meet."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from jaxstage_ext.analysis.sharding.naming import dimension_columns, dimension_names
from jaxstage_ext.analysis.sharding.naming import naming_wording as wording
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf
from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension
from jaxstage_ext.analysis.sharding.naming.split_alone import SplitCost
from jaxstage_ext.report.rows.table_rows import RowChoice
from jaxstage_ext.report.table import Table
from jaxstage_ext.report.text.table_forms import Part, html_of, text_of

if TYPE_CHECKING:
    from jaxstage_ext.ir.partitioning.partitionable_module import PartitionOp

MOST_LISTED = 4
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
      left_out: how many dimensions are not among them.
      constrained: whether the program has sharding constraints of its own.
    """

    title: str
    named: tuple[NamedDimension, ...]
    arguments: tuple[NamedLeaf, ...]
    ops: Sequence[PartitionOp] = field(repr=False)
    costs: Mapping[str, SplitCost] = field(repr=False)
    devices: int = 1
    left_out: int = 0
    constrained: bool = False

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
        said = (wording.left_out(self.left_out),) if self.left_out else ()
        return (*said, wording.CONSTRAINED) if self.constrained else said

    @cached_property
    def table(self) -> Table:
        """A row for each dimension, with what splitting it alone costs."""
        costs = [self.cost(one) for one in self.named]
        axes = [self._axes(one) for one in self.named]
        return dimension_columns.dimensions(self.named, costs, axes, self.notes)

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
        """(argument, how many are like it): of arguments that differ in numbers of their paths alone the first."""
        first: dict[object, int] = {}
        counted: Counter[int] = Counter()
        for number, leaf in enumerate(self.arguments):
            counted[first.setdefault((leaf.path.pattern, leaf.shape, self.axes[number]), number)] += 1
        return tuple(counted.items())

    @cached_property
    def argument_table(self) -> Table:
        """A row for each argument, with the dimension of each of its axes; those of all layers once."""
        rows = [(self.arguments[number], self.axes_text(number), count) for number, count in self.alike]
        return dimension_columns.arguments(rows)

    def axes_text(self, argument: int) -> str:
        """The dimensions of an argument's axes, "embed, up"."""
        return ", ".join(self.named[at].name if at >= 0 else NO_DIMENSION for at in self.axes[argument])

    @cached_property
    def meetings(self) -> Table:
        """Matrix products and convolutions in which two dimensions or more meet, the most frequent first."""
        met = [(op, [self.named[at].name for at in places]) for op, places in self._products() if len(places) > 1]
        return dimension_columns.meetings(met)

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
        return dimension_columns.collectives([(one.name, self.cost(one)) for one in self.named])

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        return self.table.to_pandas()

    def to_json(self, **rows: Unpack[RowChoice]) -> str:
        """The table as versioned JSON; with `limit`, `by` or `where`, rows of it, as `Table.to_json` has them."""
        return self.table.to_json(**rows)

    def _parts(self) -> list[Part]:
        if not self.named:
            return [self.headline]
        return [self.headline, self.table, "", self.argument_table, "", self.meetings]

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self._parts())
