"""What XLA and MLIR say of what they cannot parse, as one line: the place and the reason, without the excerpt."""

from __future__ import annotations

import re

from jaxstage_ext.report.text.shortened import shortened

_PLACED = re.compile(
    r'(?:was parsing |error: "(?P<file>[^"]*)":)(?P<line>\d+):(?P<column>\d+): (?:error: )?(?P<why>.*[^:\s])'
)
_STATUS = re.compile(r"^[A-Z_]+: ")
_UNPLACED = re.compile(r"^(?:-|<unknown>):\d+(?::\d+)?: error: ")
_DETAIL = re.compile(r"Detailed error from MLIR: .{0,200}?(?P<why>failed to legalize operation '[\w.]+')")
_UNKNOWN_DIALECT = re.compile(r"dialect '(\w{1,100})' is unknown")
_NOT_TEXT = "nanobind::str(): conversion error"
_IN_BYTES, _IN_TEXT = "0", "-"
_MOST = 400
"""Characters of a reason; a type in it may have any length."""
_DIALECT = re.compile(r"Dialect `(?P<dialect>\w+)' not found for custom op '(?P<op>[\w.]+)'")
_UNREGISTERED = re.compile(r"operation being parsed with an unregistered dialect")
_OPERATION = re.compile(rb"(?<![\w.])(([A-Za-z_]\w*+)\.[\w.]++)")
_QUANTIZED = re.compile(r'`!"quant"<')
_TYPE, _CREATED = re.compile(r'`!"(?P<dialect>\w+)"<'), "type created with unregistered dialect"
_NEWER = re.compile(r"produced by: StableHLO_v(?P<version>[\d.]+)")
_UNKNOWN_VERSION = re.compile(r"unregistered operation '(?P<op>vhlo\.\w+)'")


def one_line(message: str, data: bytes = b"") -> str:
    """The line and column where parsing failed and why; the first line of any other message, "" where it is empty.

    `data` is what was parsed, whose operation is named where the message does not name it.
    """
    if unknown := _UNKNOWN_DIALECT.search(message):
        return f"it has operations of dialect {unknown[1]}, which jaxlib does not read; lower them to StableHLO first"
    if _NOT_TEXT in message:
        return "a name in it is not text (UTF-8), so it is damaged; copy it once more"
    if unknown := _UNKNOWN_VERSION.search(message):
        return _newer(unknown["op"], _NEWER.search(message))
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    for placed in filter(None, map(_PLACED.fullmatch, lines)):
        in_text = placed["line"] != _IN_BYTES and placed["file"] in (None, _IN_TEXT)
        at = f"line {placed['line']}, column {placed['column']}: " if in_text else ""
        return _cut(at + _reason(placed["why"], _before(data, int(placed["line"]), int(placed["column"]))))
    detail = next(filter(None, map(_DETAIL.match, lines)), None)
    first = _UNPLACED.sub("", _STATUS.sub("", lines[0])) if lines else ""
    return _cut(f"{first} {detail['why']}" if detail and first.endswith(";") else _reason(first, b""))


def _newer(op: str, producer: re.Match[str] | None) -> str:
    version = f"StableHLO {producer['version']}" if producer else "another version of StableHLO"
    return f"{version} wrote it, and this jaxlib has no {op}; install a newer jaxlib, or serialise it for an older one"


def _reason(why: str, before: bytes) -> str:
    """MLIR's reason, or what it comes to for somebody who has a file of another dialect."""
    if _QUANTIZED.search(why):
        return (
            "it has quantized types (!quant), which XLA does not compile; stablehlo-opt "
            "--stablehlo-legalize-quant-to-math rewrites them"
        )
    if found := _DIALECT.search(why):
        return _other_dialect(found["op"], found["dialect"])
    if _UNREGISTERED.search(why) and (operations := _OPERATION.findall(before)):
        return _other_dialect(*(name.decode(errors="replace") for name in operations[-1]))
    before_it, is_said, _ = why.rpartition(_CREATED)
    if is_said and (kind := _TYPE.search(before_it)):
        return f"it has a type of dialect {kind['dialect']}, which jaxlib does not read; lower it to StableHLO first"
    return why


def _other_dialect(operation: str, dialect: str) -> str:
    return f"{operation} is of dialect {dialect}, which jaxlib does not read; lower it to StableHLO first"


def _before(data: bytes, line: int, column: int) -> bytes:
    """What stands in a line of the text before a column, where the name of an operation ends."""
    lines = data.split(b"\n", line)
    return lines[line - 1][: column - 1] if 0 < line <= len(lines) else b""


def _cut(text: str) -> str:
    return shortened(text, _MOST)
