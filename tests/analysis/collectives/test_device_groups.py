"""Who exchanges data with whom, in all spellings of replica groups, and the mesh axes along which they lie."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxstage_ext.analysis.collectives import device_groups as sets
from jaxstage_ext.analysis.collectives.device_groups import Groups
from jaxstage_ext.analysis.collectives.interconnect import NO_SPEED_BETWEEN_HOSTS, DeviceLinks, sent
from jaxstage_ext.analysis.sharding.mesh import Axis, Mesh
from jaxstage_ext.analysis.sharding.slices import on_mesh
from jaxstage_ext.ir.hlo import sharding_field as proto

MESH = Mesh(("data", "model"), (4, 2))


def listed(message: Any, *groups: tuple[int, ...]) -> None:
    for group in groups:
        message.replica_groups.add(replica_ids=group)


def spelled() -> dict[str, Any]:
    """The groups {0,2,4,6} {1,3,5,7} of eight devices, in all ways."""
    messages = {name: proto.Collective(channel_id=1, use_global_device_ids=True) for name in SPELLINGS}
    listed(messages["replica_groups"], (0, 2, 4, 6), (1, 3, 5, 7))
    listed(messages["device list"].collective_device_list, (0, 2, 4, 6), (1, 3, 5, 7))
    for iota in (
        messages["device list, iota"].collective_device_list.iota_replica_group_list,
        messages["iota"].iota_collective_device_list,
    ):
        iota.num_replica_groups, iota.num_devices_per_group = 2, 4
        iota.iota_reshape_dims.extend([4, 2])
        iota.iota_transpose_perm.extend([1, 0])
    by_axes = messages["mesh axes"].mesh_axes_replica_group_list
    for name, size in zip(MESH.names, MESH.sizes, strict=True):
        by_axes.mesh.axes.add(name=name, size=size)
    by_axes.axes.add(mesh_axis_index=0)
    part = messages["part of an axis"].mesh_axes_replica_group_list
    part.mesh.axes.add(name="axis_0", size=8)
    part.axes.add(mesh_axis_index=0).sub_axis_info.CopyFrom(type(part.axes[0].sub_axis_info)(pre_size=1, size=4))
    turned = messages["mesh in another order"].mesh_axes_replica_group_list
    turned.mesh.axes.add(name="b", size=2)
    turned.mesh.axes.add(name="a", size=4)
    turned.mesh.iota_transform.reshape_dims.extend([4, 2])
    turned.mesh.iota_transform.transpose_perm.extend([1, 0])
    turned.axes.add(mesh_axis_index=1)
    return messages


SPELLINGS = (
    "replica_groups",
    "device list",
    "device list, iota",
    "iota",
    "mesh axes",
    "part of an axis",
    "mesh in another order",
)


@pytest.mark.parametrize("how", SPELLINGS)
def test_every_spelling_gives_the_same_groups(how: str) -> None:
    found = sets.read(proto.Collective.FromString(spelled()[how].SerializeToString()), "all-reduce", 8)
    assert {frozenset(group) for group in found.members} == {frozenset({0, 2, 4, 6}), frozenset({1, 3, 5, 7})}
    assert found.size == 4
    assert [str(axis) for axis in sets.named(found, [MESH]).axes or ()] == ["data"]


def test_pairs_are_a_permutation() -> None:
    message = proto.Collective(channel_id=1)
    for source, target in ((0, 2), (2, 4), (4, 6), (6, 0)):
        message.source_target_pairs.add(source=source, target=target)
    found = sets.named(sets.read(message, "collective-permute", 8), [MESH])
    assert found.members == ((0, 2), (2, 4), (4, 6), (6, 0))
    assert (str(found), found.size) == ("{0→2} {2→4} {4→6} {6→0}", 4)
    assert [str(axis) for axis in found.axes or ()] == ["data"]


def test_no_groups_are_all_devices() -> None:
    assert sets.read(proto.Collective(channel_id=1, use_global_device_ids=True), "all-reduce", 4).members == (
        (0, 1, 2, 3),
    )


@pytest.mark.parametrize(
    ("kind", "channel", "global_ids", "wanted"),
    [
        ("all-reduce", 1, False, ((0, 1, 2, 3), (4, 5, 6, 7))),
        ("all-reduce", 1, True, ((0,), (1,))),
        ("all-reduce", 0, False, ((0,), (1,))),
        ("all-to-all", 1, False, ((0,), (1,))),
    ],
)
def test_groups_of_replicas_reach_over_their_partitions(
    kind: str, channel: int, global_ids: bool, wanted: tuple[tuple[int, ...], ...]
) -> None:
    """XLA's CollectiveOpGroupMode, with two replicas of four partitions."""
    message = proto.Collective(channel_id=channel, use_global_device_ids=global_ids)
    listed(message, (0,), (1,))
    assert sets.read(message, kind, 8).members == wanted


def test_groups_that_contradict_themselves_are_unknown() -> None:
    message = proto.Collective()
    message.iota_collective_device_list.num_replica_groups = 3
    message.iota_collective_device_list.num_devices_per_group = 3
    message.iota_collective_device_list.iota_reshape_dims.extend([8])
    message.iota_collective_device_list.iota_transpose_perm.extend([0])
    found = sets.read(message, "all-reduce", 8)
    assert found.size is None
    assert str(found).startswith("unknown: ")
    huge = proto.Collective()
    huge.iota_collective_device_list.iota_reshape_dims.extend([1 << 40])
    huge.iota_collective_device_list.iota_transpose_perm.extend([0])
    assert "exceed the limit" in sets.read(huge, "all-reduce", 8).problem
    assert sets.read(proto.Collective(), "collective-permute", 8).problem


