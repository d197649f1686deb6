"""Shardings as JSON and back: nothing of them is lost, and what no program of ours wrote is refused in one line."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.analysis.sharding.mesh import Axis, Mesh
from jaxstage_ext.analysis.sharding.propagation import Chooser
from jaxstage_ext.analysis.sharding.saved_shardings import shardings_in
from jaxstage_ext.analysis.sharding.sharded_values import ARGUMENT, RESULT, ShardedValue
from jaxstage_ext.analysis.sharding.sharding_forms import plain
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import on_mesh, on_one_device, tiled, unknown
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.report.saved.json_form import BadForm
from jaxstage_ext.report.unavailable import Unavailable

MESH, TURNED = Mesh(("data", "model"), (2, 4)), Mesh(("data", "model"), (2, 4), (7, 6, 5, 4, 3, 2, 1, 0))
DATA, HALF = Axis("data"), Axis("model", 2, 2)


def whole() -> Shardings:
    cut = on_mesh(MESH, [(DATA,), (HALF,)], text="P('data')")
    shardings = [
        cut,
        cut,
        on_mesh(TURNED, [(), ()], (DATA,)),
        unknown("#sdy", "not compiled"),
        on_one_device(1, 2),
        tiled((4, 1, 2), np.arange(8), ("replicated",)),
    ]
    values = [
        ShardedValue(f"v{at}", RESULT if at % 2 else ARGUMENT, ShardingMap((8, 16), one, "f32", 32), Chooser.YOU, "a:3")
        for at, one in enumerate(shardings)
    ]
    places = tuple(DevicePlace(2048 * (at // 4) + at, at // 4, (at, 0), None) for at in range(8))
    return Shardings(tuple(values), places, (MESH,), ("a note",))


def saved() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(plain(whole())))
    return read


def test_what_is_read_back_says_the_same() -> None:
    before, after = whole(), shardings_in(saved(), "here")
    assert str(after) == str(before) and after.table.to_json() == before.table.to_json()
    assert after.places == before.places and after.meshes == before.meshes and after.notes == before.notes
    for was, now in zip(before.values, after.values, strict=True):
        assert str(now) == str(was) and now.kind is was.kind and now.chosen_by is was.chosen_by
        if was.map.fits:
            assert (now.map.bounds == was.map.bounds).all() and (now.map.numbers == was.map.numbers).all()
    assert json.loads(json.dumps(plain(after))) == saved()


def test_values_share_a_sharding_that_is_saved_once() -> None:
    assert [value["sharding"] for value in saved()["values"]] == [0, 0, 1, 2, 3, 4]


def test_intermediates_are_not_saved_and_say_so() -> None:
    with pytest.raises(Unavailable, match="inspect it again"):
        _ = shardings_in(saved(), "here").intermediates


def _leaves(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(leaf for key, value in inside for leaf in _leaves(value, (*path, key)))]


@pytest.mark.parametrize("other", [-1, 1 << 40, "<b>", None, [], 2.5, True, {}], ids=repr)
def test_a_changed_part_is_refused_or_read_as_something_that_can_be_shown(other: Any) -> None:
    original = saved()
    refused = 0
    for path in _leaves(original):
        if not path:
            continue
        changed = copy.deepcopy(original)
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = other
        try:
            read = shardings_in(changed, "here")
        except BadForm as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 400
        else:
            assert str(read) and all(str(value) for value in read.values)
            assert all(value.map.bounds is not None for value in read.values if value.map.fits)
    assert refused > 50


DAMAGE: dict[str, tuple[tuple[Any, ...], Any]] = {
    "a device twice": (("shardings", 0, "holders"), [0, 1, 2, 3, 4, 5, 6, 6]),
    "a device that no machine has": (("shardings", 0, "holders", 0), 1 << 30),
    "fewer devices than shards": (("shardings", 0, "holders"), [0, 1, 2]),
    "an axis that the mesh lacks": (("shardings", 0, "axes", 0, 0, 0), "other"),
    "axes of another rank": (("shardings", 0, "axes"), []),
    "copies that do not fill the devices": (("shardings", 0, "rest", 0, "count"), 3),
    "a mesh of more places than devices": (("meshes", 1, "sizes"), [2, 8]),
    "a mesh that names an axis twice": (("meshes", 0, "names"), ["data", "data"]),
    "a mesh that is not there": (("shardings", 0, "mesh"), 9),
    "a sharding that is not there": (("values", 0, "sharding"), 9),
    "a kind that no value has": (("values", 0, "kind"), "other"),
    "a size below 0": (("values", 0, "shape", 0), -1),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_contradicts_itself_is_refused(name: str) -> None:
    data = saved()
    path, other = DAMAGE[name]
    holder: Any = data
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = other
    with pytest.raises(BadForm, match=r"^here"):
        shardings_in(data, "here")
