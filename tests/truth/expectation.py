"""Programs as users write them, and what is known of them from elsewhere: one row an expectation, with its source."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

import jaxstage_ext
from jaxstage_ext.core.targets.target import parse

CLOSE = 1e-3
"""Relative difference that a figure may have, unless its row says otherwise."""


class UserProgram(NamedTuple):
    """A function and what it is called with, `options` being those of `inspect`; made anew for every test run."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = {}


class Expectation(NamedTuple):
    """One thing that a user reads, and what it has to be.

    Attributes:
      program: makes the program, so that nothing is traced when tests are collected.
      target: as `inspect` takes it, such as "local", "cpu:8", "v5e:2x2" or "h100".
      asked: what the user reads, such as "answers bound" or "header FLOPs"; it names the test.
      ask: takes the Inspection and gives what is shown.
      expected: a figure, or text that has to be in what is shown (text is compared with runs of blanks as one).
      source: how the value is known: a hand count, a datasheet, XLA, a run.
      absent: text that must not be in what is shown.
      close: relative difference that a figure may have.
    """

    program: Callable[[], UserProgram]
    target: str
    asked: str
    ask: Callable[[Any], Any]
    expected: Any
    source: str
    absent: Sequence[str] = ()
    close: float = CLOSE


def rows(*expectations: Expectation) -> pytest.MarkDecorator:
    """`@rows(...)` over `def test_...(expectation): holds(expectation)`: a test of each row."""
    named = [
        pytest.param(row, id=f"{row.program.__name__}-{row.target}-{row.asked}".replace(" ", "_"), marks=_needs(row))
        for row in expectations
    ]
    return pytest.mark.parametrize("expectation", named)


def _needs(row: Expectation) -> tuple[pytest.MarkDecorator, ...]:
    platform = parse(row.target).platform
    return (pytest.mark.needs(platform),) if platform in ("tpu", "cuda") else ()


@functools.cache
def inspected(program: Callable[[], UserProgram], target: str) -> Any:
    """The Inspection of a program, staged once in a test run."""
    function, arguments, options = program()
    return jaxstage_ext.inspect(function, *arguments, target=target, **options)


def holds(row: Expectation) -> None:
    """What is shown is what it has to be."""
    shown = row.ask(inspected(row.program, row.target))
    if isinstance(row.expected, str):
        text = " ".join(str(shown).split())
        assert " ".join(row.expected.split()) in text, (
            f"{row.asked} is {text[:600]!r}; by {row.source}: {row.expected!r}"
        )
        assert not [word for word in row.absent if word in text], f"{row.asked} is {text!r}"
    elif isinstance(row.expected, float | int) and not isinstance(row.expected, bool):
        assert shown == pytest.approx(row.expected, rel=row.close, nan_ok=math.isnan(row.expected)), row.source
    else:
        assert shown == row.expected, row.source


def answer(question: str) -> Callable[[Any], str]:
    """Asks for the sentence that answers "bound", "fit", "memory" or "collective"."""

    def asked(inspection: Any) -> str:
        table = inspection.answers
        at = ("bound", "fit", "memory", "collective").index(question)
        return str(table.columns["answer"].values[at])

    return asked


def header(label: str) -> Callable[[Any], str]:
    """Asks for a figure of the header as it is shown, such as "FLOPs"; "" where the header has none of that name."""

    def asked(inspection: Any) -> str:
        return next((fact["text"] for fact in inspection.summary()["facts"] if fact["label"] == label), "")

    return asked
