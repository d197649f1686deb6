"""Arguments of which nothing reads a part."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind

N = 1024


def drop(key: Any, row: Any) -> Any:
    keep = jax.random.bernoulli(key, 0.9, row.shape)
    return jnp.where(keep, row / 0.9, 0.0)


def first_rows(table: Any, x: Any) -> Any:
    return jnp.tanh(table[2] * x + table[5])


def chosen_row(table: Any, x: Any, i: Any) -> Any:
    return jnp.tanh(table[i] * x)


def two_halves(table: Any) -> Any:
    return table[: N // 2] * table[N // 2 :]


def keys(impl: str) -> Any:
    return jax.random.split(jax.random.key(0, impl=impl), 32)


ROWS = jax.ShapeDtypeStruct((32, 256), jnp.float32)
TABLE, X = jax.ShapeDtypeStruct((N, N), jnp.float32), jax.ShapeDtypeStruct((N,), jnp.float32)
TARGETS = ["local", "v5e:1x1", "h100"]


def of(function: Any, *arguments: Any, **options: Any) -> list[Any]:
    found = inspect(function, *arguments, **options).findings
    assert FindingKind.UNREAD_ARGUMENT in found.looked
    return [one for one in found if one.kind is FindingKind.UNREAD_ARGUMENT]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("impl", ["rbg", "unsafe_rbg"])
def test_of_a_batch_of_keys_these_generators_read_the_first(impl: str, target: str) -> None:
    """jax.vmap(jax.random.bits)(keys) equals bits of keys[0] with the batched shape: run below."""
    [one] = of(jax.vmap(drop), keys(impl), ROWS, target=target)
    assert one.names == ("key",)
    assert one.stake.measure is StakeMeasure.RESULT
    assert int(one.line.rpartition(":")[2]) == drop.__code__.co_firstlineno + 1


def test_that_is_what_jax_does() -> None:
    batch = keys("unsafe_rbg")
    drawn = jax.vmap(lambda key: jax.random.bits(key, (4,)))(batch)
    assert (drawn == jax.random.bits(batch[0], (32, 4))).all()


@pytest.mark.parametrize("target", TARGETS)
def test_rows_that_nothing_reads_are_counted(target: str) -> None:
    [one] = of(first_rows, TABLE, X, target=target)
    assert one.names == ("table",)
    assert one.stake.least == one.stake.most == (N - 2) * N * 4


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (jax.vmap(drop), (keys("threefry2x32"), ROWS)),
        (drop, (keys("unsafe_rbg")[0], ROWS)),
        (chosen_row, (TABLE, X, 3)),
        (two_halves, (TABLE,)),
        (lambda x, unused: x * 2, (X, TABLE)),  # JAX prunes it, so no memory is taken
    ],
    ids=["threefry", "one key", "a row that the run chooses", "all of it in slices", "pruned"],
)
@pytest.mark.parametrize("target", ["local", "v5e:1x1"])
def test_twins_have_no_finding(function: Any, arguments: Any, target: str) -> None:
    assert of(function, *arguments, target=target) == []
