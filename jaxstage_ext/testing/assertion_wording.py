"""What failed assertions about compiled programs say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jaxstage_ext.report.text.shortened import shortened, some
from jaxstage_ext.report.text.units import plural, scaled

_MOST_LINES, _LONGEST = 12, 300


def failed(program: str, target: str, what: str, details: Iterable[str] = ()) -> str:
    """What is not so of a program, and below it line by line why."""
    lines = [shortened(" ".join(line.split()), _LONGEST) for line in details]
    more = [f"  and {len(lines) - _MOST_LINES:,} more"] if len(lines) > _MOST_LINES else []
    head = f"{shortened(program, _LONGEST)} for {target}: {what}"
    return "\n".join([head, *(f"  {line}" for line in lines[:_MOST_LINES]), *more])


def too_many(kind: str, count: int, most: int) -> str:
    """That there are more collectives of a kind than allowed."""
    return f"{count:,} {kind}, at most {most:,} allowed"


def too_much(what: str, value: float, most: float, unit: str) -> str:
    """That a figure is larger than allowed."""
    return f"{what} is {scaled(value, unit)} ({value:,.0f}), at most {scaled(most, unit)} ({most:,.0f}) allowed"


def unknown(what: str, reason: str) -> str:
    """That a figure is unknown, so that nothing can be asserted of it."""
    return f"{what} is unknown: {reason or 'no reason was recorded'}"


def has_finding(kinds: str, count: int) -> str:
    """That there are findings which must not be."""
    return f"{plural(count, 'finding')} of {kinds}"


def not_looked_for(kind: str, why: str) -> str:
    """That it is unknown whether there is a finding."""
    return f"whether it has the finding {kind!r} is unknown: {why}"


def not_all_looked_for(count: int) -> str:
    """That some kinds of findings could not be looked for, so that it is unknown whether there is one."""
    return f"whether it has a finding is unknown: {plural(count, 'kind')} could not be looked for"


NOT_TRACED = "JAX did not trace it here, so there is no jaxpr to look at"
NOT_SAID = "JAX gives no names of its arguments"


def no_argument(name: str, names: Sequence[str]) -> str:
    """That the function has no such argument."""
    return f"it has no argument {shortened(repr(name), 80)}; it has {some(list(names), 12) or 'none'}"


def not_donated(name: str, count: int, total: int) -> str:
    """That leaves of an argument are not donated, or that no result takes their memory."""
    return f"{shortened(name, 80)} is not donated whole: {count:,} of {plural(total, 'leaf', 'leaves')}"


def leaf(name: str, shape: str, what: str) -> str:
    """What became of the memory of a leaf."""
    return f"{name} {shape}: {what}"


def sends_too_much(sent: float, most: float) -> str:
    """That devices send more than allowed."""
    return too_much("what each device sends", sent, most, "B")


def no_line(line: object, lines: Sequence[str]) -> str:
    """That no equation is of a line, and of which there are some."""
    return f"no equation is of {shortened(repr(line), 120)}; there are some of {some(list(lines), 12) or 'no line'}"


def bad_quantity(value: object, unit: str) -> str:
    """What a quantity is written as."""
    example = "14 GiB" if unit == "B" else "1.5 TFLOP"
    return f"{shortened(repr(value), 80)} is not an amount of {unit}: write a number, or such as {example!r}"


def no_kind(kind: object, kinds: Sequence[str]) -> str:
    """That there is no such kind, and which there are."""
    return f"no kind {shortened(repr(kind), 80)}; there are {', '.join(kinds)}"
