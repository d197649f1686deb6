"""How the values of a program lie on its devices: arguments, results, intermediates; who chose; on every target."""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from eight_devices import on_eight
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.analysis.sharding import sharding_wording
from jaxstage_ext.analysis.sharding.sharding_wording import describe
from jaxstage_ext.analysis.sharding.value_tables import Shardings
from jaxstage_ext.program.questions.propagated_module import propagation_dump

MESH = {"data": 4, "model": 2}


pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


def shape(*sizes: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, dtype)


def layer(params, unused, x):
    h = jax.nn.relu(x @ params["w"])
    h = jax.lax.with_sharding_constraint(h, P("data", "model"))
    return {"loss": (h**2).sum(), "hidden": h}


def looked_at(target: str) -> Shardings:
    needs(target)
    return inspect(
        layer,
        {"w": shape(32, 64), "b": shape(7)},
        shape(3),
        shape(16, 32),
        target=target,
        mesh=MESH,
        in_specs=({"w": P(None, "model"), "b": None}, None, P("data")),
    ).shardings


EXPECTED = {
    "params['w']": ("argument", "P(None, 'model')", "you", (32, 32), 4),
    "x": ("argument", "P('data', None)", "you", (4, 32), 2),
    "result['hidden']": ("result", "P('data', 'model')", "compiler", (4, 32), 1),
    "result['loss']": ("result", "P()", "compiler", (), 8),
}


@pytest.mark.parametrize("target", ["cpu:8", "v5e:2x4", "h100:8"])
def test_arguments_and_results_by_name_on_every_target(target: str) -> None:
    found = looked_at(target)
    told = {
        value.name: (value.kind, value.map.sharding.spec, value.chosen_by, value.map.shard_shape, value.map.copies)
        for value in found.values
        if value.map.sharding.is_known
    }
    assert told == EXPECTED
    assert str(found.mesh) == "data=4, model=2"
    assert len(found.places) == 8


def test_an_argument_that_is_not_used_lies_nowhere_and_says_so() -> None:
    found = looked_at("cpu:8")
    assert found["unused"].map.shard_bytes is None
    assert found["unused"].map.sharding.problem == "the program does not use it, so it is not sent to any device"
    [row] = [row for row in found.table.rows() if row["value"] == "unused"]
    assert (row["sharding"], row["chosen by"], row["per device"]) == (sharding_wording.NOT_SENT, "", 0)


@pytest.mark.parametrize("target", ["cpu:8", "v5e:2x4", "h100:8"])
def test_intermediates_have_their_shardings_after_propagation_and_their_lines(target: str) -> None:
    found = looked_at(target)
    first = layer.__code__.co_firstlineno
    by_line = {
        (value.made_by, value.map.shape): (
            value.map.sharding.spec,
            value.chosen_by,
            int(value.line.rpartition(":")[2]) - first,
        )
        for value in found.intermediates
    }
    assert by_line["dot_general", (16, 64)] == ("P('data', 'model')", "compiler", 1)
    assert by_line["sharding_constraint", (16, 64)] == ("P('data', 'model')", "you", 2)
    assert by_line["reduce_sum", ()] == ("P()", "compiler", 3)
    assert len(found.all) == len(found.values) + len(found.intermediates)


def test_tpus_have_their_places_in_the_torus_and_gpus_their_hosts() -> None:
    places = looked_at("v5e:2x4").places
    assert {place.coords and place.coords[:2] for place in places} == {(x, y) for x in range(2) for y in range(4)}
    assert {place.process for place in looked_at("h100:2x4").places} == {0, 1}


