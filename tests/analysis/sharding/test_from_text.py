"""Every spelling of a sharding that compilers have: against XLA's own parser, and by hand what has no tiles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxlib._hlo import HloSharding

from jaxstage_ext.analysis.sharding import from_proto, from_text
from jaxstage_ext.analysis.sharding.mesh import MOST_DEVICES, BadSharding, Mesh
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap

TEXTS = [
    "{devices=[2,2]0,1,2,3}",
    "{devices=[2,2]3,1,2,0}",
    "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
    "{devices=[2,1,2]<=[4] last_tile_dims={manual}}",
    "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}",
    "{devices=[2,1,2,2]<=[2,2,2]T(1,0,2) last_tile_dims={manual, replicated}}",
    "{devices=[4,2]<=[2,2,2]T(2,0,1)}",
    "{devices=[1,8]<=[8] shard_as 3}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_tiles_are_those_that_xla_parses(text: str) -> None:
    parsed = HloSharding.from_string(text)
    for ours in (
        from_text.hlo(text, 2, 8),
        from_proto.read(parsed.to_proto().SerializeToString(), 2, 8)[0],
    ):
        assert ours.holders.ravel().tolist() == list(parsed.tile_assignment_devices())
        rest = [count for _, count, _ in ours.rest]
        assert [*ours.tiles, *rest] == list(parsed.tile_assignment_dimensions())


NAMED = [
    "{mesh['a'=2,'b'=4], [{'a'}, {'b':(1)2, ?}], replicated={'b':(2)2}}",
    "{mesh['a'=2,'b'=4], [{'b':(2)2, 'a'}, {'b':(1)2}]}",
    "{mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)), [{'a'}, {}]}",
    "{mesh['a'=2,'b'=4], device_ids=(7,6,5,4,3,2,1,0), [{'a'}, {}], unreduced={'b'}}",
    "{mesh['a'=2,'b'=4], [{'a'}, {}], manual={'b'}}",
    "{mesh['a'=2,'b'=4], [{'b', 'a'}, {?}]}",
]


@pytest.mark.parametrize("text", NAMED)
def test_named_shardings_are_those_that_xla_parses(text: str) -> None:
    if not hasattr(HloSharding, "reduction_op"):
        pytest.skip("this jaxlib gives no tiles of a named sharding")
    parsed = HloSharding.from_string(text)
    proto = from_proto.read(parsed.to_proto().SerializeToString(), 2, 8)[0]
    for ours in (from_text.hlo(text, 2, 8), proto):
        tiles = list(parsed.tile_assignment_dimensions())[:2]
        assert list(ours.tiles) == tiles
        theirs = np.array(list(parsed.tile_assignment_devices())).reshape(*tiles, -1)
        assert np.array_equal(np.sort(ours.holders, -1), np.sort(theirs, -1))


@pytest.mark.parametrize(
    ("text", "spec", "kind"),
    [
        ("{replicated}", "P(None, None)", "replicated"),
        ("{mesh[], replicated}", "P(None, None)", "replicated"),
        ("{manual}", "manual over 8", "manual"),
        ("{mesh['a'=2,'b'=4], manual}", "P(None, None, manual={'a', 'b'})", "manual"),
        ("{mesh['a'=2,'b'=4], unreduced}", "P(None, None, unreduced={'a', 'b'})", "unreduced"),
        ("{maximal device=3}", "device 3", ""),
    ],
)
def test_shardings_without_tiles(text: str, spec: str, kind: str) -> None:
    ours = from_text.hlo(text, 2, 8)
    assert ours.spec in (spec, text)
    assert [its for its, _, _ in ours.rest] == ([kind] if kind else [])
    if "mesh['" not in text or hasattr(HloSharding, "reduction_op"):
        proto = HloSharding.from_string(text).to_proto().SerializeToString()
        assert [its for its, _, _ in from_proto.read(proto, 2, 8)[0].rest] == ([kind] if kind else [])


def test_tuples_have_a_sharding_each() -> None:
    text = "{{replicated}, {mesh['data'=4,'model'=2], [{'data'}, {}]}, {devices=[8]<=[8]}}"
    parts = from_text.hlo_tuple(text)
    assert [from_text.hlo(part, rank, 8).tiles for part, rank in zip(parts, (0, 2, 1), strict=True)] == [
        (),
        (4, 1),
        (8,),
    ]
    assert from_text.hlo_tuple("{replicated}") == ["{replicated}"]
    values = from_text.shardy_values('#sdy.sharding_per_value<[<@mesh, [{"x"}]>, <mesh<["a"=2]>, [{}]>]>')
    meshes = {"mesh": Mesh(("x",), (4,))}
    assert [from_text.shardy(value, meshes).spec for value in values] == ["P('x')", "P(None)"]


def test_shardys_own_words() -> None:
    module = """
      sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>
      sdy.mesh @"my mesh" = <["a b"=2], device_ids=[1, 0]>
      sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
    """
    meshes = from_text.meshes(module)
    assert meshes["mesh"] == Mesh(("x", "y", "z"), (2, 4, 2))
    read = from_text.shardy('#sdy.sharding<@mesh, [{"x", "y":(1)2, ?}p1, {}], replicated={"z"}>', meshes)
    assert read.spec == "P(('x', 'y:(1)2'), None)"
    assert read.shared("replicated") == 4
    assert from_text.shardy('<@"my mesh", [{"a b"}]>', meshes).holders.ravel().tolist() == [1, 0]
    assert from_text.shardy("<@maximal_mesh_3, []>", meshes).spec == "device 3"
    assert from_text.shardy('#sdy.sharding<@mesh, [{}], unreduced={"y"}>', meshes).shared("unreduced") == 4


@pytest.mark.parametrize(
    "text",
    [
        "{sideways}",
        "",
        "{devices=[2,2]0,1,2}",
        "{devices=[2,2]0,1,2,2}",
        "{devices=[4]<=[4]T(1)}",
        "{mesh['a'=2], [{'b'}]}",
        "{mesh['a'=4], [{'a':(3)2}]}",
        "{mesh['a'=4], [{'a'}, {'a'}]}",
        "{devices=[9000000000]<=[9000000000]}",
        "{mesh['a'=9000000000], [{'a'}]}",
        "{unknown}",
    ],
)
def test_what_cannot_be_read_is_unknown_and_says_its_text(text: str) -> None:
    ours = from_text.hlo(text, 1, 4)
    assert not ours.is_known
    assert ours.problem
    assert text in ours.spec
    value = ShardingMap((8,), ours, "f32", 32)
    assert (value.shard_shape, value.shard_bytes, value.copies, value.padding) == (None, None, None, None)
    with pytest.raises(BadSharding):
        _ = value.bounds


@pytest.mark.parametrize("text", ["#sdy.sharding<@gone, [{}]>", "#other.sharding<>", '#sdy.sharding<@m, [{"q"}]>'])
def test_what_shardy_says_that_cannot_be_read_is_unknown(text: str) -> None:
    ours = from_text.shardy(text, {"m": Mesh(("x",), (2,))})
    assert not ours.is_known
    assert text in ours.spec


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_bytes_that_are_no_sharding_raise_one_kind_of_error(data: bytes) -> None:
    try:
        for found in from_proto.read(data, 2, 8):
            assert found.devices <= MOST_DEVICES
    except Exception as error:
        assert type(error).__name__ == "DecodeError"
