"""What an instruction costs: against XLA's own analysis where it counts rightly, by hand where cases are small."""

from __future__ import annotations

import math

import compiled_once
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax.experimental import pallas as pl

from jaxstage_ext import inspect
from jaxstage_ext.analysis.cost import module_cost as costs
from jaxstage_ext.analysis.cost.loops import executions
from jaxstage_ext.analysis.cost.module_cost import Cost, Places
from jaxstage_ext.analysis.cost.rules import flops
from jaxstage_ext.core.jax_private import xla_executables
from jaxstage_ext.ir.hlo import module as hlo
from tests.golden.record import load_programs

pytestmark = pytest.mark.usefixtures("kept_answers")

PROGRAMS = load_programs().PROGRAMS
APART = {
    "cond": "XLA counts the dearer branch, we count both: which one runs is not known",
    "callback": "XLA counts a callback as nothing",
}


def operations(function: object, *arguments: object) -> hlo.Module:
    staged = function if hasattr(function, "lower") else jax.jit(function)
    [module] = xla_executables.hlo_modules(staged.lower(*arguments).compile())
    return hlo.parse(xla_executables.hlo_proto(module))


def counted(function: object, *arguments: object) -> Cost:
    ops = operations(function, *arguments)
    return costs.read(ops, Places(np.arange(len(ops)), [""] * len(ops), [""] * len(ops)))


def by_xla(function: object, *arguments: object) -> dict[str, float]:
    staged = function if hasattr(function, "lower") else jax.jit(function)
    analysis = staged.lower(*arguments).compile().cost_analysis()
    return dict(analysis[0] if isinstance(analysis, list) else analysis)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in APART])
def test_flops_are_those_of_xla(name: str) -> None:
    function, arguments = PROGRAMS[name]
    xla, ours = by_xla(function, *arguments), counted(function, *arguments)
    assert ours.total_once == pytest.approx(xla["flops"], rel=0.01)
    once = float((ours.transcendentals * ours.runs_once)[ours.shown].sum())
    assert once == pytest.approx(xla.get("transcendentals", 0))


f32 = jnp.ones

ORACLE = {
    "strided, dilated, grouped convolution": (
        lambda x, w: jax.lax.conv_general_dilated(x, w, (2, 2), "SAME", rhs_dilation=(2, 2), feature_group_count=2),
        (f32((4, 8, 33, 33)), f32((16, 4, 3, 3))),
    ),
    "gradient of a convolution": (
        jax.grad(lambda w, x: (jax.lax.conv_general_dilated(x, w, (2, 2), "SAME") ** 2).sum()),
        (f32((16, 8, 3, 3)), f32((4, 8, 33, 33))),
    ),
    "max pooling": (
        lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
        (f32((4, 8, 32, 32)),),
    ),
    "sort": (jnp.sort, (f32(1000),)),
    "argmax": (lambda x: jnp.argmax(x, 0), (f32((1000, 32)),)),
    "scatter": (lambda x, i: x.at[i].add(1.0), (f32((1000, 32)), jnp.arange(10))),
    "einsum": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), (f32((4, 8, 16)), f32((4, 16, 32)))),
}


@pytest.mark.parametrize("name", ORACLE)
def test_one_kind_of_operation_against_xla(name: str) -> None:
    function, arguments = ORACLE[name]
    assert counted(function, *arguments).total_once == pytest.approx(by_xla(function, *arguments)["flops"], rel=0.01)


def test_by_hand() -> None:
    a, b = f32((3, 5)), f32((5, 7))
    assert counted(lambda a, b: a @ b, a, b).total_flops == 2 * 3 * 5 * 7
    assert counted(lambda a: a + a * 2, a).total_flops == 2 * 15
    assert counted(lambda a: a.sum(), a).total_flops == 14
    assert counted(jnp.tanh, a).total_flops == 0
    assert counted(lambda a: a, a).total_flops == 0


def test_a_window_over_all_of_a_dimension_is_one_reduction() -> None:
    x, whole, part = f32((4, 128)), (1, 255), (1, 3)
    ours = counted(lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, whole, (1, 1), ((0, 0), (127, 127))), x)
    assert ours.total_flops == 4 * 127
    ours = counted(lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, part, (1, 1), ((0, 0), (1, 1))), x)
    assert ours.total_flops == 4 * (126 * 2 + 2 * 1)


def test_a_loop_counts_as_often_as_it_runs() -> None:
    def ten(x):
        return jax.lax.fori_loop(0, 10, lambda i, x: x @ x, x)

    ours = counted(ten, f32((8, 8)))
    assert ours.total_flops >= 10 * 2 * 8**3
    assert ours.total_flops == pytest.approx(10 * 2 * 8**3, rel=0.01)
    assert ours.total_once == pytest.approx(by_xla(ten, f32((8, 8)))["flops"])


def test_a_loop_of_unknown_length_says_so() -> None:
    def until(x):
        return jax.lax.while_loop(lambda x: x.sum() < 100, lambda x: x * 2, x)

    ours = counted(until, f32(8))
    assert any("is unknown: counted once" in note for note in ours.notes)


