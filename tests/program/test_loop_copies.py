"""A carry that XLA copies in every iteration, against the HLO text and a hand count of its bytes."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxstage_ext import inspect

N, WINDOW, STEPS = 100_000, 16, 30


def shift(buf: Any, i: Any) -> Any:
    value = buf[i]
    tail = lax.dynamic_slice(buf, (i + 1,), (WINDOW,))  # reads what the next line overwrites
    return lax.dynamic_update_slice(buf, tail, (i,)), value


def shifted(buf: Any, places: Any) -> Any:
    return lax.scan(shift, buf, places)


def added(buf: Any, places: Any) -> Any:
    return lax.scan(lambda buf, i: (buf.at[i].add(1.0), i), buf, places)


def notes(function: Any) -> str:
    arguments = jax.ShapeDtypeStruct((N,), jnp.float32), jax.ShapeDtypeStruct((STEPS,), jnp.int32)
    return " ".join(inspect(function, *arguments).layouts.copies.notes)


def test_a_carry_that_is_read_and_overwritten_is_copied_in_each_iteration() -> None:
    arguments = jax.ShapeDtypeStruct((N,), jnp.float32), jax.ShapeDtypeStruct((STEPS,), jnp.int32)
    text = jax.jit(shifted).lower(*arguments).compile().as_text()
    body = [part for part in text.split("\n\n") if re.search(rf"= f32\[{N}\]\S* copy\(", part) and "ENTRY" not in part]
    copies = sum(len(re.findall(rf"= f32\[{N}\]\S* copy\(", part)) for part in body)
    said = notes(shifted)
    assert copies > 0
    assert f"Each iteration of a loop copies buf ({copies} cop" in said
    assert f"{4 * N * STEPS * copies / 1e6:.3g} MB in one run" in said
    assert "test_loop_copies.py:19" in said
    assert "test_loop_copies.py:20" in said


def test_a_carry_that_is_updated_in_place_is_not_said_to_be_copied() -> None:
    assert "Each iteration" not in notes(added)