SIZES = st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(SIZES, st.data())
def test_axes_are_found_for_any_of_a_meshs_axes(sizes: list[int], data: st.DataObject) -> None:
    mesh = Mesh(tuple(f"x{i}" for i in range(len(sizes))), tuple(sizes))
    used = data.draw(st.lists(st.sampled_from(mesh.names), unique=True))
    members = on_mesh(mesh, [tuple(map(Axis, used))]).holders.T.tolist()
    shuffled = [tuple(data.draw(st.permutations(group))) for group in members]
    found = sets.named(Groups(tuple(shuffled)), [Mesh(("other",), (mesh.size * 2,)), mesh])
    assert {str(axis) for axis in found.axes or ()} == {name for name in used if sizes[mesh.names.index(name)] > 1}


def test_part_of_an_axis_is_named_so() -> None:
    groups = Groups(((0, 1), (2, 3), (4, 5), (6, 7)))
    assert [str(axis) for axis in sets.named(groups, [Mesh(("x",), (8,))]).axes or ()] == ["x:(4)2"]
    strided = Groups(((0, 4), (1, 5), (2, 6), (3, 7)))
    assert [str(axis) for axis in sets.named(strided, [Mesh(("x",), (8,))]).axes or ()] == ["x:(1)2"]


@pytest.mark.parametrize("members", [((0, 3), (1, 2)), ((0, 1, 2), (3,)), ((0, 1),), ((1, 2), (3, 0))])
def test_groups_along_no_axis_have_no_name(members: tuple[tuple[int, ...], ...]) -> None:
    assert sets.named(Groups(members), [Mesh(("x", "y"), (2, 2))]).axes is None


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("all-reduce", 2 * 3 / 4 * 1000),
        ("all-gather", 750),
        ("reduce-scatter", 750),
        ("all-to-all", 750),
        ("collective-permute", 1000),
        ("collective-broadcast", 1000),
        ("never-heard-of", None),
    ],
)
def test_bytes_sent_are_those_of_a_ring(kind: str, wanted: float | None) -> None:
    assert sent(kind, 1000, 4) == wanted
    assert sent(kind, 1000, 1) == 0


LINE_AND_RING = [(x, y) for x in range(4) for y in range(4)]


def test_a_torus_gives_a_group_the_links_of_the_axes_that_it_spans() -> None:
    """Two axes, four links of 50 GB/s: an all-gather of 1 GB gets 0.75 GB (15/16 GB) into each chip."""
    ring = DeviceLinks(200e9, LINE_AND_RING, [0] * 16, "", (True, True))
    assert ring.seconds("all-gather", 1e9, Groups((tuple(range(4)),)))[0] == pytest.approx(0.75 / 100)
    assert ring.seconds("all-gather", 1e9, Groups((tuple(range(16)),)))[0] == pytest.approx(15 / 16 / 200)
    assert ring.seconds("all-gather", 1e9, Groups(((0,), (1,)))) == (None, "the group does not leave the chip")


@pytest.mark.parametrize(("wraps", "links"), [(True, 2), (False, 1)])
def test_an_all_to_all_crosses_the_middle_of_a_ring_by_two_links_and_of_a_line_by_one(wraps: bool, links: int) -> None:
    """Two chips of four send a quarter of 1 GB to each of the two others: 1 GB, by links of 50 GB/s."""
    torus = DeviceLinks(200e9, LINE_AND_RING, [0] * 16, "", (True, wraps))
    assert torus.seconds("all-to-all", 1e9, Groups((tuple(range(4)),)))[0] == pytest.approx(1 / links / 50)


def test_behind_a_switch_all_links_serve_but_not_between_hosts() -> None:
    links = DeviceLinks(450e9, (), [0] * 8 + [1] * 8, "")
    assert links.seconds("all-gather", 8e9, Groups((tuple(range(8)),)))[0] == pytest.approx(7 / 450)
    assert links.seconds("all-gather", 1, Groups(((0, 8), (1, 9)))) == (None, NO_SPEED_BETWEEN_HOSTS)
    assert DeviceLinks(source="no figure").seconds("all-gather", 1, Groups(((0, 1),))) == (None, "no figure")


def test_collectives_in_flight_together_have_all_links_of_a_chip_between_them() -> None:
    """Two permutations round a ring, one each way, use one link each: neither alone may count as both."""
    ring = DeviceLinks(200e9, LINE_AND_RING, [0] * 16, "", (True, True))
    around = Groups(((0, 1), (1, 2), (2, 3), (3, 0)), True)
    assert ring.seconds("collective-permute", 1e9, around)[0] == pytest.approx(1 / 50)
    assert ring.seconds("collective-permute", 1e9, around, beside=True)[0] == pytest.approx(1 / 200)


def test_bytes_of_a_ragged_exchange_are_unknown_since_its_sizes_are_values() -> None:
    assert sent("ragged-all-to-all", 1000, 4) is None
