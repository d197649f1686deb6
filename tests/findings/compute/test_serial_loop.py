"""Operations that became loops on a TPU, convolutions in loops on a CPU; and the same operations written otherwise."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings import stakes
from jaxstage_ext.findings.compute import serial_loop
from jaxstage_ext.findings.finding import StakeMeasure

CACHE = jax.ShapeDtypeStruct((64, 256, 128), jnp.float32)
STARTS = jax.ShapeDtypeStruct((64,), jnp.int32)
NEW = jax.ShapeDtypeStruct((64, 1, 128), jnp.float32)
SIGNAL, KERNEL = jax.ShapeDtypeStruct((1, 64, 128), jnp.float32), jax.ShapeDtypeStruct((64, 64, 3), jnp.float32)
LAST, LAST_KERNEL = jax.ShapeDtypeStruct((1, 128, 64), jnp.float32), jax.ShapeDtypeStruct((3, 64, 64), jnp.float32)


def updated(cache: Any, starts: Any, new: Any) -> Any:
    return jax.vmap(lambda c, at, n: jax.lax.dynamic_update_slice(c, n, (at, 0)))(cache, starts, new)


def updated_by_rows(cache: Any, starts: Any, new: Any) -> Any:
    return cache.at[jnp.arange(64), starts].set(new[:, 0])


def own_loop(cache: Any, starts: Any, new: Any) -> Any:
    """A loop that the user wrote."""
    return jax.lax.fori_loop(0, 64, lambda i, c: c.at[i, starts[i]].set(new[i, 0]), cache)


def convolved(x: Any, kernel: Any) -> Any:
    return jnp.tanh(jax.lax.conv(x, kernel, (1,), "SAME"))


def convolved_last(x: Any, kernel: Any) -> Any:
    return jnp.tanh(jax.lax.conv_general_dilated(x, kernel, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")))


def found(fn: Any, *args: Any, target: str) -> list[Any]:
    return list(serial_loop.find(inspect(fn, *args, target=target).program))


def test_update_of_slices_is_a_loop_on_a_tpu() -> None:
    # known by the optimised HLO of libtpu: a while of 64 iterations whose op_name ends in scatter
    [finding] = found(updated, CACHE, STARTS, NEW, target="v5e:2x2")
    assert finding.line.endswith(f"test_serial_loop.py:{updated.__code__.co_firstlineno + 1}")
    assert finding.stake.measure is StakeMeasure.TIME
    assert "64" in finding.text and finding.change is not None


@pytest.mark.parametrize("fn", [updated_by_rows, own_loop])
def test_rows_and_loops_of_the_user_are_not_found(fn: Any) -> None:
    assert found(fn, CACHE, STARTS, NEW, target="v5e:2x2") == []


def test_rows_that_a_tpu_would_copy_the_array_for_are_not_advised() -> None:
    """Where the last two dimensions do not fill tiles, the other form costs more than the loop: both are compiled."""
    cache, new = (jax.ShapeDtypeStruct((16, size, 1, 256), jnp.float32) for size in (2048, 1))
    starts = jax.ShapeDtypeStruct((16,), jnp.int32)
    slices = jax.vmap(lambda c, at, n: jax.lax.dynamic_update_slice(c, n, (at, 0, 0)))
    rows = lambda cache, starts, new: cache.at[jnp.arange(16), starts].set(new[:, 0])  # noqa: E731
    made = [inspect(jax.jit(fn, donate_argnums=0), cache, starts, new, target="v5e:1x1") for fn in (slices, rows)]
    loop, indexed = (stakes.figure(one.program, StakeMeasure.TIME) for one in made)
    [finding] = serial_loop.find(made[0].program)
    assert loop is not None and indexed is not None and indexed > 10 * loop
    assert finding.change is None and finding.stake.most is None


def test_update_of_slices_is_no_loop_on_a_gpu() -> None:
    assert found(updated, CACHE, STARTS, NEW, target="h100") == []


@pytest.mark.parametrize("loop", ["fori", "scan"])
def test_convolution_in_a_loop_on_a_cpu(loop: str) -> None:
    # known by running both: 540 ms against 7 ms a convolution of (1, 256, 512) by (256, 256, 3)
    def looped(x: Any, kernel: Any, step: Any = convolved) -> Any:
        if loop == "scan":
            return jax.lax.scan(lambda v, _: (step(v, kernel), None), x, None, length=8)[0]
        return jax.lax.fori_loop(0, 8, lambda i, v: step(v, kernel), x)

    [finding] = found(looped, SIGNAL, KERNEL, target="cpu:1")
    assert finding.line.endswith(f"test_serial_loop.py:{convolved.__code__.co_firstlineno + 1}")
    assert finding.stake.most is None
    assert found(lambda x, k: looped(x, k, convolved_last), LAST, LAST_KERNEL, target="cpu:1") == []


def test_convolution_outside_of_loops_is_not_found() -> None:
    assert found(convolved, SIGNAL, KERNEL, target="cpu:1") == []
