"""The sentences that answer the questions about a program."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from jaxstage_ext.analysis.collectives.collective_table import Collectives
from jaxstage_ext.analysis.memory.buffers import Kind
from jaxstage_ext.report.text.units import duration, scaled
from jaxstage_ext.report.text.units import share as percent

_LEAST_SHARE = 0.005


class Measure(Enum):
    """What a line takes a share of."""

    LOWER_BOUND = "that time"
    KNOWN_TIME = "the known time"
    ALL_BRANCHES = "the time with every branch, and each loop of unknown length once"
    BYTES = "the bytes moved"
    BYTES_OF_ALL_BRANCHES = "the bytes moved with every branch, and each loop of unknown length once"


class Holding(NamedTuple):
    """What a line holds of the bytes that are live at the peak: bytes of each kind, the most first."""

    line: str
    kinds: Mapping[Kind, int]
    peak: int
    arguments: int


def share(line: str, share: float, measure: Measure, is_inferred: bool = False) -> str:
    """How much one line takes; "" for next to nothing."""
    mark = " (inferred)" if is_inferred else ""
    return f"{line}{mark} takes {percent(share)} of {measure.value}." if share >= _LEAST_SHARE else ""


def costliest(exchanged: Collectives) -> str:
    """The costliest collective, whose cause and line were not looked for."""
    first = exchanged.rows[0]
    head = "One collective" if len(exchanged) == 1 else f"The costliest of {len(exchanged):,} collectives"
    what = f"{head}: {first.op.kind} of {scaled(first.payload, 'B')}"
    return f"{what}. Which line causes it takes one more compile: .collectives, or the Collectives tab."


def holds(holding: Holding) -> str:
    """The line that holds the most memory, and what the arguments hold."""
    held, peak = sum(holding.kinds.values()), scaled(holding.peak, "B")
    kinds = _kinds(holding.kinds)
    if holding.arguments > held:
        arguments = f"Arguments hold {scaled(holding.arguments, 'B')} of the {peak} live at the peak"
        return f"{arguments}; the largest line is {holding.line} with {_sized(held, kinds)}."
    head = f"{holding.line} holds {_sized(held, kinds)} of {peak} live at the peak"
    return f"{head}; {_arguments(holding.arguments)}."


def nothing_held(peak: int, arguments: int) -> str:
    """That no line holds memory."""
    return f"None: {scaled(peak, 'B')} live at the peak; {_arguments(arguments)}."


def _arguments(size: int) -> str:
    return f"arguments hold {scaled(size, 'B')}" if size else "there are no arguments"


def _sized(size: int, kinds: str) -> str:
    return f"{scaled(size, 'B')} ({kinds})" if kinds else scaled(size, "B")


def _kinds(kinds: Mapping[Kind, int]) -> str:
    """What kinds of buffers make up the bytes of a line."""
    if len(kinds) == 1:
        return f"all {next(iter(kinds)).title}"
    return ", ".join(f"{scaled(size, 'B')} {kind.title}" for kind, size in kinds.items())


def costs_a_compile(seconds: float | None) -> str:
    """What an answer costs that takes one more compile; `seconds` is what the first one took."""
    took = "" if seconds is None else f" (this one took {duration(seconds)})"
    return f"Not computed yet: .memory and .answers of the inspection tell, with one more compile{took}."


def largest_alone(shape: str, size: int, line: str, seconds: float | None) -> str:
    """The largest array, as long as it is not known what is live at the peak."""
    where = f" of {line}" if line else ""
    took = "" if seconds is None else f" (this one took {duration(seconds)})"
    return (
        f"The largest array is {shape}{where}, {scaled(size, 'B')}. What is live at the peak takes one more "
        f"compile{took}: .memory and .answers of the inspection tell."
    )


def not_predicted(why: str) -> str:
    """Why nothing predicts a time, beside that none was measured."""
    return why if why.endswith(".") else f"Not predicted: {why}."


def unknown(error: BaseException) -> str:
    """Why a question has no answer."""
    return f"unknown: {' '.join(str(error).split())}"
