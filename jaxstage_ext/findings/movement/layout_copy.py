"""Results that einsum copies into another order of dimensions; arguments and results copied into another layout."""

from __future__ import annotations

import ast

import numpy as np

from jaxstage_ext.core.jax_private import einsum_results, resharded
from jaxstage_ext.core.jax_private.einsum_results import TransposedResult
from jaxstage_ext.findings import code_change, equation_place, staged_changes, stakes
from jaxstage_ext.findings.detector import Detector
from jaxstage_ext.findings.equation_place import EquationPlace
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.movement import argument_layout
from jaxstage_ext.findings.movement import movement_finding_wording as wording
from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.layouts import layouts
from jaxstage_ext.program.source.instruction_places import instruction_places
from jaxstage_ext.report.progress import Progress

LEAST = 0.05
"""Of all bytes moved."""


def is_compiled_from_a_trace(program: Program) -> bool:
    """Whether there is an optimised module, and a jaxpr to change."""
    return program.has_hlo and program.jax_traced is not None


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for each such result that the optimised module copies; else one for what lies at its edge."""
    jaxpr = program.jax_traced.jaxpr.jaxpr
    results = list(einsum_results.transposed(jaxpr))
    places = equation_place.places(program, [one.equation for one in results])
    found = (_finding(program, one, place) for one, place in zip(results, places, strict=True))
    return [one for one in found if one is not None] or argument_layout.find(program)


def _finding(program: Program, result: TransposedResult, place: EquationPlace) -> Finding | None:
    aval = result.equation.outvars[0].aval
    size = aval.size * aval.dtype.itemsize
    table, whole = layouts(program).copies, stakes.figure(program, StakeMeasure.MOVED)
    copies = zip(table["line"], table["bytes"], table["row"], strict=True)
    rows = tuple(int(row) for line, of, row in copies if line == place.label and of == size)
    rows = tuple(row for row in rows if _reads_back(program, row, size))
    if not rows or not whole or 2.0 * size < LEAST * whole:
        return None
    stage = staged_changes.of_jaxpr(resharded.at_equation(result.equation, einsum_results.as_computed))
    asked, computed = _subscripts(program, place, result.permutation)
    diff = _diff(program, place, asked, computed) if asked else ""
    code = wording.as_computed(asked, computed, result.permutation)
    return Finding(
        FindingKind.LAYOUT_COPY,
        wording.transposed_result(asked, computed, size),
        stakes.stake(program, StakeMeasure.MOVED, 2.0 * size),
        line=place.label,
        rows={"hlo": rows},
        names=(f"result[{result.number}]",),
        change=code_change.change(code, diff, stage),
        certainty=Certainty.ESTIMATED,
        caveat=wording.OTHER_ORDER,
        tab="layouts",
    )


def _reads_back(program: Program, row: int, size: int) -> bool:
    """Whether the kernel of an instruction reads an array of that size, as one that computes the result does not."""
    module = program.module
    for number in np.flatnonzero(instruction_places(program).row == row).tolist():
        callers = np.flatnonzero(module.called.at(0) == module.computation[number])
        kernel = int(callers[0]) if len(callers) and module.opcode[callers[0]] == b"fusion" else number
        if any(int(module.shapes.bytes[of]) == size for of in module.operands[kernel] if of >= 0):
            return True
    return False


def _subscripts(program: Program, place: EquationPlace, permutation: tuple[int, ...]) -> tuple[str, str]:
    """The dimensions of the result as einsum's line asks for them and as they are computed; "" unknown."""
    lines = code_change.source_lines(program, place.file) if place.file else ()
    if not 0 < place.line <= len(lines):
        return "", ""
    found = _of_line(lines[place.line - 1].strip())
    asked = found[0].partition("->")[2].replace(" ", "") if len(found) == 1 else ""
    if len(asked) != len(permutation) or not asked.isalpha():
        return "", ""
    computed = dict(zip(permutation, asked, strict=True))
    return asked, "".join(computed[dim] for dim in range(len(asked)))


def _of_line(line: str) -> list[str]:
    """The subscripts with a result in the calls of a line."""
    try:
        tree = ast.parse(line.removesuffix(":") if line.endswith(":") else line)
    except (SyntaxError, ValueError):
        return []
    texts = [str(one.value) for one in ast.walk(tree) if isinstance(one, ast.Constant)]
    return [text for text in texts if "->" in text]


def _diff(program: Program, place: EquationPlace, asked: str, computed: str) -> str:
    old = code_change.source_lines(program, place.file)[place.line - 1]
    new = old.replace(f"->{asked}", f"->{computed}", 1)
    return code_change.diff(program, place.file, {place.line: (new,)}) if new != old else ""


DETECTOR = Detector(FindingKind.LAYOUT_COPY, find, is_compiled_from_a_trace)
