"""A value that XLA replicates to reshard it, and the step between that makes it two all-to-alls."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.analysis.sharding import resharding_steps
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.found import FoundIn

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")

BEFORE, AFTER = P("y", None, "x"), P(None, ("x", "y"), None)
CUBE = jax.ShapeDtypeStruct((16, 64, 64), jnp.float32)


def mix(a: Any, b: Any, c: Any) -> Any:
    d = a + b
    d = jax.lax.with_sharding_constraint(d, P(None, ("x", "y"), None))
    return c + d


def by_steps(a: Any, b: Any, c: Any) -> Any:
    d = a + b
    d = jax.lax.with_sharding_constraint(d, P("y", "x", None))
    d = jax.lax.with_sharding_constraint(d, P(None, ("x", "y"), None))
    return c + d


def found_in(function: Any, target: str) -> list[FoundIn]:
    needs(target)
    specs = BEFORE, BEFORE, AFTER
    found = inspect(function, CUBE, CUBE, CUBE, target=target, mesh={"x": 4, "y": 2}, in_specs=specs).findings.all()
    assert not found.failures
    return [one for one in found if one.kind is FindingKind.FULL_REMATERIALISATION]


@pytest.mark.parametrize("target", ["cpu:8", "v5e:2x4", "h100:8"])
def test_a_constraint_between_makes_it_two_all_to_alls(target: str) -> None:
    """Per device 32,768 B: all-to-alls send 3/4 and 1/2 of them, 40,960 B; the gathers 229,376 B (7/8 of 262,144)."""
    [found] = found_in(mix, target)
    assert found.line.endswith(f":{mix.__code__.co_firstlineno + 2}")
    assert found.trial is not None and found.trial.outcome is TrialOutcome.PAYS
    assert found.trial.realised == found.stake.most
    after = found.trial.inspection.collectives
    assert {row.op.kind for row in after.rows} == {"all-to-all"} and after.sent.most == 40_960
    assert found.change is not None and found.change.is_diff
    assert "+    d = jax.lax.with_sharding_constraint(d, P('y', 'x', None))" in found.change.code


@pytest.mark.parametrize("target", ["cpu:8", "v5e:2x4"])
def test_one_that_goes_by_steps_is_not_found(target: str) -> None:
    assert found_in(by_steps, target) == []


SIZES = {"x": 4, "y": 2}


@pytest.mark.parametrize(
    ("before", "after", "steps"),
    [
        ((("y",), (), ("x",)), ((), ("x", "y"), ()), [(("y",), ("x",), ())]),
        ((("x",), ()), ((), ("x",)), []),
        ((("x",), ("y",)), (("y",), ("x",)), []),
    ],
    ids=["two all-to-alls", "one step", "no way"],
)
def test_steps(before: Any, after: Any, steps: Any) -> None:
    assert resharding_steps.between(before, after, SIZES, (16,) * len(before)) == steps
