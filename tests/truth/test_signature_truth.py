"""The header's first line: the types that JAX traced, the values of constants; and what a note says of them."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax import nnx

from tests.truth.expectation import Expectation, UserProgram, holds, rows


def scaled(x: Any, n: Any, scale: float = 2.0, *, flip: bool = False, mask: Any = None, **more: Any) -> Any:
    return x * scale + n


def of_numpy() -> UserProgram:
    return UserProgram(scaled, (np.ones((3, 4)), 3))


def of_integers() -> UserProgram:
    return UserProgram(scaled, (np.arange(5), np.uint64(2)))


def static_arguments() -> UserProgram:
    return UserProgram(jax.jit(scaled, static_argnames=("n", "flip")), (jnp.ones(3),), {"n": 3, "flip": True})


def static_function() -> UserProgram:
    def apply(x: jax.Array, activation: Any) -> jax.Array:
        return activation(x)

    return UserProgram(jax.jit(apply, static_argnums=1), (jnp.ones(3), jnp.sin))


def keywords() -> UserProgram:
    return UserProgram(scaled, (jnp.ones(3),), {"n": jnp.ones(3, jnp.bfloat16), "bias": {"a": np.ones(3)}})


def any_number() -> UserProgram:
    def total(*xs: Any, **named: Any) -> Any:
        return xs[0] * named["a"]

    return UserProgram(total, (np.ones(3), 1), {"a": 2.0})


def nested() -> UserProgram:
    params = {"w": np.ones((3, 4)), "b": None, "rates": [1, 2.0]}
    return UserProgram(lambda p, x: x @ p["w"], (params, jnp.ones((2, 3))))


def random_key() -> UserProgram:
    return UserProgram(lambda key: jax.random.normal(key), (jax.random.key(0),))


def equinox_model() -> UserProgram:
    model = eqx.nn.MLP(4, 4, 8, 2, key=jax.random.key(0))
    return UserProgram(eqx.filter_jit(lambda m, x, n: jax.vmap(m)(x) * n), (model, np.ones((3, 4)), 3))


def nnx_model() -> UserProgram:
    return UserProgram(nnx.jit(lambda m, x: m(x)), (nnx.Linear(4, 4, rngs=nnx.Rngs(0)), np.ones((3, 4))))


def optax_step() -> UserProgram:
    model, optimizer = nn.Dense(4), optax.adam(1e-3)
    params = model.init(jax.random.key(0), jnp.ones((2, 4)))

    def step(params: Any, state: Any, batch: Any, rate: float = 0.5) -> Any:
        gradient = jax.grad(lambda p: (model.apply(p, batch) ** 2).sum() * rate)(params)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(params, updates), state

    return UserProgram(jax.jit(step), (params, optimizer.init(params), np.ones((2, 4))))


def deleted_argument() -> UserProgram:
    x = jnp.ones((4, 4))
    x.delete()
    return UserProgram(jax.jit(lambda x, y: x + y, donate_argnums=0), (x, jnp.ones((4, 4))))


def many_of_numpy() -> UserProgram:
    return UserProgram(lambda p: p["a"] + p["d"], ({name: np.ones(3) for name in "abcd"},))


def signature(inspection: Any) -> str:
    return str(inspection.summary()["signature"])


def notes(inspection: Any) -> str:
    return " ".join(inspection.summary()["notes"])


def first_line(inspection: Any) -> str:
    return str(inspection).splitlines()[0]


AVALS = "the avals of jax.jit(f).trace(...).jaxpr"
SIZES = "hand: elements times the item size of the dtype that JAX traces"


@rows(
    Expectation(
        of_numpy, "local", "signature", signature,
        "scaled(x: f32[3,4], n: i32[] weak, scale=2.0, flip=False) -> f32[3,4]", AVALS, ("f64", "mask")
    ),
    Expectation(of_numpy, "local", "first line of the text", first_line, "scaled(x: f32[3,4]", AVALS, ("f64",)),
    Expectation(of_numpy, "h100", "signature", signature, "x: f32[3,4], n: i32[] weak", AVALS),
    Expectation(
        of_numpy, "local", "note", notes, "x is float64; JAX made it float32: jax_enable_x64 is off.",
        "numpy's default and JAX's documentation"
    ),
    Expectation(of_integers, "local", "signature", signature, "scaled(x: i32[5], n: u32[], scale=2.0", AVALS, ("64",)),
    Expectation(
        of_integers, "local", "note", notes, "x is int64; JAX made it int32: jax_enable_x64 is off. n is uint64",
        "numpy's default and JAX's documentation"
    ),
    Expectation(
        static_arguments, "local", "signature", signature, "scaled(x: f32[3], n=3, scale=2.0, flip=True) -> f32[3]",
        "static arguments are no arguments of the jaxpr"
    ),
    Expectation(
        static_function, "local", "signature", signature, "apply(x: f32[3], activation=sin) -> f32[3]",
        "static arguments are no arguments of the jaxpr", ("0x",)
    ),
    Expectation(
        keywords, "local", "signature", signature,
        "x: f32[3], n: bf16[3], scale=2.0, flip=False, bias: dict of 1 leaf, 12 B", SIZES
    ),
    Expectation(
        any_number, "local", "signature", signature, "total(xs[0]: f32[3], xs[1]: i32[] weak, a: f32[] weak) -> f32[3]",
        AVALS
    ),
    Expectation(nested, "local", "signature", signature, "p: dict of 3 leaves, 56 B, x: f32[2,3]", SIZES),
    Expectation(random_key, "local", "signature", signature, "<lambda>(key: key<fry>[]) -> f32[]", AVALS),
    Expectation(
        equinox_model, "local", "signature", signature, "m: MLP of 6 leaves, 592 B, x: f32[3,4], n=3)",
        "hand: 4*8+8 + 8*8+8 + 8*4+4 f32; filter_jit takes what is no array as static"
    ),
    Expectation(equinox_model, "local", "note", notes, "x is float64; JAX made it float32", "numpy's default"),
    Expectation(nnx_model, "local", "signature", signature, "m: Linear of 2 leaves, 80 B, x: f32[3,4])", SIZES),
    Expectation(
        optax_step, "local", "signature", signature,
        "step(params: dict of 2 leaves, 80 B, state: tuple of 5 leaves, 164 B, batch: f32[2,4], rate=0.5)",
        "hand: (4*4+4) f32; adam keeps two such trees and an int32 count"
    ),
    Expectation(
        many_of_numpy, "local", "note", notes,
        "p['a'], p['b'], p['c'] and 1 more are float64; JAX made them float32", "numpy's default"
    ),
    *(
        Expectation(
            deleted_argument, target, "note", notes, "x was deleted", "the test deletes x", ("y was",)
        )
        for target in ("local", "h100")
    ),
    Expectation(deleted_argument, "local", "signature", signature, "(x: f32[4,4], y: f32[4,4]) -> f32[4,4]", AVALS),
    Expectation(
        deleted_argument, "v5e:2x2", "answers fit", lambda i: i.answers["answer"][1], "Fits", "it needs a few kB"
    ),
)  # fmt: skip
def test_signatures(expectation: Expectation) -> None:
    holds(expectation)


def test_a_deleted_argument_cannot_be_run() -> None:
    import pytest

    from jaxstage_ext import inspect

    function, arguments, _ = deleted_argument()
    with pytest.raises(ValueError, match=r"deleted.*: x;"):
        inspect(function, *arguments).execute()
