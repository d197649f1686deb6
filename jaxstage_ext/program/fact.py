"""Facts: questions about a Program that are answered once, and that tell whether they were answered already."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Generic, TypeVar

from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

Value = TypeVar("Value")


class Fact(Generic[Value]):
    """A question about a Program. The answer lives in the Program, and is computed once, by the first who asks."""

    def __init__(self, compute: Callable[[Program, Progress | None], Value]) -> None:
        self._compute = compute
        functools.update_wrapper(self, compute)

    def __call__(self, program: Program, progress: Progress | None = None) -> Value:
        """The answer. `progress` is told how far it is where computing it takes long; what it raises ends that.

        Raises Unavailable where only another process can compute it, and what computing it raises.
        """
        try:
            return program.results.once(self, lambda: self._compute(program, progress))
        except ValueError:
            program.check_here()
            raise

    def is_known(self, program: Program) -> bool:
        """Whether the answer was computed already. Computes nothing."""
        return self in program.results

    def known(self, program: Program) -> Value | None:
        """The answer if it was computed already, else None. Computes nothing."""
        value: Value | None = program.results.known(self)
        return value


def fact(compute: Callable[[Program], Value]) -> Fact[Value]:
    """Make a Fact of a function that reads a Program."""

    @functools.wraps(compute)
    def without_progress(program: Program, progress: Progress | None) -> Value:
        return compute(program)

    return Fact(without_progress)


def slow_fact(compute: Callable[[Program, Progress | None], Value]) -> Fact[Value]:
    """Make a Fact of a function that takes long, such as a compile in the worker, and tells how far it is."""
    return Fact(compute)
