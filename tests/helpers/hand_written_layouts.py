"""Five training steps, each with four layouts on eight devices as an expert writes them by hand."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

Shape = jax.ShapeDtypeStruct
Rule = Callable[[str, Any], P]
BF16 = jnp.bfloat16


class HandWritten(NamedTuple):
    """A step as shapes, and (mesh, specs of its arguments) by what each layout is called."""

    step: Callable[..., Any]
    args: tuple[Any, ...]
    layouts: Mapping[str, tuple[str, tuple[Any, ...]]]


def by_path(rule: Rule, *trees: Any) -> tuple[Any, ...]:
    """The specs of pytrees, by a rule of a leaf's path and shape; scalars are replicated."""

    def spec(path: Any, leaf: Any) -> P:
        return rule(jax.tree_util.keystr(path), leaf) if leaf.ndim else P()

    return tuple(jax.tree_util.tree_map_with_path(spec, tree) for tree in trees)


def replicated(path: str, leaf: Any) -> P:
    return P()


def largest_over_data(path: str, leaf: Any) -> P:
    """FSDP: the largest dimension over `data`, where eight divides it."""
    largest = max(range(leaf.ndim), key=lambda axis: leaf.shape[axis])
    if leaf.shape[largest] % 8:
        return P()
    return P(*("data" if axis == largest else None for axis in range(leaf.ndim)))


def flax_transformer() -> HandWritten:
    """Two blocks of flax under adamw; tensor parallel is Megatron's."""
    import flax.linen as nn
    import optax

    width, heads, hidden, vocabulary, batch, length = 2048, 16, 8192, 32000, 32, 512

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            y = nn.LayerNorm(dtype=BF16)(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=heads, dtype=BF16, name="attn")(y, y)
            y = nn.Dense(hidden, dtype=BF16, name="up")(nn.LayerNorm(dtype=BF16)(x))
            return x + nn.Dense(width, dtype=BF16, name="down")(nn.gelu(y))

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens: Any) -> Any:
            x = nn.Embed(vocabulary, width, dtype=BF16, name="embed")(tokens)
            for layer in range(2):
                x = Block(name=f"block_{layer}")(x)
            return nn.Dense(vocabulary, use_bias=False, dtype=BF16, name="head")(x)

    model, optimiser = Model(), optax.adamw(1e-3)

    def loss(params: Any, tokens: Any) -> Any:
        logits = model.apply(params, tokens).astype(jnp.float32)
        return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], tokens[:, 1:]).mean()

    def step(params: Any, state: Any, tokens: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, tokens)
        updates, state = optimiser.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    def megatron(path: str, leaf: Any) -> P:
        is_bias = "bias" in path
        if "attn" in path and "'out'" in path:
            return P() if is_bias else P("model", None, None)
        if "attn" in path:
            return P("model", None) if is_bias else P(None, "model", None)
        if "embed" in path:
            return P("model", None)
        if "up" in path:
            return P("model") if is_bias else P(None, "model")
        if "down" in path:
            return P() if is_bias else P("model", None)
        return P(None, "model") if "head" in path else P()

    params = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, length), jnp.int32)))
    state = jax.eval_shape(optimiser.init, params)
    layouts = {
        "data": ("data=8", (*by_path(replicated, params, state), P("data"))),
        "FSDP": ("data=8", (*by_path(largest_over_data, params, state), P("data"))),
        "tensor": ("model=8", (*by_path(megatron, params, state), P())),
        "data and tensor": ("data=4,model=2", (*by_path(megatron, params, state), P("data"))),
    }
    return HandWritten(step, (params, state, Shape((batch, length), jnp.int32)), layouts)


