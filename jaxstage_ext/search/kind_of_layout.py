"""Which kind of layout a candidate is."""

from __future__ import annotations

from enum import Enum

from jaxstage_ext.search.followed_storage import is_followed
from jaxstage_ext.search.kinds import LayoutKind
from jaxstage_ext.search.layout_candidate import LayoutCandidate, MeshAxis
from jaxstage_ext.search.search_problem import DimensionRole, SearchProblem


class _Part(Enum):
    DATA = 1
    STORED = 2
    TENSOR = 3
    EXPERT = 4
    SPATIAL = 5


_D, _F, _T, _E, _S = _Part
_PARTS = {DimensionRole.BATCH: _D, DimensionRole.SPATIAL: _S, DimensionRole.EXPERT: _E, DimensionRole.MODEL: _T}
_KINDS = {
    frozenset[_Part](): LayoutKind.REPLICATED,
    frozenset({_D}): LayoutKind.DATA,
    frozenset({_F}): LayoutKind.FSDP,
    frozenset({_D, _F}): LayoutKind.FSDP,
    frozenset({_T}): LayoutKind.TENSOR,
    frozenset({_E}): LayoutKind.EXPERT,
    frozenset({_S}): LayoutKind.SPATIAL,
    frozenset({_D, _T}): LayoutKind.DATA_TENSOR,
    frozenset({_F, _T}): LayoutKind.FSDP_TENSOR,
    frozenset({_D, _F, _T}): LayoutKind.FSDP_TENSOR,
    frozenset({_D, _E}): LayoutKind.DATA_EXPERT,
    frozenset({_D, _S}): LayoutKind.DATA_SPATIAL,
}


def kind_of(problem: SearchProblem, candidate: LayoutCandidate) -> LayoutKind:
    """The kind of a candidate."""
    parts = [_parts_of(problem, axis) for axis in candidate.axes]
    kind = _KINDS.get(frozenset().union(*parts), LayoutKind.MIXED)
    is_two_d = kind is LayoutKind.TENSOR and sum(_T in part for part in parts) > 1
    return LayoutKind.TWO_D if is_two_d else kind


def _parts_of(problem: SearchProblem, axis: MeshAxis) -> frozenset[_Part]:
    """Parameters stored over an axis make it FSDP where it splits data; else the model is split as they are stored."""
    split = frozenset(_PARTS[role] for role in problem.roles(axis.splits))
    if not axis.stores or split & {_T, _E}:
        return split
    return split | {_T if is_followed(problem, axis) else _F}
