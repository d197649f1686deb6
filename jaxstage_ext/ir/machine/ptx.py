"""The PTX of a kernel as a Document, and the resources that ptxas reports. XLA writes no .loc directives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jaxstage_ext.ir import folds
from jaxstage_ext.ir.machine import kernel_text
from jaxstage_ext.ir.machine.kernel_text import KernelPlace
from jaxstage_ext.report.document import Document

_INSTRUCTION = re.compile(r"^\s+(?:@!?%\w+\s+)?[a-z][\w.:]*(?:\s|;)")
_LABEL = re.compile(r"^\$?[\w$]+:")
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_STACK = re.compile(r"(?<!\d)(\d++) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(?<!\d)(\d++) bytes smem")


def read(kind: str, text: str, place: KernelPlace) -> Document:
    """The document of a PTX module."""
    lines = text.replace("\t", "    ").rstrip("\n").split("\n")
    rows = [row for row, line in enumerate(lines) if _INSTRUCTION.match(line)]
    labels = [row for row, line in enumerate(lines) if _LABEL.match(line)]
    ends = folds.by_brackets(lines, "{}()")
    return kernel_text.document(kind, lines, rows, kernel_text.labelled(lines, labels, ends), place)


@dataclass(frozen=True)
class Resources:
    """The resources that a kernel takes: registers per thread, bytes of stack and spills per thread, and bytes of
    static shared memory per block.
    """

    registers: int
    spill_stores: int
    spill_loads: int
    stack: int
    shared: int


def resources(log: str) -> dict[str, Resources]:
    """The resources that `ptxas -v` reports, by entry function."""
    parts = _ENTRY.split(log)
    by_entry = {}
    for name, report in zip(parts[1::2], parts[2::2], strict=True):
        registers, stack, shared = _REGISTERS.search(report), _STACK.search(report), _SHARED.search(report)
        if registers and stack:
            frame, stores, loads = map(int, stack.groups())
            by_entry[name] = Resources(int(registers[1]), stores, loads, frame, int(shared[1]) if shared else 0)
    return by_entry
