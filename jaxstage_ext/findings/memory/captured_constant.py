"""Arrays that a function closes over, so that XLA compiles their values into the program."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxstage_ext.core.derivative import constant_arguments
from jaxstage_ext.core.inputs import captured
from jaxstage_ext.core.jax_private import jaxprs, refs
from jaxstage_ext.core.stage.stageable import code_of
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings import code_change, jit_site, stakes
from jaxstage_ext.findings.detector import Detector, is_traced
from jaxstage_ext.findings.finding import Certainty, Finding, StakeMeasure
from jaxstage_ext.findings.finding_kind import FindingKind
from jaxstage_ext.findings.memory import memory_finding_wording as wording
from jaxstage_ext.ir.sources.source import is_user
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress

LEAST = 1 << 20
"""Bytes below which a constant is not worth an argument."""
_SECONDS = 50e-9
"""Of compile time a byte, at most: embedding takes 8 ms a MB on a CPU, and folding what is computed of it more."""
_ROOT = re.compile(r"[A-Za-z_]\w*")


def find(program: Program, progress: Progress | None = None) -> list[Finding]:
    """One finding for all captured arrays of some size, named as the function reaches them."""
    held = {id(one): one for one in jaxprs.constants(program.jax_traced.jaxpr) if not refs.is_ref(one)}
    sized = [(one, _bytes(one)) for one in held.values()]
    large = sorted(((one, size) for one, size in sized if size >= LEAST), key=lambda pair: -pair[1])
    if not large:
        return []
    total = sum(size for _, size in large)
    constants = [one for one, _ in large]
    named = [each[0] if each else "" for each in captured.names(program.call.fn, constants)]
    names = tuple(dict.fromkeys(filter(None, named)))
    seconds = stakes.compile_seconds(program)
    most = None if seconds is None else min(seconds, _SECONDS * total)
    line, diff = _changed(program, names)
    return [
        Finding(
            FindingKind.CAPTURED_CONSTANT,
            wording.captured_constants(names, len(large), total),
            stakes.stake(program, StakeMeasure.COMPILE, most),
            line=line,
            names=names,
            change=code_change.change(
                wording.pass_as_argument(names), diff, functools.partial(_as_arguments, constants, named)
            ),
            certainty=Certainty.ESTIMATED,
            caveat=wording.CALLED_WITH_IT if diff else "",
            tab="memory",
        )
    ]


def _bytes(constant: Any) -> int:
    return int(np.prod(np.shape(constant))) * int(getattr(getattr(constant, "dtype", None), "itemsize", 0))


def _as_arguments(constants: Sequence[Any], names: Sequence[str], staged: Staged) -> Staged:
    named = [name or f"constant {place}" for place, name in enumerate(names)]
    return constant_arguments.staged_with(staged, constants, named)


def _changed(program: Program, names: Sequence[str]) -> tuple[str, str]:
    """(line of `def`, diff that makes the names its parameters); "" where there is no such line, or no diff."""
    code = code_of(program.call.fn)
    if code is None or not is_user(code.co_filename):
        return "", ""
    lines = code_change.source_lines(program, code.co_filename)
    tree = jit_site.parsed(lines)
    node = None if tree is None else jit_site.definition(tree, code.co_name, code.co_firstlineno)
    if node is None:
        return jit_site.label(program, code.co_filename, code.co_firstlineno), ""
    where = jit_site.label(program, code.co_filename, node.lineno)
    roots = [found[0] for name in names if (found := _ROOT.match(name))]
    added = list(dict.fromkeys(root for root in roots if root in (*code.co_names, *code.co_freevars)))
    if len(added) < len(set(roots)) or not added or "self" in added or not _is_simple(node):
        return where, ""
    at = node.args.args[-1] if node.args.args else None
    if at is None or at.end_lineno is None or at.end_col_offset is None:
        return where, ""
    text = lines[at.end_lineno - 1]
    column = len(text.encode()[: at.end_col_offset].decode("utf-8", "replace"))
    new = f"{text[:column]}, {', '.join(added)}{text[column:]}"
    return where, code_change.diff(program, code.co_filename, {at.end_lineno: [new]})


def _is_simple(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a parameter can be added behind the last one."""
    given = node.args
    return not (given.defaults or given.vararg or given.kwarg or given.kwonlyargs)


DETECTOR = Detector(FindingKind.CAPTURED_CONSTANT, find, is_traced)
