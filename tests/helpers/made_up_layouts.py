"""A made-up transformer by its named dimensions, and a cost of its layouts that is counted by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jaxstage_ext.search.layout_result import LayoutEstimate
from jaxstage_ext.search.layout_specs import LayoutSpecs
from jaxstage_ext.search.scoring_tasks import Scored, Scoring
from jaxstage_ext.search.search_problem import (
    ArgumentRole,
    DimensionRole,
    SearchedArgument,
    SearchedDimension,
    SearchProblem,
)

DIMENSIONS = ("batch", "time", "d_model", "heads", "head_size", "hidden", "vocab")
_TOGETHER = (("heads", "head_size"), *(("d_model", other) for other in ("heads", "head_size", "hidden", "vocab")))
_DATA = ("batch", "time")
WEIGHTS = {
    "embed": ("vocab", "d_model"),
    "qkv": ("d_model", "heads", "head_size"),
    "out": ("heads", "head_size", "d_model"),
    "up": ("d_model", "hidden"),
    "down": ("hidden", "d_model"),
}
CONTRACTED = {"embed": "vocab", "qkv": "d_model", "out": "heads", "up": "d_model", "down": "hidden"}
"""Of each weight's product with the activations, the dimension that is summed over."""


@dataclass(frozen=True)
class MadeUp:
    """Sizes of the dimensions."""

    sizes: Mapping[str, int] = field(
        default_factory=lambda: dict(batch=64, time=512, d_model=1024, heads=16, head_size=64, hidden=4096, vocab=32000)
    )
    devices: int = 8

    def problem(self, **changes: object) -> SearchProblem:
        weights = [self._argument(f"params/{name}", dims) for name, dims in WEIGHTS.items()]
        tokens = replace(self._argument("tokens", _DATA), role=ArgumentRole.DATA)
        made = SearchProblem((*weights, tokens), tuple(map(_dimension, DIMENSIONS)), self.devices)
        return replace(made, **changes)  # type: ignore[arg-type]

    def _argument(self, path: str, dims: Sequence[str]) -> SearchedArgument:
        shape = tuple(self.sizes[name] for name in dims)
        return SearchedArgument(path, shape, 32, ArgumentRole.PARAMETER, tuple(dims))

    @property
    def scoring(self) -> Scoring:
        return scoring(self.score)

    def score(self, layouts: Sequence[LayoutSpecs]) -> list[LayoutEstimate]:
        return [self._estimate(specs) for specs in layouts]

    def _estimate(self, specs: LayoutSpecs) -> LayoutEstimate:
        """Products at 100 TFLOP/s; partial sums, gradients and gathered weights at 50 GB/s."""
        parts = _parts(specs)
        tokens, data = math.prod(self.sizes[name] for name in _DATA), math.prod(parts[name] for name in _DATA)
        work, moved = 0.0, 0.0
        sizes = dict(specs.mesh)
        for (name, dims), spec in zip(WEIGHTS.items(), specs.arguments, strict=False):
            weight = math.prod(self.sizes[dim] for dim in dims)
            split = math.prod(sizes[axis] for axes in spec for axis in axes)
            work += 6 * tokens * weight / data / math.prod(parts[dim] for dim in dims) / 1e14
            rest = math.prod(self.sizes[d] / parts[d] for d in dims if d != CONTRACTED[name])
            moved += 8 * tokens / data * rest * (parts[CONTRACTED[name]] > 1) / 5e10
            moved += 8 * weight / split * (data > 1) / 5e10
            moved += (
                12 * weight / math.prod(parts[d] for d in dims) * (split > math.prod(parts[d] for d in dims)) / 5e10
            )
        held = specs.argument_bytes(self.problem())
        most = work + moved
        return LayoutEstimate(work, 0.0, moved, held, int(moved * 5e10), (max(work, moved) + most) / 2)


def scoring(score: Callable[[Sequence[LayoutSpecs]], Sequence[Scored]]) -> Scoring:
    """Scores by one function, wherever the executor runs it."""
    return Scoring(score, lambda layouts, scores: scores)


def _parts(specs: LayoutSpecs) -> dict[str, int]:
    """Over how many devices each dimension is computed in parts; weights over the axes of the batch are only stored."""
    sizes = dict(specs.mesh)
    parts = dict.fromkeys(DIMENSIONS, 1)
    dims_of = [*WEIGHTS.values(), _DATA]
    data = {axis for axes in specs.arguments[-1] for axis in axes}
    for dim in DIMENSIONS:
        of_dim = [
            set(axes)
            for dims, spec in zip(dims_of, specs.arguments, strict=True)
            for name, axes in zip(dims, spec, strict=True)
            if name == dim
        ]
        parts[dim] = math.prod(sizes[axis] for axis in set.intersection(*of_dim) - (set() if dim in _DATA else data))
    return parts


def _dimension(name: str) -> SearchedDimension:
    if name in _DATA:
        role = DimensionRole.BATCH if name == "batch" else DimensionRole.SPATIAL
        return SearchedDimension(name, role, frozenset(DIMENSIONS) - {name})
    meets = {other for pair in _TOGETHER if name in pair for other in pair} | set(_DATA)
    return SearchedDimension(name, DimensionRole.MODEL, frozenset(meets) - {name})
