"""FLOP/s, bytes/s and the part of the roof of a timeline, of a matrix product whose work is known."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest
from helpers.recordings import Event, recording

from jaxstage_ext import inspect
from jaxstage_ext.profiling.op_places import OpPlaces
from jaxstage_ext.profiling.timeline import Timeline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.cost import cost
from jaxstage_ext.program.running import rate_wording as wording
from jaxstage_ext.program.running import timeline_rates
from jaxstage_ext.program.running.timeline_rates import WorkOfRow, with_rates
from jaxstage_ext.report.table import Column, Table

N = 64
FLOPS, BYTES = 2 * N**3, 3 * N * N * 4


@pytest.fixture(scope="module")
def program() -> Program:
    return inspect(lambda x, y: x @ y, jnp.ones((N, N)), jnp.ones((N, N))).program


def rates(program: Program, *events: Event, row: int = 0) -> tuple[Table, Table]:
    made = recording(events)
    rows = np.full(len(made.ops), row, np.int32)
    none = np.full(len(made.ops), -1, np.int32)
    places = OpPlaces(rows, none, np.zeros(len(made.ops), bool), none, none, program.frames)
    timeline = Timeline(made, places)
    return with_rates(program, timeline, timeline.by_op(), "op"), with_rates(
        program, timeline, timeline.by_line(), "line"
    )


def name_of_product(program: Program) -> str:
    table = cost(program).table
    (row,) = [row for row in table.rows() if row["FLOPs"] == FLOPS]
    return str(row["instruction"])


def product(program: Program, start: float, duration: float = 10) -> Event:
    return Event("a", "dot", start, duration, op=("jit_f", name_of_product(program)))


def test_work_of_each_run_over_the_time_of_all(program: Program) -> None:
    ops, lines = rates(program, product(program, 0), product(program, 20, 30))
    for table in (ops, lines):
        assert table["FLOP/s"] == [pytest.approx(2 * FLOPS / 40e-6)]
        assert table["bytes/s"] == [pytest.approx(2 * BYTES / 40e-6)]


def test_a_run_that_launches_two_kernels_counts_once(program: Program) -> None:
    op = ("jit_f", name_of_product(program))
    one_run = [Event("a", "im2col", 0, 10, op=op), Event("a", "gemm", 10, 10, op=op)]
    for table in rates(program, *one_run):
        assert table["FLOP/s"] == [pytest.approx(FLOPS / 20e-6)]
    cut = [*one_run, Event("a", "im2col", 20, 10, op=op)]
    for table in rates(program, *cut):
        assert math.isnan(table["FLOP/s"][0]) and table.reasons[0, "FLOP/s"] == wording.SEVERAL_KERNELS


def test_the_part_of_the_roof_is_the_lower_bound_over_the_time(program: Program) -> None:
    ops, _ = rates(program, product(program, 0))
    roof = cost(program).roofline
    least = dict(zip(roof.names, (roof.seconds / cost(program).work.runs[roof.rows]).tolist(), strict=True))
    expected = least[name_of_product(program)] / 10e-6
    (part,) = ops["of roof"]
    assert part == pytest.approx(expected, nan_ok=True)
    assert math.isnan(part) == ((0, "of roof") in ops.reasons)


def test_what_is_unknown_says_why(program: Program) -> None:
    ops, lines = rates(program, product(program, 0), row=-1)
    assert math.isnan(ops["FLOP/s"][0]) and ops.reasons[0, "FLOP/s"] == wording.OTHER_MODULE
    assert lines.reasons[0, "bytes/s"] == wording.OTHER_MODULE
    ops, _ = rates(program, product(program, 0, 0))
    assert ops.reasons[0, "FLOP/s"] == wording.NO_TIME
    ops, _ = rates(program, Event("a", "memcpy", 0, 1))
    assert ops.reasons[0, "FLOP/s"] == wording.NO_HLO


def test_a_loop_is_counted_at_what_is_inside_it(program: Program) -> None:
    loop = Event("a", "while", 0, 50, op=("jit_f", "while.1"))
    ops, lines = rates(program, loop, product(program, 10))
    why = dict(zip(ops["op"], range(2), strict=True))
    assert ops.reasons[why["while.1"], "FLOP/s"] == wording.CONTROL
    assert lines["FLOP/s"] == [pytest.approx(FLOPS / 50e-6)]


@pytest.mark.parametrize(("share", "notes"), [(1.0 + 1e-9, []), (1.2, [wording.ESTIMATE_ABOVE_ROOF])])
def test_what_is_predicted_is_said_to_beat_the_peaks_where_it_does_and_not_to_have_run(
    share: float, notes: list[str]
) -> None:
    table = timeline_rates._added(
        Table("lines", {"busy": Column([1.0], "s")}), [WorkOfRow(1.0, 1.0, share)], is_predicted=True
    )
    assert list(table.notes) == notes
