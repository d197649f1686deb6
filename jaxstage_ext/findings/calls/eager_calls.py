"""A function that ran outside of `jax.jit`: JAX dispatches its operations one by one, and fuses none of them."""

from __future__ import annotations

from types import CodeType

from jaxstage_ext.compilation.history.history import history
from jaxstage_ext.compilation.history.history_rows import line_of
from jaxstage_ext.compilation.records.compile_record import Asker, CompileRecord, Entry
from jaxstage_ext.core.stage.stageable import code_of
from jaxstage_ext.findings import code_change, jit_site
from jaxstage_ext.findings.calls import calls_finding_wording as wording
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, CodeChange, Finding, Stake, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.ir.sources.source import is_user
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

_LEAST, _LEAST_COMPILED = 8, 2
"""Equations of the function, and different operations of its lines that ran by themselves."""


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for a function whose lines ran operations by themselves, and that nothing jitted in this process."""
    code = code_of(program.call.fn)
    if code is None or jit_site.kind(program) is not None or not is_user(code.co_filename):
        return []
    count = len(program.jax_traced.jaxpr.jaxpr.eqns)
    records = [one for one in history().records if one.asker is Asker.USER]
    lines = {line for _, _, line in code.co_lines() if line is not None}
    eager = {one.name for one in records if one.entry is Entry.EAGER and _is_of(one, code.co_filename, lines)}
    if count < _LEAST or len(eager) < _LEAST_COMPILED or any(_is_jitted(one, code) for one in records):
        return []
    is_own = getattr(program.call.fn, "__code__", None) is code
    diff = _decorated(program, code) if is_own else ""
    return [
        Finding(
            FindingKind.EAGER_CALL,
            wording.runs_eagerly(program.name, count),
            Stake(StakeMeasure.DISPATCHES, count - 1, count - 1, count),
            line=jit_site.label(program, code.co_filename, code.co_firstlineno),
            change=CodeChange(diff or wording.jit_it(program.name, not is_own), bool(diff)),
            certainty=Certainty.INFERRED,
            caveat=wording.SHOWN_JITTED,
        )
    ]


def _is_of(record: CompileRecord, file: str, lines: set[int]) -> bool:
    place = line_of(record)
    return place is not None and place.file == file and place.line in lines


def _is_jitted(record: CompileRecord, code: CodeType) -> bool:
    return record.entry is not Entry.EAGER and record.function is not None and record.function.code == code


def _decorated(program: Program, code: CodeType) -> str:
    """The function with a decorator, as a diff; "" where it is called by another, such as jax.grad, or is a method."""
    lines = code_change.source_lines(program, code.co_filename)
    tree = jit_site.parsed(lines) if lines and program.name == code.co_name else None
    node = jit_site.definition(tree, code.co_name, code.co_firstlineno) if tree is not None else None
    if node is None or node.decorator_list or node.col_offset:
        return ""
    return code_change.diff(program, code.co_filename, {node.lineno: ["@jax.jit", lines[node.lineno - 1]]})


DETECTOR = Detector(FindingKind.EAGER_CALL, find, is_traced, is_kept=False)
