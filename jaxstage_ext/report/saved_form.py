"""The targets of a call as versioned JSON with compressed text and binary columns, and back.

An inspection's `to_json` writes one such report; an offline page holds a list of them, which the front end reads.
Beside its documents a target may hold `replies`: of any request, named by method and parameters, what it answers. Only
the front end reads them.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxstage_ext.report.document import Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.format_version import REPORT_VERSION
from jaxstage_ext.report.frames import Frames, SourceFile, SourceSpan

LARGEST = 256_000_000
"""Characters of documents that one file holds; targets beyond keep their figures alone."""
_MOST_TARGETS, _MOST_FRAMES = 256, 4_000_000

Part = tuple[dict[str, Any], Frames, Mapping[str, Document]]
"""Of one target: summary, frames, documents."""

_DTYPES: dict[str, np.dtype[Any]] = {"i4": np.dtype("<i4"), "u1": np.dtype("u1")}


def _pack(column: np.ndarray[Any, Any]) -> dict[str, str]:
    kind = "u1" if column.dtype == np.uint8 else "i4"
    return {"dtype": kind, "data": _compress(np.ascontiguousarray(column, _DTYPES[kind]).tobytes())}


def _compress(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 1)).decode()


def _decompress(text: str, most: int, excess: str) -> bytes:
    """At most `most` bytes. Raises ValueError for more, with the message `excess`, and where the end is missing."""
    stream = zlib.decompressobj()
    data = stream.decompress(base64.b64decode(text), most + 1)
    if len(data) > most:
        raise ValueError(excess)
    if not stream.eof:
        raise ValueError("compressed data ends early")
    return data


def _unpack(column: Mapping[str, str], rows: int) -> np.ndarray[Any, Any]:
    """The column, which has at most so many entries. Raises ValueError for one that has more."""
    dtype = _DTYPES[column["dtype"]]
    data = _decompress(column["data"], rows * dtype.itemsize, f"a column has more than {rows:,} entries")
    return np.frombuffer(data, dtype).copy()


def _unpack_text(text: str | Mapping[str, str]) -> str:
    """A document's text; plain in formats 1 and 2."""
    if isinstance(text, str):
        return text
    data = _decompress(text["data"], 4 * LARGEST, f"a document has more than {4 * LARGEST:,} bytes")
    return data.decode("utf-8", "surrogatepass")


def dumps(parts: Mapping[str, Part], own: str, compare: Mapping[str, Any]) -> str:
    """The report as JSON text; `loads` gives the same three back."""
    return json.dumps(report(parts, own, compare))


def report(parts: Mapping[str, Part], own: str, compare: Mapping[str, Any]) -> dict[str, Any]:
    """The targets' summaries, frames and documents, of plain JSON types.

    `own` is the target that the others belong to; `compare` their table.
    """
    room, written = LARGEST, {}
    for name in (own, *(name for name in parts if name != own)):
        head, frames, documents = parts[name]
        size = sum(len(documents[kind].text) for kind in documents)
        kept = documents if size <= room else {}
        room -= size if size <= room else 0
        written[name] = _part(_shown(head, len(parts), bool(kept) or not documents), frames, kept)
    more = {name: part for name, part in written.items() if name != own}
    about = {"target": own, "order": list(parts), "others": more, "compare": compare}
    return {"jaxstage": REPORT_VERSION} | written[own] | about


def _shown(head: Mapping[str, Any], targets: int, whole: bool) -> dict[str, Any]:
    """The summary as what is saved can show it."""
    notes = list(head.get("notes") or [])
    if not whole:
        notes.append(f"Its documents are not in the saved file, which holds at most {LARGEST / 1e6:,.0f} MB of text.")
    return {**head, "views": ["code", *(["compare"] if targets > 1 else [])], "notes": notes}


def _part(head: Mapping[str, Any], frames: Frames, documents: Mapping[str, Document]) -> dict[str, Any]:
    return {
        "summary": head,
        "frames": {
            "files": [[f.public_name, f.cell, f.user] for f in frames.files],
            "functions": list(frames.functions),
            "columns": {name: _pack(getattr(frames, name)) for name in Frames.COLUMNS},
        },
        "documents": {kind: _document(document) for kind, document in documents.items()},
    }


def _document(document: Document) -> dict[str, Any]:
    columns = {name: getattr(document, name) for name in Document.COLUMNS}
    return {
        "text": {"encoding": "utf-8", "data": _compress(document.text.encode("utf-8", "surrogatepass"))},
        "scopes": list(document.scopes),
        "columns": {name: _pack(column) for name, column in columns.items() if column is not None},
    }


def loads(text: str) -> tuple[dict[str, Part], str, dict[str, Any]]:
    """(parts by target, the target that was saved, the table of all). Raises ValueError for what `dumps` did not write.

    A file of format 1 holds one target and no table. The data of an offline page is read where it has a single report.
    """
    try:
        data = _only_report(json.loads(text))
        version = data["jaxstage"]
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise ValueError(f"not an inspection saved by JAXStage: {text[:60]!r}") from error
    if version not in range(1, REPORT_VERSION + 1):
        raise ValueError(f"the inspection has format {version}, this JAXStage reads {REPORT_VERSION}; save it again")
    try:
        others = dict(list((data.get("others") or {}).items())[:_MOST_TARGETS])
        own, order = str(data.get("target", "local")), data.get("order") or ["local"]
        names = list(dict.fromkeys([*map(str, order[:_MOST_TARGETS]), own]))
        parts = {name: _read(data if name == own else others[name]) for name in names}
        return parts, own, dict(data.get("compare") or {})
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, zlib.error) as error:
        raise ValueError(f"the saved inspection is damaged: {error}; save it again") from error


def _only_report(data: Any) -> Any:
    if isinstance(data, list) and len(data) > 1:
        raise ValueError(f"the page holds {len(data)} inspections; open them one by one")
    return data[0] if isinstance(data, list) and data else data


def _read(data: Mapping[str, Any]) -> Part:
    raw = data["frames"]
    frames = Frames(
        tuple(SourceFile(*f) for f in raw["files"]),
        tuple(raw["functions"]),
        **{name: _unpack(raw["columns"][name], _MOST_FRAMES) for name in Frames.COLUMNS},
    )
    documents = {kind: _read_document(kind, document, frames) for kind, document in data["documents"].items()}
    return data["summary"], frames, documents


def _read_document(kind: str, data: Mapping[str, Any], frames: Frames) -> Document:
    text = _unpack_text(data["text"])
    columns = {name: _unpack(column, text.count("\n") + 1) for name, column in data["columns"].items()}
    return Document(kind=kind, text=text, frames=frames, scopes=tuple(data["scopes"]), **columns)


def error_of(head: Mapping[str, Any]) -> StageError | None:
    """The StageError that a summary tells of."""
    error = head["error"]
    if error is None:
        return None
    line = error["line"]
    cell = error["label"] if error["label"] != error["file"] else None
    span = SourceSpan(error["file"], cell, "", line, 1, line, 0) if line is not None else None
    return StageError(error["stage"], error["type"], error["message"], span, error["interrupted"])
