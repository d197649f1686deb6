"""What of the user's source took part in a program, and where a reader of it starts."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from types import CodeType

import numpy as np
import numpy.typing as npt

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage.stageable import code_of
from jaxstage_ext.ir.sources.source import is_user
from jaxstage_ext.ir.sources.source_regions import UsedPlace, called_at
from jaxstage_ext.report.document import OP, Document
from jaxstage_ext.report.errors import StageError
from jaxstage_ext.report.frames import Frames, Ints, SourceFile


def first_places(call: Call, error: StageError | None) -> list[tuple[str, UsedPlace]]:
    """(file, place) where a reader of the source starts: the line of the error, then the function itself."""
    places = []
    if error is not None and (span := error.span) is not None:
        places.append((span.file, UsedPlace(span.line, span.end_line, span.function)))
    code = code_of(call.fn)
    if code is not None and is_user(code.co_filename):
        line = code.co_firstlineno
        places.append((code.co_filename, UsedPlace(line, line, code.co_qualname)))
    return places


def call_places(call: Call, files: Iterable[SourceFile]) -> Iterator[tuple[str, UsedPlace]]:
    """The lines of the magic and of the call itself, where the call's cell is one of these files."""
    code = code_of(call.fn)
    for source in files:
        if call.cell is not None and source.cell == call.cell:
            lines = linecache.getlines(source.name)
            yield from ((source.name, place) for place in called_at(lines, code.co_name if code else call.name))


def shown_frames(frames: Frames, documents: Iterable[Document], package: str) -> Ints:
    """The user's own frames, and those of the inspected package that operations are linked to."""
    linked = [document.user_frame[document.user_frame >= 0] for document in documents]
    own = frames.inside("")
    return np.union1d(own, np.intersect1d(np.concatenate([own, *linked]), frames.inside(package)))


def caller_frames(call: Call, frames: Frames, documents: Iterable[Document]) -> Ints:
    """The frames that only called the function: those above it that no operation is linked to."""
    inside = _inside(code_of(call.fn), frames)
    if not inside.any():
        return np.zeros(0, np.int32)
    made = np.zeros(len(frames), bool)
    for document in documents:
        made[document.user_frame[(document.user_frame >= 0) & ((document.flags & OP) > 0)]] = True
    return np.flatnonzero(~inside & ~made).astype(np.int32)


def _inside(code: CodeType | None, frames: Frames) -> npt.NDArray[np.bool_]:
    """Which frames are those of the function, or of what it called; a frame's caller comes before it."""
    inside = np.zeros(len(frames), bool)
    if code is not None:
        files = [source.name == code.co_filename for source in frames.files]
        names = [name == code.co_qualname for name in frames.functions]
        inside |= np.array(files, bool)[frames.file] & np.array(names, bool)[frames.function]
    for frame, parent in enumerate(frames.parent.tolist()):
        inside[frame] |= parent >= 0 and inside[parent]
    return inside


def inspected_package(call: Call) -> str:
    """The installed package that the function is in, such as "flax"; "" for the user's own functions."""
    code = code_of(call.fn) or code_of(type(call.fn).__call__)
    return SourceFile(code.co_filename, user=is_user(code.co_filename)).package if code is not None else ""
