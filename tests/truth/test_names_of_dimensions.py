"""The names of the dimensions of eight models, against those that their authors would give: written here by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.program.questions.named_dimensions import dimensions


class Model(NamedTuple):
    """A function, its arguments, and by argument the names of its axes; "*" stands for any path before."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    names: dict[str, str]


def shape(*sizes: int, dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(sizes, dtype)


def _trained(loss: Callable[..., Any]) -> Callable[..., Any]:
    """A step with momentum."""

    def step(params: Any, momentum: Any, x: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, x)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
        return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum, value

    return step


def _einsum() -> Model:
    def loss(params: Any, x: Any) -> Any:
        q, k, v = (jnp.einsum("btd,dhk->bthk", x, params[name]) for name in ("wq", "wk", "wv"))
        weights = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", q, k))
        heads = jnp.einsum("bhts,bshk->bthk", weights, v)
        return (x + jnp.einsum("bthk,hkd->btd", heads, params["wo"])).sum()

    params = {"wq": shape(16, 4, 6), "wk": shape(16, 4, 6), "wv": shape(16, 4, 6), "wo": shape(4, 6, 16)}
    names = {"params['wq']": "d h wk", "momentum['wk']": "d h wk", "params['wv']": "d h wv", "x": "b t d"}
    return Model(_trained(loss), (params, params, shape(8, 10, 16)), names)


def _flax() -> Model:
    linen = pytest.importorskip("flax.linen")

    class Block(linen.Module):  # type: ignore[misc, name-defined, unused-ignore]
        @linen.compact
        def __call__(self, x: Any) -> Any:
            x = x + linen.MultiHeadDotProductAttention(4)(linen.LayerNorm()(x))
            return x + linen.Dense(16, name="down")(linen.gelu(linen.Dense(24, name="up")(x)))

    class Transformer(linen.Module):  # type: ignore[misc, name-defined, unused-ignore]
        @linen.compact
        def __call__(self, tokens: Any) -> Any:
            x = linen.Embed(40, 16)(tokens)
            for _ in range(2):
                x = Block()(x)
            return linen.Dense(40, name="head")(x)

    model = Transformer()
    params = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((8, 10), int))
    names = {
        "params['params']['Embed_0']['embedding']": "vocab embed",
        "params['params']['Block_0']['MultiHeadDotProductAttention_0']['query']['kernel']": "embed heads key",
        "params['params']['Block_1']['MultiHeadDotProductAttention_0']['value']['kernel']": "embed heads value",
        "momentum['params']['Block_1']['MultiHeadDotProductAttention_0']['out']['kernel']": "heads value embed",
        "params['params']['Block_0']['up']['kernel']": "embed up",
        "momentum['params']['Block_1']['down']['kernel']": "up embed",
        "params['params']['head']['kernel']": "embed head",
        "x": "batch x_axis1",
    }
    step = _trained(lambda params, tokens: model.apply(params, tokens).sum())
    return Model(step, (params, params, shape(8, 10, dtype=jnp.int32)), names)


