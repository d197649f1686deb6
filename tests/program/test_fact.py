"""Facts about a Program: computed once, by the first who asks, and known only then."""

from __future__ import annotations

import threading
import time

import jax.numpy as jnp
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.program.fact import fact, slow_fact
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress


@pytest.fixture(scope="module")
def program() -> Program:
    return inspect(jnp.tanh, 1.0, stage="trace").program


def test_it_is_computed_when_it_is_first_asked_for_and_only_then(program: Program) -> None:
    asked: list[Program] = []

    @fact
    def name_length(program: Program) -> int:
        asked.append(program)
        return len(program.name)

    assert not name_length.is_known(program) and name_length.known(program) is None and not asked
    assert name_length(program) == name_length(program) == len("tanh")
    assert asked == [program] and name_length.known(program) == len("tanh")


def test_each_program_has_its_own_answer(program: Program) -> None:
    name = fact(lambda program: program.name)
    assert (name(program), name(inspect(jnp.sin, 1.0, stage="trace").program)) == ("tanh", "sin")


def test_several_threads_that_ask_at_once_compute_it_once(program: Program) -> None:
    begun: list[int] = []

    @slow_fact
    def slow(program: Program, progress: Progress | None) -> object:
        begun.append(1)
        time.sleep(0.05)
        return object()

    answers: list[object] = []
    threads = [threading.Thread(target=lambda: answers.append(slow(program))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(begun) == 1 and len(answers) == 8 and len(set(map(id, answers))) == 1


def test_a_failure_is_not_kept_and_what_progress_raises_ends_it(program: Program) -> None:
    tries: list[int] = []

    @slow_fact
    def told(program: Program, progress: Progress | None) -> str:
        tries.append(1)
        if progress:
            progress(0.5, "half way")
        return "done"

    def stop(seconds: float, step: str | None = None) -> None:
        raise InterruptedError(step)

    with pytest.raises(InterruptedError, match="half way"):
        told(program, stop)
    assert not told.is_known(program)
    assert (told(program), told(program, stop), len(tries)) == ("done", "done", 2)


def test_an_answer_of_none_is_an_answer(program: Program) -> None:
    asked: list[int] = []
    nothing = fact(lambda program: asked.append(1))
    assert nothing(program) is None and nothing(program) is None
    assert nothing.is_known(program) and len(asked) == 1
