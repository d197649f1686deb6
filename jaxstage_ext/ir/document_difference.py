"""The lines in which two documents of a kind differ: those of HLO by the graphs of both, the others by their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jaxstage_ext.ir import line_difference
from jaxstage_ext.ir.passes import diff
from jaxstage_ext.report.document import Document

AROUND = 3
"""Unchanged lines that are shown around each change."""
MOST_COMPARED = 200_000
"""Lines of a document beyond which it is not compared: that would keep the kernel's other replies waiting."""
SKIPPED = "skipped"
_STATES = {diff.SAME: "same", diff.CHANGED: "changed", diff.GONE: "removed", diff.MOVED: "moved"}
_COUNTED = ("changed", "moved", "removed", "added", "renamed")
Line = tuple[str, int | None, int | None, str]
"""What became of a line, its rows in both documents, from 0, and its text."""


@dataclass(frozen=True, eq=False)
class DocumentDifference:
    """What became of the lines of two documents of a kind."""

    kind: str
    """Of both documents."""
    lines: Sequence[Line]
    """All lines of both, in their order."""

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many lines were changed, moved, removed, added and renamed."""
        counts = Counter(what for what, row, other, _ in self.lines if other is not None or what == "removed")
        return {what: counts[what] for what in _COUNTED}

    def changes(self) -> list[Line]:
        """The lines that differ and those around them; one line in the place of each other stretch."""
        return _changes(self.lines)


def document_difference(before: Document, after: Document) -> DocumentDifference:
    """The difference of two documents of a kind. Raises ValueError where they are too long to compare."""
    longest = max(len(before), len(after))
    if longest > MOST_COMPARED:
        raise ValueError(f"{longest:,} lines are too many to compare line by line; the limit is {MOST_COMPARED:,}")
    if before.kind == "hlo":
        return DocumentDifference("hlo", _hlo_lines(before.text, after.text))
    return DocumentDifference(before.kind, _lines(before.lines, after.lines, before.kind))


def _lines(before: Sequence[str], after: Sequence[str], kind: str) -> list[Line]:
    return [
        (
            pair.what,
            pair.before if pair.before >= 0 else None,
            pair.after if pair.after >= 0 else None,
            after[pair.after] if pair.after >= 0 else before[pair.before],
        )
        for pair in line_difference.line_difference(before, after, kind)
    ]


def _hlo_lines(before: str, after: str) -> list[Line]:
    """By the graphs of both: instructions that were renamed, or stand elsewhere, are matched all the same."""
    found, lines = diff.compare(before, after), list[Line]()
    for left, right in zip(found.left.tolist(), found.right.tolist(), strict=True):
        matched = left >= 0 and right >= 0 and int(found.match_before[left]) == right
        if matched and (state := _STATES[int(found.state_after[right])]) == "same":
            lines.append((state, left, right, found.after[right]))
            continue
        if left >= 0:
            lines.append(_hlo_line(found.state_before, found.before, left, "removed", True))
        if right >= 0:
            lines.append(_hlo_line(found.state_after, found.after, right, "added", False))
    return lines


def _hlo_line(states: Any, lines: Sequence[str], row: int, alone: str, is_before: bool) -> Line:
    state = _STATES[int(states[row])]
    what = alone if state == "removed" else state
    return what, row if is_before else None, None if is_before else row, lines[row]


def _changes(lines: Sequence[Line]) -> list[Line]:
    touched = np.array([what not in ("same", "renamed") for what, *_ in lines], np.bool_)
    near = np.convolve(touched, np.ones(2 * AROUND + 1))[AROUND : AROUND + len(lines)] > 0 if lines else touched
    shown: list[Line] = []
    skipped = 0
    for line, is_near in zip(lines, near.tolist(), strict=True):
        if is_near:
            shown += [_skipped(skipped)] if skipped else []
            shown.append(line)
        skipped = 0 if is_near else skipped + 1
    return [*shown, _skipped(skipped)] if skipped and shown else shown


def _skipped(count: int) -> Line:
    return SKIPPED, None, None, f"{count:,} lines alike" if count > 1 else "1 line alike"
