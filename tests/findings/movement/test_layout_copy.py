"""A result of einsum that is copied into the order that was asked for, and the same in the order it is computed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.found import FoundIn

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


def pairs(a: Any, b: Any) -> Any:
    return jnp.einsum("nxyc,mxyc->nmxy", a, b)


def pairs_as_computed(a: Any, b: Any) -> Any:
    return jnp.einsum("nxyc,mxyc->xymn", a, b)


def turned(a: Any, b: Any) -> Any:
    """The transpose that the program asks for."""
    return jnp.einsum("nxyc,mxyc->xymn", a, b).T


def found_in(function: Callable[..., Any], target: str) -> list[FoundIn]:
    needs(target)
    arguments = (jax.ShapeDtypeStruct((n, 20, 20, 3), jnp.float32) for n in (100, 200))
    found = inspect(function, *arguments, target=target).findings
    assert not found.failures
    return [one for one in found if one.kind is FindingKind.LAYOUT_COPY]


def test_a_result_in_the_order_in_which_it_is_computed_is_not_copied() -> None:
    """f32[100,200,20,20], 32 MB, read and written once more (jax-ml/jax#2160)."""
    [found] = found_in(pairs, "cpu:1")
    assert found.line.endswith(f":{pairs.__code__.co_firstlineno + 1}") and found.rows["hlo"]
    assert found.stake.most == 2 * 32_000_000
    assert found.change is not None and found.change.is_diff and '"nxyc,mxyc->xymn"' in found.change.code
    made = found.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert made.realised is not None and made.realised <= found.stake.most * 1.001


@pytest.mark.parametrize("function", [pairs_as_computed, turned])
def test_what_is_computed_as_it_is_asked_for_is_not_found(function: Callable[..., Any]) -> None:
    assert found_in(function, "cpu:1") == []


@pytest.mark.parametrize("target", ["h100", "v5e:1x1"])
def test_where_the_product_writes_that_order_itself_nothing_is_found(target: str) -> None:
    """The fused transpose of a GPU and the layout of a TPU cost nothing: 33.4 MB are moved in all."""
    assert found_in(pairs, target) == []
