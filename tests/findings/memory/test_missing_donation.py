"""Arguments that a result is the new value of, which nobody donates."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

N = 512
BIG = N * N * 4
TX = optax.sgd(0.1, momentum=0.9)


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


P, X = {"w": f32(N, N), "v": f32(N, N)}, f32(8, N)


def loss(p: Any, x: Any) -> Any:
    return jnp.mean(jnp.tanh(x @ p["w"] @ p["v"]) ** 2)


@jax.jit
def step(p: Any, state: Any, x: Any) -> Any:
    value, gradient = jax.value_and_grad(loss)(p, x)
    updates, state = TX.update(gradient, state, p)
    return optax.apply_updates(p, updates), state, value


@jax.jit
def decay(u: Any, k: Any) -> Any:
    return u - 0.1 * u * jnp.sin(u) * k


@jax.jit
def heat(u: Any) -> Any:
    """It reads neighbours, so that XLA copies a donated argument: a donation saves nothing."""
    return u + 0.1 * (jnp.roll(u, 1, 0) - 2 * u + jnp.roll(u, -1, 0))


def accumulate(p: Any, batches: Any) -> Any:
    """Gradients summed over batches, which the caller applies to p."""

    def add(total: Any, x: Any) -> Any:
        return jax.tree.map(jnp.add, total, jax.grad(loss)(p, x)), None

    return jax.lax.scan(add, jax.tree.map(jnp.zeros_like, p), batches)[0]


def sum_of_two(p: Any, x: Any) -> Any:
    return jax.tree.map(jnp.add, jax.grad(loss)(p, x), jax.grad(loss)(p, x + 1))


def of(function: Any, *arguments: Any, **options: Any) -> list[Any]:
    found = inspect(function, *arguments, **options).findings
    assert FindingKind.MISSING_DONATION in found.looked
    return [one for one in found if one.kind is FindingKind.MISSING_DONATION]


@pytest.fixture(scope="module")
def of_step() -> Any:
    [one] = of(step, P, jax.eval_shape(TX.init, P), X)
    return one


def test_it_names_what_the_results_are_new_values_of_and_saves_at_most_that(of_step: Any) -> None:
    assert of_step.names == ("p", "state")
    assert of_step.stake.most == 4 * BIG  # weights and momentum, of two matrices each
    trial = of_step.try_()
    assert trial.outcome is TrialOutcome.PAYS
    assert 0 < trial.realised <= of_step.stake.most


def test_the_change_is_a_diff_of_the_decorator_at_its_line(of_step: Any) -> None:
    file, _, line = of_step.line.rpartition(":")
    assert file.endswith("test_missing_donation.py")
    assert int(line) == step.__wrapped__.__code__.co_firstlineno
    assert of_step.change.is_diff
    assert "+@jax.jit(donate_argnames=('p', 'state'))" in of_step.change.code.splitlines()


def test_a_step_of_a_simulation_is_a_new_value() -> None:
    [one] = of(decay, f32(N, N), 0.5)
    assert one.names == ("u",)
    assert one.try_().realised == pytest.approx(BIG, rel=0.01)


def test_an_argument_that_jax_prunes_before_it_changes_nothing() -> None:
    [one] = of(jax.jit(lambda unused, u, k: u - 0.1 * u * jnp.sin(u) * k), f32(N), f32(N, N), 0.5)
    assert one.names == ("u",)


def test_nnx_takes_the_names_and_equinox_says_all_but_the_first() -> None:
    net = nnx.Linear(N, N, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(net, TX, wrt=nnx.Param)

    @nnx.jit
    def train(net: Any, optimizer: Any, x: Any) -> Any:
        optimizer.update(net, nnx.grad(lambda m: jnp.mean(m(x) ** 2))(net))

    [one] = of(train, net, optimizer, X)
    assert one.names == ("net", "optimizer")
    assert "+    @nnx.jit(donate_argnames=('net', 'optimizer'))" in one.change.code

    @eqx.filter_jit
    def fit(x: Any, model: Any) -> Any:
        gradient = eqx.filter_grad(lambda m: jnp.mean(jax.vmap(m)(x) ** 2))(model)
        return eqx.apply_updates(model, gradient)

    [one] = of(fit, jnp.ones((8, N)), eqx.nn.Linear(N, N, key=jax.random.key(0)))
    assert one.names == ("model",)
    assert "+    @eqx.filter_jit(donate='all-except-first')" in one.change.code


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (jax.jit(step.__wrapped__, donate_argnames=("p", "state")), (P, jax.eval_shape(TX.init, P), X)),
        (jax.jit(jax.grad(loss)), (P, X)),  # its results have the types of p and are no new values of it
        (jax.jit(accumulate), (P, f32(4, 8, N))),
        (jax.jit(sum_of_two), (P, X)),
        (jax.jit(lambda q, k, v: jax.nn.softmax(q @ k) @ v), (f32(N, N),) * 3),  # of which one would it be the new?
        (jax.jit(lambda p, x: jnp.tanh(x @ p["w"] @ p["v"])), (P, f32(N // 2, N))),  # an activation
        (heat, (f32(N, N),)),
        (jax.jit(lambda u: u * 2), (f32(64, 64),)),  # too small to tell
    ],
    ids=["donated", "gradient", "summed in a loop", "summed", "attention", "forward pass", "neighbours", "toy"],
)
def test_twins_have_no_finding(function: Any, arguments: Any) -> None:
    assert of(function, *arguments) == []


@pytest.mark.parametrize("target", ["v5e:1x1", "h100"])
def test_on_a_device_that_is_not_here(target: str) -> None:
    [one] = of(step, P, jax.eval_shape(TX.init, P), X, target=target)
    assert one.names == ("p", "state")
    assert one.stake.most >= 4 * BIG


def test_of_star_arguments_those_alone_that_have_new_values() -> None:
    def advance(*args: Any, **more: Any) -> Any:
        weights, slope = args
        return weights.at[0].set(slope), {name: each.at[0].set(1.0) for name, each in more.items()}

    [one] = of(advance, f32(N, N), f32(N), state=f32(N, N))
    assert one.names == ("args[0]", "more['state']")
    assert one.change.code == "advance = jax.jit(advance, donate_argnums=(0,), donate_argnames=('state',))"
    [one] = of(lambda *args: args[1].at[0].set(args[0]), f32(N), f32(N, N))
    assert one.names == ("args[1]",)
    assert one.change.code == "jax.jit(…, donate_argnums=(1,))"
    [one] = of(lambda **more: more["state"].at[0].set(1.0), state=f32(N, N))
    assert one.change.code == "jax.jit(…, donate_argnames=('state',))"
    assert one.try_().realised == BIG
