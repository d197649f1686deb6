"""Scatters whose sums depend on the order. That XLA sorts them where it may not leave it open is read from its HLO."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxstage_ext import Inspection, inspect
from jaxstage_ext.findings.calls import nondeterministic
from jaxstage_ext.findings.finding import StakeMeasure, TrialOutcome
from jaxstage_ext.findings.finding_kind import FindingKind

TABLE = jax.ShapeDtypeStruct((1000, 64), jnp.float32)
AT = jax.ShapeDtypeStruct((512,), jnp.int32)
ROWS = jax.ShapeDtypeStruct((512, 64), jnp.float32)
NO_ORDER = "xla_gpu_exclude_nondeterministic_ops"


def embedding_gradient(table: Any, at: Any, rows: Any) -> Any:
    return jax.grad(lambda table: (table[at] * rows).sum())(table)  # the gather


def sums_of_products(table: Any, at: Any, rows: Any) -> Any:
    return jax.ops.segment_sum(rows @ table[:64], at, 256)


def products_by_rows(table: Any, at: Any, rows: Any) -> Any:
    return table.at[at].add(rows @ table[:64], unique_indices=True)


def unique(table: Any, at: Any, rows: Any) -> Any:
    return table.at[at].add(rows, unique_indices=True)


def whole_numbers(table: Any, at: Any, rows: Any) -> Any:
    return table.astype(jnp.int32).at[at].add(rows.astype(jnp.int32))


def largest(table: Any, at: Any, rows: Any) -> Any:
    return table.at[at].max(rows)


def gathered(table: Any, at: Any, rows: Any) -> Any:
    return table[at] + rows


def found(inspection: Inspection) -> list[Any]:
    return [one for one in inspection.findings.all() if one.kind is FindingKind.NONDETERMINISTIC]


def test_the_gradient_of_an_embedding() -> None:
    inspection = inspect(embedding_gradient, TABLE, AT, ROWS, target="h100")
    waiting = [each.kind for each in inspection.findings.waiting]
    assert FindingKind.NONDETERMINISTIC in waiting, "it takes a compile"
    [one] = found(inspection)
    with open(__file__) as file:
        line = 1 + next(i for i, text in enumerate(file) if "# the gather" in text)
    assert one.line.endswith(f"test_nondeterministic.py:{line}")
    assert one.stake.measure is StakeMeasure.REPEATABILITY
    assert one.trial is not None
    assert one.trial.outcome is TrialOutcome.UNKNOWN
    assert (b"sort" in one.trial.after.module.opcode, b"sort" in one.trial.before.module.opcode) == (True, False)


def test_beside_a_matrix_product_for_which_xla_has_no_kernel_of_that_order_without_a_gpu() -> None:
    """Known by compiling with the option alone, which fails in jaxlib 0.12: "No supported config found"."""
    inspection = inspect(sums_of_products, TABLE, AT, ROWS, target="h100")
    assert inspection.findings.all().failures == ()
    [one] = found(inspection)
    assert b"sort" in one.trial.after.module.opcode
    ordered = inspect(products_by_rows, TABLE, AT, ROWS, target="h100")
    assert found(ordered) == [] and ordered.findings.all().failures == ()


@pytest.mark.parametrize("function", [unique, whole_numbers, largest, gathered])
def test_where_the_order_does_not_matter_there_is_no_finding(function: Any) -> None:
    inspection = inspect(function, TABLE, AT, ROWS, target="h100")
    without = inspect(function, TABLE, AT, ROWS, target="h100", compiler_options={NO_ORDER: True})
    assert (b"sort" in without.program.module.opcode) is False
    assert list(nondeterministic.find(inspection.program)) == []


def test_one_index_in_each_row_of_a_batch_never_repeats() -> None:
    """The gradient of a cross entropy: XLA sorts it too, though the rows of its batch lie apart."""

    def loss(logits: Any, labels: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], -1).mean()

    program = inspect(jax.grad(loss), ROWS, AT, target="h100").program
    assert list(nondeterministic.find(program)) == []


@pytest.mark.parametrize(
    ("target", "options"), [("cpu:1", {}), ("v5e:1x1", {}), ("h100", {NO_ORDER: True})], ids=["cpu", "tpu", "fixed"]
)
def test_elsewhere_and_in_a_fixed_order_it_does_not_apply(target: str, options: dict[str, bool]) -> None:
    program = inspect(embedding_gradient, TABLE, AT, ROWS, target=target, compiler_options=options).program
    assert not nondeterministic.DETECTOR.applies(program)
