"""Every table of numbers, of what users bring: as text, JSON, pandas and a figure, for each target."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pandas
import plotly.graph_objects as go
import pytest
from jax.sharding import PartitionSpec as P

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection

SINGULAR = "<script>alert(1)</script>"
KEPT: dict[str, Inspection] = {}


@pytest.fixture(scope="module", autouse=True)
def nothing_kept(no_workers_left: None, kept_answers: None) -> Iterator[None]:
    yield
    KEPT.clear()


def floats(*sizes: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def flax_and_optax() -> Inspection:
    import flax.linen as nn
    import optax

    model, adam = nn.Dense(8), optax.adamw(1e-3)
    params = jax.eval_shape(model.init, jax.random.key(0), floats(4, 16))
    state = jax.eval_shape(adam.init, params)

    def step(params, state, x):
        gradients = jax.grad(lambda p: (model.apply(p, x) ** 2).mean())(params)
        updates, state = adam.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    return jaxstage_ext.inspect(jax.jit(step, donate_argnums=(0, 1)), params, state, floats(4, 16))


def equinox_filtered() -> Inspection:
    import equinox

    model = equinox.nn.MLP(4, 4, 8, 1, key=jax.random.key(0))
    return jaxstage_ext.inspect(equinox.filter_jit(lambda model, x: model(x)), model, jnp.ones(4))


def diffrax_solve() -> Inspection:
    import diffrax

    def solve(y):
        term = diffrax.ODETerm(lambda t, y, _: -y)
        return diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 1.0, 0.1, y, max_steps=16).ys

    return jaxstage_ext.inspect(solve, jnp.ones(3))


def with_callback(x):
    jax.debug.print("{}", x.sum())
    return jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct(x.shape, x.dtype), x) * 2


def hostile(tree):
    with jax.named_scope(SINGULAR):
        return {SINGULAR: jnp.tanh(tree[SINGULAR]).astype(jnp.bfloat16)}


def powered(x, n):
    return x.astype(jnp.bfloat16) ** n


def several() -> Inspection:
    def layer(x, w):
        return (x @ w).astype(jnp.bfloat16)

    specs = (P("rows", "cols"), P("cols"))
    target = ["cpu:4", "cpu:8"]
    return jaxstage_ext.inspect(layer, floats(8, 8), floats(8, 8), target=target, mesh="rows=2,cols=2", in_specs=specs)


MADE: dict[str, Callable[[], Inspection]] = {
    "flax": flax_and_optax,
    "equinox": equinox_filtered,
    "diffrax": diffrax_solve,
    "no arguments": lambda: jaxstage_ext.inspect(lambda: jnp.arange(4.0).astype(jnp.bfloat16)),
    "nothing at all": lambda: jaxstage_ext.inspect(lambda: None),
    "pytrees": lambda: jaxstage_ext.inspect(lambda t: t["a"][0] + t["b"], {"a": [floats(3)], "b": floats(3)}),
    "static": lambda: jaxstage_ext.inspect(jax.jit(powered, static_argnums=1), floats(8), 3),
    "donated": lambda: jaxstage_ext.inspect(jax.jit(lambda x: x + 1, donate_argnums=0), floats(64)),
    "callbacks": lambda: jaxstage_ext.inspect(with_callback, floats(4)),
    "names that are markup": lambda: jaxstage_ext.inspect(hostile, {SINGULAR: floats(8, 8)}),
    "two targets": several,
}
every_program = pytest.mark.parametrize("name", MADE)
TABLES = ("cost", "memory", "shardings", "collectives", "dtypes", "answers")


def inspected(name: str) -> list[Inspection]:
    """The program's Inspection for each of its targets."""
    if name not in KEPT:
        KEPT[name] = MADE[name]()
    return list(KEPT[name].targets.values())


@every_program
@pytest.mark.parametrize("kind", TABLES)
def test_text_json_and_pandas_say_the_same(name: str, kind: str) -> None:
    for inspection in inspected(name):
        found: Any = getattr(inspection, kind)
        assert str(found).strip()
        frame, told = found.to_pandas(), json.loads(found.to_json())
        assert isinstance(frame, pandas.DataFrame)
        told = told["peak"] if kind == "memory" else told
        assert told["jaxstage"] and len(told["columns"]) == len(frame.columns)
        for column, values in zip(frame.columns, told["columns"].values(), strict=True):
            known = [value for value in values["values"] if value is not None]
            assert frame[column].dropna().tolist() == known


def figures(inspection: Inspection) -> Iterator[go.Figure]:
    yield inspection.roofline()
    yield inspection.memory_figure()
    yield inspection.collectives_figure()
    yield inspection.dtypes_figure()
    for value in inspection.shardings.values:
        if value.map.sharding.is_known:
            yield inspection.sharding_figure(value.name)


@every_program
def test_figures_stand_alone_and_show_no_markup(name: str) -> None:
    for inspection in inspected(name):
        for figure in figures(inspection):
            assert isinstance(figure, go.Figure)
            assert "<script>alert" not in json.dumps(figure.to_plotly_json(), default=str)


def test_a_conversion_is_a_bar_with_its_bytes() -> None:
    """f32[8,8] to bf16 of the same shape: 128 bytes fewer, in the jaxpr and in the module."""
    [inspection] = inspected("names that are markup")
    bars = {trace.name: list(trace.x) for trace in inspection.dtypes_figure().data}
    assert bars["jaxpr"] == [-128]


def test_each_target_has_its_own() -> None:
    four, eight = inspected("two targets")
    assert (len(four.shardings.places), len(eight.shardings.places)) == (4, 4)
    assert four.collectives.rows[0].op.kind == eight.collectives.rows[0].op.kind == "all-reduce"