def test_compiled_shardings_are_those_of_jax() -> None:
    """JAX's own `Compiled.input_shardings` and `output_shardings`, slice by slice, on eight local devices."""
    said = on_eight("""
m = mesh(AxisType.Auto)
def f(w, x):
    return jnp.tanh(x @ w), (x.sum(0), w * 2)
ins = inspect(f, shape(32, 64, sharding=NamedSharding(m, P(None, ("model", "data")))), shape(16, 32))
theirs = [*jax.tree.leaves(ins.compiled.input_shardings), *jax.tree.leaves(ins.compiled.output_shardings)]
for value, sharding in zip(ins.shardings.values, theirs, strict=True):
    ours = value.map.slices()
    for device, index in sharding.devices_indices_map(value.map.shape).items():
        wanted = tuple(part.indices(size)[:2] for part, size in zip(index, value.map.shape))
        assert tuple((part.start, part.stop) for part in ours[device.id]) == wanted, value.name
print(len(theirs))
""")
    assert said.strip() == "5"


def test_explicit_axes_are_chosen_by_jax_and_shard_map_by_you() -> None:
    said = on_eight("""
jax.set_mesh(mesh(AxisType.Explicit))
def f(w, x):
    h = jnp.tanh(x @ w)
    body = lambda h: jax.lax.psum(jnp.sin(h), "model")
    return jax.shard_map(body, in_specs=P("data", "model"), out_specs=P("data"))(h)
s = lambda *spec: NamedSharding(jax.sharding.get_mesh(), P(*spec))
w, x = shape(32, 64, sharding=s(None, "model")), shape(16, 32, sharding=s("data", None))
ins = inspect(f, w, x)
print(told(ins.shardings.intermediates))
""")
    told = eval(said)
    assert told.count(("tanh", "P('data', 'model')", "JAX")) == 1
    assert ("shard_map", "P('data', None)", "you") in told
    assert any(name == "sin" and "manual={'data', 'model'}" in spec and by == "you" for name, spec, by in told)


def test_gspmds_spelling_is_read_too() -> None:
    said = on_eight("""
jax.config.update("jax_use_shardy_partitioner", False)
m = mesh(AxisType.Auto)
ins = inspect(lambda w, x: jnp.tanh(x @ w), shape(32, 64, sharding=NamedSharding(m, P(None, "model"))),
              shape(16, 32, sharding=NamedSharding(m, P("data"))))
print(told([*ins.shardings.values, *ins.shardings.intermediates]))
""")
    told = eval(said)
    assert told[:3] == [
        ("w", "P(None, 'model')", "you"),
        ("x", "P('data', None)", "you"),
        ("result", "P('data', 'model')", "compiler"),
    ]
    assert ("tanh", "P('data', 'model')", "compiler") in told


def test_pmap_is_a_mesh_of_its_own() -> None:
    said = on_eight("""
ins = inspect(jax.pmap(lambda x: x * 2, axis_name="i"), shape(8, 3))
[x, y] = ins.shardings.values
print(x.map.shard_shape, y.map.shard_shape, x.map.slices()[5][0], len(ins.shardings.places))
""")
    assert said.strip() == "(1, 3) (1, 3) slice(5, 6, None) 8"


def test_a_mesh_in_another_order_keeps_its_devices() -> None:
    said = on_eight("""
m = jax.sharding.Mesh(jax.devices()[::-1], ("x",))
ins = inspect(jnp.tanh, shape(8, sharding=NamedSharding(m, P("x"))))
[x, _] = ins.shardings.values
first = next(number for number, (part,) in x.map.slices().items() if part.start == 0)
print(ins.shardings.places[first].id)
""")
    assert said.strip() == "7"


def test_tokens_keys_and_scalars() -> None:
    def noisy(key, n):
        jax.debug.print("{}", n, ordered=True)
        return jax.random.normal(key, (4,)) * n

    found = inspect(noisy, jax.random.key(0), 3.0).shardings
    assert [value.name for value in found.values] == ["key", "n", "result"]
    assert [value.map.sharding.spec for value in found.values] == ["device 0"] * 3
    assert found["n"].map.shard_bytes == 4
    assert found.intermediates == ()


def test_one_device_of_a_mesh() -> None:
    found = inspect(jnp.tanh, shape(8, 4), target="cpu:1", mesh={"x": 1}, in_specs=(P("x"),)).shardings
    assert found["x"].map.slices() == {0: (slice(0, 8), slice(0, 4))}
    assert found.intermediates == ()


