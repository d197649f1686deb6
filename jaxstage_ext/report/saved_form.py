"""The targets of a call as versioned JSON with compressed binary columns, and back."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxstage_ext.report.document import Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.format_version import SCHEMA_VERSION
from jaxstage_ext.report.frames import Frames, SourceFile, SourceSpan

LARGEST = 256_000_000
"""Characters of documents that one file holds; targets beyond keep their figures alone."""
_MOST_TARGETS, _MOST_FRAMES = 256, 4_000_000

Part = tuple[dict[str, Any], Frames, Mapping[str, Document]]
"""Of one target: summary, frames, documents."""

_DTYPES: dict[str, np.dtype[Any]] = {"i4": np.dtype("<i4"), "u1": np.dtype("u1")}


def _pack(column: np.ndarray[Any, Any]) -> dict[str, str]:
    kind = "u1" if column.dtype == np.uint8 else "i4"
    data = zlib.compress(np.ascontiguousarray(column, _DTYPES[kind]).tobytes(), 1)
    return {"dtype": kind, "data": base64.b64encode(data).decode()}


def _unpack(column: Mapping[str, str], rows: int) -> np.ndarray[Any, Any]:
    """The column, which has at most so many entries. Raises ValueError for one that has more."""
    dtype = _DTYPES[column["dtype"]]
    most = rows * dtype.itemsize
    data = zlib.decompressobj().decompress(base64.b64decode(column["data"]), most + 1)
    if len(data) > most:
        raise ValueError(f"a column has more than {rows:,} entries")
    return np.frombuffer(data, dtype).copy()


def dumps(parts: Mapping[str, Part], own: str, compare: Mapping[str, Any]) -> str:
    """JSON text of the targets' summaries, frames and documents; `loads` gives the same three back.

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
    return json.dumps({"jaxstage": SCHEMA_VERSION} | written[own] | about)


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
            "files": [[f.name, f.cell, f.user] for f in frames.files],
            "functions": list(frames.functions),
            "columns": {name: _pack(getattr(frames, name)) for name in Frames.COLUMNS},
        },
        "documents": {kind: _document(document) for kind, document in documents.items()},
    }


def _document(document: Document) -> dict[str, Any]:
    columns = {name: getattr(document, name) for name in Document.COLUMNS}
    return {
        "text": document.text,
        "scopes": list(document.scopes),
        "columns": {name: _pack(column) for name, column in columns.items() if column is not None},
    }


def loads(text: str) -> tuple[dict[str, Part], str, dict[str, Any]]:
    """(parts by target, the target that was saved, the table of all). Raises ValueError for what `dumps` did not write.

    A file of format 1 holds one target and no table.
    """
    try:
        data = json.loads(text)
        version = data["jaxstage"]
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise ValueError(f"not an inspection saved by JAXStage: {text[:60]!r}") from error
    if version not in (1, SCHEMA_VERSION):
        raise ValueError(f"the inspection has format {version}, this JAXStage reads {SCHEMA_VERSION}; save it again")
    try:
        others = dict(list((data.get("others") or {}).items())[:_MOST_TARGETS])
        own, order = str(data.get("target", "local")), data.get("order") or ["local"]
        names = list(dict.fromkeys([*map(str, order[:_MOST_TARGETS]), own]))
        parts = {name: _read(data if name == own else others[name]) for name in names}
        return parts, own, dict(data.get("compare") or {})
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, zlib.error) as error:
        raise ValueError(f"the saved inspection is damaged: {error}; save it again") from error


def _read(data: Mapping[str, Any]) -> Part:
    raw = data["frames"]
    frames = Frames(
        tuple(SourceFile(*f) for f in raw["files"]),
        tuple(raw["functions"]),
        **{name: _unpack(raw["columns"][name], _MOST_FRAMES) for name in Frames.COLUMNS},
    )
    documents = {
        kind: Document(
            kind=kind,
            text=d["text"],
            frames=frames,
            scopes=tuple(d["scopes"]),
            **{name: _unpack(column, d["text"].count("\n") + 1) for name, column in d["columns"].items()},
        )
        for kind, d in data["documents"].items()
    }
    return data["summary"], frames, documents


def error_of(head: Mapping[str, Any]) -> StageError | None:
    """The StageError that a summary tells of."""
    error = head["error"]
    if error is None:
        return None
    line = error["line"]
    cell = error["label"] if error["label"] != error["file"] else None
    span = SourceSpan(error["file"], cell, "", line, 1, line, 0) if line is not None else None
    return StageError(error["stage"], error["type"], error["message"], span, error["interrupted"])
