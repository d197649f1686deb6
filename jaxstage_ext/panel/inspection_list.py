"""The inspections of a notebook: those that a live panel shows, or that the user's variables hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxstage_ext.panel.showing import display

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program


@dataclass
class Listed:
    """One call, with the targets that it was inspected for.

    Attributes:
      id: names it as long as the kernel lives.
      programs: of each target.
      models: the live panels that show it, the newest last.
      cell: the cell that it stands in, or that made it; None where that is unknown.
      variables: the names that hold it.
    """

    id: str
    programs: Sequence[Program]
    cell: str | None
    models: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)

    @property
    def first(self) -> Program:
        """The Program of the first target."""
        return self.programs[0]


def listed(variables: Sequence[tuple[str, Program]]) -> list[Listed]:
    """The inspections of the notebook, newest first; `variables` are names and what they hold."""
    calls: dict[int, Listed] = {}
    for model, cell, programs in display.live_panels():
        for program in programs:
            call = calls.setdefault(_number(program), _new(program))
            call.cell = cell or call.cell
            call.models += [model] if model not in call.models else []
    for name, program in variables:
        call = calls.setdefault(_number(program), _new(program))
        call.variables += [name] if name not in call.variables else []
    return [calls[number] for number in sorted(calls, reverse=True)]


def _number(program: Program) -> int:
    return min(other.origin.number for other in (program, *program.targets.values()))


def _new(program: Program) -> Listed:
    return Listed(str(_number(program)), list(program.targets.values()) or [program], program.origin.cell)
