"""Callbacks that equinox's checks put into a program; the advice that leaves them out is followed, with JAX alone."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.program.mistakes import explained_error

Y = jnp.ones(3)
TERM = diffrax.ODETerm(lambda t, y, args: -y)


def solved(y: Any, t1: Any = 1.0, **options: Any) -> Any:
    return diffrax.diffeqsolve(TERM, diffrax.Tsit5(), t0=0.0, t1=t1, dt0=0.1, y0=y, **options).ys


def checked(x: Any) -> Any:
    return eqx.error_if(x, x.sum() < 0, "negative") * 2


def of_solver(y: Any) -> Any:
    return solved(y)


def of_solver_and_times(y: Any, t1: Any) -> Any:
    return solved(y, t1)


def of_both(y: Any) -> Any:
    jax.debug.print("{}", y.sum())
    return checked(y)


def printed(y: Any) -> Any:
    jax.debug.print("{}", y.sum())
    return y


def told(fn: Any, *args: Any) -> str:
    with pytest.raises(Exception, match="calls back into Python") as raised:
        inspect(jax.jit(fn), *args, target="v5e:1x1")
    return explained_error.error_explanation(raised.value.inspection.program)  # type: ignore[attr-defined]


def lowers(fn: Any, *args: Any) -> None:
    """Whether JAX lowers it for a TPU that is not here; raises what JAX raises."""
    jax.jit(fn).trace(*args).lower(lowering_platforms=("tpu",))


def test_a_check_of_the_user_s_is_at_his_line_and_is_switched_off_by_the_environment() -> None:
    said = told(checked, Y)
    line = checked.__code__.co_firstlineno + 1
    assert f"test_library_checks.py:{line})" in said and "EQX_ON_ERROR=nan" in said and "throw=False" not in said


def test_a_solver_s_check_is_left_out_with_throw_false() -> None:
    said = told(of_solver, Y)
    assert "diffrax.diffeqsolve with throw=False" in said and "EQX_ON_ERROR=nan" in said
    lowers(lambda y: solved(y, throw=False), Y)


def test_throw_false_is_not_offered_where_it_leaves_another_check() -> None:
    said = told(of_solver_and_times, Y, jnp.float32(1))
    assert "throw=False" not in said and "EQX_ON_ERROR=nan" in said
    with pytest.raises(ValueError, match="lowering platform"):
        lowers(lambda y, t1: solved(y, t1, throw=False), Y, jnp.float32(1))


def test_what_the_user_wrote_is_told_from_the_checks() -> None:
    said, line = told(of_both, Y), of_both.__code__.co_firstlineno + 1
    assert f"Leave out test_library_checks.py:{line};" in said.replace("tests/program/mistakes/", "")
    assert "EQX_ON_ERROR" not in told(printed, Y) and "Leave them out" in told(printed, Y)


@pytest.mark.once("what equinox does with its variable")
@pytest.mark.parametrize(("value", "lowered"), [("nan", ["checked", "of_solver_and_times"]), ("raise", [])])
def test_the_environment_variable_does_what_is_said(value: str, lowered: list[str]) -> None:
    environment = {**os.environ, "EQX_ON_ERROR": value, "JAX_PLATFORMS": "cpu"}
    told = subprocess.run([sys.executable, "-c", LOWERS_BOTH], env=environment, capture_output=True, check=True)
    assert told.stdout.decode().split() == lowered


LOWERS_BOTH = """
from tests.program.mistakes.test_library_checks import *
for fn, args in ((checked, (Y,)), (of_solver_and_times, (Y, jnp.float32(1)))):
    try:
        lowers(fn, *args)
    except ValueError as error:
        assert "lowering platform" in str(error)
    else:
        print(fn.__name__)
"""
