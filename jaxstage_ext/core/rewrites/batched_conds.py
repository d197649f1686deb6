"""Conditionals that `jax.vmap` made a selection of, so that every branch runs for every element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.core import equation_runs
from jaxstage_ext.core.jax_private import jaxprs, tracebacks

_MAKERS = frozenset({"_cond_batching_rule", "cond", "switch"})
"""JAX's functions that select: they compare and select nothing but where they batch a conditional."""


@dataclass(frozen=True, eq=False)
class BatchedCond:
    """One such conditional."""

    selection: Any
    """The equation that selects its first result."""
    branches: tuple[Sequence[Any], ...]
    """The equations of each branch."""
    given: tuple[tuple[Any, Any], ...]
    """What a branch is given, and what it is where the branch is taken."""
    runs: int
    """How often it runs in one call."""


def batched_conds(jaxpr: Any) -> Iterator[BatchedCond]:
    """Those of a jaxpr and of the jaxprs that its equations hold, inner ones first."""
    runs: dict[int, int] = {}
    for eqn, (times, _) in equation_runs.equation_runs(jaxpr):
        if eqn.primitive.name == "select_n":
            runs[id(eqn)] = times
    if not runs:
        return
    todo, seen = [jaxpr], {id(jaxpr)}
    while todo:
        current = todo.pop()
        yield from _of_level(current.eqns, runs)
        for _, held in jaxprs.holders(current):
            fresh = [inner for inner in held if id(inner) not in seen]
            seen.update(map(id, fresh))
            todo += fresh


def _of_level(equations: Sequence[Any], runs: dict[int, int]) -> Iterator[BatchedCond]:
    begun: list[int] = []
    for at, eqn in enumerate(equations):
        if not _selects(eqn):
            continue
        if eqn.primitive.name == "eq":
            begun.append(at)
        elif _is_of_results(eqn) and (count := len(eqn.invars) - 1) <= len(begun):
            starts = begun[len(begun) - count :]
            del begun[len(begun) - count :]
            ends = [*starts[1:], at]
            branches = tuple(_own(equations[start:end]) for start, end in zip(starts, ends, strict=True))
            given = tuple((one.outvars[0], one.invars[-1]) for one in equations[starts[0] : at] if _selects_given(one))
            yield BatchedCond(eqn, branches, given, runs.get(id(eqn), 1))


def _selects(eqn: Any) -> bool:
    """Whether an equation compares or selects because a conditional is batched."""
    return eqn.primitive.name in ("eq", "select_n") and not _MAKERS.isdisjoint(tracebacks.own_frames(eqn))


def _is_of_results(eqn: Any) -> bool:
    """Whether it selects by the number of the branch; what a branch is given is selected by whether it is taken."""
    return str(eqn.invars[0].aval.dtype) != "bool"


def _selects_given(eqn: Any) -> bool:
    return eqn.primitive.name == "select_n" and _selects(eqn) and not _is_of_results(eqn)


def _own(equations: Sequence[Any]) -> list[Any]:
    """The equations of a branch without the selections of what it is given, which XLA removes."""
    return [eqn for eqn in equations if eqn.primitive.name != "select_n" or not _selects(eqn)]
