"""Names of targets that a typed text may go on with; no compiler is asked and JAX is not imported."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import prod

from jaxstage_ext.core.targets.target import GPUS, TPUS, TargetError, parse

_MOST = 256
"""The most devices of a proposed target; larger ones are typed in full."""
_SIZES = tuple(2**n for n in range(9))


def names(typed: str) -> list[str]:
    """Targets that begin with the text: one of each kind, and the usual sizes of a kind that is typed with its `:`."""
    kind, colon, _ = typed.partition(":")
    offered = _sizes(kind) if colon else ("local", "cpu:8", *TPUS.values(), *(f"{gpu}:8" for gpu in GPUS))
    return [name for name in offered if name.startswith(typed)]


def _sizes(kind: str) -> Iterator[str]:
    if kind == "cpu" or kind in GPUS:
        yield from (f"{kind}:{size}" for size in _SIZES if size <= _MOST)
    if kind in TPUS:
        named = (f"{kind}:{'x'.join(map(str, shape))}" for shape in _slices(TPUS[kind].count("x") + 1))
        yield from dict.fromkeys([TPUS[kind], *filter(_is_target, named)])


def _slices(axes: int) -> list[tuple[int, ...]]:
    """The shapes in which slices are usually offered: about as long as they are wide."""
    shapes = combinations_with_replacement(_SIZES, axes)
    return sorted((s for s in shapes if prod(s) <= _MOST and s[-1] <= 2 * s[0]), key=prod)


def _is_target(name: str) -> bool:
    try:
        parse(name)
    except TargetError:
        return False
    return True
