"""Findings leave JAX, Python and the process as they were, and what JAX has compiled compiled."""

from __future__ import annotations

import gc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import process_state
import pytest
from heard_compiles import heard_compiles

from jaxstage_ext import inspect
from jaxstage_ext.findings.calls import copied_argument
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.worker import pool

TABLE = np.random.default_rng(0).random((40_000, 32), np.float32)
LOOKED = (FindingKind.PYTHON_CALL, FindingKind.COPIED_ARGUMENT, FindingKind.REUSED_KEY, FindingKind.SLOW_PASS)


class Cell:
    def __init__(self, v: Any) -> None:
        self.v = v


jax.tree_util.register_pytree_node(Cell, lambda cell: ((cell.v,), None), lambda _, children: Cell(*children))


@jax.jit
def step(cells: Any, rows: Any, key: Any) -> Any:
    noise = jax.random.normal(key, rows.shape[1:]) + jax.random.uniform(key, rows.shape[1:])
    return cells[0].v + rows[0] * noise + jnp.pad(jnp.asarray(TABLE), ((1, 1), (0, 0)))[::2].sum(0)[: rows.shape[1]]


def test_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copied_argument, "LEAST_SECONDS", 0.0)
    arguments = [Cell(jnp.float32(i)) for i in range(2000)], np.ones((1_000_000, 4), np.float32), jax.random.key(0)
    with heard_compiles():
        step(*arguments)
        compiled, inspection = process_state.Compiled(), inspect(step, *arguments)
        before, size = _state(), step._cache_size()
        found = [one.kind for one in inspection.findings]
        assert set(LOOKED) <= set(found), "what follows is of these"
        assert process_state.differences(before, _state()) == []
        everything = inspection.findings.all()
        assert not everything.failures
        assert process_state.differences(before, _state()) == []
        for one in everything:
            _try(one)
        assert process_state.differences(before, _state()) == []
        assert compiled.problems() == []
        assert step._cache_size() == size


def _try(one: Any) -> None:
    try:
        one.try_()
    except Unavailable:
        assert not one.can_be_tried or one.kind is not FindingKind.PYTHON_CALL


def _state() -> dict[str, Any]:
    pool.close_all()
    gc.collect()
    return process_state.taken()
