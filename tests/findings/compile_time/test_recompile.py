"""Compiles that the calls could have avoided. How often JAX traced is counted in the function itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from heard_compiles import Heard, heard_compiles

from jaxstage_ext import inspect
from jaxstage_ext.compilation.records.compile_log import LOG
from jaxstage_ext.findings import found
from jaxstage_ext.findings.compile_time import recompile
from jaxstage_ext.findings.finding import Finding, StakeMeasure


@pytest.fixture
def heard() -> Iterator[Heard]:
    LOG.clear()  # of functions with the same code in other tests
    with heard_compiles() as heard:
        yield heard


class Counted:
    """A jitted function that counts how often JAX traced it for its caller."""

    def __init__(self) -> None:
        self.traces = 0

        def scaled(x: Any, factor: Any) -> Any:
            self.traces += 1
            return jnp.tanh(x) * factor

        self.jitted = jax.jit(scaled)

    def found(self, *args: Any) -> list[Finding]:
        return recompile.find(inspect(self.jitted, *args).program)


X = np.ones((4, 8), np.float32)


def test_a_weak_type_that_becomes_strong(heard: Heard) -> None:
    step, factor = Counted(), jnp.asarray(2.0)
    for _ in range(4):
        factor = step.jitted(X, factor)[0, 0].astype(jnp.float32) + np.float32(0)
    assert step.traces == 2
    [one] = step.found(X, factor)
    assert one.names == ("factor",)
    assert one.change is not None
    assert "jnp.asarray(factor, jnp.float32)" in one.change.code
    spent = [sum(run.own_seconds or 0 for run in record.stages) for record in heard.named("scaled")[:2]]
    assert one.stake.measure is StakeMeasure.COMPILE
    assert one.stake.most == pytest.approx(spent[1])
    assert one.stake.whole == pytest.approx(sum(spent)), "of what this function has cost"
    assert one.line.endswith(f"test_recompile.py:{line_of(test_a_weak_type_that_becomes_strong, 'step.jitted')}")


def test_shapes_count_together_from_the_third_on(heard: Heard) -> None:
    step = Counted()
    step.jitted(X, 2.0)
    step.jitted(X[:3], 2.0)
    assert step.found(X, 2.0) == [], "a last batch"
    step.jitted(X[:2], 2.0)
    [one] = step.found(X, 2.0)
    assert one.names == ("x",)


def test_functions_made_anew_are_one_finding(heard: Heard) -> None:
    def make(rate: float) -> Callable[..., Any]:
        @jax.jit
        def train(x: Any) -> Any:
            return jnp.sin(x) * rate

        return train

    for rate in (0.1, 0.2, 0.3):
        assert recompile.find(inspect(make(rate), X).program) == [], "as of two models"
        last = make(rate)
        last(X)
    program = inspect(last, X).program
    [one] = recompile.find(program)
    assert one.stake.share is not None
    assert 0.1 < one.stake.share < 1


def test_the_same_calls_and_another_function_are_no_finding(heard: Heard) -> None:
    step, other = Counted(), Counted()
    for _ in range(3):
        step.jitted(X, jnp.float32(2))
    jax.jit(lambda x: x + 1)(X)
    jax.jit(lambda x: x + 2)(X)
    assert step.traces == 1
    assert step.found(X, jnp.float32(2)) == []
    assert other.found(X, 2.0) == []


def test_what_jaxstage_compiled_is_no_finding(heard: Heard) -> None:
    step = Counted()
    step.jitted(X, 2.0)
    for rows in (1, 2, 3):
        inspect(step.jitted, X[:rows], 2.0)
    assert step.found(X, 2.0) == []


def test_later_compiles_are_found_too(heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "_is_worth", lambda finding: True)
    step = Counted()
    inspection = inspect(step.jitted, X, 2.0)
    assert not [one for one in inspection.findings if one.kind is recompile.DETECTOR.kind]
    for dtype in (np.float32, np.float16, np.int32, np.int8):
        step.jitted(X.astype(dtype), 2.0)
    assert [one.names for one in inspection.findings if one.kind is recompile.DETECTOR.kind] == [("x",)]


def line_of(function: Callable[..., Any], text: str) -> int:
    import inspect as python

    lines, first = python.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)
