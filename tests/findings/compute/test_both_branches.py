"""Conditionals under vmap: found where branches compute much, not where vmap leaves the condition alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.compute import both_branches
from jaxstage_ext.findings.finding import StakeMeasure

XS, W = jax.ShapeDtypeStruct((64, 128), jnp.float32), jax.ShapeDtypeStruct((128, 128), jnp.float32)
ONE_PRODUCT = 2 * 64 * 128 * 128


def twice(x: Any, w: Any) -> Any:
    return jnp.tanh(x @ w @ w)


def once(x: Any, w: Any) -> Any:
    return x @ w.T


def by_element(x: Any, w: Any) -> Any:
    return jax.lax.cond(x.sum() > 0, twice, once, x, w)


def by_element_cheap(x: Any, w: Any) -> Any:
    return jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x) @ w


def switched(x: Any, w: Any) -> Any:
    return jax.lax.switch((x[0] > 0).astype(int), [twice, once, lambda x, w: x], x, w)


def nested(x: Any, w: Any) -> Any:
    return jax.lax.cond(x[0] > 0, by_element, once, x, w)


def over(fn: Callable[..., Any]) -> Callable[..., Any]:
    return jax.vmap(fn, (0, None))


def outside(xs: Any, w: Any) -> Any:
    return jax.lax.cond(xs.sum() > 0, over(twice), over(once), xs, w)


def found(fn: Any) -> list[Any]:
    return list(both_branches.find(inspect(fn, XS, W, stage="trace").program))


@pytest.mark.parametrize("wrap", ["alone", "gradient", "scan"])
@pytest.mark.parametrize("fn", [by_element, switched])
def test_branches_that_compute_are_found(fn: Any, wrap: str) -> None:
    called = {
        "alone": over(fn),
        "gradient": jax.grad(lambda x, w: over(fn)(x, w).sum()),
        "scan": lambda x, w: jax.lax.scan(lambda c, _: (over(fn)(c, w), None), x, None, length=3)[0],
    }[wrap]
    [finding] = found(called)
    assert finding.stake.measure is StakeMeasure.FLOPS
    # by hand: the dearer branch has two products, which need not run, or one of the cheaper where a third one is free
    runs, spare = 3 if wrap == "scan" else 1, 3 if fn is switched else 2
    assert finding.stake.most == pytest.approx(runs * spare * ONE_PRODUCT, rel=0.1)
    assert finding.line.endswith(f"test_both_branches.py:{fn.__code__.co_firstlineno + 1}")


def test_nested_conditionals_are_two() -> None:
    assert len(found(over(nested))) == 2


def test_what_both_branches_compute_is_computed_once() -> None:
    # XLA merges equal operations: by the compiled program both branches take the two products of the dearer one
    def shared(x: Any, w: Any) -> Any:
        return jax.lax.cond(x.sum() > 0, twice, lambda x, w: x @ w, x, w)

    [finding] = found(over(shared))
    assert finding.stake.most == pytest.approx(ONE_PRODUCT, rel=0.1)


@pytest.mark.parametrize(
    "fn",
    [
        over(by_element_cheap),
        outside,
        lambda xs, w: jax.lax.map(lambda x: by_element(x, w), xs),
        lambda xs, w: jnp.where(xs.sum(1, keepdims=True) > 0, over(twice)(xs, w), xs),
    ],
)
def test_well_made_conditionals_are_not_found(fn: Any) -> None:
    assert found(fn) == []


def test_a_conditional_outside_of_vmap_saves_what_is_said() -> None:
    # the compiled twin, of which the branch of more work counts
    within, without = (inspect(fn, XS, W, target="h100") for fn in (over(by_element), outside))
    saved = within.cost.work.total_flops - without.cost.work.total_flops
    [finding] = both_branches.find(within.program)
    assert 0.4 * finding.stake.most < saved <= finding.stake.most
