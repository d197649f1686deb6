"""Parameters and optimiser state of which each device of a data axis holds a copy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

N, DEVICES = 1024, 8
MATRIX = N * N * 4
TX = optax.adam(1e-3)


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def loss(params: Any, x: Any) -> Any:
    for w in params.values():
        x = jnp.tanh(x @ w)
    return jnp.mean(x**2)


def step(params: Any, state: Any, x: Any) -> Any:
    value, gradient = jax.value_and_grad(loss)(params, x)
    updates, state = TX.update(gradient, state, params)
    return optax.apply_updates(params, updates), state, value


PARAMS = {f"w{i}": f32(N, N) for i in range(2)}
STATE = jax.eval_shape(TX.init, PARAMS)
X = f32(64, N)


def of(function: Any, *arguments: Any, **options: Any) -> list[Any]:
    return [
        one for one in inspect(function, *arguments, **options).findings if one.kind is FindingKind.REPLICATED_STATE
    ]


@pytest.mark.parametrize("target", ["cpu:8", "v5e:2x4"])
def test_state_on_every_device_is_found_and_sharding_it_saves_memory(target: str) -> None:
    """Six matrices on each of eight devices, as arguments and as results: an eighth of each would be left."""
    [one] = of(step, PARAMS, STATE, X, target=target, mesh={"data": DEVICES}, in_specs=(P(), P(), P("data")))
    assert one.names == ("params", "state")
    assert one.stake.most >= 2 * 6 * MATRIX * (1 - 1 / DEVICES)
    trial = one.try_()
    if one.stake.whole is None:  # JAX 0.10 does not say what an executable for an absent device takes
        assert trial.outcome is TrialOutcome.UNKNOWN
    else:
        assert trial.outcome is TrialOutcome.PAYS
        assert 0.5 * one.stake.most < trial.realised <= one.stake.most
    [sent] = [each for each in trial.figures if each.title == "sent"]
    assert sent.after.value != sent.before.value


OVER = jax.tree.map(lambda x: P("data") if x.ndim else P(), STATE)


@pytest.mark.parametrize(
    ("specs", "function", "arguments"),
    [
        ((P("data"), OVER, P("data")), step, (PARAMS, STATE, X)),
        ((P(), P("data")), loss, (PARAMS, X)),
        ((P(), P("data")), jax.grad(loss), (PARAMS, X)),
    ],
    ids=["sharded", "inference", "gradient"],
)
def test_twins_have_no_finding(specs: Any, function: Any, arguments: Any) -> None:
    assert of(function, *arguments, target="cpu:8", mesh={"data": DEVICES}, in_specs=specs) == []


def test_on_one_device_nothing_is_replicated() -> None:
    assert of(step, PARAMS, STATE, X) == []


def test_the_lines_to_write_keep_what_lies_on_other_axes() -> None:
    """Of a tensor-parallel step each array lies on `model`: the printed lines and the trial put it on both."""
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    specs = {"w0": P(None, "model"), "w1": P("model", None)}
    own = {name: NamedSharding(mesh, spec) for name, spec in specs.items()}
    params = {name: jax.device_put(jnp.zeros((2 * N, 2 * N)), own[name]) for name in specs}
    state = jax.tree.map(
        lambda x: jax.device_put(x, own["w0"] if x.ndim else NamedSharding(mesh, P())), TX.init(params)
    )
    batch = jax.device_put(jnp.zeros((64, 2 * N)), NamedSharding(mesh, P("data")))
    [one] = of(step, params, state, batch)
    written: dict[str, Any] = {"jax": jax, "NamedSharding": NamedSharding, "P": P, "mesh": mesh}
    written |= {"params": params, "state": state}
    exec(one.change.code, written)
    assert written["params"]["w0"].sharding.spec == P("data", "model")
    assert written["params"]["w1"].sharding.spec == P("model", "data")
    after = one.try_().inspection
    held = sum(
        leaf.addressable_shards[0].data.nbytes for leaf in jax.tree.leaves((written["params"], written["state"]))
    )
    assert after.compiled.memory_analysis().argument_size_in_bytes == held + batch.nbytes // 2


def test_two_weights_that_a_device_gathers_whole_save_too_little() -> None:
    """Without moments: the trial of the same change saves 2% on a GPU, as both are gathered to be used."""

    def descend(params: Any, x: Any) -> Any:
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x))

    function = jax.jit(descend, donate_argnums=0)
    assert of(function, PARAMS, f32(8192, N), target="cpu:8", mesh={"data": DEVICES}, in_specs=(P(), P("data"))) == []
