"""The module between two passes as a Document, linked to its source by the metadata that XLA prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxstage_ext.ir.hlo import hlo_document
from jaxstage_ext.ir.hlo.places import inline_places, whole_spans
from jaxstage_ext.ir.passes import frame_tables, hlo_line
from jaxstage_ext.ir.passes.frame_tables import Index
from jaxstage_ext.ir.passes.hlo_graph import Graph
from jaxstage_ext.ir.passes.hlo_line import CLOSES, INSTRUCTION, OPENS
from jaxstage_ext.ir.passes.module_size import BOOKKEEPING
from jaxstage_ext.ir.passes.versions import Versions
from jaxstage_ext.ir.sources import links
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.report.document import OP, Document
from jaxstage_ext.report.frames import Ints

PREFIX = "pass:"
"""How the kinds of these documents begin; the number of the version follows."""


def read(versions: Versions, version: int, table: FrameTable, lowered: Document | None = None) -> Document:
    """The document of a version; its frames go to `table`. `lowered` is the StableHLO that it was compiled from."""
    graph = versions.graph(version)
    index = frame_tables.read(versions.tables(version))
    scopes, scope, number = _metadata(versions, version, index)
    frame = _frames(number, index, table)
    if lowered is not None:
        frame = whole_spans.widened(frame, scope, scopes, np.arange(len(frame)), lowered, table)
    instruction = np.array([shape.kind == INSTRUCTION for shape in graph.shapes])
    opcode = np.array([shape.opcode for shape in graph.shapes])
    flags = ((instruction & ~np.isin(opcode, list(BOOKKEEPING))) * OP).astype(np.uint8)
    linked = links.complete(frame, scope, flags, scopes, _graph(graph, opcode))
    rows = np.where(instruction, linked.frame, -1).astype(np.int32)
    return Document(
        f"{PREFIX}{version}",
        versions[version],
        table.freeze(),
        rows,
        linked.flags,
        _folds(graph),
        linked.scope.astype(np.int32),
        scopes,
        linked.origin,
    )


def _metadata(versions: Versions, version: int, index: Index) -> tuple[tuple[str, ...], Ints, Ints]:
    """(names of scopes, per row which, per row XLA's frame number); places without one are added to the index."""
    which = versions.rows(version)[1]
    used, place = np.unique(which, return_inverse=True)
    read = [hlo_line.source(versions.metadata[number]) for number in used.tolist()]
    scopes = {name: number for number, name in enumerate(dict.fromkeys(name for name, _ in read if name))}
    scope = np.array([scopes.get(name, -1) for name, _ in read], np.int32)
    inline = inline_places.add(index, (hlo_line.inline_place(versions.metadata[number]) for number in used.tolist()))
    frame = np.array([frame or own for (_, frame), own in zip(read, inline, strict=True)], np.int32)
    return tuple(scopes), scope[place], frame[place]


def _frames(number: Ints, index: Any, table: FrameTable) -> Ints:
    frames = hlo_document.frames_of(index, np.unique(number).astype(np.int64), table)
    return frames[np.where(number < len(frames), number, 0)]


def _graph(graph: Graph, opcode: Any) -> links.LinkGraph:
    use = [(row, operand) for row, operands in enumerate(graph.operands) for operand in operands]
    root = {name: max(computation.rows.values(), default=-1) for name, computation in graph.computations.items()}
    call = [(row, root[name]) for row, called in enumerate(graph.called) for name in called if root[name] >= 0]
    caller = {name: row for row, called in reversed([*enumerate(graph.called)]) for name in called}
    home = np.array([caller.get(name, -1) for name in graph.owner], np.int64)
    return links.graph(_edges(use), _edges(call), home, opcode == "parameter", opcode == "tuple")


def _edges(pairs: list[tuple[int, int]]) -> links.Edges:
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def _folds(graph: Graph) -> Ints:
    end = np.full(len(graph.shapes), -1, np.int32)
    opened = -1
    for row, shape in enumerate(graph.shapes):
        if shape.kind == OPENS:
            opened = row
        elif shape.kind == CLOSES and opened >= 0:
            end[opened], opened = row, -1
    return end
