"""What each process holds of a value; the oracle marks every element that its devices hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from jaxstage_ext.analysis.sharding import sharding_wording as wording
from jaxstage_ext.analysis.sharding.device_places import DevicePlace, processes
from jaxstage_ext.analysis.sharding.mesh import Axis, Mesh
from jaxstage_ext.analysis.sharding.process_parts import process_parts
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT, ShardedValue
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import Sharding, on_mesh, tiled, unknown
from jaxstage_ext.analysis.sharding.value_tables import PER_PROCESS, table

MESH = Mesh(("a", "b"), (2, 4))
A, B = Axis("a"), Axis("b")
TWO_HALVES, IN_TURN, FOUR = [0, 0, 0, 0, 1, 1, 1, 1], [0, 1] * 4, [0, 0, 1, 1, 2, 2, 3, 3]
SHARDINGS = {
    "rows": (on_mesh(MESH, [(A,), ()]), (8, 12)),
    "columns": (on_mesh(MESH, [(), (B,)]), (8, 12)),
    "both": (on_mesh(MESH, [(A,), (B,)]), (8, 12)),
    "one dimension by both": (on_mesh(MESH, [(B, A), ()]), (16, 2)),
    "replicated": (on_mesh(MESH, [(), ()]), (8, 12)),
    "uneven": (on_mesh(MESH, [(B,), ()]), (5, 3)),
    "nothing left for some": (on_mesh(MESH, [(A, B), ()]), (3, 2)),
    "scalar": (on_mesh(MESH, []), ()),
    "some devices alone": (tiled((2, 1), np.array([5, 2]), ()), (4, 4)),
    "in an order of its own": (tiled((4, 2), np.array([7, 0, 3, 4, 1, 6, 5, 2]), ()), (8, 4)),
}


def places_of(of: Sequence[int]) -> list[DevicePlace]:
    return [DevicePlace(2048 * process + at, process) for at, process in enumerate(of)]


@pytest.mark.parametrize("owners", [TWO_HALVES, IN_TURN, FOUR], ids=["halves", "in turn", "four"])
@pytest.mark.parametrize("name", SHARDINGS)
def test_it_is_the_union_of_what_its_devices_hold(name: str, owners: list[int]) -> None:
    sharding, shape = SHARDINGS[name]
    value = ShardingMap(shape, sharding, "f32", 32)
    found = {part.process: part for part in process_parts(value, places_of(owners))}
    held = value.slices()
    assert set(found) == {owners[device] for device in held}
    for process, part in found.items():
        marked = np.zeros(shape, bool)
        for device, slices in held.items():
            if owners[device] == process:
                marked[slices] = True
        along = [marked.any(tuple(other for other in range(len(shape)) if other != dim)) for dim in range(len(shape))]
        block = np.ix_(*along) if shape else ()
        assert part.elements == marked.sum()
        if part.shape is not None:
            assert part.shape == tuple(int(each.sum()) for each in along) or part.elements == 0
            assert marked[block].all()
        else:
            assert not marked[block].all()
        if part.bounds is not None and part.elements:
            assert marked[tuple(slice(*bounds) for bounds in part.bounds)].all()
            assert part.elements == np.prod([stop - start for start, stop in part.bounds])


def test_what_is_unknown_has_no_parts() -> None:
    assert process_parts(ShardingMap((4,), unknown("", "why")), places_of(TWO_HALVES)) == ()


def said(sharding: Sharding, owners: Sequence[int], shape: tuple[int, ...] = (8, 12)) -> str:
    return wording.per_process(ShardingMap(shape, sharding, "f32", 32), places_of(owners))


def test_shapes_are_named_by_process_where_they_differ() -> None:
    rows, columns = SHARDINGS["rows"][0], SHARDINGS["columns"][0]
    assert said(rows, TWO_HALVES) == "f32[4,12]"
    assert said(columns, IN_TURN) == "f32[8,6]"
    assert said(rows, [0, 0, 0, 0, 1, 1, 1, 2]) == "f32[4,12]"
    assert said(columns, [0] * 3 + [1] * 5) == "f32[8,9] (process 0), f32[8,12] (process 1)"
    assert said(SHARDINGS["some devices alone"][0], TWO_HALVES, (4, 4)) == "f32[2,4]"
    assert said(rows, [0] * 8) == ""


def test_a_process_says_what_it_holds_itself_or_who_does() -> None:
    value, places = ShardingMap((8, 12), SHARDINGS["rows"][0], "f32", 32), places_of(TWO_HALVES)
    assert "f32[4,12]: [4:8, 0:12]" in wording.held_by(value, places, 1)
    assert "it is on processes 0 and 1" in wording.held_by(value, places, 2)
    assert wording.held_by(value, places_of([0] * 8), 0) == ""
    assert "it is on process 1" in wording.held_by(value, places_of([1] * 8), 0)


def test_the_table_has_the_column_of_several_processes_alone() -> None:
    values = [ShardedValue("x", ARGUMENT, ShardingMap((8, 12), SHARDINGS["both"][0], "f32", 32))]
    values += [ShardedValue("y", ARGUMENT, ShardingMap((8, 12), unknown("", "not compiled"), "f32", 32))]
    made = table(values, (), places_of(TWO_HALVES))
    assert made[PER_PROCESS] == ["f32[4,12]", None] and made.reasons[1, PER_PROCESS] == "not compiled"
    assert PER_PROCESS not in table(values, (), places_of([0] * 8)).columns


def test_one_process_is_not_named() -> None:
    alone = [DevicePlace(0, 0), DevicePlace(1, 0)]
    assert processes(alone) == 1 and alone[1].within(1) == "1"
    assert processes([DevicePlace(0), DevicePlace(1)]) == 0
    assert DevicePlace(2048, 1).within(2) == "2048 (process 1)"
