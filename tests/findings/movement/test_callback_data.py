"""Arrays that are gathered for a callback, or go from one callback to another, and programs that look alike."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.found import FoundIn

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")

N = 2048
ROWS = 4096 * 512 * 4
"""Bytes of x, of which each of four devices has a part."""


def logged(h: Any) -> None:
    print(h.shape)


def loss(w: Any, x: Any) -> Any:
    h = jax.nn.relu(x @ w)
    jax.debug.callback(logged, h)
    return jnp.mean(h**2)


def loss_with_norm(w: Any, x: Any) -> Any:
    h = jax.nn.relu(x @ w)
    jax.debug.callback(logged, jnp.mean(h**2, 1))
    return jnp.mean(h**2)


def distances(y: Any) -> Any:
    return np.zeros((N, N), np.float32)


def linkage(d: Any) -> Any:
    return np.zeros((N - 1, 4), np.float32)


def both(y: Any) -> Any:
    return linkage(distances(y))


def in_two_calls(y: Any) -> Any:
    d = jax.pure_callback(distances, jax.ShapeDtypeStruct((N, N), jnp.float32), y)
    return jax.pure_callback(linkage, jax.ShapeDtypeStruct((N - 1, 4), jnp.float32), 2 * d)


def in_one_call(y: Any) -> Any:
    return jax.pure_callback(both, jax.ShapeDtypeStruct((N - 1, 4), jnp.float32), y)


def line(function: Any, offset: int) -> str:
    return f":{function.__code__.co_firstlineno + offset}"


def sharded(function: Any) -> list[FoundIn]:
    shapes = jax.ShapeDtypeStruct((512, 512), jnp.float32), jax.ShapeDtypeStruct((4096, 512), jnp.float32)
    made = inspect(jax.grad(function), *shapes, target="cpu:4", mesh={"data": 4}, in_specs=(P(), P("data")))
    cheap = [one for one in made.findings if one.kind is FindingKind.HOST_TRANSFER]
    found = made.findings.all()
    assert not found.failures and FindingKind.FULL_REMATERIALISATION not in [one.kind for one in found]
    return cheap


def test_a_sharded_array_that_is_gathered_for_a_callback() -> None:
    """A ring sends 3/4 of the whole array from each device; without the call there is nothing to gather."""
    [found] = sharded(loss)
    assert line(loss, 2) in found.line and found.names == ("logged",)
    assert found.stake.measure is StakeMeasure.SENT and found.stake.most == ROWS * 3 / 4
    made = found.try_()
    assert made.outcome is TrialOutcome.PAYS and made.realised is not None and made.realised >= ROWS * 3 / 4


def test_its_norms_are_small() -> None:
    assert sharded(loss_with_norm) == []


def test_an_array_that_goes_from_one_callback_to_another() -> None:
    made = inspect(in_two_calls, jax.ShapeDtypeStruct((N, 2), jnp.float32))
    [found] = [one for one in made.findings if one.kind is FindingKind.HOST_TRANSFER]
    assert found.names == ("distances", "linkage") and line(in_two_calls, 2) in found.line
    assert found.change is not None and "linkage(distances(…))" in found.change.code
    made = inspect(in_one_call, jax.ShapeDtypeStruct((N, 2), jnp.float32))
    assert [one for one in made.findings if one.kind is FindingKind.HOST_TRANSFER] == []
