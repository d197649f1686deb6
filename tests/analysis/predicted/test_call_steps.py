"""Calls put together of XLA's schedules, real ones and some made by hand, and of bounds where it has none."""

from __future__ import annotations

import numpy as np
import pytest

from jaxstage_ext.analysis.predicted import predicted_recording, schedule_match
from jaxstage_ext.analysis.predicted.call_steps import CallSteps
from jaxstage_ext.analysis.predicted.instruction_bounds import InstructionBounds
from jaxstage_ext.analysis.predicted.predicted_steps import EstimateSource, Stream
from jaxstage_ext.analysis.predicted.replay import Replayed, replay
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.schedules import written_schedule
from tests.golden.schedules.record import VERSIONS, kept
from tests.helpers.written_schedules import Scheduled, all_reduce, module, schedule

OLD, NEW = VERSIONS


def put_together(written: bytes, shown: bytes, bound: float = 0.0, trips: int = 1) -> tuple[CallSteps, Replayed]:
    """A call in which each instruction takes `bound` seconds at least, and each loop runs `trips` times."""
    read, ops = written_schedule.read(written), hlo.parse(shown)
    loops = dict.fromkeys(ops.rows(b"while").tolist(), trips)
    bounds = InstructionBounds(ops, np.full(len(ops), bound), {})
    steps = CallSteps(bounds, loops, read, schedule_match.match(read.module, ops))
    return steps, replay(steps.entry())


@pytest.mark.parametrize("name", ["data_parallel", "sharded_parameters"])
def test_total_and_waits_are_those_that_xla_sums(name: str) -> None:
    written, shown = kept(NEW, name)
    _, made = put_together(written, shown)
    (one,) = written_schedule.read(written).computations
    assert made.total == pytest.approx(one.statistics["total_cycles"], abs=1e-6)
    assert made.exposed == pytest.approx(one.statistics["total_wasted_cycles"], abs=1e-6)
    assert made.weighted == 0 and predicted_recording.matched(made) == 1


