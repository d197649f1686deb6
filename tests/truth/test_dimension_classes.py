"""Which dimensions of a model's arguments split alike, against names that are written here by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext.analysis.sharding.dimensions import DimensionClass, dimension_classes
from jaxstage_ext.core.jax_private.lowered_modules import module_bytecode
from jaxstage_ext.core.layout.partitioner import Partitioner
from jaxstage_ext.ir.partitioning.partitionable_module import PartitionableModule


def shape(*sizes: int, dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(sizes, dtype)


def opened(function: Callable[..., Any], *arguments: Any) -> PartitionableModule:
    return Partitioner(module_bytecode(jax.jit(function, keep_unused=True).lower(*arguments))).module


def letters(module: PartitionableModule) -> list[str]:
    """Per argument a letter a dimension: the same one for the same class, by first appearance; "1" for size 1."""
    classes = dimension_classes(module)
    known = {place: each.number for each in classes for place in each.arguments}
    seen: dict[int, str] = {}
    words = []
    for number, value in enumerate(module.arguments):
        places = [known.get((number, at)) for at in range(len(module.values[value].shape))]
        words.append("".join("1" if at is None else seen.setdefault(at, chr(97 + len(seen))) for at in places))
    return words


def written(*words: str) -> list[str]:
    """Letters as `letters` gives them."""
    seen: dict[str, str] = {"1": "1"}
    return ["".join(seen.setdefault(at, chr(96 + len(seen))) for at in word) for word in words]


def loss_of_mlp(p: Any, x: Any, y: Any) -> Any:
    for w, b in p:
        x = jax.nn.relu(x @ w + b)
    return jnp.mean((x - y) ** 2)


def test_mlp_of_equal_widths() -> None:
    layers = [(shape(8, 8), shape(8)), (shape(8, 8), shape(8)), (shape(8, 8), shape(8))]
    module = opened(jax.grad(loss_of_mlp), layers, shape(8, 8), shape(8, 8))
    assert letters(module) == written("ih", "h", "hk", "k", "ko", "o", "bi", "bo")
    assert all(each.results or each.number == 4 for each in dimension_classes(module))


def attention(p: Any, x: Any) -> Any:
    q, k, v = (jnp.einsum("btd,dhk->bthk", x, p[name]) for name in "qkv")
    scores = jnp.einsum("bthk,bshk->bhts", q, k)
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    out = jnp.einsum("bhts,bshk->bthk", jax.nn.softmax(scores), v)
    return x + jnp.einsum("bthk,hkd->btd", out, p["o"])


def step_of_transformer(state: Any, tokens: Any, targets: Any) -> Any:
    def loss(p: Any) -> Any:
        x = p["embed"][tokens]
        for layer in p["layers"]:
            x = attention(layer, x)
            x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
        chosen = jnp.take_along_axis(jax.nn.log_softmax(x @ p["head"]), targets[..., None], -1)
        return -jnp.mean(chosen)

    p, m = state
    value, grads = jax.value_and_grad(loss)(p)
    m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grads)
    return (jax.tree.map(lambda p, m: p - 0.1 * m, p, m), m), value


LAYER = {"q": (16, 4, 4), "k": (16, 4, 4), "v": (16, 4, 4), "o": (4, 4, 16), "up": (16, 16), "down": (16, 16)}
NAMES = {"q": "mHa", "k": "mHa", "v": "mHA", "o": "HAm", "up": "mF", "down": "Fm"}
SECOND = str.maketrans("HaAF", "JbBG")


@pytest.fixture(scope="module")
def transformer() -> PartitionableModule:
    layer = {name: shape(*sizes) for name, sizes in LAYER.items()}
    p = {"embed": shape(32, 16), "head": shape(16, 32), "layers": [layer, layer]}
    return opened(step_of_transformer, (p, p), shape(8, 4, dtype=jnp.int32), shape(8, 4, dtype=jnp.int32))


def test_transformer_step(transformer: PartitionableModule) -> None:
    first = [NAMES[name] for name in sorted(NAMES)]
    one = ["Vm", "mU", *first, *(word.translate(SECOND) for word in first)]
    assert letters(transformer) == written(*one, *one, "Nt", "Nt")


def test_time_stands_twice_in_attention(transformer: PartitionableModule) -> None:
    classes = dimension_classes(transformer)
    time = next(each for each in classes if any(at == 1 for place, at in each.arguments if place >= 28))
    assert [each.number for each in classes if each.repeated] == [time.number]


def test_sizes_and_company(transformer: PartitionableModule) -> None:
    classes = dimension_classes(transformer)
    vocabulary = _at(classes, 0, 0)
    assert vocabulary.size == 32
    assert _at(classes, 0, 1).number in vocabulary.meets
    assert _at(classes, 1, 1).number not in vocabulary.meets
    assert all(number in classes[other].meets for number, each in enumerate(classes) for other in each.meets)


def _at(classes: tuple[DimensionClass, ...], argument: int, dimension: int) -> DimensionClass:
    return next(each for each in classes if (argument, dimension) in each.arguments)


def test_scan_over_layers() -> None:
    def loss(w: Any, x: Any) -> Any:
        def body(x: Any, layer: Any) -> Any:
            up, down = layer
            return x + jnp.tanh(x @ up) @ down, None

        return jax.lax.scan(body, x, w)[0].sum()

    module = opened(jax.grad(loss), (shape(4, 8, 16), shape(4, 16, 8)), shape(8, 8))
    assert letters(module) == written("lmf", "Lfm", "bm")


def test_mixture_of_experts() -> None:
    def loss(p: Any, x: Any) -> Any:
        gates = jax.nn.softmax(x @ p["gate"])
        hidden = jax.nn.relu(jnp.einsum("bm,emf->bef", x, p["up"]))
        return jnp.einsum("bef,efd,be->bd", hidden, p["down"], gates).sum()

    p = {"gate": shape(8, 8), "up": shape(8, 8, 8), "down": shape(8, 8, 8)}
    assert letters(opened(jax.grad(loss), p, shape(8, 8))) == written("efd", "me", "emf", "bm")


def test_convolutions() -> None:
    def loss(p: Any, x: Any) -> Any:
        for kernel in p[:2]:
            numbers = ("NHWC", "HWIO", "NHWC")
            x = jax.nn.relu(jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=numbers))
        return (x.mean((1, 2)) @ p[2]).sum()

    p = (shape(3, 3, 8, 8), shape(3, 3, 8, 8), shape(8, 8))
    assert letters(opened(loss, p, shape(8, 8, 8, 8))) == written("pqio", "rsou", "uc", "bhwi")


def test_called_twice_ties_no_caller() -> None:
    @jax.jit
    def layer(w: Any, x: Any) -> Any:
        return jnp.tanh(x @ w)

    module = opened(lambda a, b, x: (layer(a, x), layer(b, x)), shape(8, 8), shape(8, 8), shape(8, 8))
    assert letters(module) == written("ij", "ik", "bi")


def test_a_constant_that_two_arrays_meet_ties_neither() -> None:
    def scaled(a: Any, b: Any) -> Any:
        weights = jnp.cumsum(jnp.ones((8, 4)), 0)
        return a * weights, b * weights

    assert letters(opened(scaled, shape(8, 4), shape(8, 4))) == ["ab", "cd"]


def test_branches_tie_what_crosses_them() -> None:
    def chosen(c: Any, x: Any, y: Any) -> Any:
        return jax.lax.cond(c, lambda: x * 2, lambda: y + 1)

    assert letters(opened(chosen, shape(dtype=bool), shape(8, 4), shape(8, 4))) == ["", "ab", "ab"]


@pytest.mark.parametrize("library", ["flax", "nnx", "equinox"])
def test_libraries(library: str) -> None:
    build = {"flax": _flax, "nnx": _nnx, "equinox": _equinox}[library]
    loss, parameters, expected = build()
    assert letters(opened(jax.value_and_grad(loss), parameters, shape(4, 8))) == written(*expected, "bi")


def _flax() -> tuple[Any, Any, list[str]]:
    linen = pytest.importorskip("flax.linen")
    model = linen.Sequential([linen.Dense(8), linen.relu, linen.Dense(8)])
    p = jax.eval_shape(model.init, jax.random.key(0), jnp.ones((4, 8)))
    return lambda p, x: model.apply(p, x).sum(), p, ["h", "ih", "o", "ho"]


def _nnx() -> tuple[Any, Any, list[str]]:
    nnx = pytest.importorskip("flax.nnx")

    class Model(nnx.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self, rngs: Any) -> None:
            self.first, self.second = nnx.Linear(8, 8, rngs=rngs), nnx.Linear(8, 8, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.second(nnx.relu(self.first(x)))

    definition, state = nnx.split(nnx.eval_shape(lambda: Model(nnx.Rngs(0))))
    return lambda p, x: nnx.merge(definition, p)(x).sum(), state, ["h", "ih", "o", "ho"]


def _equinox() -> tuple[Any, Any, list[str]]:
    eqx = pytest.importorskip("equinox")
    model = eqx.filter_eval_shape(eqx.nn.MLP, 8, 8, 8, 1, key=jax.random.key(0))
    arrays, rest = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    return lambda p, x: jax.vmap(eqx.combine(p, rest))(x).sum(), arrays, ["hi", "h", "oh", "o"]
