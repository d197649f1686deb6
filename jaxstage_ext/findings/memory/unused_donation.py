"""Donated arguments whose memory no result takes, though one would if it were of the same dtype, shape, sharding, …"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jaxstage_ext.analysis.layouts import layout_text
from jaxstage_ext.analysis.memory.entry_values import ArgumentMemory, ResultMemory
from jaxstage_ext.core.derivative import rematerialization
from jaxstage_ext.core.jax_private import argument_shardings, result_types
from jaxstage_ext.core.stage.stage_definition import TRACE
from jaxstage_ext.core.stage.stageable import unwrap
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import code_change, equation_place, stakes
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.findings.memory import missing_donation, new_values
from jaxstage_ext.findings.memory.entry_by_module import module_values
from jaxstage_ext.findings.staged_changes import of_jaxpr
from jaxstage_ext.program.head.dtype_names import short_dtype
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions import memory
from jaxstage_ext.report.progress import Progress

LEAST = 1 << 20
"""Bytes below which an unused donation is not worth telling."""


class Differs(enum.Enum):
    """In what the result differs from the donated argument; the value is the noun."""

    DTYPE = "dtype"
    SHARDING = "sharding"
    MEMORY = "memory"
    LAYOUT = "layout"
    SHAPE = "shape"


class Unused(NamedTuple):
    """A donated argument, and the result that would take its memory but for one thing."""

    argument: ArgumentMemory
    result: ResultMemory
    differs: Differs
    number: int
    """Of the argument among those of the function."""
    place: int
    """Of the result among those of the function."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each thing that results differ in."""
    every = list(_unused(program))
    found = []
    for differs in Differs:
        of_it = [one for one in every if one.differs is differs]
        if sum(max(one.result.size, one.argument.size or 0) for one in of_it) >= LEAST:
            found.append(_finding(program, differs, of_it))
    return found


def _finding(program: Program, differs: Differs, unused: Sequence[Unused]) -> Finding:
    size = sum(one.result.size for one in unused)
    jaxpr, worst = program.jax_traced.jaxpr.jaxpr, max(unused, key=lambda one: one.argument.size or 0)
    given, made = _type(jaxpr.invars[worst.number].aval), _type(jaxpr.outvars[worst.place].aval)
    eqn = result_types.maker(jaxpr, worst.place)
    is_wider = differs is Differs.SHARDING and _is_wider(program, unused)
    if is_wider:
        code = wording.shard_as_result(worst.argument.name, worst.result.name)
        size = sum(one.argument.size or 0 for one in unused)
    else:
        code = wording.make_alike(worst.argument.name, worst.result.name, differs.value, given)
    return Finding(
        FindingKind.UNUSED_DONATION,
        wording.unused_donation(
            [one.argument.name for one in unused],
            worst.result.name,
            differs.value,
            (given, made),
            sum(one.result.size for one in unused),
        ),
        stakes.stake(program, StakeMeasure.MEMORY, float(size)),
        line=equation_place.place(program, eqn).label if eqn is not None else "",
        names=tuple(one.argument.name for one in unused),
        change=code_change.change(code, "", _stage(program, unused)),
        certainty=Certainty.ESTIMATED,
        tab="memory",
    )


def _type(aval: Any) -> str:
    return f"{short_dtype(aval.dtype)}[{','.join(map(str, aval.shape))}]"


def _stage(program: Program, unused: Sequence[Unused]) -> Any:
    jaxpr = program.jax_traced.jaxpr.jaxpr
    if unused[0].differs is Differs.DTYPE:
        dtypes = {one.place: jaxpr.invars[one.number].aval.dtype for one in unused}
        return of_jaxpr(functools.partial(result_types.converted, dtypes=dtypes))
    given = argument_shardings.named(program.jax_traced)
    if unused[0].differs is Differs.SHARDING and _is_wider(program, unused):
        return functools.partial(_as_results, unused)
    if unused[0].differs is Differs.SHARDING and all(given[one.number] is not None for one in unused):
        return functools.partial(_with_shardings, unused)
    return None


def _is_wider(program: Program, unused: Sequence[Unused]) -> bool:
    """Whether a device holds more of the arguments than of the results, whose shardings are asked for."""
    asked = argument_shardings.asked(program.jax_traced)
    is_asked = all(asked[one.place] is not None for one in unused)
    return is_asked and all((one.argument.size or 0) > one.result.size for one in unused)


def _as_results(unused: Sequence[Unused], staged: Staged) -> Staged:
    traced = unwrap(staged.value(TRACE))
    asked = argument_shardings.asked(traced)
    ins = {one.number: asked[one.place].spec for one in unused}
    return rematerialization.lowered_anew(
        staged, argument_shardings.with_shardings(traced, asked[unused[0].place].mesh, ins, {})
    )


def _with_shardings(unused: Sequence[Unused], staged: Staged) -> Staged:
    traced = unwrap(staged.value(TRACE))
    given = argument_shardings.named(traced)
    outs = {one.place: given[one.number].spec for one in unused}
    mesh = given[unused[0].number].mesh
    return rematerialization.lowered_anew(staged, argument_shardings.with_shardings(traced, mesh, {}, outs))


def _unused(program: Program) -> Iterator[Unused]:
    entry, jaxpr = memory.entry(program), program.jax_traced.jaxpr.jaxpr
    if entry is None or len(entry.arguments) != len(jaxpr.invars) or entry.tokens:
        return
    if not any(argument.donated for argument in entry.arguments):
        return
    arguments, results = module_values(program)
    if len(results) != len(jaxpr.outvars):
        return
    number = {argument.name: at for at, argument in enumerate(entry.arguments)}
    is_state = new_values.states(jaxpr)
    free = [at for at, result in enumerate(results) if result.in_memory_of is None and is_state[at]]
    left = [one for one in arguments if one.donated and not one.becomes and one.size]
    layouts = _layouts(program, len(arguments), len(results))
    for differs in Differs:
        for argument in list(left):
            at = number[argument.name]
            parameter = arguments.index(argument)
            for place in free:
                pair = jaxpr.invars[at].aval, jaxpr.outvars[place].aval
                layout = (layouts[0][parameter], layouts[1][place]) if layouts else ("", "")
                if _difference(argument, results[place], *pair, layout) is differs:
                    yield Unused(argument, results[place], differs, at, place)
                    left.remove(argument)
                    free.remove(place)
                    break


def _difference(
    argument: ArgumentMemory, result: ResultMemory, given: Any, made: Any, layout: tuple[str, str]
) -> Differs | None:
    """The one thing in which they differ; None where they differ in more, or in nothing."""
    if given.shape == made.shape and given.dtype == made.dtype:
        if argument.size != result.size and argument.shape != result.shape:
            return Differs.SHARDING
        if argument.space != result.space:
            return Differs.MEMORY
        return Differs.LAYOUT if layout[0] != layout[1] else None
    if given.shape == made.shape:
        return Differs.DTYPE
    return Differs.SHAPE if given.dtype == made.dtype and given.size == made.size else None


def _layouts(program: Program, arguments: int, results: int) -> tuple[list[str], list[str]] | None:
    """The layouts of the module's arguments and results as text; None where they cannot be told apart."""
    text = program.documents["hlo"].text
    sides = [[str(one) for one in side] for side in layout_text.of_entry(text[: text.find("\n")])]
    return (sides[0], sides[1]) if [len(side) for side in sides] == [arguments, results] else None


DETECTOR = Detector(FindingKind.UNUSED_DONATION, find, missing_donation.applies)
