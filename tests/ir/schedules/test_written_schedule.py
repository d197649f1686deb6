"""XLA's own schedules, real ones of both versions and some made by hand, as columns."""

from __future__ import annotations

import random

import numpy as np
import pytest

from jaxstage_ext.ir.schedules import written_schedule
from jaxstage_ext.ir.schedules.unreadable_schedule import ScheduleDamage, UnreadableSchedule
from tests.golden.schedules.record import NAMES, VERSIONS, kept
from tests.helpers.written_schedules import Scheduled, all_reduce, schedule, text, whole

REAL = [(version, name) for version in VERSIONS for name in NAMES]
PLAIN = (Scheduled("x", opcode="parameter"), Scheduled("dot.1", 0, 40.25, operands=("x",), memory=64))
PAIR = all_reduce("all-reduce", 40.25, 90, of="dot.1")


def damage(data: bytes) -> ScheduleDamage:
    with pytest.raises(UnreadableSchedule) as refused:
        written_schedule.read(data)
    return refused.value.damage


def test_times_and_memory_are_those_of_the_clock() -> None:
    read = written_schedule.read(schedule([*PLAIN, *PAIR], clock=4, total=91, wasted=48.75))
    (one,) = read.computations
    assert one.start.tolist() == [0, 0, 40.25, 90] and one.end.tolist() == [0, 40.25, 41.25, 91]
    assert one.memory.tolist() == [0, 64, 0, 0]
    assert one.statistics == {"total_cycles": 91, "total_wasted_cycles": 48.75}
    assert [read.module.names[row].decode() for row in read.module.rows_of_ids(one.ids)] == [
        *("x", "dot.1", "all-reduce-start", "all-reduce-done")
    ]


@pytest.mark.parametrize(("version", "name"), REAL)
def test_costs_of_a_real_schedule_are_what_xla_adds_up(version: str, name: str) -> None:
    for one in written_schedule.read(kept(version, name)[0]).computations:
        sums = one.statistics
        if not name.startswith(
            "scan"
        ):  # there it also waits for what is no collective, and leaves that out of the waits
            assert one.cost.sum() == pytest.approx(sums["total_cycles"] - sums["total_wasted_cycles"], abs=1e-6)
        assert one.peak >= one.memory.max() > 0


def test_the_peak_of_a_loop_s_body_has_what_lives_all_along() -> None:
    """XLA's own sum of the same, 169,869,488, is that of the order before the scheduler."""
    inside = [Scheduled("x", memory=153_092_168, peak=16_777_324), Scheduled("out", memory=153_092_168, peak=4)]
    assert written_schedule.read(schedule(inside)).computations[0].peak == 153_092_164 + 16_777_324


def test_a_computation_that_was_scheduled_again_counts_once() -> None:
    (one,) = written_schedule.read(schedule(PLAIN) + schedule([*PLAIN, *PAIR])).computations
    assert len(one) == 4


def test_unknown_fields_are_skipped() -> None:
    added = text(77, b"later") + whole(78, 5) + b"\xf9\x04" + bytes(8)
    assert len(written_schedule.read(schedule(PLAIN) + added).computations) == 1


def test_what_is_wrong_is_said() -> None:
    assert damage(b"") is ScheduleDamage.NO_SCHEDULE
    assert damage(schedule(PLAIN)[:-5]) is ScheduleDamage.DAMAGED
    assert damage(b"hlo_module {\n}\n") is ScheduleDamage.DAMAGED
    assert damage(schedule(PLAIN, clock=0)) is ScheduleDamage.NO_CLOCK
    assert damage(schedule([Scheduled("a", 5, 3)])) is ScheduleDamage.TIMES
    for time in (float("nan"), float("inf"), 1e300):
        assert damage(schedule([Scheduled("a", 0, time)])) is ScheduleDamage.TIMES


def test_damage_is_never_another_error() -> None:
    chance, whole_one = random.Random(7), kept(VERSIONS[1], "data_parallel")[0]
    for _ in range(150):
        data = bytearray(whole_one)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            written_schedule.read(bytes(data[: chance.choice((len(data), chance.randrange(len(data))))]))
        except UnreadableSchedule:
            continue


@pytest.mark.parametrize(("version", "name"), REAL)
def test_real_ones_have_estimates(version: str, name: str) -> None:
    read = written_schedule.read(kept(version, name)[0])
    assert (
        read.has_estimates
        and not np.concatenate([written_schedule.is_weight(one.cost) for one in read.computations]).any()
    )


def test_weights_are_no_estimates() -> None:
    weights = [
        Scheduled("a", 0, 1000),
        Scheduled("b", 1000, 6000),
        Scheduled("c", 6000, 6001),
        *all_reduce("r", 6001, 9000),
    ]
    read = written_schedule.read(schedule(weights))
    assert not read.has_estimates
    assert written_schedule.is_weight(read.computations[0].cost).tolist() == [True, True, False, False, False]
    mixed = written_schedule.read(schedule([*weights, Scheduled("d", 9001, 9007.5)]))
    assert mixed.has_estimates and written_schedule.is_weight(mixed.computations[0].cost).sum() == 2
