"""Optimised HLO as a Document: XLA's text to read, and the parsed module for everything else."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxstage_ext.ir import links
from jaxstage_ext.ir.hlo import moved_places, text_rows, whole_spans
from jaxstage_ext.ir.hlo.module import Module
from jaxstage_ext.ir.hlo.moved_places import Moved
from jaxstage_ext.ir.protowire import Longs
from jaxstage_ext.ir.source import FrameTable, Location, is_outside, location_in
from jaxstage_ext.report.document import OP, Document
from jaxstage_ext.report.frames import Ints


def read(text: str, module: Module, table: FrameTable, lowered: Document | None = None) -> Document:
    """The document of a module from its text, printed without metadata, and its columns.

    `lowered` is the StableHLO that it was compiled from, whose frames are in `table` too.
    """
    linked = sources(module, table, lowered)
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
    return Document("hlo", text, table.freeze(), frame, flags, rows.folds, scope, module.scopes, origin)


def sources(module: Module, table: FrameTable, lowered: Document | None = None) -> links.Links:
    """The source that each instruction came from; its stacks are added to `table`."""
    index, used = module.header.stack_frame_index, np.unique(module.stack_frame)
    frames = frames_of(index, used, table, _moved(index, used, lowered))
    frame = frames[np.where(module.stack_frame < len(frames), module.stack_frame, 0)]
    if lowered is not None:
        frame = whole_spans.widened(frame, module.scope, module.scopes, module.computation, lowered, table)
    flags = (module.counts * OP).astype(np.uint8)
    return links.complete(frame, module.scope, flags, module.scopes, module.graph)


def frames_of(index: Any, used: Longs, table: FrameTable, moved: Moved | None = None) -> Ints:
    """For each XLA frame number (0 is none) its frame in `table`, -1 outside the user's program.

    Only the frames in use are added, each with its callers up to the first outside the program. Where places have
    moved, those that are not in `moved` are left out.
    """
    result = np.full(len(index.stack_frames) + 1, -1, np.int32)
    for number in used[(used > 0) & (used < len(result))].tolist():
        chain: list[tuple[int, Location]] = []
        while number and result[number] < 0 and (location := _location(index, number)) is not None:
            if len(chain) > len(index.stack_frames):
                raise ValueError("the stack frames of the module call each other in a circle")
            chain.append((number, location))
            number = index.stack_frames[number - 1].parent_frame_id
        frame = int(result[number])
        for number, location in reversed(chain):
            place = moved.get(location) if moved else location
            result[number] = frame = table.add(place, frame) if place is not None else frame
    return result


def _moved(index: Any, used: Longs, lowered: Document | None) -> Moved:
    """Where the places of an executable of an earlier program are in this one; empty for one of this program."""
    if lowered is None:
        return {}
    named: dict[int, Location] = {}
    for number in used[(used > 0) & (used <= len(index.stack_frames))].tolist():
        while number and number not in named and (location := _location(index, number)) is not None:
            named[number] = location
            number = index.stack_frames[number - 1].parent_frame_id
    used_frames = np.unique(lowered.frame[lowered.frame >= 0]).tolist()
    frames = {caller for frame in used_frames for caller in lowered.frames.stack(frame)}
    return moved_places.moved(
        list(dict.fromkeys(named.values())), [location_in(lowered.frames, frame) for frame in sorted(frames)]
    )


def _location(index: Any, number: int) -> Location | None:
    place = index.file_locations[index.stack_frames[number - 1].file_location_id - 1]
    file = index.file_names[place.file_name_id - 1]
    if is_outside(file):
        return None
    return Location(
        file,
        index.function_names[place.function_name_id - 1] if place.function_name_id else "",
        place.line,
        place.column + 1,
        max(place.end_line, place.line),
        place.end_column + 1 if place.end_column else 0,
    )
