"""Arrays that a loop carries and XLA copies in every iteration, because the body reads them after it writes."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from jaxstage_ext.core.jax_private import jaxprs, loop_bodies, resharded
from jaxstage_ext.findings import equation_place, staged_changes, stakes
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.movement import carry_edits
from jaxstage_ext.findings.movement import movement_finding_wording as wording
from jaxstage_ext.program.device.device_roofline import device_roofline
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import loop_copies
from jaxstage_ext.program.questions.layouts import argument_names_of_module
from jaxstage_ext.program.questions.loop_copies import LoopCopy
from jaxstage_ext.program.source.instruction_places import instruction_places
from jaxstage_ext.report.progress import Progress

LEAST, LEAST_TO_UNROLL = 0.05, 0.25
"""Of all bytes moved, what is told, and what is told where two iterations in one may do without a part."""
_LEAST_BYTES, _LEAST_BYTES_TO_UNROLL = 1 << 20, 1 << 26
_MOST_SHIFTS = 2


class Remedy(enum.Enum):
    """How to do without the copies."""

    READ_FIRST = "the body reads what it needs before it writes"
    SWAP = "two iterations in one, after which arrays that an iteration swaps are in their own places"
    OTHER_BUFFER = "two iterations in one, which may write to the other buffer and back"


class _Way(NamedTuple):
    """A way to do without the copies."""

    change: Callable[[Any], Any]
    """Of the jaxpr."""
    places: Sequence[EquationPlace]
    """Of the writes, or of the loop."""
    remedy: Remedy


def has_loops(program: Program) -> bool:
    """Whether the optimised module has a loop, and there is a jaxpr to change."""
    return program.has_hlo and program.jax_traced is not None and len(program.module.rows(b"while")) > 0


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each loop."""
    module, places = program.module, instruction_places(program)
    by_line: dict[str, list[LoopCopy]] = {}
    for copy in loop_copies.read(module, places, argument_names_of_module(program)):
        if copy.runs is not None and copy.runs > 1:
            by_line.setdefault(places.line[copy.loop], []).append(copy)
    return [one for line, copies in by_line.items() if (one := _finding(program, line, copies)) is not None]


def _finding(program: Program, line: str, copies: Sequence[LoopCopy]) -> Finding | None:
    module = program.module
    moved = sum(2.0 * float(module.shapes.bytes[copy.row]) * (copy.runs or 0.0) for copy in copies)
    whole = stakes.figure(program, StakeMeasure.MOVED)
    way = _way(program, line) if whole and moved >= max(LEAST * whole, _LEAST_BYTES) else None
    if way is None or not whole:
        return None
    if way.remedy is Remedy.OTHER_BUFFER and moved < max(LEAST_TO_UNROLL * whole, _LEAST_BYTES_TO_UNROLL):
        return None
    names = tuple(dict.fromkeys(copy.of for copy in copies if copy.of))
    lines = [place.label for place in way.places if place.label]
    rows = tuple(at for copy in copies if (at := int(instruction_places(program).row[copy.row])) >= 0)
    return Finding(
        FindingKind.CARRY_COPY,
        wording.carry_copied(names, len(copies), moved, max(copy.runs or 0 for copy in copies)),
        _stake(program, copies, moved, way.remedy is Remedy.OTHER_BUFFER),
        line=(lines or [one for copy in copies for one in copy.lines] or [line])[0],
        rows={"hlo": rows},
        names=names,
        change=_change(program, way),
        certainty=Certainty.ESTIMATED,
        tab="layouts",
    )


def _stake(program: Program, copies: Sequence[LoopCopy], moved: float, may_fuse: bool) -> Stake:
    """The time of the copies where the roofline is known, else their bytes; of two iterations in one half the rest."""
    of, most = StakeMeasure.MOVED, moved
    if stakes.figure(program, StakeMeasure.TIME) is not None:
        roof = device_roofline(program)
        seconds = dict(zip(roof.rows.tolist(), roof.seconds.tolist(), strict=True))
        of, most = StakeMeasure.TIME, sum(seconds.get(copy.row, 0.0) for copy in copies)
    whole = stakes.figure(program, of) or 0.0
    return stakes.stake(program, of, most + (whole - most) / 2 if may_fuse and whole > most else most)


def _way(program: Program, line: str) -> _Way | None:
    """How the loops of a line do without; None where that is not known, or differentiation made them."""
    jaxpr = program.jax_traced.jaxpr.jaxpr
    loops = [eqn for eqn, _ in jaxprs.nested_equations(jaxpr) if eqn.primitive.name in loop_bodies.LOOPS]
    at = equation_place.places(program, loops)
    here = [(loop, place) for loop, place in zip(loops, at, strict=True) if place.label == line]
    swapping = [(loop, place) for loop, place in here if loop_bodies.swaps(loop)]
    if not swapping and (way := _reading_first(program, [loop for loop, _ in here])) is not None:
        return way
    scans = swapping or [(loop, place) for loop, place in here if loop.primitive.name == "scan"]
    scans = [(loop, place) for loop, place in scans if loop.params["unroll"] == 1 and _can_unroll(program, loop)]
    if not scans:
        return None
    changes = [resharded.at_equation(loop, loop_bodies.unrolled_twice) for loop, _ in scans]
    how = Remedy.SWAP if swapping else Remedy.OTHER_BUFFER
    return _Way(functools.partial(_each, changes), [place for _, place in scans], how)


def _reading_first(program: Program, loops: Sequence[Any]) -> _Way | None:
    written: list[Any] = []
    changes = []
    for loop in loops if _keeps_barriers(program) else ():
        body, values = loop_bodies.body_of(loop), loop_bodies.carried(loop)
        if loop_bodies.read_first(body, values) is not body:
            written += [eqn for eqn, _ in loop_bodies.writes(body, values)]
            changes.append(resharded.at_equation(loop, loop_bodies.with_reads_first))
    if not changes:
        return None
    return _Way(functools.partial(_each, changes), equation_place.places(program, written), Remedy.READ_FIRST)


def _within(loop: Any) -> list[Any]:
    return [eqn for eqn, _ in jaxprs.nested_equations(loop_bodies.body_of(loop))]


def _can_unroll(program: Program, loop: Any) -> bool:
    """Whether two iterations in one stay small: for CPUs XLA fuses them, and computes a stencil's neighbours again."""
    shifts = sum(eqn.primitive.name == "concatenate" for eqn in _within(loop))
    return program.platform != "cpu" or shifts <= _MOST_SHIFTS


def _keeps_barriers(program: Program) -> bool:
    """Whether XLA keeps an optimization barrier until it has fused: for CPUs it does in jaxlib 0.12, not in 0.10."""
    return program.platform != "cpu" or jax.__version_info__ >= (0, 12)


def _each(changes: Sequence[Callable[[Any], Any]], jaxpr: Any) -> Any:
    return functools.reduce(lambda made, change: change(made), changes, jaxpr)


def _change(program: Program, way: _Way) -> CodeChange:
    stage = staged_changes.of_jaxpr(way.change)
    if way.remedy is not Remedy.READ_FIRST:
        return CodeChange(wording.unroll(way.remedy is Remedy.SWAP), stage=stage)
    place = way.places[0]
    diff = carry_edits.read_first(program, place)
    return CodeChange(diff or wording.read_first(place.label), bool(diff), stage)


DETECTOR = Detector(FindingKind.CARRY_COPY, find, has_loops)
