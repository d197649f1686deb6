"""Our FLOPs against XLA's own analysis on three backends, against hand counts, and of what nobody can count."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import compiled_once
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from cost_programs import LENGTH, PROGRAMS
from jaxlib import _hlo

from jaxstage_ext import inspect
from jaxstage_ext.analysis.cost import module_cost as costs
from jaxstage_ext.analysis.cost.module_cost import Cost, Places
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.program.questions import ledger

pytestmark = pytest.mark.usefixtures("kept_answers")

f32 = jnp.ones


@pytest.mark.parametrize("target", ["local", "v5e:2x2", "h100"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_within_one_percent_of_xla(name: str, target: str) -> None:
    needs(target)
    function, arguments = PROGRAMS[name]
    with compiled_once.kept():
        found = inspect(function, *arguments, target=target).cost
    xla = found.ledger["XLA"][0]
    if math.isnan(xla):
        assert "library calls" in found.ledger.reasons[0, "XLA"]
        assert found.work.total_flops == pytest.approx(found.ledger["jaxpr"][0], rel=0.03)
    else:
        assert found.work.total_once == pytest.approx(xla, rel=0.01)
    if name == "scan":
        assert found.work.total_flops == pytest.approx(LENGTH * (2 * 64 * 128 * 128 + 64 * 128), rel=0.03)
        assert found.work.total_flops == pytest.approx(found.ledger["jaxpr"][0], rel=0.03)


class Hand(NamedTuple):
    """Counted by hand: FLOPs, transcendentals, and bytes of all operands, constants among them, and results."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    flops: float
    transcendentals: float = 0
    bytes: float | None = None


HAND = {
    "matrix product": Hand(jnp.matmul, (f32((3, 5)), f32((5, 7))), 2 * 3 * 5 * 7, 0, 4 * (15 + 35 + 21)),
    "matrix by vector": Hand(jnp.matmul, (f32((8, 16)), f32(16)), 2 * 8 * 16, 0, 4 * (128 + 16 + 8)),
    "batched product": Hand(jnp.matmul, (f32((4, 3, 5)), f32((4, 5, 7))), 2 * 4 * 3 * 5 * 7),
    "outer product": Hand(jnp.outer, (f32(8), f32(16)), 128),
    "addition": Hand(lambda x: x + 1.0, (f32((6, 7)),), 42, 0, 2 * 4 * 42),
    "two additions": Hand(lambda x, y: x + y + y, (f32(10), f32(10)), 20, 0, 4 * 30),
    "scalar": Hand(lambda x: x * 2.0, (jnp.float32(1),), 1, 0, 4 * 3),
    "rank 6": Hand(lambda x: x * 2.0, (f32((1, 2, 3, 1, 2, 2)),), 24, 0, 2 * 4 * 24),
    "half precision": Hand(lambda x: jnp.negative(x), (f32((6, 7), jnp.int8),), 42, 0, 84),
    "sum": Hand(jnp.sum, (f32((6, 7)),), 41, 0, 4 * (42 + 2)),
    "sum of rows": Hand(lambda x: x.sum(1), (f32((6, 7)),), 6 * 6),
    "tanh": Hand(jnp.tanh, (f32((6, 7)),), 0, 42, 2 * 4 * 42),
    "exp and sum": Hand(lambda x: jnp.exp(x).sum(), (f32(8),), 7, 8, 36),
    "transpose": Hand(lambda x: x.T.copy(), (f32((6, 7)),), 0),
    "identity": Hand(lambda x: x, (f32(8),), 0),
    "valid convolution": Hand(
        lambda x, w: jax.lax.conv(x, w, (1, 1), "VALID"), (f32((1, 3, 8, 8)), f32((4, 3, 3, 3))), 2 * 4 * 36 * 3 * 9
    ),
    "padded convolution": Hand(
        lambda x, w: jax.lax.conv(x, w, (1, 1), "SAME"), (f32((1, 1, 4, 4)), f32((1, 1, 3, 3))), 2 * (3 * 4 - 2) ** 2
    ),
    "counted loop": Hand(
        lambda x: jax.lax.scan(lambda x, _: (jnp.sin(x), None), x, length=10)[0], (f32(8),), 10 + 11, 80
    ),
}


