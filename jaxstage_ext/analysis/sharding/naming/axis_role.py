"""What an axis of a parameter is in its layer, by its place, the layer's other arrays and the words of its path."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

from jaxstage_ext.analysis.sharding.naming.argument_roles import NamedLeaf
from jaxstage_ext.analysis.sharding.naming.dimension_group import Member

_EMBEDDINGS = ("embed", "wte", "vocab", "token")
_POSITIONS = ("pos", "wpe")
_TABLES = ("embedding", "table")
_MAKE_HEADS = frozenset(["query", "key", "value", "q", "k", "v", "wq", "wk", "wv", "q_proj", "k_proj", "v_proj"])
"""Layers of attention with kernels (features, heads, size)."""
_READ_HEADS = frozenset(["out", "o", "wo", "out_proj", "o_proj"])
"""Layers of attention with kernels (heads, size, features)."""
_BIASES = frozenset(["bias", "b", "beta"])
_EXPERTS = ("expert", "moe")
_ROUTERS = ("router", "gate", "gating")


class AxisRole(enum.Enum):
    """What an axis of a parameter is."""

    OUT = "features that the layer makes"
    IN = "features that the layer reads"
    VOCABULARY = "rows of an embedding"
    POSITION = "rows of an embedding of positions"
    EMBEDDED = "features of an embedding"
    HEADS = "heads of attention"
    EXPERTS = "experts"
    VECTOR = "of a parameter with one axis, such as a scale"
    OTHER = "another axis, such as a kernel's taps"


def role(leaves: Sequence[NamedLeaf], member: Member, groups_of: Mapping[Member, int]) -> AxisRole:
    """The role of a parameter's axis; `groups_of` has the group that each axis of an argument is in."""
    number, axis = member
    leaf = leaves[number]
    rank, path = len(leaf.shape), leaf.path
    words = " ".join(path.words).lower()
    if rank == 1:
        return AxisRole.VECTOR
    if (rank == 2 and path.kind in ("embedding", "table")) or (
        rank == 2 and _has(path.layer, _EMBEDDINGS + _POSITIONS)
    ):
        rows = AxisRole.POSITION if _has(path.layer, _POSITIONS) else AxisRole.VOCABULARY
        return rows if axis == 0 else AxisRole.EMBEDDED
    if rank == 3 and path.layer.lower() in (_MAKE_HEADS if axis == 1 else _READ_HEADS if axis == 0 else ()):
        return AxisRole.HEADS
    if _is_expert(words, rank, axis) or (axis == rank - 1 and _has(path.layer, _ROUTERS)):
        return AxisRole.EXPERTS
    out = _out_axis(leaves, number, groups_of)
    if axis == out:
        return AxisRole.OUT
    return AxisRole.IN if axis == _in_axis(rank, out) else AxisRole.OTHER


def _has(word: str, parts: Sequence[str]) -> bool:
    return any(part in word.lower() for part in parts)


def _is_expert(words: str, rank: int, axis: int) -> bool:
    return rank >= 3 and axis == 0 and _has(words, _EXPERTS)


def _out_axis(leaves: Sequence[NamedLeaf], number: int, groups_of: Mapping[Member, int]) -> int:
    """The axis that the layer's bias has too; without a bias the first of a `weight`, the last of anything else."""
    leaf = leaves[number]
    rank, layer = len(leaf.shape), leaf.path.tokens[:-1]
    biases = [
        at
        for at, other in enumerate(leaves)
        if other.path.tokens[:-1] == layer and other.path.kind in _BIASES and len(other.shape) == 1
    ]
    for bias in biases:
        shared = [axis for axis in range(rank) if groups_of.get((number, axis), -1) == groups_of.get((bias, 0), -2)]
        if len(shared) == 1:
            return shared[0]
    return 0 if leaf.path.kind == "weight" else rank - 1


def _in_axis(rank: int, out: int) -> int:
    return 1 if out == 0 else rank - 2
