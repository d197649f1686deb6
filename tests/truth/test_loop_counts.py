"""How often loops run, as Python's own loop with the same counter does, on every platform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from jaxstage_ext import inspect
from jaxstage_ext.analysis.cost.loops.executions import Counter, trips
from jaxstage_ext.ir.hlo.module import Module
from tests.truth.expectation import Expectation, UserProgram, holds, rows

TARGETS = ("local", "v5e:2x2", "h100")
SHAPE = (8, 128)


def loop(start: Any, go_on: Callable[[Any], Any], step: Callable[[Any], Any]) -> UserProgram:
    """A while loop whose body takes one sine of each element."""

    def body(carry: Any) -> Any:
        return step(carry[0]), jnp.sin(carry[1])

    def run(x: jax.Array) -> Any:
        return lax.while_loop(lambda carry: go_on(carry[0]), body, (start, x))[1]

    return UserProgram(run, (jnp.ones(SHAPE),))


def in_python(start: Any, go_on: Callable[[Any], Any], step: Callable[[Any], Any]) -> int:
    """The same loop, run."""
    count, value = 0, jnp.asarray(start)
    while bool(go_on(value)):
        count, value = count + 1, step(value)
    return count


LOOPS: dict[str, tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "less_than": (0, lambda i: i < 10, lambda i: i + 1),
    "not_equal": (0, lambda i: i != 20, lambda i: i + 2),
    "at_most_by_three": (0, lambda i: i <= 10, lambda i: i + 3),
    "downwards": (10, lambda i: i > 0, lambda i: i - 3),
    "down_to_zero": (10, lambda i: i >= 0, lambda i: i - 1),
    "doubling": (1, lambda i: i < 1000, lambda i: i * 2),
    "halving": (1024, lambda i: i > 1, lambda i: i // 2),
    "shifting": (1024, lambda i: i > 0, lambda i: lax.shift_right_logical(i, 1)),
    "squaring": (2, lambda i: i < 1000, lambda i: i * i),
    "by_an_eighth": (0.0, lambda i: i < 1.0, lambda i: i + 0.125),
    "bytes_by_three": (jnp.uint8(0), lambda i: i < jnp.uint8(200), lambda i: i + jnp.uint8(3)),
}


def program(name: str) -> Callable[[], UserProgram]:
    def made() -> UserProgram:
        return loop(*LOOPS[name])

    made.__name__ = name
    return made


PROGRAMS = {name: program(name) for name in LOOPS}


def never_equal() -> UserProgram:
    """Two at a time past an odd end: it runs for ever."""
    return loop(0, lambda i: i != 5, lambda i: i + 2)


def sines(inspection: Any) -> float:
    work = inspection.cost.work
    rows_of = [row for row in work.shown if work.transcendentals[row] > 0]
    return float(sum(work.transcendentals[row] * work.runs[row] for row in rows_of)) / (SHAPE[0] * SHAPE[1])


def is_exact(inspection: Any) -> bool:
    return bool(inspection.cost.work.flops_range.is_exact)


@rows(*(
    Expectation(PROGRAMS[name], target, "sines", sines, float(in_python(*LOOPS[name])), "the same loop run in Python")
    for name in LOOPS for target in TARGETS
))  # fmt: skip
def test_a_loop_counts_as_often_as_it_runs(expectation: Expectation) -> None:
    holds(expectation)


@rows(
    *(Expectation(PROGRAMS[name], "v5e:2x2", "is exact", is_exact, True, "the counter is made of constants")
      for name in ("not_equal", "doubling", "halving")),
    *(Expectation(never_equal, target, "is exact", is_exact, False, "it has no end") for target in TARGETS),
)  # fmt: skip
def test_a_known_length_leaves_nothing_open(expectation: Expectation) -> None:
    holds(expectation)


@pytest.mark.parametrize(("counter", "count"), [
    (Counter(0, "LE", 2**31 - 1, 1, -(2**31), 2**31 - 1), None),
    (Counter(0, "LT", 2**31 - 1, 1, -(2**31), 2**31 - 1), 2**31 - 1),
    (Counter(0, "LT", 2**31 - 1, 2, -(2**31), 2**31 - 1), None),
    (Counter(5, "LT", 5, 1, -128, 127), 0),
    (Counter(5, "GT", 10, -1, -128, 127), 0),
    (Counter(0, "GE", 0, -1, 0, 255), None),
    (Counter(3, "NE", 3, 1, -128, 127), 0),
    (Counter(0, "LT", 10, -1, -128, 127), None),
])  # fmt: skip
def test_a_counter_that_wraps_around_has_no_length(counter: Counter, count: int | None) -> None:
    assert trips(counter) == count


def test_an_endless_loop_is_read_once_not_in_each_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    function, arguments, _ = never_equal()
    inspection = inspect(function, *arguments)
    reads: list[int] = []
    fields = Module.fields
    monkeypatch.setattr(Module, "fields", lambda ops, rows, *given: reads.append(1) or fields(ops, rows, *given))
    assert not inspection.cost.work.flops_range.is_exact
    assert 0 < len(reads) < 500, "of 5,000 iterations that are tried"
