"""Values that JAX no longer reads; that it runs the earlier one is known by calling the function."""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

X = np.ones(3, np.float32)
gain, table, untouched = 1.0, [1.0, 2.0], 3.0


@pytest.fixture
def scaled(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The function as a new object, and the globals that it reads, to be changed by the test."""
    monkeypatch.setitem(globals(), "gain", 1.0)

    def read(x: Any) -> Any:
        y = jnp.sin(x) * untouched
        return gain * jnp.sum(y)  # the read

    return jax.jit(FunctionType(read.__code__, globals(), "read"))


class Node:
    def __init__(self, gain: float) -> None:
        self.gain = gain

    @partial(jax.jit, static_argnums=0)
    def step(self, x: Any) -> Any:
        return self.gain * jnp.sum(x)


def found(inspection: Inspection) -> list[Any]:
    return [one for one in inspection.findings if one.kind is FindingKind.STALE_VALUE]


def test_a_global_that_has_changed(scaled: Any) -> None:
    first = scaled(X)
    globals()["gain"] = 5.0
    assert scaled(X) == first
    inspection = inspect(scaled, X)
    [one] = found(inspection)
    assert inspection.findings[0].kind is FindingKind.STALE_VALUE, "results come before savings"
    assert (one.names, one.stake.measure) == (("gain",), StakeMeasure.RESULT)
    assert one.line.endswith(f"test_stale_value.py:{line_of('# the read')}")
    tried = one.try_()
    assert tried.outcome is TrialOutcome.UNKNOWN
    assert not tried.is_same_hlo
    assert "5" in tried.differences.text("jaxpr")
    assert scaled(X) == first, "a trial leaves what JAX keeps"


def test_an_attribute_of_a_static_argument() -> None:
    node = Node(1.0)
    assert node.step(X) == 3.0
    node.gain = 5.0
    assert node.step(X) == 3.0
    [one] = found(inspect(node.step, X))
    assert one.names == ("self.gain",)
    assert one.line.endswith(f"test_stale_value.py:{line_of('return self.gain')}")
    assert one.try_().outcome is TrialOutcome.UNKNOWN


def test_the_same_value_and_one_that_nothing_reads_are_no_finding(scaled: Any) -> None:
    scaled(X)
    globals()["gain"], globals()["table"] = 0.5 + 0.5, [3.0]
    assert found(inspect(scaled, X)) == []


def test_a_value_that_is_read_anew_is_no_finding(scaled: Any) -> None:
    scaled(X)
    globals()["gain"] = 5.0
    scaled.clear_cache()
    assert scaled(X) != 0
    assert found(inspect(scaled, X)) == []


def line_of(text: str) -> int:
    with open(__file__) as file:
        return 1 + next(i for i, line in enumerate(file) if text in line)
