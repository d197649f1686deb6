"""Products of converted operands on a GPU, and sums that use up a narrow dtype; and their twins."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.compute import excess_precision
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome

BF16, F32 = jnp.bfloat16, jnp.float32
X, W, WS = (jax.ShapeDtypeStruct(shape, BF16) for shape in ((1024, 1024), (1024, 1024), (4, 1024, 1024)))


def widened(x: Any, w: Any) -> Any:
    return x.astype(F32) @ w.astype(F32)


def highest(x: Any, w: Any) -> Any:
    return jnp.dot(x.astype(F32), w.astype(F32), precision="highest")


def in_scan(x: Any, ws: Any) -> Any:
    return jax.lax.scan(lambda c, w: (jnp.tanh(c.astype(F32) @ w.astype(F32)).astype(BF16), None), x, ws)[0]


def accumulated(x: Any, w: Any) -> Any:
    return jnp.dot(x, w, preferred_element_type=F32)


def scaled(x: Any, w: Any) -> Any:
    """One operand has more bits than bf16 holds."""
    return x.astype(F32) @ jnp.sin(w.astype(F32))


def found(fn: Any, *args: Any, target: str = "h100") -> list[Any]:
    return list(excess_precision.find(inspect(fn, *args, target=target).program))


@pytest.mark.parametrize(("fn", "w"), [(widened, W), (highest, W), (in_scan, WS)])
def test_narrow_product_gives_the_same_and_pays(fn: Any, w: Any) -> None:
    ins = inspect(fn, X, w, target="h100")
    [finding] = [one for one in ins.findings if one.kind is excess_precision.DETECTOR.kind]
    assert finding.stake.measure is StakeMeasure.TIME
    assert finding.line.endswith(f"test_excess_precision.py:{fn.__code__.co_firstlineno + 1}")
    made = finding.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert 0 < made.realised <= finding.stake.most
    assert excess_precision.find(made.after) == []


def test_the_products_are_equal() -> None:
    x, w = (jax.random.normal(jax.random.key(i), (64, 64), BF16) for i in range(2))
    assert jnp.allclose(highest(x, w), accumulated(x, w), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fn", [accumulated, scaled, lambda x, w: x @ w])
def test_products_that_are_as_wide_as_they_should_be(fn: Any) -> None:
    assert found(fn, X, W) == []


def test_a_product_that_nothing_needs_is_not_found() -> None:
    def gradient(x: Any, w: Any) -> Any:
        return jax.grad(lambda x, w: widened(x, w).sum())(x, w)

    assert found(gradient, X, W) == []


@pytest.mark.parametrize("target", ["v5e:2x2", "cpu:1"])
def test_only_where_the_compiler_does_not_narrow_it_itself(target: str) -> None:
    # known by trying: libtpu makes the same HLO of both; a CPU has no units for bf16
    assert found(widened, X, W, target=target) == []


def summed(steps: int, dtype: Any) -> Any:
    def total(x: Any) -> Any:
        start = jnp.zeros((8,), dtype)
        return jax.lax.scan(lambda c, _: (c + jnp.sin(x).astype(dtype), None), start, None, length=steps)[0]

    return total


def decayed(x: Any) -> Any:
    """A moving average forgets, so that its precision lasts."""
    return jax.lax.scan(lambda c, _: ((c * 0.9 + x).astype(BF16), None), jnp.zeros((8,), BF16), None, length=1000)[0]


def test_sum_that_a_scan_carries() -> None:
    x = jnp.ones((8,))
    [finding] = found(summed(1000, BF16), x, target="cpu:1")
    assert finding.stake.measure is StakeMeasure.RESULT
    assert summed(1000, BF16)(x)[0] < 0.5 * summed(1000, F32)(x)[0]  # the sum stops growing, by running it
    assert found(summed(1000, F32), x, target="cpu:1") == []
    assert found(summed(100, BF16), x, target="cpu:1") == []
    assert found(decayed, jnp.ones((8,), BF16), target="cpu:1") == []