def _nnx() -> Model:
    nnx = pytest.importorskip("flax.nnx")

    class Mlp(nnx.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self, rngs: Any) -> None:
            self.up, self.down = nnx.Linear(8, 12, rngs=rngs), nnx.Linear(12, 6, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.down(nnx.relu(self.up(x)))

    @nnx.jit
    def loss(model: Any, x: Any) -> Any:
        return nnx.grad(lambda m: (m(x) ** 2).sum())(model)

    names = {"model.up.kernel": "up_in up", "model.down.kernel": "up down", "x": "batch up_in"}
    return Model(loss, (Mlp(nnx.Rngs(0)), jnp.ones((4, 8))), names)


def _equinox() -> Model:
    eqx = pytest.importorskip("equinox")
    model = eqx.nn.MLP(8, 8, 8, 2, key=jax.random.key(0))

    @eqx.filter_jit
    def gradient(model: Any, x: Any) -> Any:
        return eqx.filter_grad(lambda m: jax.vmap(m)(x).sum())(model)

    names = {
        "model.layers[0].weight": "layers_0 layers_0_in",
        "model.layers[1].weight": "layers_1 layers_0",
        "model.layers[2].weight": "layers_2 layers_1",
        "x": "batch layers_0_in",
    }
    return Model(gradient, (model, jnp.ones((4, 8))), names)


def _experts() -> Model:
    def loss(params: Any, x: Any) -> Any:
        gates = jax.nn.softmax(x @ params["router"])
        hidden = jax.nn.relu(jnp.tensordot(x, params["moe"]["up"], (1, 1)))
        return (jnp.matmul(hidden.swapaxes(0, 1), params["moe"]["down"]) * gates.T[..., None]).sum()

    params = {"router": shape(8, 4), "moe": {"up": shape(4, 8, 8), "down": shape(4, 8, 8)}}
    names = {
        "params['moe']['up']": "experts up_in up",
        "params['router']": "up_in experts",
        "x": "batch up_in",
    }
    return Model(_trained(loss), (params, params, shape(16, 8)), names)


def _convolutions() -> Model:
    def loss(params: Any, images: Any) -> Any:
        x = images
        for name in ("conv1", "conv2"):
            numbers = ("NHWC", "HWIO", "NHWC")
            x = jax.lax.conv_general_dilated(x, params[name]["kernel"], (1, 1), "SAME", dimension_numbers=numbers)
            x = jax.nn.relu(x)
        return (x.mean((1, 2)) @ params["head"]["kernel"]).sum()

    kernels = {"conv1": (3, 3, 4, 8), "conv2": (3, 3, 8, 8), "head": (8, 10)}
    params = {name: {"kernel": shape(*sizes)} for name, sizes in kernels.items()}
    names = {
        "params['conv1']['kernel']": "conv_axis0 conv_axis1 conv1_in conv1",
        "params['conv2']['kernel']": "conv_axis0 conv_axis1 conv1 conv2",
        "params['head']['kernel']": "conv2 head",
        "x": "batch x_axis1 x_axis2 conv1_in",
    }
    return Model(_trained(loss), (params, params, shape(16, 12, 14, 4)), names)


def _scan() -> Model:
    def loss(params: Any, x: Any) -> Any:
        def body(x: Any, layer: Any) -> Any:
            return x + jnp.tanh(x @ layer["up"]) @ layer["down"], None

        return jax.lax.scan(body, x, params["blocks"])[0].sum()

    params = {"blocks": {"up": shape(6, 8, 16), "down": shape(6, 16, 8)}}
    names = {
        "params['blocks']['up']": "layers down up",
        "momentum['blocks']['down']": "layers up down",
        "x": "batch down",
    }
    return Model(_trained(loss), (params, params, shape(4, 8)), names)


def _plain() -> Model:
    def loss(params: Any, x: Any, y: Any) -> Any:
        for w, b in params:
            x = jax.nn.relu(x @ w + b)
        return ((x - y) ** 2).mean()

    params = [(shape(8, 8), shape(8)), (shape(8, 8), shape(8))]
    names = {"params[0][0]": "params_0_in params_0", "params[1][0]": "params_0 params_1", "x": "batch params_0_in"}
    return Model(jax.grad(loss), (params, shape(4, 8), shape(4, 8)), names | {"y": "batch params_1"})


MODELS = {made.__name__[1:]: made for made in (_einsum, _flax, _nnx, _equinox, _experts, _convolutions, _scan, _plain)}


@pytest.mark.parametrize("name", MODELS)
def test_the_names_of_a_model_are_those_of_its_author(name: str) -> None:
    model = MODELS[name]()
    program = inspect(model.function, *model.arguments, stage="lower").program
    found = dimensions(program, costs=False)
    texts = {leaf.name: found.axes_text(at).replace(",", "") for at, leaf in enumerate(found.arguments)}
    assert {path: texts.get(path) for path in model.names} == model.names
    assert len({one.name for one in found}) == len(found)
