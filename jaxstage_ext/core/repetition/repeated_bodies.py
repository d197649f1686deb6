"""Runs of equal bodies in a jaxpr: what a Python loop over layers unrolls, and `jax.lax.scan` would hold once.

Two bodies are equal where their equations are alike one by one (`equation_kinds`) and take their operands alike: from
the same place in the body, from the same place in the body before (carried), one value that all read (shared), or each
a value of its own from before the run, such as its layer's parameters. So `scan` over the stacked own values, with what
is carried as its carry, computes the same.
"""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.core.repetition import repeated_source
from jaxstage_ext.core.repetition.body_operands import BodyOperands, Reads
from jaxstage_ext.core.repetition.equation_kinds import EquationKinds
from jaxstage_ext.ir.sources.source import Location

_MOST_PERIODS = 2_000
_MOST_STARTS = 4
_WIDTHS = (1, 2, 4, 8, 16)
_Longs = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class RepeatedBody:
    """Equal bodies that follow one another: the equations `first` to `first + count * length` of one jaxpr."""

    jaxpr: Any
    first: int
    length: int
    count: int
    """How many bodies."""
    equations: int
    """Of all bodies, with those that their equations hold; those of a jaxpr that is shared count once."""
    reads: Reads
    """How many values each body reads, and from where."""
    line: Location | None
    """Of the loop; without one of the call that is repeated, or of the first body's first line. None without source."""
    is_loop: bool
    """Whether `line` is a loop or a comprehension."""


def repeated_bodies(
    jaxpr: Any,
    at_least: int = 3,
    smallest: int = 4,
    source_of: Callable[[str], Sequence[str]] = linecache.getlines,
) -> list[RepeatedBody]:
    """The runs of `at_least` or more equal bodies of `smallest` or more equations each, the largest first.

    Of a closed jaxpr, and of each that its equations hold. Runs do not overlap: where an inner and an outer loop are
    both unrolled, it is the one that `scan` would shorten most. `source_of` gives the lines of a file.
    """
    kinds, found = EquationKinds(), []
    for current in jaxprs.all_jaxprs(jaxpr):
        for first, length, count, reads in _runs(current, kinds, at_least):
            eqns = current.eqns[first : first + length * count]
            if jaxprs.count_with_inner(eqns[:length]) >= smallest:
                line = repeated_source.line_of(eqns, length, source_of)
                equations = jaxprs.count_with_inner(eqns)
                found.append(RepeatedBody(current, first, length, count, equations, reads, *line))
    return sorted(found, key=lambda each: -each.equations)


def _runs(jaxpr: Any, kinds: EquationKinds, at_least: int) -> Iterator[tuple[int, int, int, Reads]]:
    """(first equation, equations of a body, bodies, what they read) of each run."""
    numbers = np.array([kinds.kind(eqn) for eqn in jaxpr.eqns], np.int64)
    taken = np.zeros(len(numbers), bool)
    operands = BodyOperands(jaxpr)
    for start, length, bodies in _candidates(numbers, at_least):
        if not taken[start : start + length * bodies].any():
            first, count, reads = operands.longest_run(start, length, bodies)
            if count >= at_least:
                taken[first : first + length * count] = True
                yield first, length, count, reads


def _candidates(numbers: _Longs, at_least: int) -> list[tuple[int, int, int]]:
    """(first, length, count) where the kinds of equations repeat, those first of which `scan` takes most away."""
    found: list[tuple[int, int, int]] = []
    for period in _periods(numbers):
        alike = numbers[period:] == numbers[:-period]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], alike, [False]]).astype(np.int8)))
        for start, end in edges.reshape(-1, 2).tolist():
            count, spare = divmod(end - start + period, period)
            if count >= at_least:
                shifts = {round(spare * i / (_MOST_STARTS - 1)) for i in range(_MOST_STARTS)}
                found += [(start + shift, period, count) for shift in sorted(shifts)]
    return sorted(found, key=lambda run: (-(run[2] - 1) * run[1], run[1], run[0]))


def _periods(numbers: _Longs) -> list[int]:
    """How far equal stretches lie apart, the most frequent first."""
    apart: Counter[int] = Counter()
    for width in _WIDTHS:
        if 2 * width > len(numbers):
            break
        windows = np.lib.stride_tricks.sliding_window_view(numbers, width)
        which = np.unique(windows, axis=0, return_inverse=True)[1].ravel()
        order = np.argsort(which, kind="stable")
        apart.update(np.diff(order)[np.diff(which[order]) == 0].tolist())
    return [period for period, _ in apart.most_common(_MOST_PERIODS)]
