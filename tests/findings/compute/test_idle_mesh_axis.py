"""A mesh axis that nothing is sharded over: its devices compute the same, and a sharded batch shares the work."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.found import FoundIn

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")

W, X = jax.ShapeDtypeStruct((1024, 1024), jnp.float32), jax.ShapeDtypeStruct((8192, 1024), jnp.float32)


def loss(w: Any, x: Any) -> Any:
    return jnp.mean(jax.nn.relu(x @ w) ** 2)


def constrained(w: Any, x: Any) -> Any:
    return loss(w, jax.lax.with_sharding_constraint(x, P("data")))


def found_in(function: Any, target: str, mesh: dict[str, int], specs: Any) -> list[FoundIn]:
    needs(target)
    found = inspect(jax.grad(function), W, X, target=target, mesh=mesh, in_specs=specs).findings
    assert not found.failures
    return [one for one in found if one.kind is FindingKind.EXTRA_FLOPS]


@pytest.mark.parametrize("target", ["cpu:4", "v5e:2x2", "h100:4"])
def test_devices_that_all_compute_the_same(target: str) -> None:
    """A quarter of the FLOPs is left on each of four devices that have a quarter of the rows."""
    [found] = found_in(loss, target, {"data": 4}, (P(), P()))
    assert found.names == ("x",) and "jax.P('data')" in found.change.code
    assert found.stake.share == pytest.approx(3 / 4)
    trial = found.try_()
    assert trial.outcome is TrialOutcome.PAYS
    assert trial.realised is not None and 0.3 * found.stake.most < trial.realised <= found.stake.most


def test_another_axis_that_nothing_uses() -> None:
    [found] = found_in(loss, "cpu:4", {"data": 2, "model": 2}, (P(), P("data")))
    assert "model" in found.text and not found.can_be_tried


@pytest.mark.parametrize(("function", "specs"), [(loss, (P(), P("data"))), (constrained, (P(), P()))])
def test_an_axis_that_an_argument_or_a_constraint_uses(function: Any, specs: Any) -> None:
    assert found_in(function, "cpu:4", {"data": 4}, specs) == []
