"""What JAX traced once in a process and uses in every program has, in each of them, the lines of that program."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect


def scanned(x, w):
    first = jax.lax.scan(lambda c, _: (jnp.tanh(c @ w), jnp.sum(c)), x, None, length=5)
    then = jax.lax.scan(lambda c, _: (jnp.sin(c @ w), jnp.sum(c)), first[0], None, length=5)
    keys = jax.random.split(jax.random.key(0), 3)
    return then, first[1], jax.random.normal(keys[0], (16,))


def scanned_before(x, w):
    return jax.lax.scan(lambda c, _: (c @ w, jnp.sum(c)), x, None, length=5), jax.random.split(jax.random.key(1), 3)


SQUARE = jnp.ones((16, 16))


@pytest.mark.parametrize("target", ["local", "h100"])
def test_what_jax_traced_for_an_earlier_program_has_this_programs_lines(target: str) -> None:
    """JAX traces `dynamic_update_index_in_dim` once in a process; a second scan, here and elsewhere, uses it too."""
    inspect(scanned_before, SQUARE, SQUARE, target=target)
    inspection = inspect(scanned, SQUARE, SQUARE, target=target)
    for kind in ("stablehlo", "hlo"):
        document = inspection.documents[kind]
        spans = [document.source_of(line) for line in range(1, len(document) + 1)]
        assert {span.function.split(".")[0] for span in spans if span} == {"scanned"}
    document = inspection.documents["hlo"]
    updates = [line for line, text in enumerate(document.lines, 1) if " dynamic-update-slice(" in text]
    first = scanned.__code__.co_firstlineno + 1
    assert {span.line for line in updates if (span := document.source_of(line))} == {first, first + 1}
