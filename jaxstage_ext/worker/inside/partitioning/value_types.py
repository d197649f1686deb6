"""The shape of a value, the bits of its elements, and their type as HLO names it."""

from __future__ import annotations

import re
from typing import Any

_PARTS = re.compile(r"(ui|i|bf|f|c)(\d+)")
_PREFIXES = {"i": "s", "ui": "u"}


class TypeReader:
    """Reads types, each of them once."""

    def __init__(self) -> None:
        self._read: dict[Any, tuple[tuple[int, ...], int, str]] = {}

    def read(self, value: Any) -> tuple[tuple[int, ...], int, str]:
        """(shape, bits of an element, "bf16"); a token has no dimension and no bits."""
        type_ = value.type
        if type_ not in self._read:
            self._read[type_] = _read(type_)
        return self._read[type_]


def _read(type_: Any) -> tuple[tuple[int, ...], int, str]:
    from jaxlib.mlir import ir

    if not isinstance(type_, ir.RankedTensorType):
        return (), 0, ""
    tensor: Any = type_
    return tuple(tensor.shape), *_element(str(tensor.element_type))


def _element(name: str) -> tuple[int, str]:
    """Of an element type as MLIR writes it: XLA keeps what is narrower than a byte in one."""
    if name.startswith("complex"):
        bits = 2 * _element(name[len("complex<") : -1])[0]
        return bits, f"c{bits}"
    if name == "i1":
        return 8, "pred"
    found = _PARTS.match(name)
    if found is None:
        return 0, ""
    bits = max(int(found[2]), 8)
    return bits, _PREFIXES.get(found[1], found[1]) + name[len(found[1]) :].lower()
