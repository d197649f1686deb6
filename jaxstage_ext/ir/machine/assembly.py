"""Disassembly as Documents: CPU code, SASS of GPUs, VLIW bundles of TPUs."""

from __future__ import annotations

import re

import numpy as np

from jaxstage_ext.ir.machine import kernel_text
from jaxstage_ext.ir.machine.kernel_text import KernelPlace
from jaxstage_ext.report.document import Document

_CPU = re.compile(r"^\s*[0-9a-f]+:\s+\S")
_CPU_LABEL = re.compile(r"^\S.*:$")
_SASS = re.compile(r"^\s*(?P<at>/\*[0-9a-f]+\*/)\s++(?P<predicate>@\S++ )?\s*+(?P<rest>\S.*)$")
_SASS_LABEL = re.compile(r"^\.L_\w+:|^\w[\w$.]*:$")
_SECTION = re.compile(r"^//-+ \.text\.(\S+)\s+-+$")
_PTX_LINE = re.compile(r'^\s*//## File "\.nv_debug_ptx_txt", line (\d+)')
_BUNDLE = re.compile(r"^\s*+(?:0x[0-9a-f]++|\d++)\s++(?:\w\w)?\s*+:")
_PTX_COLUMN = 64


def read_cpu(kind: str, text: str, place: KernelPlace) -> Document:
    """The document of a function's disassembly."""
    lines = text.split("\n")
    rows = [row for row, line in enumerate(lines) if _CPU.match(line)]
    labels = [row for row, line in enumerate(lines) if _CPU_LABEL.match(line)]
    return _labelled(kind, lines, rows, labels, place)


def read_sass(kind: str, text: str, kernel: str, place: KernelPlace) -> Document:
    """The document of one kernel from the output of `nvdisasm -c -gp`: each instruction with its line of PTX.

    Assembler directives are left out.
    """
    lines: list[str] = []
    came_from = ""
    for line in _section(text.replace("\t", "    ").split("\n"), kernel):
        if ptx_line := _PTX_LINE.match(line):
            came_from = ptx_line[1]
        elif row := _SASS.match(line):
            line = f"  {row['at']} {row['predicate'] or '':<7}{_instruction(row['rest'])}"
            lines.append(f"{line:<{_PTX_COLUMN}} // PTX {came_from}" if came_from else line)
        elif _SASS_LABEL.match(line):
            lines.append(line.rstrip())
    rows = [row for row, line in enumerate(lines) if _SASS.match(line)]
    labels = [row for row, line in enumerate(lines) if _SASS_LABEL.match(line)]
    return _labelled(kind, lines, rows, labels, place)


def _instruction(rest: str) -> str:
    """What a line holds, without the semicolon that ends it."""
    return rest.rstrip().removesuffix(";").rstrip()


def _section(lines: list[str], kernel: str) -> list[str]:
    """The lines of one kernel's code; all lines where the kernel has no section of its own."""
    starts = [(row, section[1]) for row, line in enumerate(lines) if (section := _SECTION.match(line))]
    for place, (row, name) in enumerate(starts):
        if name == kernel:
            return lines[row + 1 : starts[place + 1][0] if place + 1 < len(starts) else len(lines)]
    return lines


def read_bundles(kind: str, text: str, place: KernelPlace) -> Document:
    """The document of final VLIW bundles; one line a bundle."""
    lines = text.rstrip("\n").split("\n")
    rows = [row for row, line in enumerate(lines) if _BUNDLE.match(line)]
    return kernel_text.document(kind, lines, rows, np.full(len(lines), -1, np.int32), place)


def count_bundles(text: str) -> int:
    """How many bundles a text has."""
    return sum(bool(_BUNDLE.match(line)) for line in text.split("\n"))


def _labelled(kind: str, lines: list[str], rows: list[int], labels: list[int], place: KernelPlace) -> Document:
    ends = kernel_text.labelled(lines, labels, np.full(len(lines), -1, np.int32))
    return kernel_text.document(kind, lines, rows, ends, place)