def test_a_thousand_chips_and_a_rank_of_six() -> None:
    needs("v5p:8x8x16")
    spec = P("data", None, "model", None, None, "model2")
    found = inspect(
        lambda x: x * 2,
        shape(8, 3, 16, 1, 2, 16),
        target="v5p:8x8x16",
        mesh={"data": 8, "model": 8, "model2": 16},
        in_specs=(spec,),
    ).shardings
    value = found["x"].map
    assert value.shard_shape == (1, 3, 2, 1, 2, 1)
    assert len({tuple((part.start, part.stop) for part in parts) for parts in value.slices().values()}) == 1024
    assert len({place.coords for place in found.places}) == 1024
    assert found["result"].map.sharding.spec == "P('data', None, 'model', None, None, 'model2')"


def test_lowering_alone_tells_what_was_given_and_leaves_the_rest_open() -> None:
    found = inspect(
        jnp.dot, shape(16, 32), shape(32, 8), target="cpu:8", mesh=MESH, in_specs=(P("data"), None), stage="lower"
    ).shardings
    assert [value.map.sharding.is_known for value in found.values] == [True, False, False]
    assert "left to the compiler" in found.values[1].map.sharding.problem


def test_uneven_shards_are_marked() -> None:
    def padded(x):
        return jax.lax.with_sharding_constraint(jnp.concatenate([x, x[:2]]), P("data"))

    found = inspect(padded, shape(8), target="cpu:8", mesh=MESH, in_specs=(P("data"),)).shardings
    [uneven, *_] = [value for value in found.intermediates if value.map.shape == (10,)]
    assert uneven.map.is_uneven
    assert uneven.map.shard_shape == (3,)
    assert uneven.map.padding == pytest.approx(1 - 10 / 12)
    assert "padding" in str(uneven)


def test_words_say_who_holds_what() -> None:
    found = looked_at("cpu:8")
    assert describe("x", found["x"].map, found.places).split("\n") == [
        "x: f32[16,32] P('data', None) on mesh data=4, model=2",
        "f32[4,32] per device, 512 B; each shard on 2 devices.",
        "slice          devices",
        "[0:4, 0:32]    0 1",
        "[4:8, 0:32]    2 3",
        "[8:12, 0:32]   4 5",
        "[12:16, 0:32]  6 7",
    ]
    assert str(found).startswith("8 devices, mesh data=4, model=2\nvalue ")


def test_json_has_units_and_reasons() -> None:
    found = json.loads(looked_at("cpu:8").to_json())
    assert found["columns"]["per device"]["unit"] == "B"
    assert [why for _, column, why in found["reasons"] if column == "sharding"]


def test_a_figure_shows_the_mesh_with_a_slider_for_further_axes() -> None:
    figure = looked_at("cpu:8").figure("x")
    assert len(figure.data) == 1
    assert figure.data[0].z.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
    assert figure.layout.xaxis.title.text == "model"
    three = inspect(
        jnp.tanh, shape(4, 4, 4), target="cpu:8", mesh={"a": 2, "b": 2, "c": 2}, in_specs=(P("a", "b", "c"),)
    ).shardings.figure("x")
    assert len(three.data) == 2
    assert [step.label for step in three.layout.sliders[0].steps] == ["c=0", "c=1"]


def test_a_value_that_is_not_there() -> None:
    with pytest.raises(KeyError, match="there are params"):
        looked_at("cpu:8")["y"]


def test_nothing_is_asked_of_the_compiler_before_someone_looks_at_intermediates() -> None:
    inspection = inspect(jnp.tanh, shape(8), target="cpu:8", mesh=MESH, in_specs=(P("data"),))
    assert str(inspection.shardings)
    assert not propagation_dump.is_known(inspection.program)
    assert inspection.shardings.intermediates
    assert propagation_dump.is_known(inspection.program)