def counted(function: Callable[..., Any], *arguments: Any) -> Cost:
    return inspect(function, *arguments).cost.work


@pytest.mark.parametrize("name", HAND)
def test_by_hand(name: str) -> None:
    case = HAND[name]
    ours = counted(case.function, *case.arguments)
    assert ours.total_flops == case.flops
    assert float((ours.transcendentals * ours.runs)[ours.shown].sum()) == case.transcendentals
    if case.bytes is not None:
        assert ours.total_bytes == case.bytes
    assert not ours.notes


def from_text(text: str) -> Cost:
    ops = hlo.parse(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    return costs.read(ops, Places(np.arange(len(ops)), [""] * len(ops), [""] * len(ops)))


DYNAMIC = """HloModule dynamic

ENTRY %main (x: f32[<=8,4], w: f32[4,4]) -> f32[4,4] {
  %x = f32[<=8,4] parameter(0)
  %w = f32[4,4] parameter(1)
  %sum = f32[<=8,4] add(%x, %x)
  %product = f32[4,4] dot(%sum, %sum), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT %scaled = f32[4,4] multiply(%product, %w)
}
"""


def test_what_has_dynamic_shapes_is_unknown_and_the_rest_is_counted() -> None:
    ours = from_text(DYNAMIC)
    reasons = {ours.table["instruction"][row]: why for (row, _), why in ours.table.reasons.items()}
    assert set(reasons) == {"sum", "product"}
    assert all("known only when it runs" in why for why in reasons.values())
    assert ours.total_flops == 16
    assert "The FLOPs of 2 of 3 instructions are unknown" in ours.notes[0]
    assert 0 < ours.unknown_share < 1


CALLS = """HloModule calls

ENTRY %main (x: f32[8,4]) -> f32[8,4] {
  %x = f32[8,4] parameter(0)
  %done = token[] after-all()
  %made = (f32[8,4], token[]) custom-call(%x, %done), custom_call_target="somebody's"
  %value = f32[8,4] get-tuple-element(%made), index=0
  %gemm = f32[8,8] custom-call(%value, %x), custom_call_target="__cublas$gemm"
  ROOT %same = f32[8,4] add(%value, %value)
}
"""


def test_custom_calls_that_say_nothing_are_unknown_and_tokens_are_nothing() -> None:
    ours = from_text(CALLS)
    reasons = {ours.table["instruction"][row]: why for (row, _), why in ours.table.reasons.items()}
    assert reasons == {
        "made": "somebody's is a custom call without a cost estimate",
        "gemm": "the configuration of __cublas$gemm does not say what it contracts",
    }
    assert ours.total_flops == 32
    assert ours.bytes_written[ours.ops.names.index(b"made")] == 4 * 32, "a token has no bytes"


def test_without_a_cost_analysis_the_ledger_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    found = inspect(lambda x: x * 2.0, f32(8))
    monkeypatch.setattr(ledger, "_by_xla", lambda compiled: ({}, "this backend gives no analysis"))
    counted_ways = found.cost.ledger
    assert math.isnan(counted_ways["XLA"][0])
    assert counted_ways["HLO"][0] == 8
    assert counted_ways.reasons[0, "XLA"] == "this backend gives no analysis"
    assert "XLA: this backend gives no analysis." in counted_ways.notes


def test_how_much_is_unknown_is_in_the_headline_and_the_notes() -> None:
    found = inspect(lambda x: jnp.linalg.eigh(x)[0] * 2.0, jnp.eye(8)).cost
    assert found.headline.startswith("at least ")
    assert "they move" in found.work.notes[0]
    until = inspect(lambda x: jax.lax.while_loop(lambda x: x.sum() < 100, lambda x: x * 2, x), f32(8)).cost
    assert "is unknown: counted once" in until.work.notes[-1]


def test_nothing_at_all() -> None:
    found = inspect(lambda: ()).cost
    assert (found.work.total_flops, found.work.total_bytes, len(found.table)) == (0, 0, 0)
    assert found.roofline.verdict
    assert str(found)
    assert len(found.equations) == 0
