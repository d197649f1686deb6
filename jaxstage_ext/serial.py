"""An Inspection as versioned JSON with compressed binary columns, and back."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxstage_ext.errors import StageError
from jaxstage_ext.report import SCHEMA_VERSION, Document, Frames, SourceFile, SourceSpan

_DTYPES: dict[str, np.dtype[Any]] = {"i4": np.dtype("<i4"), "u1": np.dtype("u1")}


def _pack(column: np.ndarray[Any, Any]) -> dict[str, str]:
    kind = "u1" if column.dtype == np.uint8 else "i4"
    data = zlib.compress(np.ascontiguousarray(column, _DTYPES[kind]).tobytes(), 1)
    return {"dtype": kind, "data": base64.b64encode(data).decode()}


def _unpack(column: Mapping[str, str]) -> np.ndarray[Any, Any]:
    dtype = _DTYPES[column["dtype"]]
    return np.frombuffer(zlib.decompress(base64.b64decode(column["data"])), dtype).copy()


def dumps(head: Mapping[str, Any], frames: Frames, documents: Mapping[str, Document]) -> str:
    """JSON text; `loads` gives the same three back."""
    return json.dumps(
        {
            "jaxstage": SCHEMA_VERSION,
            "summary": head,
            "frames": {
                "files": [[f.name, f.cell, f.user] for f in frames.files],
                "functions": list(frames.functions),
                "columns": {name: _pack(getattr(frames, name)) for name in Frames.COLUMNS},
            },
            "documents": {kind: _document(document) for kind, document in documents.items()},
        }
    )


def _document(document: Document) -> dict[str, Any]:
    columns = {name: getattr(document, name) for name in Document.COLUMNS}
    return {
        "text": document.text,
        "scopes": list(document.scopes),
        "columns": {name: _pack(column) for name, column in columns.items() if column is not None},
    }


def loads(text: str) -> tuple[dict[str, Any], Frames, dict[str, Document]]:
    """(summary, frames, documents). Raises ValueError for text that `dumps` did not write."""
    try:
        data = json.loads(text)
        version = data["jaxstage"]
    except (json.JSONDecodeError, TypeError, KeyError) as error:
        raise ValueError(f"not an inspection saved by JAXStage: {text[:60]!r}") from error
    if version != SCHEMA_VERSION:
        raise ValueError(f"the inspection has format {version}, this JAXStage reads {SCHEMA_VERSION}; save it anew")
    try:
        return _read(data)
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise ValueError(f"the saved inspection is damaged: {error}; save it anew") from error


def _read(data: Mapping[str, Any]) -> tuple[dict[str, Any], Frames, dict[str, Document]]:
    raw = data["frames"]
    frames = Frames(
        tuple(SourceFile(*f) for f in raw["files"]),
        tuple(raw["functions"]),
        **{name: _unpack(raw["columns"][name]) for name in Frames.COLUMNS},
    )
    documents = {
        kind: Document(
            kind=kind,
            text=d["text"],
            frames=frames,
            scopes=tuple(d["scopes"]),
            **{name: _unpack(column) for name, column in d["columns"].items()},
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
