"""Layouts of arguments and results against JAX's own `input_formats`, and the copies against XLA's text."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.experimental.layout import Format, Layout

from jaxstage_ext import inspect
from jaxstage_ext.analysis.layouts import layout_text

pytestmark = pytest.mark.usefixtures("kept_answers")

A, B = jnp.ones((64, 32)), jnp.ones((64, 16))


def product(a: Any, b: Any) -> Any:
    return (a.T @ b).T, jnp.transpose(b, (1, 0)) + 1


def here() -> Any:
    return jax.sharding.SingleDeviceSharding(jax.devices()[0])


def of_jax(formats: Any) -> list[tuple[int, ...]]:
    return [
        each.layout.major_to_minor for each in jax.tree.leaves(formats, is_leaf=lambda one: isinstance(one, Format))
    ]


def major_to_minor(layouts: Any) -> list[tuple[int, ...]]:
    """HLO writes the minor dimension first."""
    return [tuple(map(int, text.strip("{}").split(",")))[::-1] for text in layouts]


def test_layouts_that_xla_chooses_are_those_that_jax_reports() -> None:
    auto = Format(Layout.AUTO)
    inspection = inspect(jax.jit(product, in_shardings=auto, out_shardings=auto), A, B)
    table, compiled = inspection.layouts.values, inspection.compiled
    assert compiled is not None
    reported = of_jax(compiled.input_formats[0]) + of_jax(compiled.output_formats)
    assert major_to_minor(table["layout"]) == reported
    assert set(table["chosen by"]) == {"XLA, by Layout.AUTO"}
    assert (1, 0) in reported, "otherwise this shows nothing"


def doubled(x: Any) -> Any:
    return x * 2


def test_on_absent_targets_a_layout_of_the_user_s_holds_also_where_it_is_the_default_here() -> None:
    """JAX drops a layout that is this machine's default; TPU v5e's for f32[128,64] is the other one."""
    needs("v5e:2x2")
    x = jax.ShapeDtypeStruct((128, 64), jnp.float32)
    asked = jax.jit(doubled, in_shardings=Format(Layout((0, 1)), here()))
    values = inspect(asked, x, target="v5e:2x2").layouts
    assert [text.partition(":")[0] for text in values.values["layout"]] == ["{1,0", "{0,1"]
    assert list(values.values["chosen by"]) == ["you", "default"]
    assert list(values.copies["bytes"]) == [x.size * 4]
    plain = inspect(doubled, x, target="v5e:2x2").layouts.values
    assert [text.partition(":")[0] for text in plain["layout"]] == ["{0,1", "{0,1"]
    assert list(inspect(asked, x).layouts.values["chosen by"]) == ["you", "default"]


def test_on_gpus_a_layout_forces_a_transpose() -> None:
    needs("h100")
    x = jax.ShapeDtypeStruct((128, 64), jnp.float32)
    asked = jax.jit(doubled, out_shardings=Format(Layout((1, 0)), here()))
    copies = inspect(asked, x, target="h100").layouts.copies
    assert (list(copies["from layout"]), list(copies["to layout"])) == (["row-major"], ["column-major"])
    assert list(copies["bytes"]) == [x.size * 4]
    assert not list(inspect(doubled, x, target="h100").layouts.copies["bytes"])


def test_layouts_of_the_users_are_his_and_their_copies_are_counted() -> None:
    columns = Format(Layout((1, 0)), here())
    jitted = jax.jit(product, in_shardings=(columns, None), out_shardings=(columns, None))
    inspection = inspect(jitted, jax.device_put(A, columns), B)
    values, copies = inspection.layouts.values, inspection.layouts.copies
    assert list(values["chosen by"]) == ["you", "default", "you", "default"]
    assert list(values["value"]) == ["a", "b", "result[0]", "result[1]"]
    assert list(values["in words"]) == ["column-major", "row-major", "column-major", "row-major"]
    of_a = next(row for row in copies.rows() if row["type"] == "f32[64,32]")
    assert (of_a["from layout"], of_a["to layout"], of_a["bytes"]) == ("column-major", "row-major", 64 * 32 * 4)
    assert of_a["changes"] == "layout"
    assert f"%{of_a['instruction']} = " in inspection.documents["hlo"].lines[of_a["row"]]


def test_an_argument_that_xla_is_not_given_has_no_row() -> None:
    table = inspect(lambda a, unused, b: a @ b.T, jnp.ones((4, 8)), jnp.ones(3), jnp.ones((2, 8))).layouts.values
    assert list(table["value"]) == ["a", "b", "result"]


def test_the_tokens_of_ordered_effects_are_no_values() -> None:
    def ordered(a: Any, b: Any) -> Any:
        jax.debug.print("a {}", a[0, 0], ordered=True)
        return a @ b.T

    table = inspect(ordered, jnp.ones((4, 8)), jnp.ones((2, 8))).layouts.values
    assert list(table["value"]) == ["a", "b", "result"]
    assert list(table["type"]) == ["f32[4,8]", "f32[2,8]", "f32[4,2]"]


@pytest.mark.usefixtures("no_workers_left")
def test_tiles_and_moves_to_the_host_of_an_absent_tpu() -> None:
    def offloaded(w: Any, x: Any) -> Any:
        kept = jax.device_put(jnp.tanh(x @ w), jax.memory.Space.Host)
        return (jax.device_put(kept, jax.memory.Space.Device) @ w).sum()

    inspection = inspect(offloaded, jnp.ones((256, 256)), jnp.ones((256, 256)), target="v5e:2x2")
    values, copies = inspection.layouts.values, inspection.layouts.copies
    assert values["in words"][0] == "row-major, in tiles of 8 x 128"
    moved = [row for row in copies.rows() if "host" in row["changes"]]
    copied = re.findall(
        r"copy(?:-start)?\(", "\n".join(line for line in inspection.documents["hlo"].lines if "S(5)" in line)
    )
    assert len(moved) == len(copied), "XLA may find that the value need not leave the device"
    assert all(row["bytes"] == 256 * 256 * 4 for row in moved)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f32[8,128]{1,0:T(8,128)S(1)}", "row-major, in tiles of 8 x 128, in VMEM"),
        ("bf16[8,128]{0,1:T(8,128)(2,1)}", "column-major, in tiles of 8 x 128, packed 2 x 1"),
        ("f32[8,4]{1,0:S(5)}", "row-major, in host memory"),
        ("s4[8]{0:T(1024)E(4)}", "in tiles of 1024, 4 bits an element"),
        ("f32[2,3,4]{1,2,0}", "dimension 1 minormost, then 2, 0"),
        ("f32[7]{0}", "contiguous"),
        ("f32[]", "scalar"),
        ("f32[8,4]{1,0:S(3)}", "row-major, in memory space 3"),
    ],
)
def test_a_layout_in_words(text: str, words: str) -> None:
    (layout,) = layout_text.read(text)
    assert layout.in_words("tpu") == words
