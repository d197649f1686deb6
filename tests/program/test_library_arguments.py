"""Arrays of calls through Equinox and nnx are named as their author writes them, or as JAX names them."""

from __future__ import annotations

import re
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.panel.requests import document_requests
from jaxstage_ext.program.source.library_arguments import authors_names
from jaxstage_ext.views.static_html import panel_html
from jaxstage_ext.views.text import panel_text

pytestmark = pytest.mark.usefixtures("kept_answers")


def arguments(inspection: Inspection) -> dict[str, str]:
    """Name and type of each argument in Layouts; Memory says the same names."""
    table = inspection.layouts.values
    shown = {row["value"]: row["type"] for row in table.rows() if row["kind"] == "argument"}
    assert set(inspection.memory.arguments["argument"]) >= set(shown)
    return shown


def types_of(scope: dict[str, Any], names: dict[str, str]) -> dict[str, str]:
    """The types that the expressions really have, as Python evaluates them."""
    found = {}
    for name in names:
        value = eval(name, dict(scope))  # as the reader would
        value = value.get_value() if isinstance(value, nnx.Variable) else value
        value = jax.random.key_data(value) if jnp.issubdtype(value.dtype, jax.dtypes.prng_key) else value
        dtype = {"float32": "f32", "uint32": "u32", "int32": "s32"}[str(value.dtype)]
        found[name] = f"{dtype}[{','.join(map(str, value.shape))}]"
    return found


@pytest.mark.parametrize("donate", ["none", "all-except-first"])
def test_a_module_of_equinox(donate: Any) -> None:
    mlp = eqx.nn.MLP(4, 2, 8, 2, key=jax.random.key(0))
    x, extra = jnp.ones(4), {"bias": jnp.ones(2)}

    @eqx.filter_jit(donate=donate)
    def loss(mlp, x, scale, *, extra):
        return ((mlp(x) + extra["bias"]) ** 2).sum() * scale

    shown = arguments(inspect(loss, mlp, x, 2.0, extra=extra, stage="compile"))
    assert "mlp.layers[0].weight" in shown
    assert {"x", "extra['bias']"} <= set(shown)
    assert types_of({"mlp": mlp, "x": x, "extra": extra}, shown) == shown


def test_the_legend_of_an_hlo_excerpt_and_the_hover_in_the_panel() -> None:
    @eqx.filter_jit
    def loss(mlp, x):
        return (mlp(x) ** 2).sum()

    program = inspect(loss, eqx.nn.MLP(4, 2, 8, 2, key=jax.random.key(0)), jnp.ones(4), stage="compile").program
    for form in (panel_text([program]), panel_html([program])):
        assert re.search(r"%dynamic_nodonate__first___2_.1 is\s+mlp.layers\[1\].weight", form)
        assert "dynamic_nodonate[" not in form
    reply, _ = document_requests.METHODS["operations"]([program], {"call": 0, "doc": "hlo"})
    assert reply["sentences"]["%dynamic_nodonate__rest___0_.1"] == "argument x"


def test_a_module_of_equinox_that_is_called() -> None:
    layer = eqx.nn.Linear(4, 2, key=jax.random.key(0))
    shown = arguments(inspect(eqx.filter_jit(layer), jnp.ones(4), stage="compile"))
    assert {"self.weight": "f32[2,4]", "self.bias": "f32[2]"}.items() <= shown.items()


def test_modules_of_nnx_that_share_variables() -> None:
    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(4, 8, rngs=rngs)
            self.layers = nnx.List([nnx.Linear(8, 2, rngs=rngs)])
            self.drop = nnx.Dropout(0.1, rngs=rngs)

        def __call__(self, x):
            return self.layers[0](self.drop(nnx.relu(self.first(x))))

    net = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(net, optax.adam(1e-3), wrt=nnx.Param)

    @nnx.jit
    def step(net, optimizer, x):
        gradient = nnx.grad(lambda net: (net(x) ** 2).sum())(net)
        optimizer.update(net, gradient)

    x = jnp.ones((3, 4))
    shown = arguments(inspect(step, net, optimizer, x, stage="compile"))
    assert {"net.first.kernel": "f32[4,8]", "net.layers[0].bias": "f32[2]", "x": "f32[3,4]"}.items() <= shown.items()
    assert not any(".states[" in name for name in shown)
    assert types_of({"net": net, "optimizer": optimizer, "x": x}, shown) == shown


def test_names_stay_where_the_call_has_other_arrays() -> None:
    fn = eqx.filter_jit(lambda x: x)
    program = inspect(fn, jnp.ones(3), stage="lower").program
    known = ["dynamic_nodonate['first'][0]"]
    assert authors_names(program.call, known) == ["x"]
    for other in (["dynamic_nodonate['first'][1]"], ["dynamic_nodonate['rest'][0]"], ["mine['first'][0]"]):
        assert authors_names(program.call, other) == other
    assert authors_names(inspect(jax.jit(lambda x: x), jnp.ones(3), stage="lower").program.call, known) == known
