"""Random keys that are used twice. That two draws are the same numbers is known by drawing."""

from __future__ import annotations

import linecache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import random
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.core.jax_private import compile_context
from jaxstage_ext.findings.finding import StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind

X = jnp.ones((4, 8))
KIND = FindingKind.REUSED_KEY


def used_twice(key: Any, x: Any) -> Any:
    noise = random.normal(key, x.shape)  # the first
    return noise - random.normal(key, x.shape)  # the second


def used_after_split(key: Any, x: Any) -> Any:
    own, _ = random.split(key)
    return random.normal(own, x.shape) + random.normal(key, x.shape)  # used after the split


def dropout(key: Any, x: Any) -> Any:
    return x * random.bernoulli(key, 0.5, x.shape)


def dropped_twice(key: Any, x: Any) -> Any:
    x = dropout(key, x)  # the first helper
    return dropout(key, jnp.sin(x))  # the second helper


def dropped_in_each_layer(key: Any, x: Any) -> Any:
    for _ in range(3):
        x = dropout(key, jnp.sin(x))  # in each layer
    return x


def in_a_call(key: Any, x: Any) -> Any:
    return jax.jit(used_twice)(key, x) * 2


def in_a_loop(key: Any, x: Any) -> Any:
    def body(x: Any, _: Any) -> Any:
        return x + random.normal(key, x.shape), None

    return jax.lax.scan(body, x, None, length=3)[0]  # the loop


def split(key: Any, x: Any) -> Any:
    one, other = random.split(key)
    return random.normal(one, x.shape) - random.normal(other, x.shape)


def folded(key: Any, x: Any) -> Any:
    return random.normal(random.fold_in(key, 0), x.shape) + random.uniform(random.fold_in(key, 1), x.shape)


def picked(key: Any, x: Any) -> Any:
    keys, at = random.split(key, 4), x[0, 0].astype(int)
    return random.normal(keys[at], x.shape) - random.normal(keys[at + 1], x.shape)


def picked_in_a_loop(key: Any, x: Any) -> Any:
    keys = random.split(key, 3)

    def body(x: Any, at: Any) -> Any:
        return x + random.normal(keys[at], x.shape), None

    return jax.lax.scan(body, x, jnp.arange(3))[0]


def split_in_a_loop(key: Any, x: Any) -> Any:
    def body(carry: Any, _: Any) -> Any:
        x, key = carry
        key, own = random.split(key)
        return (x + random.normal(own, x.shape), key), None

    return jax.lax.scan(body, (x, key), None, length=3)[0][0]


def dropout_under_checkpoint(key: Any, x: Any) -> Any:
    dropped = jax.checkpoint(lambda x: jnp.sin(x * random.bernoulli(key, 0.5, x.shape)))
    return jax.grad(lambda x: dropped(x).sum())(x)


def found(inspection: Inspection) -> list[Any]:
    return [one for one in inspection.findings if one.kind is FindingKind.REUSED_KEY]


@pytest.mark.parametrize("key", [random.key(0), random.PRNGKey(0)], ids=["key", "raw"])
@pytest.mark.parametrize(
    ("function", "line"),
    [(used_twice, "# the second"), (used_after_split, "# used after the split"), (in_a_call, "# the second")],
)
def test_a_key_that_is_used_twice(key: Any, function: Any, line: str) -> None:
    [one] = found(inspect(function, key, X, stage="trace"))
    assert one.line.endswith(f"test_reused_key.py:{line_of(line)}")
    assert one.names == ("key",)
    assert one.stake.measure is StakeMeasure.RESULT
    if function is used_twice:
        assert f"test_reused_key.py:{line_of('# the first')}" in one.text
        assert not np.any(function(key, X)), "the difference of two draws"


@pytest.mark.parametrize("transform", [lambda f: f, jax.grad], ids=["itself", "grad"])
@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (dropped_twice, "# the first helper", "# the second helper"),
        (dropped_in_each_layer, "# in each layer", "# in each layer"),
    ],
)
def test_a_helper_that_is_given_one_key_twice(transform: Any, function: Any, first: str, second: str) -> None:
    """A split in the helper would give both calls the same key again: the line to change is the caller's."""
    called = transform(lambda x, key: function(key, x).sum())
    [one] = found(inspect(called, X, random.key(0), stage="trace"))
    assert one.line.endswith(f"test_reused_key.py:{line_of(second)}")
    assert f"used by dropout at {one.line.rpartition(':')[0]}:{line_of(first)} and again by dropout" in one.text
    assert one.change.code.endswith("give own to dropout")


def test_a_key_that_every_iteration_uses() -> None:
    [one] = found(inspect(in_a_loop, random.key(0), X, stage="trace"))
    assert one.line.endswith(f"test_reused_key.py:{line_of('# the loop')}")


@pytest.mark.parametrize("key", [random.key(0), random.PRNGKey(0)], ids=["key", "raw"])
@pytest.mark.parametrize(
    "function", [split, folded, picked, picked_in_a_loop, split_in_a_loop, dropout_under_checkpoint]
)
def test_keys_that_are_used_once_are_no_finding(key: Any, function: Any) -> None:
    assert found(inspect(function, key, X, stage="trace")) == []


def test_looking_leaves_what_jax_keys_its_caches_by() -> None:
    step = jax.jit(used_twice)
    step(random.key(0), X)
    before, size = compile_context.context(), step._cache_size()
    found(inspect(step, random.key(0), X, stage="trace"))
    step(random.key(0), X)
    assert compile_context.context() == before
    assert step._cache_size() == size


def line_of(text: str) -> int:
    with open(__file__) as file:
        return 1 + next(i for i, line in enumerate(file) if line.rstrip().endswith(text))


def mapped(function: Any) -> Any:
    mesh = jax.make_mesh((4,), ("data",), axis_types=(AxisType.Auto,))
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data")))


def dropped_alike(key: Any, x: Any) -> Any:
    return jnp.where(random.bernoulli(key, 0.5, x.shape), x, 0.0)  # the same rows of the mask on each device


def noisy_alike(key: Any, x: Any) -> Any:
    return x + 0.1 * random.normal(key, x.shape)  # the same noise


def dropped_apart(key: Any, x: Any) -> Any:
    return dropped_alike(random.fold_in(key, jax.lax.axis_index("data")), x)


def projected(key: Any, x: Any) -> Any:
    """One projection for all rows is meant."""
    return x @ random.normal(key, (x.shape[1], 4))


@pytest.mark.parametrize(("function", "text"), [(dropped_alike, "mask on each"), (noisy_alike, "same noise")])
def test_draws_that_are_alike_on_all_devices(function: Any, text: str) -> None:
    call = mapped(function)
    parts = jnp.split(call(random.key(0), jnp.ones((8, 64))), 4)
    assert all((part == parts[0]).all() for part in parts)
    [found] = [one for one in inspect(call, random.key(0), jnp.ones((8, 64))).findings if one.kind is KIND]
    number = int(found.line.rpartition(":")[2])
    assert text in linecache.getline(__file__, number)
    assert "axis_index('data')" in found.change.code


@pytest.mark.parametrize("function", [dropped_apart, projected])
def test_draws_that_differ_or_are_weights(function: Any) -> None:
    found = inspect(mapped(function), random.key(0), jnp.ones((8, 64))).findings
    assert [one for one in found if one.kind is KIND] == []
