"""Where the expressions of HLO instructions end.

XLA keeps one end for all expressions that start at the same place: of `exp(x) * y` both the `exp` and the `mul` end
after `exp(x)`. StableHLO has the end of each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxstage_ext.ir.sources.borrowed_frames import primitive, start_of
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.document import INFERRED, Document
from jaxstage_ext.report.frames import Frames, Ints
from jaxstage_ext.report.numbering import Numbering


def widened(
    frame: Ints, scope: Ints, scopes: Sequence[str], computation: Longs, lowered: Document, table: FrameTable
) -> Ints:
    """The frame of each instruction, with the ends that StableHLO has for the same stack and primitive."""
    frames = table.freeze()
    starts = _starts(frames)
    known = _known(lowered, starts)
    frame = _at_call_sites(frame, scope, scopes, frames, starts, lowered)
    instructions: dict[tuple[int, str, int], list[int]] = {}
    for instruction in np.flatnonzero(frame >= 0).tolist():
        name = scopes[scope[instruction]] if scope[instruction] >= 0 else ""
        key = (starts[frame[instruction]], name, int(computation[instruction]))
        instructions.setdefault(key, []).append(instruction)
    result = frame.copy()
    for (start, name, _), same in instructions.items():
        if candidates := known.get((start, name)) or known.get((start, primitive(name))):
            result[same] = _in_order(candidates, len(same), table)
    return result


def _at_call_sites(
    frame: Ints, scope: Ints, scopes: Sequence[str], frames: Frames, starts: list[int], lowered: Document
) -> Ints:
    """The frame of each instruction without those that its function borrowed, where StableHLO has none of it.

    Of a stack that StableHLO does not have, the innermost frame is left out where its primitive stands elsewhere.
    """
    rows = np.flatnonzero(lowered.frame >= 0).tolist()
    stacks = {starts[lowered.frame[row]] for row in rows}
    made = {
        (start_of(lowered.frames, int(lowered.frame[row])), primitive(lowered.scopes[lowered.scope[row]]))
        for row in rows
        if lowered.scope[row] >= 0 and not lowered.flags[row] & INFERRED
    }
    result = frame.copy()
    for instruction in np.flatnonzero((frame >= 0) & (scope >= 0)).tolist():
        here, name = int(frame[instruction]), primitive(scopes[scope[instruction]])
        if starts[here] in stacks or (start_of(frames, here), name) in made:
            continue
        callers = [caller for caller in frames.stack(here) if starts[caller] in stacks]
        result[instruction] = callers[0] if callers else here
    return result


def _in_order(frames: list[int], instructions: int, table: FrameTable) -> list[int]:
    """The frame of each instruction: of `a * b * c` the inner product comes first; where it is open, the whole.

    Expressions that start alike are nested, so that the inner one is computed first, but for derivatives.
    """
    ends = [table.end_of(frame) for frame in frames]
    if len(frames) == instructions and ends == sorted(ends):
        return frames
    return [frames[ends.index(max(ends))]] * instructions


def _known(lowered: Document, starts: list[int]) -> dict[tuple[int, str], list[int]]:
    """Per starts of a stack and name scope, the frames that StableHLO has, one for each operation, in its order.

    They are under the primitive alone too: in a private function a scope begins at the function.
    """
    known: dict[tuple[int, str], list[int]] = {}
    own = (lowered.frame >= 0) & ((lowered.flags & INFERRED) == 0) & (lowered.scope >= 0)
    for row in np.flatnonzero(own).tolist():
        start, name = starts[lowered.frame[row]], lowered.scopes[lowered.scope[row]]
        for part in {name, primitive(name)}:
            known.setdefault((start, part), []).append(int(lowered.frame[row]))
    return known


def _starts(frames: Frames) -> list[int]:
    """A number for each frame's stack, the same for stacks that begin at the same places."""
    numbers = Numbering[tuple[int, ...]]()
    starts: list[int] = []
    columns = (frames.file, frames.function, frames.line, frames.column, frames.parent)
    for file, function, line, column, parent in zip(*(values.tolist() for values in columns), strict=True):
        key = (file, function, line, column, starts[parent] if parent >= 0 else -1)
        starts.append(numbers[key])
    return starts
