"""Classes of dimensions that go by one name: those of all layers, which have equal paths but for numbers."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf

if TYPE_CHECKING:
    from jaxstage_ext.analysis.sharding.dimensions import DimensionClass

Member = tuple[int, int]
"""An axis of an array: the number of the argument, or of the result, and that of the axis."""

_LOOP = "while"
_TYING = frozenset({"dot", "dot_general", "convolution", "gather", "scatter"})
"""Operations that use an axis as one of a matrix or of a table."""


@dataclass(frozen=True)
class DimensionGroup:
    """Classes that are one dimension to the author; numbers are those of the classes."""

    numbers: tuple[int, ...]
    size: int
    arguments: tuple[Member, ...]
    results: tuple[Member, ...]
    ops: tuple[int, ...]
    repeated: bool
    """Whether it stands twice in one value, of which only one axis can be split."""
    is_stack: bool
    """Whether it is the axis that a scan goes along."""


@dataclass(frozen=True)
class _Stack:
    """What the axes that scans go along share."""

    size: int


def groups(
    classes: Sequence[DimensionClass], leaves: Sequence[NamedLeaf], op_names: Sequence[str]
) -> tuple[DimensionGroup, ...]:
    """The classes that arguments or results have, in the order of their first argument; layers are joined.

    Classes join where they have equal size and equal paths and axes but for numbers, unless two of them stand in one
    array, as the widths of a plain MLP do: these are different dimensions. So do the first axes of arrays that a scan
    takes layer by layer. Left out are sizes below 2. `op_names` has the name of each operation of the module.
    """
    alike: dict[object, list[DimensionClass]] = defaultdict(list)
    for one in classes:
        if one.size is not None and one.size > 1 and (one.arguments or one.results):
            alike[_key(one, leaves, op_names)].append(one)
    made = []
    for key, same in alike.items():
        is_stack = isinstance(key, _Stack) and len(same) > 1
        made.extend([_group(same, is_stack)] if not _meet(same) else [_group([one]) for one in same])
    return tuple(sorted(made, key=_place))


def _place(group: DimensionGroup) -> tuple[object, ...]:
    return (not group.arguments, group.arguments or group.results, group.numbers)


def _key(one: DimensionClass, leaves: Sequence[NamedLeaf], op_names: Sequence[str]) -> object:
    """What classes of one dimension share."""
    if not one.arguments:
        return one.number
    if _is_stack(one, leaves, op_names):
        return _Stack(one.size or 0)
    return one.size, frozenset((leaves[leaf].path.pattern, axis) for leaf, axis in one.arguments)


def _is_stack(one: DimensionClass, leaves: Sequence[NamedLeaf], op_names: Sequence[str]) -> bool:
    """Whether it is the first axis of one array, and of its moments, that nothing ties to another array."""
    arrays = {leaves[leaf].path.tokens[-2:] for leaf, _ in one.arguments}
    is_first = not any(axis for _, axis in one.arguments)
    is_matrix = any(len(leaves[leaf].shape) > 1 for leaf, _ in one.arguments)
    is_free = _TYING.isdisjoint(op_names[op] for op in one.ops)
    return _LOOP in op_names and is_first and is_matrix and len(arrays) == 1 and is_free


def _meet(classes: Sequence[DimensionClass]) -> bool:
    """Whether two of them stand in one array."""
    arrays = [{leaf for leaf, _ in one.arguments} for one in classes]
    return len(set().union(*arrays)) < sum(map(len, arrays))


def _group(classes: Sequence[DimensionClass], is_stack: bool = False) -> DimensionGroup:
    def all_of(parts: Iterable[Iterable[Member]]) -> tuple[Member, ...]:
        return tuple(sorted(set(itertools.chain.from_iterable(parts))))

    return DimensionGroup(
        tuple(one.number for one in classes),
        classes[0].size or 0,
        all_of(one.arguments for one in classes),
        all_of(one.results for one in classes),
        tuple(sorted({op for one in classes for op in one.ops})),
        any(one.repeated for one in classes),
        is_stack,
    )
