"""Documents of one kernel: every line is linked to the HLO instruction that the kernel came from."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.report.document import OP, Document
from jaxstage_ext.report.frames import Frames, Ints


@dataclass(frozen=True)
class KernelPlace:
    """The source of a whole kernel: the columns of its HLO instruction's line, -1 for unknown."""

    frames: Frames
    frame: int = -1
    flags: int = 0
    scope: str = ""


def document(kind: str, lines: Sequence[str], instructions: Iterable[int], folds: Ints, place: KernelPlace) -> Document:
    """A document whose rows `instructions` all have the source of the kernel, because nothing finer is known."""
    n = len(lines)
    rows = np.fromiter(instructions, np.int64)
    frame, scope = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    flags = np.zeros(n, np.uint8)
    frame[rows] = place.frame
    flags[rows] = OP | place.flags
    scopes = (place.scope,) if place.scope else ()
    scope[rows] = 0 if scopes else -1
    return Document(kind, "\n".join(lines), place.frames, frame, flags, folds, scope, scopes)


def labelled(lines: Sequence[str], labels: Sequence[int], ends: Ints) -> Ints:
    """`ends` with a fold for each labelled block: from its label to the line before the next one or the end."""
    for label, stop in itertools.pairwise([*labels, len(lines)]):
        last = min(stop, _closing(lines, label, stop)) - 1
        while last > label and not lines[last].strip():
            last -= 1
        if last > label and ends[label] < 0:
            ends[label] = last
    return ends


def _closing(lines: Sequence[str], start: int, stop: int) -> int:
    """The line that closes the enclosing braces, if it comes before `stop`."""
    return next((row for row in range(start, stop) if lines[row].startswith("}")), stop)
