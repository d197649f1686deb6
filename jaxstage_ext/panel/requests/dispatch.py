"""The requests that the panel's front end makes, answered from Inspections.

Columns travel little-endian and gzipped, documents as gzipped UTF-8; a
document above 20 MB is read page by page instead. Nothing is kept between
requests but a document's line table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxstage_ext.panel import assets, jobs
from jaxstage_ext.panel.pack import pack
from jaxstage_ext.panel.params import (
    Answer,
    BadRequest,
    Inspections,
    Method,
    Params,
    document,
    failure,
    inspection,
    integer,
    quoted,
    text,
)
from jaxstage_ext.panel.requests import (
    answer_requests,
    cost_requests,
    kernel_requests,
    margin_requests,
    memory_requests,
    pass_requests,
    sharding_requests,
)
from jaxstage_ext.panel.rows import rows_of
from jaxstage_ext.panel.search import MOST_HITS, find, symbol
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.document_kinds import KINDS

LARGEST_WHOLE = 20_000_000
"""Bytes of text up to which a document is sent whole."""
LONGEST_PAGE = 5000
MOST_OF_LOG, LONGEST_OF_LOG = 200, 1000
"""Of a worker's log: lines, and characters of each."""


def answer(inspections: Inspections, method: str, params: Params) -> Answer:
    """The result and binary buffers for one request.

    Raises BadRequest when the method or a parameter is not as it must be.
    """
    if not isinstance(method, str) or method not in METHODS:
        raise BadRequest(f"unknown method {quoted(method)}; there are {', '.join(METHODS)}")
    if not isinstance(params, Mapping):
        raise BadRequest(f"params of {method!r} must be an object, not {quoted(params)}")
    return METHODS[method](inspections, params)


def reply(inspections: Inspections, request: Any) -> Answer:
    """The message that answers a front end's request, with its buffers; never raises."""
    number = request.get("id") if isinstance(request, Mapping) else None
    message: dict[str, Any] = {"kind": "reply", "id": number}
    try:
        if not isinstance(request, Mapping):
            raise BadRequest("a request must be an object")
        result, buffers = answer(inspections, request.get("method", ""), request.get("params") or {})
    except Exception as error:  # whatever it is belongs to the reader, not to the kernel's log
        refused = failure(error)
        return message | {"error": str(refused), "error_kind": refused.kind, "error_log": refused.has_log}, []
    return message | {"result": result}, buffers


def _columns(table: object, names: Sequence[str]) -> Answer:
    described, buffers = [], []
    for name in names:
        column = getattr(table, name)
        if column is not None:
            kind = "u1" if column.dtype == np.uint8 else "i4"
            described.append({"name": name, "dtype": kind})
            buffers.append(pack(np.ascontiguousarray(column, f"<{kind}").tobytes()))
    return {"columns": described}, buffers


def whole_document(doc: Document) -> Answer:
    """A document's reply in "full" mode, whatever its size."""
    data = rows_of(doc).view(0, len(rows_of(doc))).encode("utf-8", "replace")
    return _described(doc, "full"), [pack(data)]


def _described(doc: Document, mode: str) -> dict[str, Any]:
    size = len(doc.text) if doc.text.isascii() else len(doc.text.encode("utf-8", "replace"))
    return {
        "kind": doc.kind,
        "title": KINDS[doc.kind].title if doc.kind in KINDS else kernel_requests.title(doc.kind),
        "lines": len(doc),
        "bytes": size,
        "mode": mode,
    }


def _get_document(inspections: Inspections, params: Params) -> Answer:
    doc = document(inspections, params)
    if _described(doc, "")["bytes"] <= LARGEST_WHOLE:
        return whole_document(doc)
    return _described(doc, "paged"), []


def _get_page(inspections: Inspections, params: Params) -> Answer:
    doc = document(inspections, params)
    start = integer(params, "start", 0, len(doc))
    end = min(integer(params, "end", start, 1 << 31), len(doc), start + LONGEST_PAGE)
    return {"start": start, "lines": rows_of(doc).lines(start, end)}, []


def _get_columns(inspections: Inspections, params: Params) -> Answer:
    doc = document(inspections, params)
    result, buffers = _columns(doc, doc.COLUMNS)
    return {"scopes": list(doc.scopes)} | result, buffers


def _get_frames(inspections: Inspections, params: Params) -> Answer:
    frames = inspection(inspections, params).frames
    result, buffers = _columns(frames, frames.COLUMNS)
    files = [{"name": f.name, "cell": f.cell, "user": f.user, "label": f.label} for f in frames.files]
    return {"files": files, "functions": list(frames.functions)} | result, buffers


def _get_search(inspections: Inspections, params: Params) -> Answer:
    doc = document(inspections, params)
    total, rows, columns = find(doc, text(params, "query"), bool(params.get("case", False)))
    result = {"total": total, "truncated": total > MOST_HITS}
    return result, [rows.astype("<i4").tobytes(), columns.astype("<i4").tobytes()]


def _get_symbol(inspections: Inspections, params: Params) -> Answer:
    doc = document(inspections, params)
    name = text(params, "name")
    if not name or "\n" in name or len(name) > 1000:
        raise BadRequest(f"name must be a value's name, not {quoted(name)}")
    definition, uses = symbol(doc, name, integer(params, "row", 0, len(doc) - 1))
    return {"definition": definition, "uses": uses}, []


def _get_elapsed(inspections: Inspections, params: Params) -> Answer:
    """Seconds that the running stage has taken: what a page that is loaded anew cannot know."""
    running = [seconds for inspection in inspections if (seconds := inspection.elapsed) is not None]
    return {"elapsed": running[0] if running else None}, []


def _get_log(inspections: Inspections, params: Params) -> Answer:
    lines = inspection(inspections, params).worker_log().splitlines()
    return {
        "lines": [line[:LONGEST_OF_LOG] for line in lines[-MOST_OF_LOG:]],
        "left_out": max(0, len(lines) - MOST_OF_LOG),
    }, []


def _get_flags(inspections: Inspections, params: Params) -> Answer:
    return inspection(inspections, params).flag_table(), []


def _get_script(inspections: Inspections, params: Params) -> Answer:
    """The script of a view that is not part of the panel's own."""
    name = text(params, "doc")
    names = assets.scripts()
    if name not in names:
        raise BadRequest(f"there is no script {quoted(name)}; there is {', '.join(names)}")
    return {}, [pack(assets.text(f"{name}.js").encode())]


def _cancel(inspections: Inspections, params: Params) -> Answer:
    """Stop the job that a request of the method `of` with these parameters began."""
    method = METHODS.get(text(params, "of"))
    if not isinstance(method, jobs.Slow):
        raise BadRequest(f"{quoted(params['of'])} is not a request that can be stopped")
    return {"stopped": method.stop(inspections, {k: v for k, v in params.items() if k != "of"})}, []


METHODS: dict[str, Method] = {
    "document": _get_document,
    "page": _get_page,
    "columns": _get_columns,
    "frames": _get_frames,
    "search": _get_search,
    "symbol": _get_symbol,
    "elapsed": _get_elapsed,
    "flags": _get_flags,
    "log": _get_log,
    "cancel": _cancel,
    "script": _get_script,
    **answer_requests.METHODS,
    **cost_requests.METHODS,
    **kernel_requests.METHODS,
    **margin_requests.METHODS,
    **pass_requests.METHODS,
    **memory_requests.METHODS,
    **sharding_requests.METHODS,
}
