"""Calls that JAX refuses before any stage, in a real shell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from jaxstage_ext.compilation.causes.cause import Cause
from tests.helpers.magic_shell import fresh_shell

SETUP = """
import jax, jax.numpy as jnp, functools
@functools.partial(jax.jit, static_argnums=1)
def make(x, sizes):
    return x * len(sizes)
update = jax.jit(lambda state: state * 2, donate_argnums=0)
"""


@pytest.fixture
def cells(heard: Any) -> Iterator[Any]:
    with fresh_shell() as shell:
        assert shell.run(SETUP).ok
        yield shell


def test_an_unhashable_static_argument(cells: Any, heard: Any) -> None:
    assert not cells.run("shape = [2, 3]\nmake(1.0, shape)").ok
    told = heard.last("make")
    assert told.cause is Cause.UNHASHABLE_STATIC
    assert told.changes == [("sizes", "", "list")]
    assert told.advice.code == "tuple(sizes)" and told.verdict.can_be_mended
    assert told.record.user_line.line == 2
    assert cells.run("make(1.0, tuple(shape))").ok


def test_a_literal_that_has_no_hash(cells: Any, heard: Any) -> None:
    cells.run("make(1.0, sizes={'a': 1})")
    assert (heard.last("make").cause, heard.last("make").changes) == (Cause.UNHASHABLE_STATIC, [("sizes", "", "dict")])


def test_a_donated_array_used_again(cells: Any, heard: Any) -> None:
    cells.run("state = jnp.ones(3)\nupdate(state)")
    assert not cells.run("update(state)").ok
    told = heard.last("update")
    assert told.cause is Cause.DONATED_BEFORE
    assert told.changes == [("state", "", "f32[3]")]
    assert told.advice.code.startswith("state = update(state)") and told.verdict.can_be_mended
    assert cells.run("state = jnp.ones(3)\nfor _ in range(3):\n    state = update(state)").ok


def test_an_error_of_the_users_is_not_a_refusal(cells: Any, heard: Any) -> None:
    cells.run("hash([1])")
    cells.run("raise ValueError('Non-hashable things')")
    cells.run("jax.jit(lambda x: 1 / 0)(1.0)")
    assert heard.all() and all(told.record.refused is None for told in heard.all())
