"""Optimised HLO as a Document: XLA's text to read, and the parsed module for everything else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo import text_rows
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.places import rewritten_products, whole_spans
from jaxstage_ext.ir.hlo.places.cached_places import CachedPlaces, location_of
from jaxstage_ext.ir.sources import links
from jaxstage_ext.ir.sources.source import FrameTable, Location
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.document import INFERRED, OP, Document
from jaxstage_ext.report.frames import Ints

MANY_PARAMETERS = 6
"""From as many on, the parameters that the entry computation begins with fold."""


def read(
    text: str,
    module: Module,
    table: FrameTable,
    lowered: Document | None = None,
    cached: CachedPlaces | None = None,
) -> Document:
    """The document of a module from its text, printed without metadata, and its columns.

    `lowered` is the StableHLO that it was compiled from, whose frames are in `table` too. `cached` are the places of a
    module that was compiled from an earlier program.
    """
    linked = sources(module, table, lowered, cached)
    rows = text_rows.read(text, module.names)
    columns = [np.full(rows.total, -1, np.int32) for _ in range(3)]
    flags = np.zeros(rows.total, np.uint8)
    shown = np.flatnonzero(rows.instruction >= 0)
    instructions = rows.instruction[shown]
    for column, values in zip(columns, (linked.frame, linked.scope, linked.origin), strict=True):
        column[shown] = values[instructions]
    flags[shown] = linked.flags[instructions]
    frame, scope, origin = columns
    inferred = origin >= 0
    origin[inferred] = rows.row[origin[inferred]]
    folds = with_parameters(rows, module)
    return Document("hlo", text, table.freeze(), frame, flags, folds, scope, linked.scopes, origin)


def with_parameters(rows: text_rows.TextRows, module: Module) -> Ints:
    """The rows that fold, of the entry computation also the parameters that it begins with, where they are many."""
    heads = np.flatnonzero(rows.folds >= 0)
    if not len(heads):
        return rows.folds
    first, end = int(heads[-1]) + 1, int(rows.folds[heads[-1]])
    inside = rows.instruction[first:end]
    others = np.flatnonzero((inside < 0) | (module.opcode[inside] != b"parameter"))
    count = int(others[0]) if len(others) else 0
    folds = rows.folds.copy()
    if count >= MANY_PARAMETERS:
        folds[first] = first + count - 1
    return folds


def sources(
    module: Module, table: FrameTable, lowered: Document | None = None, cached: CachedPlaces | None = None
) -> links.Links:
    """The source that each instruction came from; its stacks are added to `table`. Arguments as of `read`."""
    scope, scopes = (module.scope, module.scopes) if cached is None else cached.scoped(module)
    if cached is None or cached.frame is None:
        index, used = module.header.stack_frame_index, np.unique(module.stack_frame)
        frames = frames_of(index, used, table)
        frame = frames[np.where(module.stack_frame < len(frames), module.stack_frame, 0)]
    else:
        frame = cached.frames(module.stack_frame)
    if lowered is not None:
        frame = whole_spans.widened(frame, scope, scopes, module.computation, lowered, table)
    flags = (module.counts * OP).astype(np.uint8)
    named = rewritten_products.named_after(module, frame, scope, scopes)
    products, views = np.array(list(named), np.int64), np.array(list(named.values()), np.int64)
    frame, scope = _moved(frame, products, views), _moved(scope, products, views)
    graph = replace(module.graph, by_reader=rewritten_products.of_constants(module))
    linked = links.complete(frame, scope, flags, scopes, graph)
    linked.origin[products] = views
    linked.flags[products] |= INFERRED
    return linked if cached is None or not cached.lost else links.without(linked, _lost(module, cached))


def _moved(values: Ints, products: Longs, views: Longs) -> Ints:
    """With the values of views at the products."""
    if not len(products):
        return values
    values = values.copy()
    values[products] = values[views]
    return values


def _lost(module: Module, cached: CachedPlaces) -> npt.NDArray[np.bool_]:
    """The instructions whose place is not known though XLA kept one."""
    return np.isin(module.stack_frame, list(cached.lost))


def frames_of(index: Any, used: Longs, table: FrameTable) -> Ints:
    """For each XLA frame number (0 is none) its frame in `table`, -1 outside the user's program.

    Only the frames in use are added, each with its callers up to the first outside the program.
    """
    result = np.full(len(index.stack_frames) + 1, -1, np.int32)
    for number in used[(used > 0) & (used < len(result))].tolist():
        chain: list[tuple[int, Location]] = []
        while number and result[number] < 0 and (location := location_of(index, number)) is not None:
            if len(chain) > len(index.stack_frames):
                raise ValueError("the stack frames of the module call each other in a circle")
            chain.append((number, location))
            number = index.stack_frames[number - 1].parent_frame_id
        frame = int(result[number])
        for number, location in reversed(chain):
            result[number] = frame = table.add(location, frame)
    return result
