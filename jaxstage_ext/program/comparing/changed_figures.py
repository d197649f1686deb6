"""Which figures of a program are larger or smaller than those of another, and the source line that makes most of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from jaxstage_ext.program.comparing.comparison_columns import COLUMNS, ESTIMATE
from jaxstage_ext.program.comparing.comparison_table import TargetFigures
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.cost import cost
from jaxstage_ext.program.source.line_texts import line_texts
from jaxstage_ext.report.figure import Figure
from jaxstage_ext.report.table import cell, is_number
from jaxstage_ext.report.view_parts import Parts

_LESS_IS_BETTER = ("time", ESTIMATE, "flops", "bytes", "memory", "sent", "collectives", "kernels")
_BY_LINE = ("time", "flops", "bytes")
_LEAST_PART = 0.1
"""Of a change, what a line must make of it to be named."""


class ChangedFigure(NamedTuple):
    """One figure that differs."""

    title: str
    unit: str
    before: float
    after: float
    line: str = ""
    """The line that makes most of the difference: of the second program where that has more, else of the first."""

    @property
    def is_worse(self) -> bool:
        """Whether the second has more, and less is better."""
        return self.after > self.before


def changed_figures(before: Program, after: Program, *figures: TargetFigures) -> list[ChangedFigure]:
    """The figures of both (`figures` are those of the first and of the second) that differ as shown."""
    changed = []
    for name in _LESS_IS_BETTER:
        pair = [of.figures[name] for of in figures]
        values = [float(figure.value) for figure in pair if _is_exact(figure)]
        if len(values) == 2 and len({cell(value, COLUMNS[name].unit) for value in values}) == 2:
            line = _line(before, after, name, values[1] - values[0]) if name in _BY_LINE else ""
            changed.append(ChangedFigure(COLUMNS[name].title, COLUMNS[name].unit, values[0], values[1], line))
    return changed


def _is_exact(figure: Figure) -> bool:
    return is_number(figure.value) and not figure.text


def _line(before: Program, after: Program, name: str, change: float) -> str:
    """The line whose text makes most of a change; "" where none makes much of it."""
    old, new = (_known_by_code(program, name) for program in (before, after))
    sign = 1 if change > 0 else -1
    more, less = (new, old) if change > 0 else (old, new)
    grown = {code: amount - less.get(code, ("", 0.0))[1] for code, (_, amount) in more.items()}
    code = max(grown, key=lambda each: grown[each], default="")
    return more[code][0] if code and grown[code] >= _LEAST_PART * sign * change else ""


def _known_by_code(program: Program, name: str) -> Mapping[str, tuple[str, float]]:
    empty: Mapping[str, tuple[str, float]] = {}
    return Parts().get(name, lambda: _by_code(program, name), empty)


def _by_code(program: Program, name: str) -> Mapping[str, tuple[str, float]]:
    """(line, how much of the figure) by the code that stands there, so that lines of two versions correspond."""
    work, roof = cost(program).work, cost(program).roofline
    values = {"time": roof.seconds - roof.hidden, "flops": roof.flops, "bytes": roof.moved}[name]
    texts, found = line_texts(program), dict[str, tuple[str, float]]()
    for line, amount in zip(*work.shares_by_line(roof.rows, values, roof.bound), strict=True):
        if line:
            code = texts.get(line, line)
            found[code] = line, found.get(code, ("", 0.0))[1] + float(amount)
    return found
