"""Where the text of a file begins that is neither a comment nor an alias: what a file is does not depend on those."""

from __future__ import annotations

import re

_SKIPPED = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|//[^\n]*+\n|/\*(?:[^*]++|\*(?!/))*+\*/|[#!][A-Za-z_][\w.$-]*+ *=[^\n]*+\n|#[^\n]*+\n)*+"
)
_UNFINISHED = re.compile(rb"//|/\*|#|![A-Za-z_]|/?\Z")
_ALIAS = re.compile(rb"^[#!][A-Za-z_][\w.$-]*+ *=", re.MULTILINE)
_MLIR = (
    rb"(?:builtin\.)?module(?:\s*\{|\s+@|\s+attributes\b)|func\.func\s|func\s+(?:private\s+|public\s+)?@"
    rb"|(?:util|ml_program|sdy|stablehlo|chlo|mhlo|vhlo|tt|llvm|gpu|memref|torch|flow|hal|vm)\.\w+[ ({<@]"
    rb'|"(?:builtin\.module|func\.func|[a-z_]+\.[a-z_]+)" ?[(<]|%[\w$.-]+(?::\d+)? = "?[a-z_]+\.[a-z_]|\{-#\s'
)
_BEGINS_MLIR = re.compile(_MLIR)
_MLIR_LINE = re.compile(rb"^[ \t]*(?:(?:builtin\.)?module(?:\s*\{|\s+@|\s+attributes\b)|func\.func\s)", re.MULTILINE)
_TYPE = rb"(?:pred|token|opaque|[su]\d{1,2}|b?f\d{1,2}(?:e\d{1,2}m\d{1,2}[a-z0-9]{0,8})?|c64|c128)\["
_INSTRUCTION = rb"(?:ROOT\s+)?%?[A-Za-z_][\w.-]*+\s*=\s*(?:\(\)|\(?\(?\(?" + _TYPE + rb")"
_BEGINS_HLO = re.compile(
    rb"HloModule\s+[^\s,]|ENTRY\b[^\n{]*\{"
    rb"|%?[A-Za-z_][\w.-]*+\s*+(?:\([^\r\n]*+(?<=\{)|\{)\s*+(?:(?://[^\n]*+\n|/\*(?:[^*]|\*(?!/))*+\*/)\s*+)*+"
    + _INSTRUCTION
    + rb"|"
    + _INSTRUCTION
    + rb"|"
    + _TYPE
    + rb"[\d,]*\](?:\{[^}\n]*\})? [a-z][a-z-]*\("
)


def of(data: bytes) -> int | None:
    """Where the first text stands that is no comment, alias or blank; None where it is not in these bytes."""
    match = _SKIPPED.match(data)
    end = match.end() if match else 0
    return None if _UNFINISHED.match(data, end) else end


def is_hlo(data: bytes) -> bool:
    """Whether a text is HLO, with or without a first line "HloModule"."""
    begins = of(data)
    return begins is not None and _BEGINS_HLO.match(data, begins) is not None


def is_mlir(data: bytes) -> bool:
    """Whether a text is MLIR. An alias of several lines is passed over as far as the first module or function."""
    begins = of(data)
    if begins is not None and _BEGINS_MLIR.match(data, begins):
        return True
    return _ALIAS.search(data, 0, begins or 0) is not None and _MLIR_LINE.search(data, begins or 0) is not None
