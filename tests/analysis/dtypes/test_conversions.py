"""Where a program changes dtypes: every conversion of a written example, counted by hand, in both JAX versions."""

from __future__ import annotations

import json
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs

from jaxstage_ext import inspect
from jaxstage_ext.analysis.dtypes import dtype_wording
from jaxstage_ext.analysis.dtypes.conversions import Change, Conversion, short
from jaxstage_ext.analysis.dtypes.dtype_table import Dtypes
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.report.text.public_paths import public_path


def shape(*sizes: int, dtype: object = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, dtype)


def mixed(w, x, n):
    h = x @ w
    scaled = h * np.float32(2.0)

    def step(carry, _):
        return (carry.astype(jnp.float32) * 1.5).astype(jnp.bfloat16), None

    carry, _ = jax.lax.scan(step, jnp.sin(h) * 2.0, None, length=5)
    return scaled.sum(), carry, n * 2.5


def looked_at(target: str = "local") -> Inspection:
    arguments = shape(64, 64, dtype=jnp.bfloat16), shape(8, 64, dtype=jnp.bfloat16), shape(1000, dtype=jnp.int32)
    return inspect(mixed, *arguments, target=target)


def in_jaxpr(found: Dtypes) -> set[tuple[object, ...]]:
    return {
        (one.source, one.target, one.kind, one.shape, one.runs, one.grows, int(one.line.rpartition(":")[2]))
        for one in found.conversions
        if one.stage == "jaxpr"
    }


def test_each_conversion_of_the_program_at_the_line_that_made_it() -> None:
    first = mixed.__code__.co_firstlineno
    assert in_jaxpr(looked_at().dtypes) == {
        ("bf16", "f32", "promotion", (8, 64), 1, 8 * 64 * 2, first + 2),
        ("bf16", "f32", "promotion", (8, 64), 5, 8 * 64 * 2, first + 5),
        ("f32", "bf16", "demotion", (8, 64), 5, -8 * 64 * 2, first + 5),
        ("i32", "f32", "change", (1000,), 1, 0, first + 8),
    }


def test_it_says_for_what_and_that_a_python_scalar_decided() -> None:
    purposes = {
        one.target + str(one.shape): dtype_wording.purpose(one)
        for one in looked_at().dtypes.conversions
        if one.stage == "jaxpr"
    }
    assert purposes["f32(1000,)"].startswith("mul ") and any(one.with_scalar for one in looked_at().dtypes.conversions)
    assert purposes["f32(8, 64)"] == "mul"


def of_hlo(found: Dtypes, by: str) -> list[Conversion]:
    return [one for one in found.conversions if (one.stage, one.by) == ("HLO", by)]


def test_conversions_of_the_module_are_its_convert_instructions() -> None:
    inspection = looked_at()
    lines = inspection.documents["hlo"].lines
    rows = {one.row for one in inspection.dtypes.conversions if one.stage == "HLO"}
    assert rows == {row for row, line in enumerate(lines) if " convert(" in line}
    for one in of_hlo(inspection.dtypes, "program") + of_hlo(inspection.dtypes, "compiler"):
        assert f" {hlo_name(one.target)}[{','.join(map(str, one.shape))}]" in lines[one.row]


def hlo_name(dtype: str) -> str:
    return {"i": "s"}.get(dtype[0], dtype[0]) + dtype[1:]


def test_what_the_compiler_adds_is_told_from_what_the_program_asks() -> None:
    """CPUs have no bf16 multiply: the product with a Python scalar, which is bf16 in the jaxpr, is made in f32."""
    added = of_hlo(looked_at().dtypes, "compiler")
    assert any((one.source, one.target) == ("bf16", "f32") for one in added)
    assert all(one.primitive != "convert_element_type" for one in added)


def test_a_conversion_inside_a_fusion_writes_nothing() -> None:
    found = looked_at().dtypes.conversions
    fused = [one for one in found if one.stage == "HLO" and one.written == 0]
    rooted = [one for one in found if one.stage == "HLO" and one.written]
    assert fused and rooted
    for one in rooted:
        assert one.written == int(np.prod(one.shape)) * {"f32": 4, "bf16": 2}[one.target]


def test_a_loop_of_unknown_length_is_unknown() -> None:
    def until(x):
        return jax.lax.while_loop(lambda x: x.sum() < 9, lambda x: x.astype(jnp.bfloat16).astype(jnp.float32), x)

    found = inspect(until, shape(4), stage="trace").dtypes
    assert {one.runs for one in found.conversions} == {None}
    assert set(found.table.reasons.values()) >= {dtype_wording.IN_LOOP}


def test_a_sentence_says_whose_they_are_and_which_adds_most() -> None:
    compiled = looked_at().dtypes
    own = [one for one in compiled.conversions if one.stage == "jaxpr"]
    assert Counter(one.kind for one in own) == {Change.PROMOTION: 2, Change.DEMOTION: 1, Change.CHANGE: 1}
    assert compiled.headline == dtype_wording.headline(compiled.conversions)
    written = dtype_wording.headline(own)
    line = f"{public_path(mixed.__code__.co_filename)}:{mixed.__code__.co_firstlineno + 2}"
    assert all(figure in written for figure in ("bf16", "f32", "[8,64]", line, "2 later values (2.05 kB)"))


def test_double_precision_is_seen() -> None:
    with jax.enable_x64(True):
        found = inspect(lambda x: x * np.float64(2.0), shape(16), stage="trace").dtypes
    [one] = found.conversions
    assert (one.source, one.target, one.kind, one.grows) == ("f32", "f64", "promotion", 64)


def test_a_product_that_accumulates_in_more() -> None:
    def product(a, b):
        return jnp.dot(a, b, preferred_element_type=jnp.float32)

    a = shape(4, 8, dtype=jnp.bfloat16)
    [one] = inspect(product, a, shape(8, 4, dtype=jnp.bfloat16), stage="trace").dtypes.conversions
    assert one.accumulates and dtype_wording.purpose(one).startswith("dot_general ")
    assert (one.source, one.target, one.primitive, one.grows) == (
        "bf16",
        "f32",
        "dot_general",
        0,
    )


def test_tpus_demote_what_they_multiply() -> None:
    needs("v5e:2x2")
    found = inspect(jnp.dot, shape(512, 512), shape(512, 512), target="v5e:2x2").dtypes
    assert not [one for one in found.conversions if one.stage == "jaxpr"]
    for one in of_hlo(found, "compiler"):
        assert one.by == "compiler"


def test_no_conversions() -> None:
    found = inspect(jnp.tanh, shape(8)).dtypes
    assert (str(found), len(found)) == (dtype_wording.headline([]), 0)


def test_json_and_text() -> None:
    found = looked_at().dtypes
    told = json.loads(found.to_json())
    assert told["columns"]["grows"]["unit"] == "B"
    assert "promotion" in str(found)


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [("bfloat16", "bf16"), ("float8_e4m3fn", "f8_e4m3fn"), ("s32", "i32"), ("pred", "bool"), ("key<fry>", "key<fry>")],
)
def test_short_names(dtype: str, wanted: str) -> None:
    assert short(dtype) == wanted
