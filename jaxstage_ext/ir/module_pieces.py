"""The modules in a text that holds several, as the tests of compilers do."""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxstage_ext.ir import text_beginning
from jaxstage_ext.ir.hlo.hlo_files import ModuleForm

_HLO = re.compile(rb"^HloModule\s", re.MULTILINE)
_HLO_NAME = re.compile(rb"HloModule\s+([^\s,]+)")
_BETWEEN = re.compile(rb"^// -----[^\n]*(?:\n|\Z)", re.MULTILINE)
"""What `mlir-opt -split-input-file` splits by."""
_MODULE_NAME = re.compile(rb'^\s*(?:builtin\.)?module\s+@("[^"]*"|[\w.$-]+)', re.MULTILINE)
_FUNCTION = re.compile(rb'^\s*func(?:\.func)?(?: public)? @("[^"]*"|[\w.$-]+)', re.MULTILINE)


class ModulePiece(NamedTuple):
    """A module in a file."""

    name: str
    """Its own, or that of its only function; "" where it has neither."""
    data: bytes
    entry: str = ""
    """The function that is meant, where a module has several and none is `main`; "" otherwise."""


def of(data: bytes, form: ModuleForm) -> list[ModulePiece]:
    """The modules in the text of a file; none where it holds a single one."""
    if form is ModuleForm.HLO_TEXT:
        if data.count(b"HloModule") < 2:  # a pattern takes far longer for a large text
            return []
        starts = [match.start() for match in _HLO.finditer(data)]
        if len(starts) < 2:
            return []
        ends = [*starts[1:], len(data)]
        return _several(
            [ModulePiece(_name(_HLO_NAME, data[a:b]), data[a:b]) for a, b in zip(starts, ends, strict=True)]
        )
    if form is ModuleForm.STABLEHLO_TEXT and b"// -----" in data and _BETWEEN.search(data):
        parts = [part for part in _BETWEEN.split(data) if text_beginning.of(part + b"\n") is not None]
        if all(map(text_beginning.is_mlir, parts)):
            return _several([piece for part in parts for piece in _of_mlir(part)])
    return []


def _several(pieces: list[ModulePiece]) -> list[ModulePiece]:
    return pieces if len(pieces) > 1 else []


def _of_mlir(part: bytes) -> list[ModulePiece]:
    functions = [_text(name) for name in _FUNCTION.findall(part)]
    if name := _name(_MODULE_NAME, part):
        return [ModulePiece(name, part)]
    if "main" in functions or len(functions) < 2:
        return [ModulePiece(next(iter(functions), ""), part)]
    return [ModulePiece(name, part, name) for name in functions]


def _name(pattern: re.Pattern[bytes], part: bytes) -> str:
    match = pattern.search(part)
    return _text(match[1]) if match else ""


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace").strip('"')
