"""Documents of one kernel: every line is linked to the HLO instruction that the kernel came from.

LLVM IR and MLIR are read here: XLA gives them no debug locations.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from jaxstage_ext.ir import folds
from jaxstage_ext.ir.machine import kernel_text
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


_INSTRUCTION = re.compile(r"^\s+(?:%[\w.$-]+ = )?(?:tail |musttail |notail )?[a-z][a-z_]*\b(?!:)")
_LABEL = re.compile(r'^(?:[\w.$-]+|"[^"]+"):')
_OPERATION = re.compile(r'^\s+(?:%[\w#:, %]+ = )?"?[a-z_]+\.[\w.]+')


def read_llvm(kind: str, text: str, place: KernelPlace) -> Document:
    """The document of an LLVM module."""
    lines = text.rstrip("\n").split("\n")
    rows = [row for row, line in enumerate(lines) if _INSTRUCTION.match(line)]
    labels = [row for row, line in enumerate(lines) if _LABEL.match(line)]
    ends = folds.by_brackets(lines, "{}[]")
    return kernel_text.document(kind, lines, rows, kernel_text.labelled(lines, labels, ends), place)


def read_mlir(kind: str, text: str, place: KernelPlace) -> Document:
    """The document of an MLIR module without locations: Triton's IR."""
    lines = text.rstrip("\n").split("\n")
    rows = [row for row, line in enumerate(lines) if _OPERATION.match(line)]
    return kernel_text.document(kind, lines, rows, folds.by_brackets(lines, "{}()"), place)
