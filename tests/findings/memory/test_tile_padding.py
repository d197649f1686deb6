"""Arrays that fill a TPU's tiles in part."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.findings.finding_kind import FindingKind


def small_matrices(a: Any, b: Any) -> Any:
    return jnp.einsum("bij,bjk->bik", a, b)


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def of(*arguments: Any, target: str) -> list[Any]:
    found = inspect(small_matrices, *arguments, target=target).findings
    return [one for one in found if one.kind is FindingKind.TILE_PADDING]


def test_a_batch_of_small_matrices_takes_a_tile_each() -> None:
    """libtpu's own figures: temporaries of 307 MB, of which the values are 10 MB."""
    ins = inspect(small_matrices, f32(100_000, 4, 4), f32(100_000, 4, 4), target="v5e:1x1")
    [one] = [each for each in ins.findings if each.kind is FindingKind.TILE_PADDING]
    temporaries = ins.program.memory_statistics.sizes["temp_size_in_bytes"]
    assert one.stake.most == pytest.approx(temporaries - 9_600_000, rel=0.1)
    assert int(one.line.rpartition(":")[2]) == small_matrices.__code__.co_firstlineno + 1
    assert "dimension of 4" in one.change.code


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ((f32(64, 256, 256), f32(64, 256, 256)), "v5e:1x1"),
        ((f32(100, 4, 4), f32(100, 4, 4)), "v5e:1x1"),  # too small to tell
        ((f32(100_000, 4, 4), f32(100_000, 4, 4)), "local"),
        ((f32(100_000, 4, 4), f32(100_000, 4, 4)), "h100"),
    ],
)
def test_twins_have_no_finding(arguments: Any, target: str) -> None:
    """Whole tiles, and devices without tiled layouts."""
    assert of(*arguments, target=target) == []
