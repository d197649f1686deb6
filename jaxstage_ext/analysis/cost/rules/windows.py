"""Windows that slide over arrays: of convolutions, poolings and the library calls that stand for them."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.wire.lists import Lists
from jaxstage_ext.ir.wire.protowire import Longs

OPCODES = (b"convolution", b"reduce-window", b"select-and-scatter", b"custom-call")
_WINDOW, _CONVOLUTION, _GROUPS, _BATCH_GROUPS = 15, 16, 50, 58
_NUMBERS = (3, 4, 6, 7, 8, 9, 10, 11, 12)


class Dimension(NamedTuple):
    """One dimension of a window, by the fields 1 to 6 of WindowDimension in xla_data.proto."""

    size: int = 1
    stride: int = 1
    low: int = 0
    high: int = 0
    dilation: int = 1
    base: int = 1


class Windows:
    """The windows and the dimension numbers of a module's instructions, each read once for all of them."""

    def __init__(self, ops: Module) -> None:
        rows = ops.rows(*OPCODES)
        fields = ops.fields(rows, _WINDOW, _CONVOLUTION, _GROUPS, _BATCH_GROUPS)
        self._place = {int(row): i for i, row in enumerate(rows)}
        self._windows = _windows(ops, fields[_WINDOW], len(rows))
        self._groups = [_ones(fields[number], len(rows)) for number in (_GROUPS, _BATCH_GROUPS)]
        message = fields[_CONVOLUTION]
        inside = ops.inside(message, *_NUMBERS)
        self._message = {int(row): i for i, row in enumerate(rows[message.row])}
        self._numbers: dict[int, Lists] = {number: ops.lists(inside[number], len(message.row)) for number in _NUMBERS}

    def of(self, row: int) -> list[Dimension]:
        return self._windows[self._place[row]]

    def groups(self, row: int) -> tuple[int, int]:
        """(groups of features, groups of the batch)."""
        features, batch = self._groups
        return max(1, int(features[self._place[row]])), max(1, int(batch[self._place[row]]))

    def number(self, row: int, field: int) -> list[int]:
        """A field of ConvolutionDimensionNumbers in xla_data.proto; a number that is 0 is left out of the proto."""
        at = self._message.get(row)
        return [] if at is None else self._numbers[field][at]


_known: WeakKeyDictionary[Module, Windows] = WeakKeyDictionary()


def read(ops: Module) -> Windows:
    """The windows of a module, read once."""
    if ops not in _known:
        _known[ops] = Windows(ops)
    return _known[ops]


def _windows(ops: Module, field: Any, n: int) -> list[list[Dimension]]:
    dimensions = ops.inside(field, 1)[1]
    order = np.argsort(dimensions.row, kind="stable")
    inside = ops.inside(dimensions, *range(1, 7))
    columns = [_spread(inside[number], len(order), default) for number, default in enumerate(Dimension(), 1)]
    result: list[list[Dimension]] = [[] for _ in range(n)]
    for at in order.tolist():
        result[int(field.row[dimensions.row[at]])].append(Dimension(*(column[at] for column in columns)))
    return result


def _spread(field: Any, n: int, default: int) -> list[int]:
    column = np.full(n, default, np.int64)
    column[field.row] = field.value
    return [value or default for value in column.tolist()] if default else column.tolist()


def _ones(field: Any, n: int) -> Longs:
    column = np.ones(n, np.int64)
    column[field.row] = field.value
    return column


def multiply_adds(ops: Module, row: int, lhs: list[int], rhs: list[int], out: list[int]) -> float:
    """FLOPs: two for each multiply-add of a kernel element with an element of the input, padding left out."""
    known = read(ops)
    (groups, batch_groups), numbers = known.groups(row), functools.partial(known.number, row)
    positions = 1
    for i, dimension in enumerate(known.of(row)):
        positions *= met(lhs[numbers(11)[i]], rhs[numbers(6)[i]], out[numbers(12)[i]], dimension)
    features, batch = lhs[_only(numbers(8))] // groups, lhs[_only(numbers(7))] // batch_groups
    return 2.0 * features * out[_only(numbers(10))] * batch * positions


def is_channels_last(ops: Module, row: int) -> bool:
    """Whether a convolution is over `b01f`, `01io` and `b01f`, as libraries want it."""
    known, rank = read(ops), len(ops.shapes.sizes(row))
    last = [_only(known.number(row, number)) for number in (8, 4, 10)]
    return last == [rank - 1] * 3 and _only(known.number(row, 3)) == rank - 2 and not _only(known.number(row, 7))


def _only(numbers: list[int]) -> int:
    return numbers[0] if numbers else 0


@functools.lru_cache(4096)
def met(size: int, kernel: int, out: int, window: Dimension) -> int:
    """Pairs of (kernel element, output element) that meet an element of the input and no padding or hole."""
    first = np.arange(out) * window.stride - window.low
    lowest = np.maximum(-(first // window.dilation), 0)
    highest = np.minimum(((size - 1) * window.base - first) // window.dilation, kernel - 1)
    shared = math.gcd(window.dilation, window.base)
    every = window.base // shared  # of the kernel's elements, one meets an element and no hole of the input
    inverse = pow(window.dilation // shared, -1, every) if every > 1 else 0
    offset = (-(first // shared) * inverse) % every
    count = (highest - offset) // every - (lowest - 1 - offset) // every
    return int(count[(first % shared == 0) & (highest >= lowest)].sum())


def covers(size: int, out: int, window: Dimension) -> bool:
    """Whether the window meets all elements of a dimension at each of its places."""
    reach = (out - 1) * window.stride - window.low
    plain = window.dilation == window.base == 1
    return plain and size > 1 and out > 0 and window.low >= 0 and reach <= 0 and window.size - window.low >= size


def outputs(size: int, window: Dimension) -> int:
    """How many places a window has along a dimension."""
    spread = (size - 1) * window.base + 1 + window.low + window.high
    reach = (window.size - 1) * window.dilation + 1
    return max(0, (spread - reach) // window.stride + 1)
