"""Shardings as plain data: per dimension the axes that split it, the major one first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Spec = tuple[tuple[str, ...], ...]
_SHARDING = "sdy.sharding"


class SpecReader:
    """Reads shardings, each of them once. A part of an axis is written "x:(2)4": 4 of it, after its first 2."""

    def __init__(self) -> None:
        self._read: dict[Any, Spec] = {}
        self._per_value: dict[Any, list[Spec]] = {}

    def of_results(self, operation: Any) -> list[Spec] | None:
        """The spec of each result of an operation; None where it has no sharding."""
        from jaxlib.mlir.dialects import sdy

        attributes = operation.attributes
        if _SHARDING not in attributes:
            return None
        attribute = attributes[_SHARDING]
        found = self._per_value.get(attribute)
        if found is None:
            shardings = sdy.TensorShardingPerValueAttr(attribute).shardings
            found = self._per_value[attribute] = [self.spec(each) for each in shardings]
        return found

    def spec(self, attribute: Any) -> Spec:
        """The spec of one sharding."""
        from jaxlib.mlir.dialects import sdy

        found = self._read.get(attribute)
        if found is None:
            dimensions = sdy.TensorShardingAttr(attribute).dimension_shardings
            found = tuple(axes(sdy.DimensionShardingAttr(each).axes) for each in dimensions)
            self._read[attribute] = found
        return found


def axes(references: Any) -> tuple[str, ...]:
    """The names of axes that an attribute refers to."""
    return tuple(map(axis_name, references))


def axis_name(reference: Any) -> str:
    """The name of an axis, or of a part of one."""
    from jaxlib.mlir.dialects import sdy

    axis = sdy.AxisRefAttr(reference)
    if axis.sub_axis_info is None:
        return str(axis.name)
    part = sdy.SubAxisInfoAttr(axis.sub_axis_info)
    return f"{axis.name}:({part.pre_size}){part.size}"


def axis_size(name: str, mesh: Mapping[str, int]) -> int:
    """The devices along an axis, or along a part of one."""
    whole, mark, part = name.rpartition(":(")
    return int(part.partition(")")[2]) if mark and whole in mesh else mesh[name]
