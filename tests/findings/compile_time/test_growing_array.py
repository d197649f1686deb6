"""Arrays that a Python loop makes longer. What is traced is counted; one that writes into an array is traced once."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.findings.compile_time import unrolled_loop
from jaxstage_ext.findings.finding_kind import FindingKind

STEPS = 20
X, W = jax.ShapeDtypeStruct((16,), jnp.float32), jax.ShapeDtypeStruct((16, 16), jnp.float32)


def grown(x: Any, w: Any) -> Any:
    out = x[None]
    for _ in range(STEPS):
        out = jnp.concatenate([out, jnp.tanh(out[-1] @ w)[None]])
    return out


def written(x: Any, w: Any) -> Any:
    out = jnp.zeros((STEPS + 1, *x.shape), x.dtype).at[0].set(x)
    return jax.lax.fori_loop(1, STEPS + 1, lambda i, out: out.at[i].set(jnp.tanh(out[i - 1] @ w)), out)


def joined_once(x: Any, w: Any) -> Any:
    rows = [x]
    for _ in range(STEPS):
        rows.append(jnp.tanh(rows[-1] @ w))
    return jnp.stack(rows)


def padded(x: Any, w: Any) -> Any:
    """A concatenation in each iteration, of one length."""
    for _ in range(STEPS):
        x = jnp.concatenate([x[1:], jnp.tanh(x @ w)[:1]])
    return x


def found(inspection: Inspection) -> list[Any]:
    return [one for one in inspection.findings if one.kind is FindingKind.UNROLLED_LOOP]


@pytest.fixture(autouse=True)
def however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolled_loop, "LEAST", 0.0)


def test_an_array_that_grows() -> None:
    ins = inspect(grown, X, W, target="cpu:1")
    [one] = found(ins)
    assert one.line.endswith(f"test_growing_array.py:{grown.__code__.co_firstlineno + 2}")
    assert f"each of {STEPS} iterations" in one.text
    assert found(inspect(written, X, W, target="cpu:1")) == []


@pytest.mark.parametrize("function", [joined_once, padded])
def test_loops_that_make_nothing_longer(function: Any) -> None:
    assert not any("longer" in one.text for one in found(inspect(function, X, W, target="cpu:1")))
