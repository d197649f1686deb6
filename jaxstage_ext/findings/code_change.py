"""The user's source with lines changed, as a diff."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping, Sequence

from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.findings.finding import CodeChange
from jaxstage_ext.program.program import Program

_AROUND = 1
"""Unchanged lines around each change."""


def source_lines(program: Program, file: str) -> tuple[str, ...]:
    """The lines of a source file as they were traced, without line ends; empty where the text is gone."""
    return tuple(line.rstrip("\r\n") for line in program.staged.sources.text(file).lines)


def diff(program: Program, file: str, edits: Mapping[int, Sequence[str]]) -> str:
    """A file with some lines, by number from 1, replaced by others, as `diff -u` writes it; "" without its text."""
    before = source_lines(program, file)
    if not before:
        return ""
    after = [line for number, old in enumerate(before, 1) for line in edits.get(number, (old,))]
    source = program.frame_table.source(file)
    label = source.label if source is not None else file
    marked = difflib.unified_diff(before, after, label, f"{label}, changed", n=_AROUND, lineterm="")
    return "\n".join(marked)


def wrapped(program: Program, file: str, node: ast.expr, before: str, after: str) -> str:
    """A file with text put around an expression of it, as a diff."""
    lines = source_lines(program, file)
    ends = (node.lineno, node.col_offset, before), (node.end_lineno or node.lineno, node.end_col_offset or 0, after)
    edits: dict[int, list[str]] = {}
    for line, offset, added in reversed(ends):
        text = edits.get(line, [lines[line - 1]])[0]
        column = len(lines[line - 1].encode()[:offset].decode("utf-8", "replace"))
        edits[line] = [text[:column] + added + text[column:]]
    return diff(program, file, edits)


def change(code: str, of_diff: str, stage: Callable[[Staged], Staged] | None = None) -> CodeChange:
    """The change as a diff where there is one, else as code to write."""
    return CodeChange(of_diff or code, bool(of_diff), stage)
