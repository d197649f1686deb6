"""The requests that read documents: their text whole or in pages, their columns, call stacks, what is searched for.

Documents travel as gzipped UTF-8; one above 20 MB is read page by page instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from jaxstage_ext.ir import operation_help
from jaxstage_ext.ir.hlo.places import parameter_paths
from jaxstage_ext.panel import params as given
from jaxstage_ext.panel.params import Answer, BadRequest, Method, Params, Programs, quoted
from jaxstage_ext.panel.search import MOST_HITS, find, symbol
from jaxstage_ext.panel.wire_form import pack, packed
from jaxstage_ext.program.head.document_titles import title_of
from jaxstage_ext.program.head.extra_documents import extra_document
from jaxstage_ext.program.source import library_source
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.frames import SourceFile
from jaxstage_ext.report.line_table import rows_of
from jaxstage_ext.views.computed_facts import authors_arguments

LARGEST_WHOLE = 20_000_000
"""Bytes of text up to which a document is sent whole."""
LONGEST_PAGE = 5000
MOST_SCANNED = 2_000_000
"""Characters of a document that are searched for operations."""
_WORD = re.compile(r"[a-z][a-z0-9_-]*")


def _columns(table: object, names: Sequence[str]) -> Answer:
    columns = {name: getattr(table, name) for name in names}
    return packed({name: column for name, column in columns.items() if column is not None})


def document(programs: Programs, params: Params) -> Document:
    """The Document that `call` and `doc` name. Raises BadRequest where there is none."""
    program, kind = given.program(programs, params), given.text(params, "doc")
    if kind in program.documents:
        return program.documents[kind]
    if (extra := extra_document(program, kind)) is None:
        raise BadRequest(f"there is no {quoted(kind)} document; there is {', '.join(program.documents) or 'none'}")
    return extra


def whole_document(doc: Document) -> Answer:
    """A document's reply in "full" mode, whatever its size."""
    data = rows_of(doc).view(0, len(rows_of(doc))).encode("utf-8", "replace")
    return _described(doc, "full"), [pack(data)]


def _described(doc: Document, mode: str) -> dict[str, Any]:
    size = len(doc.text) if doc.text.isascii() else len(doc.text.encode("utf-8", "replace"))
    return {
        "kind": doc.kind,
        "title": title_of(doc.kind),
        "lines": len(doc),
        "bytes": size,
        "mode": mode,
    }


def _get_document(programs: Programs, params: Params) -> Answer:
    doc = document(programs, params)
    if _described(doc, "")["bytes"] <= LARGEST_WHOLE:
        return whole_document(doc)
    return _described(doc, "paged"), []


def _get_library(programs: Programs, params: Params) -> Answer:
    """What the document is that shows the source of a library."""
    name = given.text(params, "library")
    source = library_source.library_source(given.program(programs, params), name)
    if source is None:
        raise BadRequest(f"no frame of this call is in {quoted(name)}")
    return _described(source, "full"), []


def _get_page(programs: Programs, params: Params) -> Answer:
    doc = document(programs, params)
    start = given.integer(params, "start", 0, len(doc))
    end = min(given.integer(params, "end", start, 1 << 31), len(doc), start + LONGEST_PAGE)
    return {"start": start, "lines": rows_of(doc).lines(start, end)}, []


def _get_columns(programs: Programs, params: Params) -> Answer:
    doc = document(programs, params)
    result, buffers = _columns(doc, doc.COLUMNS)
    return {"scopes": list(doc.scopes)} | result, buffers


def _get_frames(programs: Programs, params: Params) -> Answer:
    frames = given.program(programs, params).frames
    result, buffers = _columns(frames, frames.COLUMNS)
    return {"files": [file_form(file) for file in frames.files], "functions": list(frames.functions)} | result, buffers


def file_form(file: SourceFile) -> dict[str, Any]:
    """A file or cell; `path` is where the user edits it on this machine, which nothing that is saved names."""
    path = file.name if file.user and file.cell is None and os.path.isabs(file.name) else None
    cells, crc = file.in_editor()
    described = {"name": file.public_name, "cell": file.cell, "user": file.user, "label": file.label}
    return described | {"path": path, "cells": list(cells), "crc": crc}


def _get_search(programs: Programs, params: Params) -> Answer:
    doc = document(programs, params)
    total, rows, columns = find(doc, given.text(params, "query"), bool(params.get("case", False)))
    result = {"total": total, "truncated": total > MOST_HITS}
    return result, [rows.astype("<i4").tobytes(), columns.astype("<i4").tobytes()]


def _get_symbol(programs: Programs, params: Params) -> Answer:
    doc = document(programs, params)
    name = given.text(params, "name")
    if not name or "\n" in name or len(name) > 1000:
        raise BadRequest(f"name must be a value's name, not {quoted(name)}")
    definition, uses = symbol(doc, name, given.integer(params, "row", 0, len(doc) - 1))
    return {"definition": definition, "uses": uses}, []


def _get_operations(programs: Programs, params: Params) -> Answer:
    """What the operations that a document names do, a sentence each; of HLO the paths of the arguments too."""
    doc = document(programs, params)
    named = {name.replace("-", "_") for name in _WORD.findall(doc.text[:MOST_SCANNED])}
    sentences = operation_help.HELP.get(doc.kind, {})
    paths = parameter_paths.parameter_paths(doc) if doc.kind == "hlo" else {}
    authors = authors_arguments(given.program(programs, params)) if paths else {}
    arguments = {f"%{name}": f"argument {authors.get(path, path)}" for name, path in paths.items()}
    return {"sentences": {name: said for name, said in sentences.items() if name in named} | arguments}, []


METHODS: dict[str, Method] = {
    "operations": _get_operations,
    "document": _get_document,
    "library": _get_library,
    "page": _get_page,
    "columns": _get_columns,
    "frames": _get_frames,
    "search": _get_search,
    "symbol": _get_symbol,
}
