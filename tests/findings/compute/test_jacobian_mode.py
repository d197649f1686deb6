"""Jacobians by the mode that takes more derivatives. How many each takes is counted by hand, and compiled."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

P, T = jax.ShapeDtypeStruct((4,), jnp.float32), jax.ShapeDtypeStruct((3000,), jnp.float32)


def curve(p: Any, t: Any) -> Any:
    return jnp.sum(jnp.sin(3 * jnp.tanh(t[:, None] * p)), 1)


def energy(t: Any) -> Any:
    return jnp.sum(jnp.tanh(jnp.outer(t, t[:64])))


def both(p: Any, t: Any) -> Any:
    return jax.jacrev(curve)(p, t)[0], p


def found(inspection: Inspection) -> list[Any]:
    return [one for one in inspection.findings if one.kind is FindingKind.CHEAPER_FORM]


@pytest.mark.parametrize("target", ["cpu:1", "h100"])
def test_many_results_of_few_arguments(target: str) -> None:
    [one] = found(inspect(jax.jit(jax.jacrev(curve)), P, T, target=target))
    assert "3,000 results" in one.text and "4 elements" in one.text
    assert "jax.jacfwd(curve)" in one.change.code
    made = one.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert 0.9 * one.stake.whole < made.realised <= one.stake.most


def test_one_result_of_many_arguments() -> None:
    [one] = found(inspect(jax.jacfwd(energy), T, target="cpu:1"))
    assert "jax.jacrev(energy)" in one.change.code
    assert one.try_().outcome is TrialOutcome.PAYS


def test_a_jacobian_within_a_function_has_its_line_and_no_trial() -> None:
    [one] = found(inspect(both, P, T, target="cpu:1"))
    assert one.line.endswith(f"test_jacobian_mode.py:{both.__code__.co_firstlineno + 1}")
    assert not one.can_be_tried


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (jax.jacfwd(curve), (P, T)),
        (jax.jacrev(energy), (T,)),
        (jax.hessian(energy), (jax.ShapeDtypeStruct((200,), jnp.float32),)),
        (jax.vmap(jax.grad(energy)), (jax.ShapeDtypeStruct((64, 300), jnp.float32),)),
    ],
)
def test_the_right_mode(function: Any, arguments: Any) -> None:
    assert found(inspect(function, *arguments, target="cpu:1")) == []
