"""Which HLO instructions a program executes one by one, and the lines of the module's text that belong to each."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jaxstage_ext.ir.hlo import text_rows
from jaxstage_ext.ir.hlo.module import BOOKKEEPING, Module
from jaxstage_ext.ir.wire.protowire import Longs
from jaxstage_ext.report.document import Document

CONTROL = (b"while", b"conditional", b"call", b"async-start")
"""Opcodes that run the instructions of the computations they call; all others absorb them."""
_SILENT = (*BOOKKEEPING, *CONTROL, b"async-update", b"async-done", b"copy-done", b"after-all", b"domain")
_NAME = re.compile(r"%[\w.-]+")
_FUSION = re.compile(r" fusion\((?:(?! fusion\().)*kind=k(\w+)")
_TARGET = re.compile(r' custom-call\((?:(?! custom-call\().)*custom_call_target="([^"]+)"')


@dataclass(frozen=True)
class Instruction:
    """An instruction outside of any fusion."""

    name: str
    opcode: str
    kind: str
    """"loop fusion", "custom-call to __cublas$gemm", or the opcode."""
    row: int
    """Of the module's text; -1 where it does not show it."""
    rows: tuple[tuple[int, int], ...] = field(repr=False)
    """First and last row of each stretch of text that belongs to it: its own, and the computations it absorbs."""
    computes: bool = True
    """False for bookkeeping and control flow."""


def read(module: Module, document: Document, whole: Collection[str] = ()) -> dict[str, Instruction]:
    """The instructions that are executed, by name, in the module's order.

    `whole` names control flow that absorbs what it calls: XLA's CPU compiler makes one kernel of a small loop.
    """
    is_whole = np.array([name.decode() in whole for name in module.names], bool)
    inner, called = _inner(module, ~np.isin(module.opcode, CONTROL) | is_whole)
    row_of = text_rows.read(document.text, module.names).row
    lines, instructions = document.lines, {}
    for i in np.flatnonzero(~inner[module.computation]).tolist():
        name, opcode, row = module.names[i].decode(), module.opcode[i].decode(), int(row_of[i])
        kind = _kind(opcode, lines[row] if row >= 0 else "")
        silent = module.opcode[i] in _SILENT and not is_whole[i]
        rows = () if silent else _stretches(module, row_of, called, i)
        instructions[name] = Instruction(name, opcode, kind, row, rows, not silent)
    return instructions


def shape(instruction: Instruction, document: Document) -> str:
    """The text of an instruction and what it absorbs, with names numbered in order: equal for equal computations."""
    order: dict[str, str] = {}
    text = "\n".join(line for first, last in instruction.rows for line in document.lines[first : last + 1])
    return _NAME.sub(lambda name: order.setdefault(name[0], f"%{len(order)}"), text.replace("ROOT ", ""))


def _kind(opcode: str, line: str) -> str:
    if opcode == "fusion" and (fusion := _FUSION.search(line)):
        return f"{fusion[1].lower()} fusion"
    if opcode == "custom-call" and (target := _TARGET.search(line)):
        return f"custom-call to {target[1]}"
    return opcode


def _inner(module: Module, takes_in: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], dict[int, list[int]]]:
    """(per computation: whether it is part of an instruction, computations that each instruction calls)."""
    callers, roots = module.graph.by_called
    targets = module.computation[roots]
    called: dict[int, list[int]] = {}
    for caller, target in zip(callers.tolist(), targets.tolist(), strict=True):
        called.setdefault(caller, []).append(target)
    inner: npt.NDArray[np.bool_] = np.zeros(int(module.computation[-1]) + 1 if len(module.computation) else 0, bool)
    inner[targets[takes_in[callers]]] = True
    while True:
        deeper = targets[inner[module.computation[callers]]]
        if inner[deeper].all():
            return inner, called
        inner[deeper] = True


def _stretches(
    module: Module, row_of: Longs, called: dict[int, list[int]], instruction: int
) -> tuple[tuple[int, int], ...]:
    row = int(row_of[instruction])
    stretches = [(row, row)] if row >= 0 else []
    todo, seen = list(called.get(instruction, ())), set()
    while todo:
        computation = todo.pop()
        if computation in seen:
            continue
        seen.add(computation)
        members = np.arange(*np.searchsorted(module.computation, (computation, computation + 1)))
        rows = [row for row in row_of[members].tolist() if row >= 0]
        if rows:
            stretches.append((min(rows), max(rows)))
        todo += [deeper for member in members.tolist() for deeper in called.get(member, ())]
    return tuple(sorted(stretches))
