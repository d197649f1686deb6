"""What neighbours send each other in one operation: the rows of their shards that the next device's part reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxstage_ext.worker.inside.partitioning import sharding_specs
from jaxstage_ext.worker.inside.partitioning.local_bytes import local_bytes
from jaxstage_ext.worker.inside.partitioning.module_columns import REVERSE, ModuleColumns
from jaxstage_ext.worker.inside.partitioning.read_windows import Window, exchanged
from jaxstage_ext.worker.inside.partitioning.sharding_specs import Spec

Sent = tuple[tuple[str, ...], int]
"""(axes, bytes of one permutation on one device)."""


def sent(
    op: dict[str, Any], columns: ModuleColumns, number: int, given: Sequence[Spec | None], made: Spec,
    mesh: Mapping[str, int],
) -> Iterator[Sent]:  # fmt: skip
    """The permutations of an operation whose operands and result are split so."""
    if op["name"] == REVERSE:
        yield from _reversed(op, columns, made, mesh)
    for window in columns.windows[number]:
        yield from _of_window(window, op, columns, given, made, mesh)


def _of_window(
    window: Window, op: dict[str, Any], columns: ModuleColumns, given: Sequence[Spec | None], made: Spec,
    mesh: Mapping[str, int],
) -> Iterator[Sent]:  # fmt: skip
    spec = given[window.operand] or ()
    axes = spec[window.dimension] if spec else ()
    if not axes:
        return
    shape, bits, *_ = columns.values[op["operands"][window.operand]]
    result = columns.values[op["results"][0]][0]
    parts = math.prod(sharding_specs.axis_size(name, mesh) for name in axes)
    kernel = given[1] if window.kernel is not None else None
    is_whole = not (kernel and window.kernel is not None and kernel[window.kernel])
    if is_whole and made[window.result] != axes:
        return
    rows = exchanged(window, shape[window.dimension], result[window.result], parts, is_whole)
    own = local_bytes(shape, bits, spec, mesh) // -(-shape[window.dimension] // parts)
    for count in rows:
        if count > 0:
            yield axes, own * count


def _reversed(op: dict[str, Any], columns: ModuleColumns, made: Spec, mesh: Mapping[str, int]) -> Iterator[Sent]:
    """A reversal moves each device's whole part to the device at the other end."""
    axes = tuple(name for at in op["reversed"] for name in made[at])
    if axes:
        shape, bits, *_ = columns.values[op["results"][0]]
        yield axes, local_bytes(shape, bits, made, mesh)
