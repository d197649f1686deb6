"""Layouts scored by an executor, a few in each task, in the order in which they are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import Any

from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.search.layout_result import LayoutEstimate
from jaxstage_ext.search.layout_specs import LayoutSpecs

Scored = LayoutEstimate | Unavailable
"""An Unavailable is a layout that was lost, with the reason."""
_TURN = 0.25
"""Seconds after which `on_turn` is called though nothing is done."""


@dataclass(frozen=True)
class Scoring:
    """How layouts are scored: a task for the executor, and what is made of its answer here."""

    task: Callable[[Sequence[LayoutSpecs]], Any]
    """Can be pickled where the executor's workers are other processes."""
    read: Callable[[Sequence[LayoutSpecs], Any], Sequence[Scored]]
    at_once: int = 4
    """Layouts of one task."""

    def score(self, layouts: Sequence[LayoutSpecs]) -> Sequence[Scored]:
        """The same without an executor."""
        return self.read(layouts, self.task(layouts)) if layouts else ()


def scored(
    executor: Executor, scoring: Scoring, layouts: Sequence[LayoutSpecs], in_flight: int, on_turn: Callable[[], None]
) -> Iterator[tuple[LayoutSpecs, Scored]]:
    """Each layout with what it scores. `on_turn` is called now and then; what it raises ends this."""
    step = scoring.at_once
    tasks = [layouts[start : start + step] for start in range(0, len(layouts), step)]
    running: dict[Future[Any], Sequence[LayoutSpecs]] = {}
    try:
        while tasks or running:
            while tasks and len(running) < in_flight:
                task = tasks.pop(0)
                running[_submitted(executor, scoring, task)] = task
            done, _ = wait(running, timeout=_TURN, return_when=FIRST_COMPLETED)
            for future in done:
                task = running.pop(future)
                yield from zip(task, _result(scoring, future, task), strict=True)
            on_turn()
    finally:
        for future in running:
            future.cancel()


def _submitted(executor: Executor, scoring: Scoring, task: Sequence[LayoutSpecs]) -> Future[Any]:
    """A task given to an executor; of one that takes none, such as a broken one, its error as the result."""
    try:
        return executor.submit(scoring.task, task)
    except Exception as error:
        refused: Future[Any] = Future()
        refused.set_exception(error)
        return refused


def _result(scoring: Scoring, future: Future[Any], task: Sequence[LayoutSpecs]) -> Sequence[Scored]:
    """What a task gave; whatever an executor of the user's raises loses its layouts and no others."""
    try:
        return scoring.read(task, future.result())
    except Exception as error:
        return [Unavailable(f"{type(error).__name__}: {error}"[:200])] * len(task)
