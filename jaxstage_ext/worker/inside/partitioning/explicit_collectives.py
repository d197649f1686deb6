"""The collectives that Shardy put into a module: their kind, axes, and the value that they take and give."""

from __future__ import annotations

import re
from typing import Any

_KINDS = {
    "sdy.all_reduce": ("all-reduce", "reduction_axes"),
    "sdy.reduce_scatter": ("reduce-scatter", "reduce_scatter_axes"),
    "sdy.all_gather": ("all-gather", "gathering_axes"),
    "sdy.all_slice": ("slice", "slicing_axes"),
    "sdy.all_to_all": ("all-to-all", "params"),
    "sdy.collective_permute": ("collective-permute", ""),
}
OUT_SHARDING = "out_sharding"
_AXIS = re.compile(r'"((?:[^"\\]|\\.)*)"(:\(\d+\)\d+)?')


class CollectiveReader:
    """Reads collectives, each list of axes once."""

    def __init__(self) -> None:
        self._axes: dict[Any, tuple[str, ...]] = {}

    def kind(self, operation: Any) -> str:
        """Its kind, "all-reduce", ..., "slice", which sends nothing; "" of an operation that is not a collective."""
        return _KINDS[operation.name][0] if operation.name in _KINDS else ""

    def axes(self, operation: Any) -> tuple[str, ...]:
        """The axes of a collective, each once; of a permutation all that split what it gives."""
        attribute = operation.attributes[_KINDS[operation.name][1] or OUT_SHARDING]
        found = self._axes.get(attribute)
        if found is None:
            # jaxlib binds no reader for lists of axes
            named = _AXIS.findall(str(attribute))
            found = self._axes[attribute] = tuple(dict.fromkeys(name + part for name, part in named))
        return found
