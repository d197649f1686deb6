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
from jaxstage_ext.report.numbering import Numbering

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
    least_part: float = 0.0,
) -> list[RepeatedBody]:
    """The runs of `at_least` or more equal bodies of `smallest` or more equations each, the largest first.

    None where all of them together have less than `least_part` of the equations.

    Of a closed jaxpr, and of each that its equations hold. Runs do not overlap: where an inner and an outer loop are
    both unrolled, it is the one that `scan` would shorten most. `source_of` gives the lines of a file.
    """
    kinds, found = EquationKinds(), []
    every = jaxprs.all_jaxprs(jaxpr)
    if least_part and _could_repeat(every, at_least) < least_part * sum(len(each.eqns) for each in every):
        return []
    for current in every:
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


def _could_repeat(every: Sequence[Any], at_least: int) -> int:
    """At most how many equations runs have, with what those hold: by their primitives and first results alone."""
    total = 0
    for jaxpr in every:
        kinds = Numbering[Any]()
        numbers = np.array([kinds[id(eqn.primitive), _first_result(eqn)] for eqn in jaxpr.eqns], np.int64)
        runs = {
            at for first, length, count in _candidates(numbers, at_least) for at in range(first, first + length * count)
        }
        repeated = {id(jaxpr.eqns[at]) for at in runs}
        held = [one for eqn, inside in jaxprs.holders(jaxpr) if id(eqn) in repeated for one in inside]
        total += len(runs) + sum(map(jaxprs.count_equations, held))
    return total


def _first_result(eqn: Any) -> Any:
    return getattr(eqn.outvars[0].aval, "shape", None) if eqn.outvars else None


def _candidates(numbers: _Longs, at_least: int) -> list[tuple[int, int, int]]:
    """(first, length, count) where the kinds of equations repeat, those first of which `scan` takes most away."""
    found: list[tuple[int, int, int]] = []
    for period in _periods(numbers):
        if period * at_least > len(numbers):
            continue
        alike = numbers[period:] == numbers[:-period]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], alike, [False]]).astype(np.int8)))
        for start, end in edges.reshape(-1, 2).tolist():
            count, spare = divmod(end - start + period, period)
            if count >= at_least:
                shifts = {round(spare * i / (_MOST_STARTS - 1)) for i in range(_MOST_STARTS)}
                found += [(start + shift, period, count) for shift in sorted(shifts)]
    return sorted(found, key=lambda run: (-(run[2] - 1) * run[1], run[1], run[0]))


def _periods(numbers: _Longs) -> list[int]:
    """How far equal stretches lie apart, the most frequent first; a stretch is told by those of its two halves."""
    apart: Counter[int] = Counter()
    which = numbers
    for width in _WIDTHS:
        if 2 * width > len(numbers):
            break
        if width > 1:
            half, count = width // 2, len(numbers) - width + 1
            which = which[:count] * (len(numbers) + 1) + which[half : half + count]
        which = np.unique(which, return_inverse=True)[1]
        order = np.argsort(which, kind="stable")
        apart.update(np.diff(order)[np.diff(which[order]) == 0].tolist())
    return [period for period, _ in apart.most_common(_MOST_PERIODS)]
