"""Where the HLO instructions of a recording stand: in which document, at which source line."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np

from jaxstage_ext.report.frames import Frames
from jaxstage_ext.report.recording import NONE, Index, Recording


class ModuleMatch(enum.Enum):
    """Whether a recording ran the module whose HLO document is shown beside it."""

    NOT_SHOWN = enum.auto()
    """No document is shown."""
    SAME = enum.auto()
    """It ran a module of that name with the same instructions."""
    BY_NAME = enum.auto()
    """It ran a module of that name, of which the profile holds no instructions; all that ran are in the document."""
    DIFFERENT = enum.auto()
    """It ran only modules of that name that have other instructions: another version, shapes or options."""
    ABSENT = enum.auto()
    """It ran no module of that name."""


@dataclass(frozen=True, eq=False)
class OpPlaces:
    """One row for each of `Recording.ops`; NONE, or "", where unknown."""

    row: Index
    """In the HLO document of the program that was inspected; NONE for ops of other modules."""
    frame: Index
    """Index into `frames`; the line that counts is that of `frames.user[frame]`. A fusion has the frame of the
    instruction inside it that does most of its work, since one time is known for all."""
    inferred: np.ndarray[tuple[int], np.dtype[np.bool_]]
    """Whether the frame was derived because XLA dropped it."""
    category: Index
    """Index into `categories`: the opcode, for a fusion with what it fuses: "dot", "loop fusion", "while"."""
    scope: Index
    """Index into `scopes`, the name stack: "jit(step)/transpose(jvp(mlp))/dot_general"."""
    frames: Frames
    categories: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    match: ModuleMatch = ModuleMatch.NOT_SHOWN
    """Whether the recording ran the module whose HLO document is shown, and has rows in it."""
    fused: np.ndarray[tuple[int], np.dtype[np.bool_]] = field(default_factory=lambda: np.zeros(0, bool))
    """Whether it fuses instructions of several source lines; empty where that is unknown for all."""


def without_places(recording: Recording) -> OpPlaces:
    """The places of a recording whose modules nobody has: all unknown."""
    unknown = np.full(len(recording.ops), NONE, np.int32)
    return OpPlaces(unknown, unknown, np.zeros(len(unknown), bool), unknown, unknown, Frames())
