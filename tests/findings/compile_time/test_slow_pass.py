"""What XLA folds of captured arrays: that it does is read from the constants of the optimised HLO."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.findings.compile_time import slow_pass
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

ROWS, WIDTH = 100_000, 16
table = np.random.default_rng(0).random((ROWS, WIDTH), np.float32)
small = table[:100]
X, LONG = jnp.ones(ROWS // 2 + 1), jnp.ones(ROWS)


def folded(x: Any) -> Any:
    padded = jnp.pad(jnp.asarray(table), ((1, 1), (0, 0)))[::2]  # the line
    return x + jnp.sum(padded, 1)


def multiplied(x: Any) -> Any:
    return jnp.sum(jnp.asarray(table) * x[:, None], 1)


def of_a_small_one(x: Any) -> Any:
    return x + jnp.sum(jnp.pad(jnp.asarray(small), ((1, 1), (0, 0))))


def found(inspection: Inspection) -> list[Any]:
    return list(slow_pass.find(inspection.program))


@pytest.mark.parametrize("target", ["cpu:1", "v5e:1x1", "h100"])
def test_work_on_a_captured_array_alone(target: str) -> None:
    inspection = inspect(folded, X, target=target)
    [one] = found(inspection)
    with open(__file__) as file:
        line = 1 + next(i for i, text in enumerate(file) if "# the line" in text)
    assert one.line.endswith(f"test_slow_pass.py:{line}")
    assert one.names == ("table",)
    assert one.stake.measure is StakeMeasure.COMPILE
    assert one.stake.least is None
    assert one.stake.most <= one.stake.whole
    assert not [name for name in inspection.program.module.opcode if name in (b"pad", b"reduce")], "nothing is left"


def test_as_an_argument_it_is_not_folded() -> None:
    inspection = inspect(folded, X)
    [one] = [one for one in inspection.findings if one.kind is FindingKind.SLOW_PASS]
    tried = one.try_()
    assert tried.outcome is TrialOutcome.PAYS
    assert tried.realised > 0
    inspection.passes  # noqa: B018
    [with_time] = found(inspection)
    assert with_time.text != one.text, "the pass's own time"


@pytest.mark.parametrize(("function", "x"), [(multiplied, LONG), (of_a_small_one, X)])
def test_what_an_argument_takes_part_in_and_small_arrays_are_no_finding(function: Any, x: Any) -> None:
    assert found(inspect(function, x)) == []


def test_an_array_that_is_passed_is_no_finding() -> None:
    assert found(inspect(lambda x, table: x + jnp.sum(jnp.pad(table, ((1, 1), (0, 0)))[::2], 1), X, table)) == []
