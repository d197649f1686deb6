"""Mistakes that JAX or XLA tell without the argument or the line: FFI targets, mapped axes of pmap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.program.mistakes import compile_mistakes, explained_error


def failed(fn: Any, *args: Any, **options: Any) -> tuple[str, Any]:
    """What is said, and the Inspection."""
    with pytest.raises(Exception, match=r".") as raised:
        inspect(fn, *args, **options)
    inspection = raised.value.inspection  # type: ignore[attr-defined]
    return explained_error.error_explanation(inspection.program), inspection


def foreign(x: Any) -> Any:
    y = x + 1
    return jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct(x.shape, x.dtype))(y)


def test_an_unregistered_ffi_target_has_its_line() -> None:
    told, inspection = failed(foreign, jnp.ones(3))
    line = foreign.__code__.co_firstlineno + 2
    assert told.startswith("The FFI target 'no_such_target' (")
    assert f"test_named_mistakes.py:{line}) is not registered for cpu" in told
    assert (inspection.error.span.line, inspection.error.span.function) == (line, "foreign")
    assert f"{line} ✗" in str(inspection)


def test_one_inside_a_jitted_function_of_a_loop_has_its_line_too() -> None:
    def looped(x: Any) -> Any:
        return jax.lax.fori_loop(0, 3, lambda i, c: jax.jit(foreign)(c), x)

    told, inspection = failed(looped, jnp.ones(3))
    assert inspection.error.span.line == foreign.__code__.co_firstlineno + 2 and "no_such_target" in told


def test_a_worker_has_no_targets_of_the_user_s() -> None:
    told, _ = failed(foreign, jnp.ones(3), target="cpu:2")
    assert "is not known to the worker that compiles for cpu:2" in told
    assert told.endswith("leave the call out, or register it in this kernel and inspect it without a target.")


def test_another_error_that_names_the_target_is_not_that_it_is_unregistered() -> None:
    _, inspection = failed(foreign, jnp.ones(3))
    wrong = "INVALID_ARGUMENT: no_such_target: wrong number of arguments, expected 2 but got 1"
    error = replace(inspection.error, message=wrong)
    assert compile_mistakes.unregistered_target(inspection.program, error) is None
    assert compile_mistakes.unregistered_target(inspection.program, inspection.error) is not None


def test_pmap_over_more_elements_than_the_devices_that_it_was_given(capfd: pytest.CaptureFixture[str]) -> None:
    """Where they divide, JAX cannot squeeze; where they do not, it prints the line of its caller, which is ours."""
    told, _ = failed(jax.pmap(lambda a: a * 2, devices=jax.devices()[:2]), np.ones((4, 3)))
    assert "it was given 2 devices: a has shape (4, 3)." in told
    told, _ = failed(jax.pmap(lambda a: a * 2, devices=jax.devices()[:3]), np.ones((4, 3)))
    assert told == "a: pmap maps its axis 0 of size 4, one element on a device, and there are 3 devices."
    out, err = capfd.readouterr()
    assert "jaxstage_ext" not in out + err


def test_what_the_user_s_function_prints_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    def talking(x: Any) -> Any:
        print("traced")
        return x * 2

    inspect(talking, jnp.ones(3))
    assert "traced" in capfd.readouterr().out


def test_pmap_over_another_axis() -> None:
    told, _ = failed(jax.pmap(lambda a: a * 2, in_axes=1, devices=jax.devices()[:2]), np.ones((2, 4)))
    assert "it was given 2 devices: a has shape (2, 4), mapped on axis 1." in told


def test_pmap_over_an_axis_that_is_not_there() -> None:
    told, _ = failed(jax.pmap(lambda a, b: a, in_axes=1), np.ones(4), {"w": np.ones((4, 4))})
    assert told == "pmap: a has shape (4,), and in_axes=1 maps an axis that it does not have."
    told, _ = failed(jax.pmap(lambda a, b: a, in_axes=(0, 2)), np.ones(4), {"w": np.ones((4, 4))})
    assert "b['w']" in told and "2 axes" in told


def test_pmap_s_result_without_the_axis_that_it_is_put_on() -> None:
    pmapped = jax.pmap(lambda a: a.sum(), out_axes=3)
    told, _ = failed(pmapped, np.ones((2, 4)))
    assert told.startswith("pmap: out_axes=3 puts the mapped axis where a result of 1 axis")
    assert failed(jax.pmap(lambda a: jnp.expand_dims(a, 5)), np.ones((1, 4)))[0] == "", "the function's own mistake"


def test_an_index_that_is_out_of_range_for_another_reason_is_left_alone() -> None:
    assert failed(jax.pmap(lambda a: (a,)[3]), np.ones((2, 4)))[0] == ""