def test_a_loop_in_a_loop() -> None:
    def nested(x):
        return jax.lax.fori_loop(0, 3, lambda i, x: jax.lax.fori_loop(0, 5, lambda j, x: x @ x, x), x)

    assert counted(nested, f32((8, 8))).total_flops == pytest.approx(15 * 2 * 8**3, rel=0.05)


def test_a_custom_call_is_unknown_not_nothing() -> None:
    ours = counted(lambda x: jax.pure_callback(np.negative, jax.ShapeDtypeStruct((8, 8), x.dtype), x), f32((8, 8)))
    [reason] = set(ours.table.reasons.values())
    assert "is a custom call without a cost estimate" in reason
    assert any(math.isnan(value) for value in ours.table["FLOPs"])
    assert "FLOPs of 1 of" in ours.notes[0]


def test_bytes_are_those_of_xla_where_nothing_is_sliced() -> None:
    for name in ("small", "spread_out", "conv", "custom_vjp"):
        function, arguments = PROGRAMS[name]
        assert counted(function, *arguments).total_bytes == by_xla(function, *arguments)["bytes accessed"]


def test_a_slice_reads_what_it_gives() -> None:
    ours = counted(lambda x, i: jax.lax.dynamic_slice(x, (i, 0), (1, 8)) * 2, f32((1000, 8)), 3)
    assert ours.total_bytes < 1000


def test_a_group_adds_up_to_the_whole() -> None:
    function, arguments = PROGRAMS["transformer_gradient"]
    ours = counted(function, *arguments)
    for group in costs.GROUPS:
        table = ours.by(group)
        assert np.nansum(table["FLOPs"]) == pytest.approx(ours.total_flops)
        assert np.sum(table["bytes read"]) + np.sum(table["bytes written"]) == pytest.approx(ours.total_bytes)
    with pytest.raises(ValueError, match="unknown group 'colour'"):
        ours.by("colour")


def test_members_of_a_fusion_add_up_to_it() -> None:
    function, arguments = PROGRAMS["transformer_gradient"]
    ours = counted(function, *arguments)
    fusions = [row for row in ours.shown if ours.ops.opcode[row] == b"fusion"]
    assert fusions
    for row in fusions:
        members = ours.members(ours.ops.names[row].decode())
        assert np.sum(members["FLOPs"]) == pytest.approx(ours.flops[row] * ours.runs[row])
        assert np.sum(members["transcendentals"]) == pytest.approx(ours.transcendentals[row] * ours.runs[row])
        assert not np.any(members["bytes read"])
    assert str(ours.members("%" + ours.ops.names[fusions[0]].decode()))
    with pytest.raises(ValueError, match="there is no instruction 'nothing' in the optimised HLO"):
        ours.members("nothing")


def test_members_of_a_loop_are_its_body_and_condition() -> None:
    ours = counted(lambda x: jax.lax.fori_loop(0, 10, lambda i, x: jnp.sin(x) @ x, x), f32((8, 8)))
    [loop] = ours.ops.rows(b"while")
    members = ours.members(ours.ops.names[loop].decode())
    assert "compare" in " ".join(members["opcode"]) or "fusion" in members["opcode"]
    assert max(members["runs"]) in (10, 11)


def test_an_empty_program_costs_nothing() -> None:
    ours = counted(lambda: ())
    assert len(ours.table) == 0
    assert ours.total_flops == ours.total_bytes == 0


@pytest.mark.parametrize("target", ["v5e:2x2", "h100:4"])
@pytest.mark.parametrize("name", ["small", "scan", "while_loop", "transformer_gradient", "conv"])
def test_absent_devices(target: str, name: str) -> None:
    needs(target)
    function, arguments = PROGRAMS[name]
    with compiled_once.kept():
        inspection = inspect(function, *arguments, target=target)
        ops = hlo.parse(inspection.compiled.proto)
    ours = costs.read(ops, Places(np.arange(len(ops)), [""] * len(ops), [""] * len(ops)))
    xla, reason = inspection.compiled.cost
    if xla is not None:
        assert ours.total_once == pytest.approx(xla["flops"], rel=0.01)
    else:
        assert "library calls" in reason
        assert ours.total_flops == pytest.approx(12128, rel=0.05)  # what the CPU program counts


@pytest.mark.parametrize(("target", "length"), [("v5e:2x2", 10), ("h100:4", 10)])
def test_loop_lengths_of_absent_devices(target: str, length: int) -> None:
    needs(target)
    function, arguments = PROGRAMS["scan"]
    ops = hlo.parse(inspect(function, *arguments, target=target).compiled.proto)
    assert [loop.trips for loop in executions.count(ops).trips.values()] == [length]


def test_a_pallas_kernel_counts_as_its_estimate_says() -> None:
    needs("v5e:2x2")

    def kernel(x, o):
        o[...] = x[...] * 2

    def estimated(x):
        estimate = pl.CostEstimate(flops=12345, bytes_accessed=1, transcendentals=0)
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), cost_estimate=estimate)(x)

    ops = hlo.parse(inspect(estimated, f32((8, 128)), target="v5e:2x2").compiled.proto)
    assert np.nansum(flops.count(ops).flops) == 12345
