"""Arrays of indices, or of ones at indices, that take more memory than the data."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

CLASSES, WIDTH, TOKENS = 20_000, 64, 2048
ONE_HOT = TOKENS * CLASSES * 4


def embed(table: Any, ids: Any) -> Any:
    return jax.nn.one_hot(ids, CLASSES) @ table


def rows(table: Any, ids: Any) -> Any:
    return table[ids]


def loss(table: Any, ids: Any) -> Any:
    return jnp.sum(jnp.tanh(embed(table, ids)) ** 2)


def embed_on_the_right(table: Any, ids: Any) -> Any:
    return jax.lax.dot_general(table, jax.nn.one_hot(ids, CLASSES), (((0,), (1,)), ((), ())))


def cross_entropy(logits: Any, labels: Any) -> Any:
    """Its one-hot array is fused into the product, on every device."""
    return -jnp.sum(jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, logits.shape[-1]))


def along_axis(x: Any) -> Any:
    return jnp.take_along_axis(x, jnp.zeros_like(x, jnp.int32), 1)


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


TABLE, IDS = f32(CLASSES, WIDTH), jax.ShapeDtypeStruct((TOKENS,), jnp.int32)


def of(function: Any, *arguments: Any, **options: Any) -> tuple[list[Any], Any]:
    ins = inspect(function, *arguments, **options)
    assert FindingKind.INDEX_ARRAY in ins.findings.looked
    return [one for one in ins.findings if one.kind is FindingKind.INDEX_ARRAY], ins


@pytest.mark.parametrize("function", [embed, jax.grad(loss)])
@pytest.mark.parametrize("target", ["local", "h100"])
def test_a_one_hot_array_that_is_written_out(function: Any, target: str) -> None:
    """As many floats as there are tokens times classes; indexing the table needs none of them."""
    [one], _ = of(function, TABLE, IDS, target=target)
    assert int(one.line.rpartition(":")[2]) == embed.__code__.co_firstlineno + 1
    assert one.stake.most >= 0.99 * ONE_HOT
    trial = one.try_()
    if one.stake.whole is None:  # JAX 0.10 does not say what an executable for an absent device takes
        assert trial.outcome is TrialOutcome.UNKNOWN
    else:
        assert trial.outcome is TrialOutcome.PAYS
        assert trial.realised == pytest.approx(ONE_HOT, rel=0.15)


@pytest.mark.parametrize("function", [embed, jax.grad(loss), embed_on_the_right])
def test_the_changed_program_computes_the_same(function: Any) -> None:
    """By running both."""
    [one], ins = of(function, TABLE, IDS)
    r = np.random.default_rng(0)
    table, ids = r.random((CLASSES, WIDTH), np.float32), r.integers(0, CLASSES, TOKENS).astype(np.int32)
    changed = one.change.stage(ins.program.staged).value("lower").compile()(table, ids)
    np.testing.assert_allclose(changed, jax.jit(function)(table, ids), rtol=1e-4)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(rows, (TABLE, IDS)), (cross_entropy, (f32(TOKENS, CLASSES), IDS)), (along_axis, (f32(64, 4, 128, 16),))],
)
@pytest.mark.parametrize("target", ["local", "v5e:1x1", "h100"])
def test_twins_have_no_finding(function: Any, arguments: Any, target: str) -> None:
    assert of(function, *arguments, target=target)[0] == []


def test_of_a_program_that_does_not_fit_the_gather_s_indices_are_named() -> None:
    """s32[32768,128,128,4] from hand: 8.59 GB of indices for 2.15 GB of data, more than a v5e has beside the result."""
    with pytest.raises(jax.errors.JaxRuntimeError) as raised:
        inspect(along_axis, f32(32768, 1, 128, 128), target="v5e:1x1")
    found = raised.value.inspection.findings  # type: ignore[attr-defined]
    [one] = [each for each in found if each.kind is FindingKind.INDEX_ARRAY]
    assert "8.59 GB" in one.text
    assert "2.15 GB" in one.text
    assert int(one.line.rpartition(":")[2]) == along_axis.__code__.co_firstlineno + 1
