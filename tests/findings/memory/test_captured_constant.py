"""Arrays that a function closes over."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.core.derivative import constant_arguments
from jaxstage_ext.findings.finding import StakeMeasure
from jaxstage_ext.findings.memory import captured_constant

N = 1024
TABLE = np.random.default_rng(0).random((N, N), np.float32)
SCALE = np.full(N, 2.0, np.float32)


def lookup(x: Any) -> Any:
    return x + jnp.sum(jnp.asarray(TABLE) * x[:, None], 1)


@jax.jit
def inner(x: Any) -> Any:
    return x @ TABLE


def through_jit(x: Any) -> Any:
    return inner(x) * 2


def with_argument(x: Any, table: Any) -> Any:
    return x + jnp.sum(table * x[:, None], 1)


def small(x: Any) -> Any:
    return x * SCALE


X = jax.ShapeDtypeStruct((N,), jnp.float32)


def of(function: Any, *arguments: Any, **options: Any) -> list[Any]:
    """Whatever its share is: what a compile takes differs from run to run."""
    ins = inspect(function, *arguments, **options)
    return captured_constant.DETECTOR.find(ins.program, None), ins


def test_it_is_named_and_the_diff_makes_it_a_parameter() -> None:
    [one], _ = of(lookup, X)
    assert one.names == ("TABLE",)
    assert one.stake.measure is StakeMeasure.COMPILE
    assert int(one.line.rpartition(":")[2]) == lookup.__code__.co_firstlineno
    assert "+def lookup(x: Any, TABLE) -> Any:" in one.change.code.splitlines()


@pytest.mark.parametrize("function", [lookup, through_jit])
def test_the_change_has_it_as_an_argument_and_no_constant(function: Any) -> None:
    [one], ins = of(function, X)
    staged = one.change.stage(ins.program.staged)
    text = staged.value("lower").as_text()
    assert f"tensor<{N}x{N}xf32>" in text.partition("main(")[2].partition("->")[0]
    assert 'stablehlo.constant dense<"' not in text
    names = staged.value("trace").jaxpr.jaxpr.debug_info.arg_names
    assert names == ("TABLE", "x")


def test_what_the_changed_program_computes_is_the_same() -> None:
    """By running both."""
    [one], ins = of(through_jit, X)
    compiled = one.change.stage(ins.program.staged).value("lower").compile()
    x = np.linspace(0, 1, N, dtype=np.float32)
    np.testing.assert_allclose(compiled([TABLE], x), (x @ TABLE) * 2, rtol=1e-4)


def test_donation_and_keywords_stay_with_their_arguments() -> None:
    jitted = jax.jit(lambda x, *, y: x @ TABLE + y, donate_argnames=("y",))
    [one], ins = of(jitted, X, y=X)
    lowered = one.change.stage(ins.program.staged).value("lower")
    (_, x), keywords = lowered.args_info
    assert not x.donated
    assert keywords["y"].donated


@pytest.mark.parametrize(("function", "arguments"), [(with_argument, (X, TABLE)), (small, (X,))])
def test_twins_have_no_finding(function: Any, arguments: Any) -> None:
    assert of(function, *arguments)[0] == []


@pytest.mark.parametrize("target", ["v5e:1x1", "h100"])
def test_on_a_device_that_is_not_here(target: str) -> None:
    [one], ins = of(lookup, X, target=target)
    assert one.names == ("TABLE",)
    assert constant_arguments.staged_with(ins.program.staged, [TABLE], ["TABLE"]) is not None


def test_a_mutable_array_stays_captured() -> None:
    count = jax.new_ref(jnp.zeros(()))

    def counting(x: Any) -> Any:
        count[...] += 1
        return x + jnp.asarray(TABLE)[0]

    [one], ins = of(counting, X)
    assert one.names == ("TABLE",)
    lowered = one.change.stage(ins.program.staged).value("lower")
    assert 'stablehlo.constant dense<"' not in lowered.as_text()


class Tables:
    """One that an object has of its class, and one that the class is asked for."""

    positions = np.random.default_rng(1).random((N, N), np.float32)

    def through_self(self, x: Any) -> Any:
        return x @ self.positions


def through_class(x: Any) -> Any:
    return x @ Tables.positions


@pytest.mark.parametrize(("function", "name"), [(Tables().through_self, "self"), (through_class, "Tables")])
def test_an_attribute_of_a_class_is_named_as_the_function_reaches_it(function: Any, name: str) -> None:
    [one], _ = of(function, X)
    assert one.names == (f"{name}.positions",)
