"""What the static forms cut is what rows have in common, and their excerpts begin where the user's program does."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.views import computed_facts, excerpt
from jaxstage_ext.views.text import panel_text

BLOCK = "MultiHeadDotProductAttention_0"


@pytest.fixture(scope="module")
def model() -> Inspection:
    """A program with long paths, a helper jaxpr that is printed first, and constants before its first operation."""
    params = {
        "params": {"Block_0": {BLOCK: {name: {"kernel": jnp.ones((8, 8))} for name in ("key", "query", "value")}}}
    }

    def step(params, x, key):
        for weights in params["params"]["Block_0"][BLOCK].values():
            x = jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x @ weights["kernel"], 0.25)
            x = jnp.where(jax.random.bernoulli(key, 0.1, x.shape), jnp.sort(x), 0.0)
        return x

    many = {f"unused_{at}": jnp.ones(3) for at in range(120)}
    return inspect(
        lambda p, x, k, rest: step(p, x, k), params, jnp.ones((8, 8)), jax.random.key(0), many, stage="compile"
    )


def test_the_leaves_of_one_block_are_told_apart(model: Inspection) -> None:
    model.layouts  # noqa: B018 - known from here on
    shown = next(table for table in computed_facts.tables(model.program) if table.title.startswith("layouts"))
    names = [row[0] for row in shown.rows[:3]]
    paths = [f"p['params']['Block_0']['{BLOCK}']['{name}']['kernel']" for name in ("key", "query", "value")]
    assert names == [f"…{path[-59:]}" for path in paths]
    assert all(name in panel_text([model.program]) for name in names)


def test_the_jaxpr_begins_at_the_main_ones_first_equation_with_a_line(model: Inspection) -> None:
    document = model.program.documents["jaxpr"]
    assert document.text.startswith("let _")  # helpers come first
    skipped, first = excerpt.ir(document, 8)[:2]
    main = max(at for at, line in enumerate(document.lines) if line.startswith("{ lambda"))
    assert skipped.skipped == first.number - 1 > main + 10  # parameters fill more lines than are shown
    assert " = " in first.text
    assert "test_told_apart.py" in first.label


def test_the_hlo_begins_at_what_computes(model: Inspection) -> None:
    document = model.program.documents["hlo"]
    entry = document.text[: document.text.index("\nENTRY")].count("\n") + 1
    first = next(line for line in excerpt.ir(document, 8) if not line.skipped)
    assert first.label
    assert not any(f" {op}(" in first.text for op in ("constant", "parameter", "broadcast", "bitcast"))
    before = [line for line in document.lines[entry + 1 : first.number - 1] if " = " in line]
    assert any(" constant(" in line for line in before)
