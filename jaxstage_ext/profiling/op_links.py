"""Ties the HLO instructions of a recording to source lines, by the modules that the profile itself holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo import hlo_document, text_rows
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.hlo.categories import categories
from jaxstage_ext.ir.hlo.places.cached_places import NO_PLACES, CachedPlaces
from jaxstage_ext.ir.hlo.places.heaviest_members import heaviest_members
from jaxstage_ext.ir.sources.source import FrameTable
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.profiling import recorded_modules
from jaxstage_ext.profiling.op_places import ModuleMatch, OpPlaces
from jaxstage_ext.report.document import INFERRED, Document
from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.numbering import Numbering
from jaxstage_ext.report.recording import NONE, Index, Recording


@dataclass(frozen=True, eq=False)
class ShownModule:
    """The module whose HLO document is shown beside a recording, and that document.

    `is_cached` says that it was compiled from an earlier program, so that the places it names are not this one's.
    """

    module: hlo.Module
    document: Document
    is_cached: bool = False


PlacesOf = Callable[[hlo.Module], CachedPlaces | None]
"""Where the instructions of a module stand that was compiled from an earlier program; None of any other."""


def places(
    recording: Recording,
    table: FrameTable | None = None,
    shown: ShownModule | None = None,
    places_of: PlacesOf = lambda module: None,
) -> OpPlaces:
    """Where the instructions of a recording stand.

    Args:
      recording: the recording.
      table: the frames of the program that was inspected, to which those of other modules are added.
      shown: the module of that program. Instructions of the recorded module that is the same get rows in its document.
      places_of: what is known of a module that JAX's persistent cache may have given.
    """
    linked = _Linked(recording, FrameTable() if table is None else table)
    numbers = np.unique(recording.ops.module).tolist()
    modules = {
        number: module
        for number in numbers
        if (module := recorded_modules.parsed(recording.modules[number])) is not None
    }
    match, of_shown = ModuleMatch.NOT_SHOWN, NONE
    if shown is not None:
        match, of_shown = _matching(recording, modules, shown.module)
    for number, module in modules.items():
        has_lines = not (shown and shown.is_cached and number == of_shown)
        linked.add(number, module, places_of(module) if has_lines else NO_PLACES)
    if shown is not None:
        linked.show(of_shown, shown)
    return linked.places(match)


class _Linked:
    """Places that are filled module by module."""

    def __init__(self, recording: Recording, table: FrameTable) -> None:
        self._ops, self._table = recording.ops, table
        self._categories = Numbering[str]()
        self._scopes = Numbering[str]()
        self._columns = np.full((4, len(recording.ops)), NONE, np.int32)
        self._inferred = np.zeros(len(recording.ops), bool)
        self._result = np.full(len(recording.ops), NONE, np.int32)
        """The frame of each op's own result."""

    def add(self, number: int, module: hlo.Module, cached: CachedPlaces | None) -> None:
        """The instructions of one module, by what its own proto says, or at the places of an earlier program's."""
        ops, rows = self._rows(number, module.names)
        try:
            links = hlo_document.sources(module, self._table, cached=cached)
            named = categories(module, rows)
        except (ValueError, IndexError, OverflowError):
            return
        _, frame, category, scope = self._columns
        heaviest = heaviest_members(module, rows)
        frame[ops] = links.frame[heaviest]
        self._inferred[ops] = (links.flags[heaviest] & INFERRED != 0) | _is_of_call(module, rows, heaviest)
        self._result[ops] = links.frame[rows]
        category[ops] = [self._categories[name] for name in named]
        scope[ops] = [self._scope(links.scopes, i) for i in links.scope[rows].tolist()]

    def show(self, number: int, shown: ShownModule) -> None:
        """The rows of one module's instructions in the document that is shown, and the frames that it has there."""
        ops, instructions = self._rows(number, shown.module.names)
        row_of = text_rows.read(shown.document.text, shown.module.names).row
        row, source = row_of[instructions], row_of[heaviest_members(shown.module, instructions)]
        source = np.where(source >= 0, source, row)
        row_known = row >= 0
        ops, row, source = ops[row_known], row[row_known], source[row_known]
        self._columns[0, ops] = row
        known = shown.document.frame[source] >= 0
        self._columns[1, ops[known]] = shown.document.frame[source[known]]
        self._result[ops[known]] = shown.document.frame[row[known]]
        of_call = _is_of_call(shown.module, instructions, heaviest_members(shown.module, instructions))[row_known]
        self._inferred[ops[known]] = (shown.document.flags[source[known]] & INFERRED != 0) | of_call[known]

    def _rows(self, number: int, names: list[bytes]) -> tuple[Longs, Longs]:
        """(the ops of a module that are among these instructions, which instruction each is)."""
        row_of = {name: row for row, name in enumerate(names)}
        ops = np.flatnonzero(self._ops.module == number)
        rows = np.array([row_of.get(self._ops.name[op].encode(), NONE) for op in ops.tolist()], np.int64)
        return ops[rows >= 0], rows[rows >= 0]

    def _scope(self, scopes: tuple[str, ...], scope: int) -> int:
        return self._scopes[scopes[scope]] if scope >= 0 else NONE

    def places(self, match: ModuleMatch) -> OpPlaces:
        """All places."""
        row, frame, category, scope = self._columns
        frames = self._table.freeze()
        fused = _lines(frames, frame) != _lines(frames, self._result)
        return OpPlaces(
            row,
            frame,
            self._inferred | (self._ops.is_by_order & (frame >= 0)),
            category,
            scope,
            frames,
            tuple(self._categories),
            tuple(self._scopes),
            match,
            fused,
        )


def _is_of_call(module: hlo.Module, rows: Longs, heaviest: Longs) -> npt.NDArray[np.bool_]:
    """Whether these are calls that run as one, of which only the heaviest instruction inside is known."""
    return np.asarray((module.opcode[rows] == b"call") & (heaviest != rows))


def _lines(frames: Frames, frame: Index) -> npt.NDArray[np.int64]:
    """A number for the source line that counts for each frame; NONE for no frame."""
    if not len(frames):
        return np.full(len(frame), NONE, np.int64)
    counted = np.where(frames.user[frame] >= 0, frames.user[frame], frame)
    return np.where(frame >= 0, frames.file[counted].astype(np.int64) << 32 | frames.line[counted], NONE)


def _matching(recording: Recording, modules: dict[int, hlo.Module], shown: hlo.Module) -> tuple[ModuleMatch, int]:
    """(whether a module of the recording is the one that is shown, which)."""
    names = set(shown.names)
    named = [n for n in np.unique(recording.ops.module).tolist() if recording.modules[n].name == shown.header.name]
    for number in named:
        if number in modules and set(modules[number].names) == names:
            return ModuleMatch.SAME, number
    for number in named:
        ran = {name.encode() for name, of in zip(recording.ops.name, recording.ops.module, strict=True) if of == number}
        if number not in modules and ran <= names:
            return ModuleMatch.BY_NAME, number
    return (ModuleMatch.DIFFERENT if named else ModuleMatch.ABSENT), NONE
