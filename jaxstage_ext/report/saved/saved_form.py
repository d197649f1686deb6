"""The targets of a call as versioned JSON with compressed text and binary columns; `saved_reading` reads it.

An inspection's `to_json` writes one such report; an offline page holds a list of them, which the front end reads.
Beside its documents a target may hold `replies`: of any request, named by method and parameters, what it answers. Only
the front end reads them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import Frames, SourceFile
from jaxstage_ext.report.saved.format_version import REPORT_VERSION
from jaxstage_ext.report.saved.packed_columns import Budget, compressed, packed

LARGEST = 256_000_000
"""Bytes of text that the documents of one file hold; targets beyond keep their figures alone."""
MOST_LINES, MOST_FRAMES = 8_000_000, 4_000_000
"""Lines of documents, and entries of call stacks, that one file holds."""

Part = tuple[dict[str, Any], Frames, Mapping[str, Document]]
"""Of one target: summary, frames, documents."""


def dumps(parts: Mapping[str, Part], own: str, compare: Mapping[str, Any]) -> str:
    """The report as JSON text; `saved_reading.loads` gives the same three back."""
    return json.dumps(report(parts, own, compare))


def report(parts: Mapping[str, Part], own: str, compare: Mapping[str, Any]) -> dict[str, Any]:
    """The targets' summaries, frames and documents, of plain JSON types.

    `own` is the target that the others belong to; `compare` their table.
    """
    budget, written = Budget(LARGEST, MOST_LINES, MOST_FRAMES), {}
    for name in (own, *(name for name in parts if name != own)):
        head, frames, documents = parts[name]
        is_whole = budget.takes(*_size(frames, documents))
        kept_frames, kept = (frames, documents) if is_whole else (Frames(), {})
        written[name] = _part(_shown(head, len(parts), is_whole), kept_frames, kept)
    more = {name: part for name, part in written.items() if name != own}
    about = {"target": own, "order": list(parts), "others": more, "compare": compare}
    return {"jaxstage": REPORT_VERSION} | written[own] | about


def _size(frames: Frames, documents: Mapping[str, Document]) -> tuple[int, int, int]:
    """Bytes of text, lines and frames."""
    texts = [documents[kind].text for kind in documents]
    sizes = [len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts]
    return sum(sizes), sum(len(documents[kind]) for kind in documents), len(frames)


def _shown(head: Mapping[str, Any], targets: int, whole: bool) -> dict[str, Any]:
    """The summary as what is saved can show it."""
    notes = list(head.get("notes") or [])
    if not whole:
        notes.append(f"Its documents are not in the saved file, which holds at most {LARGEST / 1e6:,.0f} MB of text.")
    more = [*(["compare"] if targets > 1 else []), *(["shardings"] if head.get("shardings") else [])]
    return {**head, "views": ["code", *more], "notes": notes}


def _part(head: Mapping[str, Any], frames: Frames, documents: Mapping[str, Document]) -> dict[str, Any]:
    return {
        "summary": head,
        "frames": {
            "files": [_file(file) for file in frames.files],
            "functions": list(frames.functions),
            "columns": {name: packed(getattr(frames, name)) for name in Frames.COLUMNS},
        },
        "documents": {kind: _document(document) for kind, document in documents.items()},
    }


def _file(file: SourceFile) -> list[Any]:
    """A file's name, its cell and whether it is the user's; where it is in an editor, also its cells and checksum."""
    cells, crc = file.in_editor()
    return [file.public_name, file.cell, file.user, *([list(cells), crc] if cells or crc is not None else [])]


def _document(document: Document) -> dict[str, Any]:
    columns = {name: getattr(document, name) for name in Document.COLUMNS}
    return {
        "text": {"encoding": "utf-8", "data": compressed(document.text.encode("utf-8", "surrogatepass"))},
        "scopes": list(document.scopes),
        "columns": {name: packed(column) for name, column in columns.items() if column is not None},
    }
