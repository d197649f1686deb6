"""What is known of the values of a jaxpr while the promotions of it are followed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np


class SourceKind(Enum):
    """Where an operand that forces a promotion comes from; what comes from several, from the first of these."""

    ARGUMENT = "argument"
    CAPTURED = "captured"
    MADE = "made by the program"
    LITERAL = "literal"


@dataclass(frozen=True, eq=False)
class OperandSource:
    """A value that no narrow value is part of."""

    kind: SourceKind
    number: int = -1
    """Of an argument, or of a captured array."""
    eqn: Any = None
    """What made it."""
    value: Any = None
    """Of a literal."""


@dataclass(frozen=True)
class Value:
    """A value as it would be if no operand forced a promotion."""

    is_narrow: bool = False
    """Whether it would keep the narrow dtype, though it has the wide one."""
    is_converted: bool = False
    """Whether it is a narrow value that was converted to match another operand."""
    source: OperandSource | None = None
    """Of a wide value that no narrow value is part of."""
    cause: OperandSource | None = None
    """What made it wide."""
    array: Any = None
    """Itself, where the jaxpr is rewritten."""


@dataclass(eq=False)
class InfectedValues:
    """What one operand makes wide."""

    source: OperandSource
    first: Any
    """The equation that it is first an operand of."""
    equations: list[Any] = field(default_factory=list)
    saved: float = 0.0
    """Bytes by which those values would be smaller, each written once and read once, over all runs."""
    products: float = 0.0
    """FLOPs of those that are products of matrices, or convolutions."""
    is_returned: bool = False
    """Whether a result of the program is one of them."""
    others: dict[int, OperandSource] = field(default_factory=dict)
    """Other operands that would force the promotion instead, by id."""


@dataclass(frozen=True)
class Widths:
    """The two dtypes of a promotion, by NumPy's names."""

    narrow: str
    wide: str

    def is_wide(self, atom: Any) -> bool:
        return self._name(atom) == self.wide

    def is_narrow(self, atom: Any) -> bool:
        return self._name(atom) == self.narrow

    @staticmethod
    def _name(atom: Any) -> str:
        return str(getattr(getattr(atom.aval, "dtype", None), "name", ""))

    @property
    def saved(self) -> int:
        """Bytes that an element of the narrow dtype is smaller."""
        return itemsize(self.wide) - itemsize(self.narrow)


def itemsize(name: str) -> int:
    """Bytes of a float dtype."""
    return 2 if name == "bfloat16" else int(np.dtype(name).itemsize)


def named(names: str) -> frozenset[str]:
    """The names in a text."""
    return frozenset(names.split())
