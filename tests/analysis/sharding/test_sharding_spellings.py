"""The spellings in which JAX says how a program is laid out: pmap, shard_map, GSPMD, Shardy, one device, tiles."""

from __future__ import annotations

import ast

import pytest
from eight_devices import on_eight

SHARDY = """
"""
GSPMD = """
jax.config.update("jax_use_shardy_partitioner", False)
"""
TELL = """
print([told(ins.shardings.values), told(ins.shardings.intermediates),
       [(r["collective"], r["axes"], r["groups"], r["payload"], r["cause"], r["from"], r["to"])
        for r in ins.collectives.table.rows()]])
"""
either = pytest.mark.parametrize("partitioner", [SHARDY, GSPMD], ids=["Shardy", "GSPMD"])


def asked(partitioner: str, source: str) -> tuple[list[tuple[str, ...]], ...]:
    """What is told of the values, of those in between, of the collectives."""
    said = on_eight(partitioner + source + TELL)
    found: tuple[list[tuple[str, ...]], ...] = ast.literal_eval(said)
    return found


@either
def test_a_product_that_is_split_along_what_it_sums(partitioner: str) -> None:
    values, between, collectives = asked(
        partitioner,
        """
m = mesh(AxisType.Auto)
x, w = NamedSharding(m, P("data", "model")), NamedSharding(m, P("model"))
ins = inspect(lambda x, w: jnp.tanh(x @ w), shape(16, 32, sharding=x), shape(32, 64, sharding=w))
""",
    )
    assert values == [
        ("x", "P('data', 'model')", "you"),
        ("w", "P('model', None)", "you"),
        ("result", "P('data', None)", "compiler"),
    ]
    assert ("dot_general", "P('data', None)", "compiler") in between
    [one] = collectives
    assert one[:4] == ("all-reduce", "model", "{0,1} {2,3} {4,5} {6,7}", 4 * 64 * 4)
    assert one[4:] == ("partial sums of dot_general", "P('data', 'model') × P('model', None)", "P('data', None)")


@either
def test_pmap(partitioner: str) -> None:
    values, between, collectives = asked(
        partitioner,
        """
ins = inspect(jax.pmap(lambda x: jax.lax.psum(jnp.sin(x), "i"), axis_name="i"), shape(8, 3))
""",
    )
    assert values == [("x", "P('i', None)", "you"), ("result", "P('i', None)", "you")]
    assert ("sin", "P(None, manual={'i'})", "you") in between
    assert collectives == [("all-reduce", "i", "{0,1,2,3,4,5,6,7}", 12, "written as psum", "", "")]


@either
def test_shard_map(partitioner: str) -> None:
    values, between, collectives = asked(
        partitioner,
        """
m = mesh(AxisType.Auto)
def f(x):
    body = lambda x: jax.lax.psum(jnp.sin(x), "model")
    return jax.shard_map(body, mesh=m, in_specs=P("data", "model"), out_specs=P("data"))(x)
ins = inspect(f, shape(16, 8, sharding=NamedSharding(m, P("data"))))
""",
    )
    assert values[0] == ("x", "P('data', None)", "you")
    assert ("sin", "P(None, None, manual={'data', 'model'})", "you") in between
    assert collectives == [("all-reduce", "model", "{0,1} {2,3} {4,5} {6,7}", 64, "written as psum", "", "")]


def test_one_device_is_told_by_its_id() -> None:
    said = on_eight("""
x = jax.device_put(jnp.ones((8, 4)), jax.devices()[3])
ins = inspect(jnp.tanh, x)
print([told(ins.shardings.values), ins.shardings.places[0].id, ins.collectives.headline, ins.summary()["views"]])
""")
    values, place, headline, views = ast.literal_eval(said)
    assert [spec for _, spec, _ in values] == ["device 3"] * 2
    assert place == 3
    assert headline == "One device; no collectives."
    assert "shardings" not in views


def test_tiles_in_any_order_without_names() -> None:
    said = on_eight(
        GSPMD
        + """
from jax._src.sharding_impls import GSPMDSharding
from jax._src.lib import xla_client
op = xla_client.OpSharding()
op.type = xla_client.OpSharding.Type.OTHER
op.tile_assignment_dimensions, op.tile_assignment_devices = [2, 4], [0, 4, 1, 5, 2, 6, 3, 7]
sharding = GSPMDSharding(jax.devices(), op)
ins = inspect(jax.jit(lambda x: x * 2, in_shardings=sharding), shape(8, 4))
value = ins.shardings["x"]
wanted = {device.id: index for device, index in sharding.devices_indices_map((8, 4)).items()}
print([value.map.sharding.spec, value.map.slices() == {
    device: tuple(slice(*part.indices(size)[:2]) for part, size in zip(index, (8, 4)))
    for device, index in wanted.items()}])
"""
    )
    assert ast.literal_eval(said) == ["2x4 shards", True]
