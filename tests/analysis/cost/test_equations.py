"""What each equation of a jaxpr costs, by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

from jaxstage_ext import inspect
from jaxstage_ext.analysis.cost import cost_wording, equations, jaxpr_cost
from jaxstage_ext.analysis.cost.equations import GROUPS, Equations
from jaxstage_ext.analysis.cost.module_cost import Places
from tests.golden.record import load_programs

PROGRAMS = load_programs().PROGRAMS


def nowhere(eqns: Sequence[Any]) -> Places:
    return Places(np.full(len(eqns), -1), [""] * len(eqns), [""] * len(eqns))


def counted(function: Callable[..., Any], *arguments: Any) -> Equations:
    return equations.read(jax.make_jaxpr(function)(*arguments), nowhere)


def rows(found: Equations, primitive: str) -> list[dict[str, Any]]:
    return [row for row in found.table.rows() if row["primitive"] == primitive]


def test_by_hand() -> None:
    [dot] = rows(counted(lambda a, b: a @ b, jnp.ones((3, 5)), jnp.ones((5, 7), jnp.bfloat16)), "dot_general")
    assert (dot["FLOPs"], dot["runs"], dot["dtype"]) == (2 * 3 * 5 * 7, 1, "f32")
    [tanh] = rows(counted(jnp.tanh, jnp.ones((3, 5), jnp.bfloat16)), "tanh")
    assert (tanh["FLOPs"], tanh["transcendentals"], tanh["bytes read"], tanh["bytes written"]) == (0, 15, 30, 30)
    assert tanh["dtype"] == "bf16"


def test_what_is_in_a_scan_runs_as_often_as_it_is_long() -> None:
    found = counted(lambda x: jax.lax.scan(lambda x, _: (x @ x, None), x, length=10)[0], jnp.ones((4, 4)))
    [dot] = rows(found, "dot_general")
    assert (dot["FLOPs"], dot["runs"]) == (10 * 2 * 4**3, 10)
    assert not rows(found, "scan")
    assert not found.notes


def test_a_loop_of_unknown_length_counts_once_and_says_so() -> None:
    found = counted(lambda x: jax.lax.while_loop(lambda x: x.sum() < 9, lambda x: x * 2, x), jnp.ones(4))
    [mul] = rows(found, "mul")
    assert (mul["FLOPs"], mul["runs"]) == (4, 1)
    assert "in a loop of unknown length, counted once" in set(found.table.reasons.values())
    assert any("in a loop of unknown length" in note for note in found.notes)


def test_branches_are_listed_and_said_to_be_such() -> None:
    found = counted(lambda p, x: jax.lax.cond(p, lambda x: x @ x, lambda x: jnp.sin(x), x), True, jnp.ones((4, 4)))
    assert rows(found, "sin")
    assert any(cost_wording.IN_BRANCH in note for note in found.notes)


def test_an_equation_that_two_calls_share_is_one_row() -> None:
    inner = jax.jit(jnp.tanh)
    found = counted(lambda x: inner(inner(x)), jnp.ones(8))
    assert [row["transcendentals"] for row in rows(found, "tanh")] in ([16], [8, 8])
    assert found.total_flops == 0


def test_a_shard_maps_body_runs_on_each_of_its_devices() -> None:
    mesh = jax.sharding.AbstractMesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    body = jax.shard_map(lambda x: x * x, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    assert counted(body, jnp.ones(16)).total_flops == 16


def test_unknown_is_first_and_has_its_reason() -> None:
    found = counted(lambda x: jnp.linalg.eigh(x)[0], jnp.ones((4, 4)))
    first = next(found.table.rows())
    assert first["FLOPs"] is None
    assert found.table.reasons[0, "FLOPs"] == "eigh iterates until it converges, so its FLOPs depend on the values"
    assert str(found).startswith("at least ")


@pytest.mark.parametrize("name", ["small", "spread_out", "transformer_gradient", "conv", "scan", "custom_vjp"])
def test_rows_add_up_to_the_ledgers_figure(name: str) -> None:
    function, arguments = PROGRAMS[name]
    jaxpr = (
        jax.jit(function).trace(*arguments).jaxpr
        if not hasattr(function, "trace")
        else function.trace(*arguments).jaxpr
    )
    found, total = equations.read(jaxpr, nowhere), jaxpr_cost.total(jaxpr)
    assert found.total_flops == pytest.approx(total.flops)
    assert float((found.transcendentals * found.runs).sum()) == pytest.approx(total.transcendentals)
    for group in GROUPS:
        assert np.nansum(found.by(group)["FLOPs"]) == pytest.approx(total.flops)


def test_groups_of_a_real_program() -> None:
    function, arguments = PROGRAMS["transformer_gradient"]
    found = inspect(function, *arguments, stage="trace").cost.equations
    lines = found.by("line")
    assert lines["FLOPs"][0] >= lines["FLOPs"][1]
    assert ":" in lines["line"][0]
    with pytest.raises(ValueError, match="unknown group 'colour'; choose one of line, scope, primitive, dtype"):
        found.by("colour")


def test_shapes_that_are_symbols_are_unknown() -> None:
    n, m = jax.export.symbolic_shape("n, m")
    found = counted(
        lambda a, b: a @ b, jax.ShapeDtypeStruct((n, m), "float32"), jax.ShapeDtypeStruct((m, 3), "float32")
    )
    [dot] = rows(found, "dot_general")
    assert dot["FLOPs"] is None
    assert dot["bytes read"] is None
    assert "a shape that is unknown before it runs" in found.table.reasons[0, "FLOPs"]


def test_nothing_and_tokens_and_ranks() -> None:
    assert len(counted(lambda: ()).table) == 0
    assert str(counted(lambda: ())).startswith("0 FLOP in the jaxpr")
    assert counted(lambda x: x * 2.0, jnp.float32(3)).total_flops == 1
    assert counted(lambda x: x * 2.0, jnp.ones((1, 2, 1, 3, 1, 2))).total_flops == 12
    found = counted(lambda x: jax.debug.print("{x}", x=x), jnp.ones(3))
    assert len(found.unknown) == 1, "a callback is unknown, not nothing"
