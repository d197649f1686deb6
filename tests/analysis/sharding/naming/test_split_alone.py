"""What splitting one dimension alone costs, of made-up modules and answers, counted by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from jaxstage_ext.analysis.sharding.naming import split_alone
from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf
from jaxstage_ext.analysis.sharding.naming.dimension_names import NamedDimension
from jaxstage_ext.analysis.sharding.naming.dimension_tables import Dimensions, divisors, divisors_text
from jaxstage_ext.analysis.sharding.naming.split_alone import SplitCost
from jaxstage_ext.ir.partitioning.module_layout import ModuleLayout
from jaxstage_ext.ir.partitioning.partitioned_module import CollectiveKind, PartitionedCollective

HIDDEN = NamedDimension("hidden", "d1", 48, (0,), ((0, 1), (1, 0)), ((0, 1),), (0, 1))
TWICE = NamedDimension("time", "d2", 16, (1,), ((1, 1), (1, 2)), (), (0,), repeated=True)


def module(*shapes: tuple[int, ...], results: int = 1) -> Any:
    values = [SimpleNamespace(shape=shape) for shape in shapes]
    places = range(len(shapes))
    return SimpleNamespace(values=values, arguments=places[:-results], results=places[-results:])


def test_a_dimension_is_split_wherever_it_stands_and_nothing_else_is() -> None:
    made = split_alone.layout(HIDDEN, module((24, 48), (48, 16, 16), (), (24, 48)), 8)
    axis = (split_alone.AXIS,)
    assert made.mesh == {split_alone.AXIS: 8}
    assert made.arguments == (((), axis), (axis, (), ()), ())
    assert made.results == (((), axis),)
    twice = split_alone.layout(TWICE, module((24, 48), (48, 16, 16), (), (24, 48)), 4)
    assert twice.arguments[1] == ((), axis, ()), "of two axes of one array the first"


def collective(kind: CollectiveKind, size: int, trips: int | None = 1, line: str = "a.py:1") -> PartitionedCollective:
    return PartitionedCollective(kind, (split_alone.AXIS,), size, 0, trips, line)


def cost(*collectives: PartitionedCollective, devices: int = 8, reduces: bool = False) -> SplitCost:
    layout = ModuleLayout({split_alone.AXIS: devices}, ())
    return split_alone.cost(SimpleNamespace(layout=layout, collectives=collectives), reduces)  # type: ignore[arg-type]


def test_what_each_device_sends_is_counted_by_kind_and_run() -> None:
    reduce, gather = collective(CollectiveKind.ALL_REDUCE, 800), collective(CollectiveKind.ALL_GATHER, 800, 3)
    found = cost(gather, reduce, reduce)
    assert [(one.count, one.kind, one.sent) for one in found.collectives] == [
        (2, "all-reduce", 2 * 2 * 7 / 8 * 800),
        (1, "all-gather", 3 * 7 / 8 * 800),
    ]
    assert found.sent == 2800 + 2100 and not found.why_unknown
    assert cost(reduce, reduces=True).sent == 800, "switches that reduce"
    assert cost().sent == 0


def test_a_loop_of_unknown_length_makes_it_unknown_and_never_nothing() -> None:
    found = cost(collective(CollectiveKind.ALL_REDUCE, 800, None), collective(CollectiveKind.ALL_GATHER, 80))
    assert found.sent is None and found.why_unknown
    assert [one.runs for one in found.collectives] == [None, 1]


@pytest.mark.parametrize(("size", "devices", "over"), [(64, 1, 8), (12, 1, 4), (6, 1, 2), (7, 1, 0), (7, 16, 16)])
def test_over_how_many_devices(size: int, devices: int, over: int) -> None:
    assert split_alone.devices_for(size, devices) == over


@pytest.mark.parametrize("size", [2, 7, 12, 36, 1024, 997, 50257])
def test_divisors(size: int) -> None:
    assert divisors(size) == [each for each in range(2, size + 1) if size % each == 0]


def test_many_divisors_are_shortened() -> None:
    assert divisors_text(7) == "7" and divisors_text(12) == "2, 3, 4, 6, 12"
    assert divisors_text(1024) == "2, 4, 8, 16, 32, … 1,024"


def operation(name: str, line: str) -> Any:
    return SimpleNamespace(name=f"stablehlo.{name}", line=line, is_matmul=name == "dot_general")


def test_tables_of_all_that_is_known() -> None:
    leaves = (NamedLeaf("p['a_0']", (24, 48)), NamedLeaf("p['a_1']", (24, 48)), NamedLeaf("x", (16, 24)))
    d = NamedDimension("d", "d1", 24, (0,), ((0, 0), (1, 0), (2, 1)), (), (0, 1))
    h = NamedDimension("h", "d2", 48, (1, 2), ((0, 1), (1, 1)), (), (0, 2))
    ops = [operation("dot_general", "a.py:3"), operation("add", "a.py:4"), operation("add", "")]
    costs = {"d1": cost(collective(CollectiveKind.ALL_REDUCE, 800, line="")), "d2": SplitCost(0, (), "odd")}
    found = Dimensions("f", (d, h), leaves, ops, costs, 8)
    assert found.axes == ((0, 1), (0, 1), (-1, 0))
    assert [row["alike"] for row in found.argument_table] == [2, 1]
    assert [(row["dimensions"], row["line"]) for row in found.meetings] == [("d × h", "a.py:3")]
    assert found.met == ((1,), (0,))
    assert found.lines(d) == ["a.py:3", "a.py:4"]
    unknown = {(row, name) for (row, name) in found.table.reasons}
    assert unknown == {(0, "line"), *((1, name) for name in ("split over", "collectives", "sent", "line"))}
    assert found["d2"] is h and found["h"] is h and len(found.about(h)) == 1
    with pytest.raises(KeyError, match="h"):
        found["hh"]
    assert [one.name for one in found.renamed({"d1": "model"})] == ["model", "h"]
    assert "model" in str(found.renamed({"d1": "model"})) and "model" in found.renamed({"d1": "model"})._repr_html_()
    assert str(Dimensions("f", (), (), [], {})).startswith("f ")
