"""The neighbourhood of an instruction, against the operands that stand in the text of the module."""

from __future__ import annotations

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxstage_ext
from jaxstage_ext import Inspection
from jaxstage_ext.report.unavailable import Unavailable


def loss(w: jax.Array, x: jax.Array) -> jax.Array:
    with jax.named_scope("mlp"):
        h = jnp.tanh(x @ w)
    return jax.lax.fori_loop(0, 3, lambda _, total: total + jnp.sort(h.ravel())[0], jnp.float32(0))


@functools.cache
def inspected() -> Inspection:
    return jaxstage_ext.inspect(jax.grad(lambda w, x: loss(w, x) + (w**2).sum()), np.ones((8, 8), np.float32),
                                np.ones((4, 8), np.float32))  # fmt: skip


def operands_in_text() -> dict[str, set[str]]:
    """Of each instruction the names that its line of the module's text reads."""
    found: dict[str, set[str]] = {}
    for line in inspected().program.documents["hlo"].lines:
        if (match := re.match(r"\s+(?:ROOT )?%?([\w.-]+) = .*? [\w-]+\((.*?)\)", line)) is not None:
            found[match[1]] = set(re.findall(r"%([\w.-]+)", match[2]))
    return found


def named(name: str, relation: str, hops: int = 1) -> set[str]:
    table = inspected().near(name, hops).table
    return {row["instruction"] for row in table if row["relation"] == relation}


def test_operands_and_users_are_those_of_the_text() -> None:
    text = operands_in_text()
    assert sum(map(len, text.values())) > 20
    for name, operands in text.items():
        assert named(name, "operand") == operands, name
        assert named(name, "user") == {user for user, reads in text.items() if name in reads}, name


def test_two_hops_are_the_operands_of_operands() -> None:
    text = operands_in_text()
    for name, operands in text.items():
        near = {*operands, *(one for operand in operands for one in text.get(operand, ()))}
        assert named(name, "operand", 2) == near - {name}, name


def test_figures_are_those_of_cost() -> None:
    for row in inspected().cost.table:
        itself = next(iter(inspected().near(row["instruction"], 0).table))
        assert itself["FLOPs"] == row["FLOPs"]
        assert itself["bytes"] == row["bytes read"] + row["bytes written"]
        assert (itself["line"], itself["row"]) == (row["line"], row["row"])


def test_every_text_is_bounded() -> None:
    for name in inspected().program.module.names:
        assert len(str(inspected().near(name.decode(), 9)).encode()) <= 4000


def test_the_id_of_a_row_finds_its_instruction() -> None:
    import json

    for row in json.loads(inspected().cost.to_json(limit=5))["rows"]:
        near = inspected().near(row["id"], 0).table
        assert next(iter(near))["instruction"] == row["values"]["instruction"]


def test_an_unknown_name_is_one_line_with_the_nearest() -> None:
    real = next(name.decode() for name in inspected().program.module.names if b"." in name)
    stem = real.rpartition(".")[0]
    with pytest.raises(ValueError, match=rf"nearest are .*{re.escape(stem)}"):
        inspected().near(f"{stem}.9999")
    with pytest.raises(ValueError, match=r"^[^\n]{0,700}$"):
        inspected().near("<b>\x1b[2J\n" + "n" * 1_000_000)


@pytest.mark.parametrize("hops", [-1, 10, True, 1.5])
def test_hops_that_are_none(hops: int) -> None:
    with pytest.raises(ValueError, match="hops must be a whole number from 0 to 9"):
        inspected().near("x", hops)


def test_what_was_not_compiled_says_so() -> None:
    with pytest.raises(Unavailable, match="no optimised HLO"):
        jaxstage_ext.inspect(jnp.sin, 1.0, stage="lower").near("sine")