@pytest.mark.parametrize("name", ["data_parallel", "sharded_parameters"])
def test_an_old_version_s_sums_are_of_another_order_with_the_same_costs(name: str) -> None:
    """JAX 0.10 sums the order that it had before the scheduler."""
    written, shown = kept(OLD, name)
    _, made = put_together(written, shown)
    (one,) = written_schedule.read(written).computations
    own = one.statistics
    assert made.total - made.exposed == pytest.approx(own["total_cycles"] - own["total_wasted_cycles"], abs=1e-6)
    assert 0 < made.exposed != own["total_wasted_cycles"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_loop_takes_its_iterations_where_xla_counts_next_to_nothing(version: str) -> None:
    written, shown = kept(version, "scan_among_others")
    steps, once = put_together(written, shown, trips=1)
    _, six = put_together(written, shown, trips=6)
    loops = [step for step in steps.entry() if step.count is not None and step.body and step.name.startswith("while")]
    assert len(loops) == len(six.loops) == 2
    assert six.total - once.total == pytest.approx(5 * sum(loop.seconds for loop in six.loops), abs=2)
    read, bodies = written_schedule.read(written), sum(loop.seconds for loop in six.loops)
    rows = [read.module.rows_of_ids(one.ids) for one in read.computations]
    (entry,) = [one for one, own in zip(read.computations, rows, strict=True) if b"while" in read.module.opcode[own]]
    if version == NEW:
        assert once.total == pytest.approx(entry.statistics["total_cycles"] + bodies, abs=2)


@pytest.mark.parametrize("version", VERSIONS)
def test_of_a_loop_xla_has_the_body_and_the_bounds_have_the_rest(version: str) -> None:
    written, shown = kept(version, "scanned_layers")
    _, once = put_together(written, shown)
    _, six = put_together(written, shown, trips=6)
    _, bounded = put_together(written, shown, bound=1e-6, trips=6)
    assert once.loops == [] and {loop.step.count for loop in six.loops} == {6} and len(six.loops) == 2
    assert six.total == pytest.approx(6 * sum(loop.seconds for loop in six.loops), abs=1e-6)
    assert once.weighted == six.weighted == 0 < bounded.weighted
    assert bounded.total > six.total and predicted_recording.matched(bounded) > 0.99


def test_what_other_work_hides_is_not_waited_for_though_xla_leaves_room() -> None:
    """XLA's own stamps have a microsecond between instructions that need each other, which no work fills."""
    begin, done = all_reduce("all-reduce", 0, 45.25)
    entry = [begin, Scheduled("dot", 1, 41.5), Scheduled("add", 42.5, 45.25), done]
    _, made = put_together(schedule(entry), module(entry, shown=True))
    assert made.exposed == 0 and made.total == 1 + 40.5 + 2.75 + 1


def test_what_xla_gives_a_weight_takes_our_bound() -> None:
    entry = [
        Scheduled("x", opcode="parameter"),
        Scheduled("copy-start", 0, 1, "copy-start", ("x",)),
        Scheduled("dot", 1, 41.5, "dot", ("x",)),
        Scheduled("copy-done", 5000, 5001, "copy-done", ("copy-start",)),
        Scheduled("call", 5001, 6001, "custom-call", ("copy-done",)),
    ]
    steps, made = put_together(schedule(entry), module(entry, shown=True), bound=100e-6)
    drawn = {one.step.name: one for one in made.drawn if not one.is_marker}
    assert (drawn["copy-start"].start, drawn["copy-start"].end) == (1, 100) and drawn["copy-start"].waited == 58.5
    assert drawn["copy-start"].step.stream is Stream.COPY and drawn["copy-start"].step.by is EstimateSource.BOUND
    assert drawn["call"].end - drawn["call"].start == 100 and made.weighted == 158.5 and not steps.unknown


def test_a_collective_that_has_but_a_weight_takes_our_bound() -> None:
    begin, done = all_reduce("all-reduce", 10.5, 5010.5)
    entry = [Scheduled("dot", 0, 10.5), begin, Scheduled("add", 5000, 5010.5), done]
    read, ops = written_schedule.read(schedule(entry)), hlo.parse(module(entry, shown=True))
    bounds = InstructionBounds(ops, np.full(len(ops), np.nan), {1: 80e-6})
    made = replay(CallSteps(bounds, {}, read, schedule_match.match(read.module, ops)).entry())
    assert made.exposed == made.weighted == 80 - 10.5 - 1


def test_what_has_neither_is_unknown() -> None:
    call = Scheduled("call", 0, 1000, "custom-call", ("x",))
    entry = [Scheduled("x", opcode="parameter"), call, Scheduled("a", 1000, 1002.5)]
    steps, made = put_together(schedule(entry), module(entry, shown=True), bound=float("nan"))
    assert list(steps.unknown) == ["call"] and made.total == 2.5


def test_a_collective_without_a_time_is_known_as_one() -> None:
    begin, done = all_reduce("all-reduce", 10.5, 5010.5)
    entry = [Scheduled("dot", 0, 10.5), begin, Scheduled("add", 5000, 5010.5), done]
    steps, made = put_together(schedule(entry), module(entry, shown=True), bound=float("nan"))
    assert list(steps.unknown.values()) == [Stream.COLLECTIVE] and not made.exposed


def test_collectives_that_overlap_get_lanes_of_their_own() -> None:
    first, first_done = all_reduce("all-reduce", 10.5, 400)
    second, second_done = all_reduce("all-gather", 11.5, 500)
    entry = [Scheduled("dot", 0, 10.5), first, second, Scheduled("dot.1", 200, 300.25), first_done, second_done]
    _, made = put_together(schedule(entry), module(entry, shown=True))
    lanes, placed = predicted_recording._lanes(made.drawn, [], "h100:8, one device")[::-1]
    assert [lane.name for lane in lanes] == ["compute", "collectives", "collectives 2"]
    assert {one.drawn.step.name: lanes[one.lane].name for one in placed if not one.drawn.is_marker} == {
        **dict.fromkeys(("dot", "dot.1"), "compute"),
        "all-reduce-start": "collectives",
        "all-gather-start": "collectives 2",
    }
