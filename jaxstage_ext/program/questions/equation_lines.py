"""The user's lines of single equations: inside of cond and jit JAX keeps a part of the stack, those around say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.equation_runs import inner_of
from jaxstage_ext.core.jax_private import jaxprs
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.source.instruction_places import line_label
from jaxstage_ext.report.frames import Frames


def frames_around(jaxpr: Any, equations: Iterable[Any], frame_of: Callable[[Any], int]) -> list[list[int]]:
    """The frames of each equation and of those that hold it, from the inside out; -1 where there is none."""
    holding = HoldingEquations(jaxpr)
    return [[frame_of(eqn) for eqn in (one, *holding.around(one))] for one in equations]


def nearest_line(frames: Frames, frame: int) -> str:
    """The line that counts of a frame, the user's or a library's; "" without a frame."""
    return line_label(frames, int(frames.user[frame])) if frame >= 0 else ""


def users_line(frames: Frames, around: Sequence[int]) -> str:
    """The innermost line of the user's; "" without."""
    return next((nearest_line(frames, frame) for frame in around if frame >= 0 and not frames.in_library[frame]), "")


def lines_of_primitive(program: Program, name: str) -> list[str]:
    """The lines of the equations of a primitive, each once."""
    if (traced := program.jax_traced) is None:
        return []
    jaxpr = traced.jaxpr.jaxpr
    equations = [eqn for eqn, _ in jaxprs.nested_equations(jaxpr) if eqn.primitive.name == name]
    around = frames_around(jaxpr, equations, jaxpr_lines.frame_reader(program.frame_table))
    frames = program.frame_table.freeze()
    return list(dict.fromkeys(filter(None, (users_line(frames, at) or nearest_line(frames, at[0]) for at in around))))


class HoldingEquations:
    """The equations around those of a jaxpr."""

    def __init__(self, jaxpr: Any) -> None:
        self._holder: dict[int, Any] = {}
        """By the id of an equation; None where several equations share its jaxpr."""
        seen: set[int] = set()
        todo = [jaxpr]
        while todo:
            for eqn in todo.pop().eqns:
                for inner in inner_of(eqn):
                    is_shared = id(inner) in seen
                    self._holder.update((id(one), None if is_shared else eqn) for one in inner.eqns)
                    todo.extend([] if is_shared else [inner])
                    seen.add(id(inner))

    def around(self, eqn: Any) -> Iterator[Any]:
        """The equations that hold it, from the inside out, as far as each is the only one."""
        while (eqn := self._holder.get(id(eqn))) is not None:
            yield eqn
