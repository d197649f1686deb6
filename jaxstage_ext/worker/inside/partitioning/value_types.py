"""The shape of a value and the bits of its elements."""

from __future__ import annotations

import re
from typing import Any

_BITS = re.compile(r"\d+")


class TypeReader:
    """Reads types, each of them once."""

    def __init__(self) -> None:
        self._read: dict[Any, tuple[tuple[int, ...], int]] = {}

    def read(self, value: Any) -> tuple[tuple[int, ...], int]:
        """(shape, bits of an element); a token has no dimension and no bits."""
        type_ = value.type
        if type_ not in self._read:
            self._read[type_] = _read(type_)
        return self._read[type_]


def _read(type_: Any) -> tuple[tuple[int, ...], int]:
    from jaxlib.mlir import ir

    if not isinstance(type_, ir.RankedTensorType):
        return (), 0
    tensor: Any = type_
    return tuple(tensor.shape), _bits(str(tensor.element_type))


def _bits(name: str) -> int:
    """Of an element type as MLIR writes it: XLA keeps a truth value in a byte."""
    if name.startswith("complex"):
        return 2 * _bits(name[len("complex<") : -1])
    found = _BITS.search(name)
    width = int(found[0]) if found else 0
    return 8 if width == 1 else width
