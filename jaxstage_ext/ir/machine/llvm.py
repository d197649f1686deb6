"""LLVM IR and MLIR of a kernel as Documents. XLA gives them no debug locations."""

from __future__ import annotations

import re

from jaxstage_ext.ir import folds
from jaxstage_ext.ir.machine import kernel_text
from jaxstage_ext.ir.machine.kernel_text import KernelPlace
from jaxstage_ext.report.document import Document

_INSTRUCTION = re.compile(r"^\s+(?:%[\w.$-]+ = )?(?:tail |musttail |notail )?[a-z][a-z_]*\b(?!:)")
_LABEL = re.compile(r'^(?:[\w.$-]+|"[^"]+"):')
_OPERATION = re.compile(r'^\s+(?:%[\w#:, %]+ = )?"?[a-z_]+\.[\w.]+')


def read(kind: str, text: str, place: KernelPlace) -> Document:
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
