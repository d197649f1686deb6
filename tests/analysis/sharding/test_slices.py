"""Which device holds which slice, in every spelling: against JAX's own answer for meshes of any size."""

from __future__ import annotations

import itertools
import math
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax._src.op_shardings import op_sharding_to_indices
from jax.sharding import AbstractMesh, NamedSharding, SingleDeviceSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext.analysis.sharding import from_plain, from_proto, from_text
from jaxstage_ext.analysis.sharding.mesh import Axis, Mesh
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.slices import Sharding, on_mesh, with_names
from jaxstage_ext.core.layout import value_shardings

NAMES = ("data", "model", "expert", "pipe")


@st.composite
def laid(draw: st.DrawFn) -> tuple[AbstractMesh, P, tuple[int, ...]]:
    """A mesh of up to 64 devices, a PartitionSpec, and a shape of rank 0 to 6 that it divides."""
    sizes = draw(
        st.lists(st.sampled_from([1, 2, 3, 4, 8]), min_size=1, max_size=4).filter(lambda s: math.prod(s) <= 64)
    )
    mesh = AbstractMesh(tuple(sizes), NAMES[: len(sizes)])
    rank = draw(st.integers(0, 6))
    axes = draw(st.permutations(list(range(len(sizes)))))
    dims: list[list[int]] = [[] for _ in range(rank)]
    for axis in axes if rank else ():
        if (dim := draw(st.integers(-1, rank - 1))) >= 0:
            dims[dim].append(axis)
    entries = [tuple(NAMES[axis] for axis in dim) or None for dim in dims]
    shape = [math.prod(sizes[a] for a in dim) * draw(st.integers(1, 3)) for dim in dims]
    return mesh, P(*entries), tuple(shape)


def by_jax(sharding: Any, shape: tuple[int, ...], devices: int) -> dict[int, tuple[tuple[int, int], ...]]:
    indices = op_sharding_to_indices(sharding, shape, devices)
    return {
        number: tuple(part.indices(size)[:2] for part, size in zip(index, shape, strict=True))
        for number, index in enumerate(indices)
    }


def held(sharding: Sharding, shape: tuple[int, ...]) -> dict[int, tuple[tuple[int, int], ...]]:
    slices = ShardingMap(shape, sharding, "f32", 32).slices()
    return {device: tuple((part.start, part.stop) for part in parts) for device, parts in slices.items()}


def quoted(axes: Any) -> str:
    return ", ".join(f"'{name}'" for name in ([axes] if isinstance(axes, str) else axes or ()))


def spellings(mesh: AbstractMesh, spec: P, rank: int) -> dict[str, Sharding]:
    """The same sharding in all the ways that it is spelled."""
    named = NamedSharding(mesh, spec)
    tiled = named._to_xla_hlo_sharding(rank)
    sizes = dict(zip(mesh.axis_names, mesh.axis_sizes, strict=True))
    dims = ", ".join(f"{{{quoted(entry)}}}" for entry in [*spec, *[None] * (rank - len(spec))])
    axes = ",".join(f"'{name}'={size}" for name, size in sizes.items())
    module = f"  sdy.mesh @mesh = <[{axes}]>".replace("'", '"')
    return {
        "JAX": from_plain.read(value_shardings.plain(named, (1,) * rank), (1,) * rank),
        "HLO text, tiled": from_text.hlo(str(tiled), rank, mesh.size),
        "HLO proto, tiled": from_proto.read(tiled.to_proto().SerializeToString(), rank, mesh.size)[0],
        "HLO text, named": from_text.hlo(f"{{mesh[{axes}], [{dims}]}}", rank, mesh.size),
        "Shardy": from_text.shardy(f"#sdy.sharding<@mesh, [{dims}]>".replace("'", '"'), from_text.meshes(module), rank),
    }


@settings(max_examples=60, deadline=None)
@given(laid())
def test_every_spelling_gives_the_slices_that_jax_gives(given: tuple[AbstractMesh, P, tuple[int, ...]]) -> None:
    mesh, spec, shape = given
    wanted = by_jax(NamedSharding(mesh, spec)._to_xla_hlo_sharding(len(shape)), shape, mesh.size)
    for how, sharding in spellings(mesh, spec, len(shape)).items():
        assert sharding.is_known, (how, sharding)
        assert held(sharding, shape) == wanted, how


@settings(max_examples=40, deadline=None)
@given(laid())
def test_shard_shapes_and_copies_are_those_of_jax(given: tuple[AbstractMesh, P, tuple[int, ...]]) -> None:
    mesh, spec, shape = given
    named = NamedSharding(mesh, spec)
    value = ShardingMap(shape, from_plain.read(value_shardings.plain(named, shape), shape), "f32", 32)
    assert value.shard_shape == named.shard_shape(shape)
    assert value.shard_bytes == math.prod(named.shard_shape(shape)) * 4
    used = [name for entry in spec for name in (entry if isinstance(entry, tuple) else (entry,)) if name]
    assert value.copies == mesh.size // math.prod(dict(mesh.shape)[name] for name in used)
    assert not value.is_uneven and value.padding == 0


@settings(max_examples=40, deadline=None)
@given(laid())
def test_axis_names_are_found_again_in_tiles(given: tuple[AbstractMesh, P, tuple[int, ...]]) -> None:
    mesh, spec, shape = given
    tiled = spellings(mesh, spec, len(shape))["HLO proto, tiled"]
    found = with_names(tiled, Mesh(mesh.axis_names, mesh.axis_sizes))
    assert found.axes is not None
    assert held(found, shape) == held(tiled, shape)
    large = {name for name, size in mesh.shape.items() if size > 1}
    spelled = [[name for name in (e if isinstance(e, tuple) else (e,)) if name in large] for e in spec]
    assert [[str(axis) for axis in dim] for dim in found.axes] == spelled


