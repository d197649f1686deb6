"""Why the bytes of HLO are not those of XLA's cost analysis: a rule stands only where it makes the difference.

The oracle of each rule is the difference itself, which is the size of the arrays that the rule is about, by hand.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs

from jaxstage_ext import inspect

ROWS, WIDTH, TAKEN = 50_000, 256, 64
TABLE = jax.ShapeDtypeStruct((ROWS, WIDTH), jnp.float32)
INDEX = jax.ShapeDtypeStruct((TAKEN,), jnp.int32)
NEW = jax.ShapeDtypeStruct((TAKEN, WIDTH), jnp.float32)
WHOLE, PART = ROWS * WIDTH * 4, TAKEN * WIDTH * 4


def taken(table: Any, index: Any) -> Any:
    return table[index].sum()


def written(table: Any, index: Any, new: Any) -> Any:
    return table.at[index].set(new)


def looped(x: Any) -> Any:
    return jax.lax.fori_loop(0, 10, lambda i, c: jnp.sin(c) @ c, x)


def product(x: Any, y: Any) -> Any:
    return x @ y


def figures(fn: Any, *args: Any, target: str = "local") -> tuple[float, float, str]:
    """Bytes by HLO and by XLA, and what is said of the difference."""
    found = inspect(jax.jit(fn), *args, target=target).cost.ledger
    [row] = [row for row in found.rows() if row[""] == "bytes moved"]
    return row["HLO"], row["XLA"], " ".join(note for note in found.notes if "bytes" in note)


@pytest.mark.parametrize("target", ["local", "h100"])
def test_a_gather_reads_rows_of_which_xla_counts_the_whole_array(target: str) -> None:
    needs(target)
    ours, xla, said = figures(taken, TABLE, INDEX, target=target)
    assert xla - ours == pytest.approx(WHOLE - PART, rel=0.01)
    assert "fewer bytes" in said and "the whole array that a gather reads from" in said


def test_a_scatter_writes_rows_of_which_xla_counts_the_whole_array() -> None:
    ours, xla, said = figures(written, TABLE, INDEX, NEW)
    assert xla - ours == pytest.approx(2 * WHOLE, rel=0.01)
    assert "the whole array that a scatter updates" in said


def test_a_loop_that_xla_counts_once() -> None:
    ours, xla, said = figures(looped, jax.ShapeDtypeStruct((256, 256), jnp.float32))
    assert ours == pytest.approx(8 * xla, rel=0.01) and "loop once" in said and "gather" not in said


@pytest.mark.parametrize("target", ["v5e:2x2"])
def test_an_asynchronous_copy_of_a_tpu(target: str) -> None:
    needs(target)
    ours, xla, said = figures(taken, TABLE, INDEX, target=target)
    assert xla - ours == pytest.approx(2 * WHOLE, rel=0.02)
    assert "asynchronous copy" in said and "gather" not in said


def test_where_both_agree_nothing_is_said() -> None:
    ours, xla, said = figures(product, NEW, jax.ShapeDtypeStruct((WIDTH, 32), jnp.float32))
    assert ours == pytest.approx(xla, rel=0.01) and not said
