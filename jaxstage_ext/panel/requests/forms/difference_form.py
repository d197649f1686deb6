"""The lines in which documents of two programs differ, as the panel has them."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.ir.document_difference import DocumentDifference
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.document_kinds import KINDS
from jaxstage_ext.report.text.shortened import shortened

MOST_LINES, LONGEST_LINE, LONGEST_REASON = 2000, 400, 600
"""Lines of a difference that are sent of a document, and characters of each."""


def difference_form(before: Program, after: Program) -> dict[str, Any]:
    """The documents that both have, line by line, and why others are not compared; the source where it differs."""
    from jaxstage_ext.program.comparing import program_difference  # it imports JAX

    kinds = (program_difference.SOURCE, *program_difference.COMPARED)
    differences, unknown = program_difference.program_difference(before, after, kinds)
    shown = (
        each for kind, each in differences.items() if kind != program_difference.SOURCE or any(each.counts.values())
    )
    return {
        "documents": [_document(each) for each in shown],
        "unknown": [
            {"title": KINDS[kind].title, "reason": _cut(reason, LONGEST_REASON)} for kind, reason in unknown.items()
        ],
    }


def _document(difference: DocumentDifference) -> dict[str, Any]:
    changes = difference.changes()
    lines = [(what, row, other, _cut(line, LONGEST_LINE)) for what, row, other, line in changes[:MOST_LINES]]
    return {
        "kind": difference.kind,
        "title": KINDS[difference.kind].title,
        "counts": difference.counts,
        "lines": lines,
        "left_out": len(changes) - len(lines),
    }


def _cut(text: str, most: int) -> str:
    return shortened(text, most)
