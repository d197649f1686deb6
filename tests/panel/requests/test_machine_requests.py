"""What the panel asks about machine code, over the wire, and what it is told when there is none."""

from __future__ import annotations

import gzip
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from panel_requests import ask

import jaxstage_ext
from jaxstage_ext.panel.params import BadRequest
from jaxstage_ext.panel.requests import dispatch
from jaxstage_ext.program.machine_code.kernel_rows import NO_KERNEL


@pytest.fixture(scope="module")
def made() -> Any:
    def loss(w, x):
        h = jnp.tanh(x @ w)
        return jax.nn.softmax(h).sum()

    return jaxstage_ext.inspect(loss, jnp.ones((64, 128)), jnp.ones((8, 64)), target="cpu:1").program


def test_a_text_is_a_document_once_it_was_asked_for(made: Any) -> None:
    kernel = next(row for row in ask(made, "kernels")[0]["kernels"] if row["own"])
    doc = f"asm:{kernel['key']}"
    with pytest.raises(BadRequest, match="there is no 'asm:"):
        dispatch.answer([made], "document", {"call": 0, "doc": doc})
    info, _ = ask(made, "kernel", doc=doc)
    result, (data,) = dispatch.answer([made], "document", {"call": 0, "doc": doc})
    text = gzip.decompress(data).decode()
    assert text.startswith(f"{kernel['key']}:\n")
    assert result["lines"] == info["lines"] == text.count("\n") + 1
    assert result["title"] == info["title"] == f"assembly of {kernel['key']}"
    columns, buffers = dispatch.answer([made], "columns", {"call": 0, "doc": doc})
    frame = [c["name"] for c in columns["columns"]].index("frame")
    found = np.frombuffer(gzip.decompress(buffers[frame]), "<i4")
    assert all(found[row] >= 0 for row, line in enumerate(text.split("\n")) if re.match(r" *[0-9a-f]+:", line))


def test_rows_of_a_kernel_are_lines_of_the_hlo_that_hold_its_instruction(made: Any) -> None:
    lines = made.documents["hlo"].lines
    kernels = ask(made, "kernels")[0]["kernels"]
    assert kernels
    for kernel in kernels:
        stretches = [line for first, last in kernel["rows"] for line in lines[first : last + 1]]
        assert any(f"%{kernel['instructions'][0]} = " in line for line in stretches)


def test_figures_are_numbers_or_none_with_a_reason(made: Any) -> None:
    figures = ask(made, "figures")[0]["figures"]
    kernels = ask(made, "kernels")[0]["kernels"]
    assert {kernel["own"] for kernel in kernels} == {True, False}
    for kernel in kernels:
        found = figures[kernel["key"]]
        assert found["registers"] is None
        assert (found["code_bytes"] is None) == (not kernel["own"]) == bool(found["reason"])


def test_a_stage_that_is_not_there_says_why_in_one_line(made: Any) -> None:
    listed = ask(made, "kernels")[0]["kernels"]
    without = next(row for row in listed if not row["own"])
    for doc, why in (
        (f"asm:{without['key']}", NO_KERNEL),
        (f"ptx:{listed[0]['key']}", "'ptx' is not a stage of"),
        ("asm:nobody", "there is no kernel 'nobody'"),
        ("asm", "there is no kernel ''"),
    ):
        with pytest.raises(BadRequest, match=why) as told:
            ask(made, "kernel", doc=doc)
        assert "\n" not in str(told.value)


def test_what_was_only_lowered_has_no_machine_code() -> None:
    lowered = jaxstage_ext.inspect(jnp.sin, 1.0, stage="lower").program
    with pytest.raises(BadRequest, match="was not compiled here"):
        ask(lowered, "kernels")
