"""Loops under vmap. That each iteration selects the carried arrays is read in the HLO; their sizes are by hand."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.findings.finding_kind import FindingKind

STARTS = jax.ShapeDtypeStruct((4096,), jnp.float32)


def with_history(start: Any) -> Any:
    def step(state: Any) -> Any:
        x, history, i = state
        x = 0.5 * (x + start / x)
        return x, history.at[i].set(x), i + 1

    return jax.lax.while_loop(lambda s: jnp.abs(s[0] ** 2 - start) > 1e-5, step, (start, jnp.zeros(1000), 0))


def without_history(start: Any) -> Any:
    return jax.lax.while_loop(lambda x: jnp.abs(x**2 - start) > 1e-5, lambda x: 0.5 * (x + start / x), start)


def of_fixed_length(start: Any) -> Any:
    return jax.lax.fori_loop(0, 20, lambda i, state: state.at[i].set(start), jnp.zeros(1000))


def found(inspection: Inspection) -> list[Any]:
    return [one for one in inspection.findings if one.kind is FindingKind.BATCHED_LOOP]


def test_a_loop_that_carries_a_history_of_each_element() -> None:
    ins = inspect(jax.vmap(with_history), STARTS, target="cpu:1")
    [one] = found(ins)
    assert "f32[4096,1000]" in one.text and "4,096 elements" in one.text and "16.4 MB" in one.text
    assert one.line.endswith(f"test_batched_loop.py:{with_history.__code__.co_firstlineno + 6}")
    assert one.stake.most is None, "how often the loop runs is data"
    hlo = ins.program.documents["hlo"].lines
    assert any(" select(" in line and "f32[4096,1000]" in line for line in hlo)


@pytest.mark.parametrize("function", [without_history, of_fixed_length])
def test_loops_without_a_selection_of_large_arrays(function: Any) -> None:
    assert found(inspect(jax.vmap(function), STARTS, stage="trace")) == []


def test_without_vmap() -> None:
    assert found(inspect(with_history, jax.ShapeDtypeStruct((), jnp.float32), stage="trace")) == []
