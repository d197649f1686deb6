"""Associative scans, by the equations that JAX writes out for them; the advice, a scan, is compiled beside one."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.findings.compile_time import associative_levels, unrolled_loop
from jaxstage_ext.findings.finding import StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind

A, C = jax.ShapeDtypeStruct((1024, 4, 4), jnp.float32), jax.ShapeDtypeStruct((1024, 4), jnp.float32)


def combined(first: Any, second: Any) -> Any:
    return jnp.einsum("...ij,...jk->...ik", second[0], first[0]), second[1] + jnp.einsum(
        "...ij,...j->...i", second[0], first[1]
    )


def smoothed(a: Any, c: Any) -> Any:
    return jax.lax.associative_scan(combined, (a, c))[1]


def scanned(a: Any, c: Any) -> Any:
    def step(carry: Any, one: Any) -> Any:
        carry = one[0] @ carry + one[1]
        return carry, carry

    return jax.lax.scan(step, jnp.zeros(4), (a, c))[1]


def found(inspection: Inspection) -> list[Any]:
    return [one for one in inspection.findings if one.kind is FindingKind.UNROLLED_LOOP]


@pytest.fixture(autouse=True)
def however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolled_loop, "LEAST", 0.0)
    monkeypatch.setattr(associative_levels, "_LEAST_ON_ACCELERATORS", 0.0)


@pytest.mark.parametrize("target", ["cpu:1", "h100"])
def test_an_associative_scan_is_written_out_and_a_scan_is_not(target: str) -> None:
    ins, scan = inspect(smoothed, A, C, target=target), inspect(scanned, A, C, target=target)
    [one] = found(ins)
    assert found(scan) == []
    assert one.stake.measure is StakeMeasure.COMPILE
    assert one.line.endswith(f"test_associative_levels.py:{smoothed.__code__.co_firstlineno + 1}")
    written = jaxprs.count_equations(ins.program.jax_traced.jaxpr)
    assert jaxprs.count_equations(scan.program.jax_traced.jaxpr) < 0.1 * written


def test_a_short_one() -> None:
    short = [jax.ShapeDtypeStruct((4, *one.shape[1:]), one.dtype) for one in (A, C)]
    assert found(inspect(smoothed, *short, target="cpu:1")) == []


@pytest.mark.once("figures of a device that is not here: the newest compilers answer")
def test_a_gpu_computes_levels_in_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert found(inspect(smoothed, A, C, target="h100")) == []


def test_a_derivative_counts_too() -> None:
    ins = inspect(jax.grad(lambda a, c: smoothed(a, c).sum()), A, C, target="cpu:1")
    [one] = found(ins)
    assert one.line.endswith(f"test_associative_levels.py:{smoothed.__code__.co_firstlineno + 1}")
