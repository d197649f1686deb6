"""Python in each call. That a node is flattened in Python is known from its registration.

The clock is the tests' own, on which flattening a node takes a microsecond and a slow hash a millisecond: the stakes
are what is counted, however busy the machine is.
"""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.core.jax_private import python_nodes
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

NODES = 1000
FLATTENED, HASHED = 1e-6, 1e-3
"""Seconds on the clock."""


class Clock:
    """Stands still but for what says that it takes time."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_nodes, "time", SimpleNamespace(perf_counter=CLOCK))


class Cell:
    def __init__(self, v: Any) -> None:
        self.v = v


def flattened(cell: Cell) -> tuple[tuple[Any], None]:
    CLOCK.now += FLATTENED
    return (cell.v,), None


jax.tree_util.register_pytree_node(Cell, flattened, lambda _, children: Cell(*children))


@dataclasses.dataclass(frozen=True)
class Table:
    rows: tuple[tuple[int, ...], ...]


@jax.jit
def decode(w: Any, x: jax.Array) -> jax.Array:
    return x + jax.tree.leaves(w)[0]


def found(inspection: Inspection) -> list[Any]:
    return [one for one in inspection.findings if one.kind is FindingKind.PYTHON_CALL]


def weights(make: Any, nodes: int = NODES) -> dict[str, Any]:
    return {f"p{i}": make(jax.ShapeDtypeStruct((), jnp.float32)) for i in range(nodes)}


X = jax.ShapeDtypeStruct((64,), jnp.float32)


@pytest.mark.parametrize("target", ["cpu:1", "v5e:1x1", "h100"])
def test_nodes_that_python_flattens(target: str) -> None:
    [one] = found(inspect(decode, weights(Cell), X, target=target))
    assert one.names == ("w",)
    assert one.stake.measure is StakeMeasure.HOST
    assert one.stake.least is None
    assert one.stake.whole is None, "what JAX itself takes is unknown without a run"
    assert one.stake.most == pytest.approx(NODES * FLATTENED)
    assert one.change is not None
    compile(one.change.code, "the change", "exec")


def test_the_change_takes_that_time_away() -> None:
    [one] = found(inspect(decode, weights(Cell), X))
    tried = one.try_()
    assert tried.outcome is TrialOutcome.PAYS
    assert tried.is_same_hlo
    assert tried.realised == pytest.approx(one.stake.most) == pytest.approx(NODES * FLATTENED)


def test_the_code_of_the_change_runs_and_gives_the_same() -> None:
    w, x = {f"p{i}": Cell(jnp.float32(i)) for i in range(NODES)}, jnp.ones(64)
    [one] = found(inspect(decode, w, x))
    made: dict[str, Any] = {"jax": jax, "decode": decode, "w": w, "x": x}
    exec(one.change.code, made)
    assert (made["decode_of_leaves"](made["leaves"], x) == decode(w, x)).all()


@pytest.mark.parametrize("make", [lambda leaf: leaf, lambda leaf: (leaf, {"b": leaf})], ids=["arrays", "containers"])
def test_as_many_nodes_that_jax_takes_apart_itself_are_no_finding(make: Any) -> None:
    assert found(inspect(decode, weights(make), X)) == []


def test_a_few_such_nodes_are_no_finding() -> None:
    assert found(inspect(decode, weights(Cell, 10), X)) == []


def test_they_are_no_finding_where_the_device_takes_longer() -> None:
    def multiply(w: Any, x: jax.Array) -> jax.Array:
        return x @ x + jax.tree.leaves(w)[0]

    large = jax.ShapeDtypeStruct((16384, 16384), jnp.float32)
    assert found(inspect(jax.jit(multiply), weights(Cell), large, target="h100")) == []  # 8.8 TFLOP: over 10 ms


class SlowTable(Table):
    def __hash__(self) -> int:
        CLOCK.now += HASHED
        return 3


@pytest.mark.parametrize(("table", "count"), [(SlowTable(((1,),)), 1), (Table(((1,),)), 0)])
def test_a_static_argument_whose_hash_takes_long(table: Table, count: int) -> None:
    step = jax.jit(lambda table, x: x * len(table.rows), static_argnums=0)
    one = found(inspect(step, table, X))
    assert len(one) == count
    assert [each.names for each in one] == [("table",)] * count
    assert all(each.stake.most == pytest.approx(HASHED) for each in one)