def equinox_mlp() -> HandWritten:
    """An equinox MLP under adam."""
    import equinox as eqx
    import optax

    width, batch = 4096, 256
    made = eqx.filter_eval_shape(lambda: eqx.nn.MLP(width, width, 4 * width, 2, key=jax.random.key(0)))
    params, static = eqx.partition(made, lambda leaf: isinstance(leaf, Shape))
    optimiser = optax.adam(1e-3)
    state = jax.eval_shape(optimiser.init, params)

    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        def loss(params: Any) -> Any:
            return jnp.mean((jax.vmap(eqx.combine(params, static))(x) - y) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimiser.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    def in_turn(path: str, leaf: Any) -> P:
        is_row = "layers[1]" in path
        if leaf.ndim == 1:
            return P() if is_row else P("model")
        return P(None, "model") if is_row else P("model", None)

    def first_over_data(path: str, leaf: Any) -> P:
        return P("data", *(None,) * (leaf.ndim - 1))

    one = Shape((batch, width), jnp.float32)
    layouts = {
        "data": ("data=8", (*by_path(replicated, params, state), P("data"), P("data"))),
        "FSDP": ("data=8", (*by_path(first_over_data, params, state), P("data"), P("data"))),
        "tensor": ("model=8", (*by_path(in_turn, params, state), P(), P())),
        "data and tensor": ("data=2,model=4", (*by_path(in_turn, params, state), P("data"), P("data"))),
    }
    return HandWritten(step, (params, state, one, one), layouts)


def experts() -> HandWritten:
    """Eight experts that every token goes through, weighted."""
    count, width, hidden, batch, length = 8, 2048, 8192, 16, 512
    params = {
        "gate": Shape((width, count), BF16),
        "up": Shape((count, width, hidden), BF16),
        "down": Shape((count, hidden, width), BF16),
    }

    def step(params: Any, x: Any, y: Any) -> Any:
        def loss(p: Any) -> Any:
            weights = jax.nn.softmax((x @ p["gate"]).astype(jnp.float32), -1).astype(BF16)
            inner = jax.nn.gelu(jnp.einsum("btd,edf->ebtf", x, p["up"]))
            made = jnp.einsum("ebtf,efd->ebtd", inner, p["down"])
            return jnp.mean((jnp.einsum("ebtd,bte->btd", made, weights) - y).astype(jnp.float32) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), value

    whole = {"gate": P(), "up": P(), "down": P()}
    by_expert = {"gate": P(), "up": P("model"), "down": P("model")}
    by_hidden = {"gate": P(), "up": P(None, None, "model"), "down": P(None, "model")}
    stored = {"gate": P("data"), "up": P(None, "data"), "down": P(None, "data")}
    data = (P("data"), P("data"))
    layouts = {
        "data": ("data=8", (whole, *data)),
        "experts": ("model=8", (by_expert, P(), P())),
        "FSDP": ("data=8", (stored, *data)),
        "data and tensor": ("data=4,model=2", (by_hidden, *data)),
    }
    one = Shape((batch, length, width), BF16)
    return HandWritten(step, (params, one, one), layouts)


_convolved = functools.partial(jax.lax.conv_general_dilated, padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv_net() -> HandWritten:
    """Four convolutions on images, and a classifier."""
    import optax

    batch, size, channels = 64, 128, 128
    kernels = [Shape((3, 3, 3, channels), BF16), *(Shape((3, 3, channels, channels), BF16) for _ in range(3))]
    params = [*kernels, Shape((channels, 1000), BF16)]

    def step(params: Any, images: Any, labels: Any) -> Any:
        def loss(params: Any) -> Any:
            x = images
            for kernel in params[:-1]:
                x = jax.nn.relu(_convolved(x, kernel, (1, 1)))
            logits = (x.mean((1, 2)) @ params[-1]).astype(jnp.float32)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), value

    out, into = P(None, None, None, "model"), P(None, None, "model", None)
    layouts = {
        "data": ("data=8", ([P()] * 5, P("data"), P("data"))),
        "spatial": ("model=8", ([P()] * 5, P(None, "model"), P())),
        "channels": ("model=8", ([out, out, into, out, P("model", None)], P(), P())),
        "data and spatial": ("data=4,model=2", ([P()] * 5, P("data", "model"), P("data"))),
    }
    return HandWritten(step, (params, Shape((batch, size, size, 3), BF16), Shape((batch,), jnp.int32)), layouts)


def diffusion() -> HandWritten:
    """A small U-Net with attention that predicts noise, under adam."""
    import optax

    batch, size, narrow, wide = 16, 64, 256, 512
    params = {
        "in": Shape((3, 3, 4, narrow), BF16),
        "time": {"first": Shape((narrow, 1024), BF16), "second": Shape((1024, narrow), BF16)},
        "down": Shape((3, 3, narrow, wide), BF16),
        "qkv": Shape((wide, 3, 8, wide // 8), BF16),
        "mix": Shape((8, wide // 8, wide), BF16),
        "up": Shape((3, 3, wide, narrow), BF16),
        "out": Shape((3, 3, narrow, 4), BF16),
    }

    def denoised(p: Any, x: Any, t: Any) -> Any:
        angles = t[:, None] * jnp.exp(-jnp.arange(narrow // 2) / (narrow // 2) * 9.0)
        embedded = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1).astype(BF16)
        embedded = jax.nn.silu(embedded @ p["time"]["first"]) @ p["time"]["second"]
        fine = _convolved(x, p["in"], (1, 1)) + embedded[:, None, None]
        coarse = _convolved(jax.nn.silu(fine), p["down"], (2, 2))
        b, h, w, c = coarse.shape
        flat = coarse.reshape(b, h * w, c)
        q, k, v = jnp.moveaxis(jnp.einsum("bsc,cthd->btshd", flat, p["qkv"]), 1, 0)
        attended = jax.nn.softmax(jnp.einsum("bshd,bthd->bhst", q, k).astype(jnp.float32) / 8, -1).astype(BF16)
        flat = flat + jnp.einsum("bhst,bthd,hdc->bsc", attended, v, p["mix"])
        larger = jax.image.resize(flat.reshape(b, h, w, c), (b, 2 * h, 2 * w, c), "nearest")
        return _convolved(_convolved(jax.nn.silu(larger), p["up"], (1, 1)) + fine, p["out"], (1, 1))

    optimiser = optax.adam(1e-4)
    state = jax.eval_shape(optimiser.init, params)

    def step(params: Any, state: Any, x: Any, noise: Any, t: Any) -> Any:
        def loss(params: Any) -> Any:
            kept, added = (f(t)[:, None, None, None].astype(BF16) for f in (jnp.cos, jnp.sin))
            return jnp.mean((denoised(params, kept * x + added * noise, t) - noise).astype(jnp.float32) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimiser.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    def channels(path: str, leaf: Any) -> P:
        if "down" in path or "'in'" in path:
            return P(None, None, None, "model")
        if "up" in path or "qkv" in path:
            return P(None, None, "model")
        return P("model") if "mix" in path else P()

    image = Shape((batch, size, size, 4), BF16)
    data, rows = (P("data"),) * 3, (P(None, "model"), P(None, "model"), P())
    layouts = {
        "data": ("data=8", (*by_path(replicated, params, state), *data)),
        "FSDP": ("data=8", (*by_path(largest_over_data, params, state), *data)),
        "channels": ("model=8", (*by_path(channels, params, state), P(), P(), P())),
        "spatial": ("model=8", (*by_path(replicated, params, state), *rows)),
    }
    return HandWritten(step, (params, state, image, image, Shape((batch,), jnp.float32)), layouts)


STEPS: Mapping[str, Callable[[], HandWritten]] = {
    "flax transformer": flax_transformer,
    "equinox MLP": equinox_mlp,
    "experts": experts,
    "conv net": conv_net,
    "diffusion": diffusion,
}
