"""Large captured arrays: StableHLO has their size and a digest, not two letters for each byte."""

from __future__ import annotations

import hashlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxstage_ext
from jaxstage_ext.core.jax_private.lowered_modules import LARGEST_WRITTEN, stablehlo_texts
from jaxstage_ext.ir import stablehlo
from jaxstage_ext.ir.sources.source import FrameTable

NUMBERS = np.random.default_rng(0).normal(size=(64, 64)) * 3
DTYPES = ("float32", "bfloat16", "float16", "int8", "uint32", "complex64", "bool")


def texts(array: Any) -> tuple[str, str]:
    return stablehlo_texts(jax.jit(lambda x: (array, x * np.ones((64, 64), np.float32), array[0])).lower(1.0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_digest_is_that_of_the_arrays_own_bytes(dtype: str) -> None:
    array = NUMBERS > 0 if dtype == "bool" else NUMBERS.astype(jnp.dtype(dtype))
    expected = hashlib.sha256(array.tobytes()).hexdigest()[:16]
    for text in texts(array):
        assert text.count(f'sha256 {expected}">') == 1
        assert "dense<1.000000e+00> : tensor<64x64xf32>" in text  # one value throughout is written
        assert "__elided__" not in text


def test_the_largest_that_is_written_is_written() -> None:
    small = NUMBERS.astype(np.float32).reshape(-1)[:LARGEST_WRITTEN]
    text, _ = stablehlo_texts(jax.jit(lambda x: x + small).lower(1.0))
    assert 'dense<"0x' in text
    assert "sha256" not in text


def test_versions_that_differ_in_one_element_differ() -> None:
    one = NUMBERS.astype(np.float32)
    other = one.copy()
    other[-1, -1] += 1
    made = [jaxstage_ext.inspect(lambda x, c=c: (x * c).sum(), 2.0) for c in (one, other)]
    lines = [each.documents["stablehlo"].text.splitlines() for each in made]
    assert [a.split("sha256")[0] for a, b in zip(*lines, strict=True) if a != b] == [
        '    %cst = stablehlo.constant dense<"16.4 kB, '
    ]


def test_no_view_holds_the_bytes_of_a_captured_array() -> None:
    """4 MB, which are 8 MB of letters in MLIR, and more in HLO."""
    array = np.random.default_rng(0).random(1_000_000, np.float32)
    made = jaxstage_ext.inspect(lambda x: (x + array).sum(), 1.0)
    assert len(str(made)) + sum(len(each.text) for each in made.documents.values()) < 100_000
    assert len(made.to_json()) < 1_000_000
    assert made.documents["stablehlo"].coverage.share == made.documents["hlo"].coverage.share == 1


def test_a_text_that_has_them_is_read_and_shown_as_it_is() -> None:
    lowered = jax.jit(lambda x: jnp.sin(x + NUMBERS.astype(np.float32))).lower(1.0)
    module = lowered.compiler_ir("stablehlo").operation
    whole = module.get_asm(), module.get_asm(enable_debug_info=True)
    assert len(whole[0]) > 30_000
    long = stablehlo.read(*whole, FrameTable())
    short = stablehlo.read(*stablehlo_texts(lowered), FrameTable())
    assert long.text == whole[0]
    assert long.frame.tolist() == short.frame.tolist()
    assert long.origin.tolist() == short.origin.tolist()
    assert long.coverage == short.coverage
