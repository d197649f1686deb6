"""The schedule of a module as XLA's latency-hiding scheduler dumps it, a serialised ScheduleProto, as columns.

Field numbers: xla/service/hlo.proto in openxla/xla. Fields that are zero are left out, unknown ones are skipped. The
module in it is that of before the passes that follow the scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.schedules.unreadable_schedule import ScheduleDamage, UnreadableSchedule
from jaxstage_ext.ir.wire import protowire
from jaxstage_ext.ir.wire.protowire import Longs

Floats = npt.NDArray[np.float64]

_MODULE, _SCHEDULES = 1, 2
_COMPUTATION_ID, _INSTRUCTIONS, _STATISTICS, _CYCLES_PER_MICROSECOND = 1, 2, 3, 4
_ID, _START, _END, _MEMORY, _PEAK = 1, 2, 3, 5, 6
TOTAL_WASTED, TOTAL = "total_wasted_cycles", "total_cycles"
_SUMS = {11: TOTAL_WASTED, 12: TOTAL}
_LONGEST = 1e15
"""Microseconds; what is longer is no time."""
_LEAST_ESTIMATE = 0.02
"""Microseconds: what XLA counts for nearly nothing is 0.01 and less."""
_ROUNDING = 1e-6
_LEAST = -1e-3
"""Microseconds: rounding lets an instruction end that much before it begins."""


@dataclass(frozen=True, eq=False)
class ComputationSchedule:
    """One computation's schedule, an element for each of its instructions in the order in which they run.

    Attributes:
      number: XLA's own of the computation.    ids: its instructions, by XLA's own numbers.
      start, end: in microseconds.    memory: bytes in use when each begins, as the scheduler believed.
      peak: bytes at the most, as it believed.
      statistics: its own sums in microseconds, TOTAL and TOTAL_WASTED; XLA of JAX 0.10 sums the order before it.
    """

    number: int
    ids: Longs
    start: Floats
    end: Floats
    memory: Longs
    peak: int
    statistics: Mapping[str, float]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def cost(self) -> Floats:
        """Microseconds that each instruction occupies the device's main stream."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class WrittenSchedule:
    """The schedules of the computations that the scheduler saw, and the module that they are of."""

    computations: tuple[ComputationSchedule, ...]
    module: Module = field(repr=False)

    @property
    def has_estimates(self) -> bool:
        """Whether some cost is an estimate: for devices that it has no tables of, XLA orders by weights alone."""
        cost = np.concatenate([one.cost for one in self.computations])
        cost = cost[cost > _LEAST_ESTIMATE]
        return bool((np.abs(cost - np.rint(cost)) > _ROUNDING * cost).any())


def is_weight(microseconds: Floats) -> npt.NDArray[np.bool_]:
    """Whether each is one of XLA's weights for an order, such as 1000 for a fusion, and no estimate.

    Weights of work are whole thousands, which what tables and formulas give is not.
    """
    thousands = microseconds / 1000
    return (thousands > 0.5) & (np.abs(thousands - np.rint(thousands)) < _ROUNDING)


def read(proto: bytes) -> WrittenSchedule:
    """The schedule in a serialised ScheduleProto. Raises UnreadableSchedule, which says what is wrong with it."""
    try:
        data = protowire.buffer(proto)
        top = protowire.read(data, np.zeros(1, np.int64), np.array([len(proto)]), (_MODULE, _SCHEDULES))
        modules = [proto[at : at + size] for at, size in _spans(top[_MODULE])]
        module = hlo.parse(modules[-1] if modules else b"")
        parts = [_computation(data, at, at + size) for at, size in _spans(top[_SCHEDULES])]
    except (IndexError, OverflowError) as error:
        raise UnreadableSchedule(ScheduleDamage.DAMAGED, str(error)) from None
    except ValueError as error:
        if isinstance(error, UnreadableSchedule):
            raise
        raise UnreadableSchedule(ScheduleDamage.DAMAGED, str(error)) from None
    if not parts:
        raise UnreadableSchedule(ScheduleDamage.NO_SCHEDULE)
    last = {one.number: one for one in parts}  # the scheduler may have run several times
    return WrittenSchedule(tuple(last.values()), module)


def _spans(of: protowire.Field) -> list[tuple[int, int]]:
    return list(zip(of.offset.tolist(), of.size.tolist(), strict=True))


def _computation(data: protowire.Bytes, start: int, end: int) -> ComputationSchedule:
    wanted = (_COMPUTATION_ID, _INSTRUCTIONS, _STATISTICS, _CYCLES_PER_MICROSECOND)
    own = protowire.read(data, np.array([start]), np.array([end]), wanted)
    clock = int(own[_CYCLES_PER_MICROSECOND].value[-1]) if len(own[_CYCLES_PER_MICROSECOND].value) else 0
    if clock <= 0:
        raise UnreadableSchedule(ScheduleDamage.NO_CLOCK)
    each = own[_INSTRUCTIONS]
    columns = protowire.read(data, each.offset, each.offset + each.size, (_ID, _START, _END, _MEMORY, _PEAK))
    count = len(each.row)
    begins, ends = (_doubles(data, columns[number], count) / clock for number in (_START, _END))
    is_time = np.isfinite(begins) & np.isfinite(ends) & (np.abs(begins) < _LONGEST) & (np.abs(ends) < _LONGEST)
    if not (is_time.all() and (ends - begins > _LEAST).all()):
        raise UnreadableSchedule(ScheduleDamage.TIMES)
    ids, memory, peaks = (_longs(columns[number], count) for number in (_ID, _MEMORY, _PEAK))
    number = int(own[_COMPUTATION_ID].value[-1]) if len(own[_COMPUTATION_ID].value) else 0
    return ComputationSchedule(
        number,
        ids,
        begins,
        np.maximum(begins, ends),
        memory,
        _peak(memory, peaks),
        _statistics(data, own[_STATISTICS], clock),
    )


def _peak(memory: Longs, peaks: Longs) -> int:
    """The most bytes; XLA's own peaks leave out what lives from the beginning of a loop's body to its end."""
    return int(np.max(peaks)) + int(memory[-1] - peaks[-1]) if len(peaks) else 0


def _statistics(data: protowire.Bytes, of: protowire.Field, clock: int) -> dict[str, float]:
    parts = protowire.read(data, of.offset, of.offset + of.size, _SUMS)
    return {name: float(_doubles(data, parts[number], len(of.row)).sum()) / clock for number, name in _SUMS.items()}


def _longs(of: protowire.Field, count: int) -> Longs:
    result = np.zeros(count, np.int64)
    result[of.row] = of.value
    return result


def _doubles(data: protowire.Bytes, of: protowire.Field, count: int) -> Floats:
    """Fields of eight bytes, which end at their offset."""
    result = np.zeros(count)
    if len(of.row):
        bytes_of = data[(of.offset[:, None] + np.arange(-8, 0))]
        result[of.row] = np.ascontiguousarray(bytes_of).view("<f8").ravel()
    return result
