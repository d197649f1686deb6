"""XLA's warning that it must gather a whole value to reshard it, at the line that makes it do so."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect

pytestmark = pytest.mark.usefixtures("no_workers_left", "kept_answers")


SQUARE = jax.ShapeDtypeStruct((8, 8), jnp.float32)


def mixed(x, y):
    joined = jnp.concatenate([x, y], 0)
    return jax.lax.with_sharding_constraint(joined, P(("c", "a"), "b"))


@pytest.mark.parametrize("target", ["cpu:8", "v5e:2x4", "h100:8"])
def test_involuntary_full_rematerialisation_is_warned_of_at_its_line(target: str) -> None:
    needs(target)
    found = inspect(
        mixed,
        SQUARE,
        SQUARE,
        target=target,
        mesh={"a": 2, "b": 2, "c": 2},
        in_specs=(P("a", "b"), P("b", "a")),
    ).collectives
    assert [(warning.value, warning.shard) for warning in found.warnings] == [("x", "f32[4,4]"), ("y", "f32[4,4]")]
    first = found.warnings[0]
    assert (first.before, first.after) == ("P('a', 'b')", "P(None, ('b', 'c', 'a'))")
    assert first.line == f"tests/program/test_full_rematerialisation.py:{mixed.__code__.co_firstlineno + 1}"
    assert "Involuntary full rematerialisation" in str(found)