@pytest.mark.parametrize("devices", [1, 4])
def test_real_devices_are_those_of_devices_indices_map(devices: int) -> None:
    mesh = jax.make_mesh((devices,), ("x",), devices=jax.devices()[:devices])
    for spec, order in itertools.product((P("x"), P(None, "x"), P()), (False, True)):
        named = NamedSharding(jax.sharding.Mesh(mesh.devices[::-1], ("x",)) if order else mesh, spec)
        value, places = value_shardings.of_array(jax.device_put(jnp.zeros((8, 4)), named))
        ours = held(from_plain.read(value.sharding or {}, value.shape), (8, 4))
        wanted = {d.id: index for d, index in named.devices_indices_map((8, 4)).items()}
        for number, parts in ours.items():
            assert parts == tuple(
                part.indices(size)[:2] for part, size in zip(wanted[places[number].id], (8, 4), strict=True)
            )


def test_devices_are_numbered_as_the_program_has_them() -> None:
    mesh = jax.sharding.Mesh(jax.devices()[::-1], ("x",))
    in_order = value_shardings.plain(
        NamedSharding(mesh, P("x")), (8,), {device.id: device.id for device in jax.devices()}
    )
    assert held(from_plain.read(in_order, (8,)), (8,))[0] == ((6, 8),)
    alone = value_shardings.plain(NamedSharding(mesh, P("x")), (8,))
    assert held(from_plain.read(alone, (8,)), (8,))[0] == ((0, 2),)


class Odd(jax.sharding.Sharding):
    """A sharding of somebody's own class, which says only what each device holds."""

    def __init__(self, held: dict[Any, tuple[slice, ...]]) -> None:
        self._held = held

    @property
    def device_set(self) -> set[Any]:
        return set(self._held)

    @property
    def _device_assignment(self) -> tuple[Any, ...]:
        return tuple(self._held)

    def devices_indices_map(self, shape: tuple[int, ...]) -> dict[Any, tuple[slice, ...]]:
        return self._held


def test_a_class_that_nobody_knows_is_read_by_its_slices() -> None:
    devices = jax.devices()
    grid = {devices[i]: (slice(4 * (i % 2), 4 * (i % 2) + 4), slice(None)) for i in range(4)}
    sharding = from_plain.read(value_shardings.plain(Odd(grid), (8, 3)), (8, 3))
    assert held(sharding, (8, 3)) == {i: ((4 * (i % 2), 4 * (i % 2) + 4), (0, 3)) for i in range(4)}
    uneven = {devices[0]: (slice(0, 1), slice(None)), devices[1]: (slice(1, 8), slice(None))}
    told = from_plain.read(value_shardings.plain(Odd(uneven), (8, 3)), (8, 3))
    assert told.problem == "the parts on its devices have different sizes"
    assert "Odd" in told.spec


def test_uneven_shards_end_short_and_the_rest_is_padding() -> None:
    """By hand: XLA gives each of four devices ceil(5 / 4) = 2 rows, so they hold 2, 2, 1 and 0."""
    value = ShardingMap((5, 3), from_text.hlo("{devices=[4,1]<=[4]}", 2, 4), "f32", 32)
    assert value.shard_shape == (2, 3)
    assert [(part[0].start, part[0].stop) for part in value.slices().values()] == [(0, 2), (2, 4), (4, 5), (5, 5)]
    assert value.is_uneven
    assert value.padding == pytest.approx(1 - 15 / 24)
    assert value.shard_bytes == 24


def test_a_thousand_devices_and_a_rank_of_six() -> None:
    mesh = Mesh(("x", "y", "z"), (8, 16, 8))
    sharding = on_mesh(mesh, [(Axis("z"),), (), (Axis("x"), Axis("y")), (), (), ()])
    value = ShardingMap((16, 3, 256, 1, 2, 5), sharding, "bf16", 16)
    assert value.shard_shape == (2, 3, 2, 1, 2, 5)
    assert value.bounds.shape == (1024, 6, 2)
    x, y, z = 3, 7, 5
    assert value.slices()[(x * 16 + y) * 8 + z][0] == slice(10, 12)
    assert value.slices()[(x * 16 + y) * 8 + z][2] == slice((x * 16 + y) * 2, (x * 16 + y) * 2 + 2)


def test_a_scalar_is_whole_on_every_device() -> None:
    value = ShardingMap((), from_text.hlo("{replicated}", 0, 8), "f32", 32)
    assert value.slices() == {device: () for device in range(8)}
    assert (value.shard_bytes, value.copies) == (4, 8)


def test_one_device_needs_no_mesh() -> None:
    value, places = value_shardings.of_array(jnp.zeros((3, 2)))
    sharding = from_plain.read(value.sharding or {}, value.shape)
    assert sharding.spec == "device 0"
    assert held(sharding, (3, 2)) == {0: ((0, 3), (0, 2))}
    assert places[0].id == 0
    assert isinstance(jnp.zeros(1).sharding, SingleDeviceSharding)


def test_a_sharding_of_another_rank_is_not_laid_out() -> None:
    value = ShardingMap((8,), from_text.hlo("{devices=[2,2]<=[4]}", 2, 4), "f32", 32)
    assert not value.fits
    assert value.shard_shape is None
