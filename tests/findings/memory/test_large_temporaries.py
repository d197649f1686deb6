"""Programs that do not fit because of their temporaries. Sizes are by hand; what batches need is compiled."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.findings.finding import TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.program.device.device_fit import device_fit

SAMPLES, POINTS = 60_000, 500


def shape(*sizes: int) -> Any:
    return jax.ShapeDtypeStruct(sizes, jnp.float32)


def posterior(scale: Any) -> Any:
    x = jnp.linspace(0, 1, POINTS)
    kernel = jnp.exp(-((x[:, None] - x) ** 2) / scale**2) + 1e-3 * jnp.eye(POINTS)
    return jnp.linalg.solve(kernel, x).sum()


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8)
    return (jnp.einsum("bhqk,bkhd->bqhd", scores, v) ** 2).sum()


def found(inspection: Inspection, kind: FindingKind = FindingKind.LARGE_TEMPORARIES) -> list[Any]:
    """Those of the kind; a cause is told once, by the kind that can prove its change."""
    if device_fit(inspection.program).needed is None:
        pytest.skip("this version of XLA does not tell what memory it needs")
    kinds = FindingKind.LARGE_TEMPORARIES, FindingKind.WHOLE_INTERMEDIATE
    every = [one for one in inspection.findings if one.kind in kinds]
    assert len(every) < 2
    return [one for one in every if one.kind is kind]


def test_a_vmap_over_more_elements_than_fit() -> None:
    """60,000 kernels of 500 x 500 x 4 B are 60 GB, and a copy that is factorised as much; an H100 has 85 GB."""
    [one] = found(inspect(jax.jit(jax.vmap(posterior)), shape(SAMPLES), target="h100"))
    assert f"f32[{SAMPLES},{POINTS},{POINTS}]" in one.text
    assert "batch_size=8192" in one.change.code
    made = one.try_()
    assert made.outcome is TrialOutcome.PAYS
    assert 0.8 * one.stake.whole < made.realised <= one.stake.most


def test_a_vmap_that_fits() -> None:
    assert found(inspect(jax.jit(jax.vmap(posterior)), shape(1000), target="h100")) == []


def test_scores_of_attention_over_a_long_sequence() -> None:
    q = shape(16, 8192, 8, 64)
    [one] = found(inspect(jax.grad(attention, (0, 1, 2)), q, q, q, target="h100"), FindingKind.WHOLE_INTERMEDIATE)
    assert "dot_product_attention" in one.change.code
    assert one.line.endswith(f"test_large_temporaries.py:{attention.__code__.co_firstlineno + 1}")


def test_arguments_that_fill_the_memory() -> None:
    """72 GB of arguments and results are no temporaries."""
    large = shape(9_000_000, 1000)
    assert found(inspect(jax.jit(lambda x: jnp.sin(x), donate_argnums=0), large, target="h100")) == []


@pytest.mark.parametrize("in_axes", [1, (0, None)])
def test_a_vmap_over_other_axes_is_compiled_in_pieces(in_axes: Any) -> None:
    function = jax.vmap(lambda x, y=1.0: jnp.sort(jnp.outer(x, x)).sum() * y, in_axes=in_axes)
    arguments = (shape(500, SAMPLES),) if in_axes == 1 else (shape(SAMPLES, 500), shape())
    [one] = found(inspect(function, *arguments, target="h100"), FindingKind.WHOLE_INTERMEDIATE)
    made = one.try_()
    assert made.outcome is (TrialOutcome.UNKNOWN if one.stake.whole is None else TrialOutcome.PAYS)
    assert made.realised is None or made.realised <= one.stake.most
