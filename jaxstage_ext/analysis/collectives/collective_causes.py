"""Why there is a collective: the operation whose partitioning forces it, and the shardings before and after."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class CauseKind(Enum):
    """Why there is a collective."""

    UNKNOWN = "unknown"
    WRITTEN = "the program calls it"
    BACKWARD = "the backward pass calls it: differentiation made it, or a derivative rule"
    RESHARDING = "a value is used with another sharding than it has"
    PARTIAL_SUMS = "an operation leaves partial sums"
    PARTITIONING = "the parts of an operation need each other's data"


class Use(NamedTuple):
    """How a value is used: the sharding of the operation, and that of its other operand, "" without one."""

    spec: str
    beside: str = ""


@dataclass(frozen=True)
class CollectiveCause:
    """Why there is a collective."""

    kind: CauseKind = CauseKind.UNKNOWN
    values: tuple[str, ...] = ()
    """What is resharded; the operation that leaves partial sums or is partitioned; the primitive that is called."""
    users: tuple[str, ...] = ()
    """Operations for which a value is resharded."""
    is_result: bool = False
    """Whether it is resharded to leave the program."""
    before: tuple[str, ...] = ()
    """Shardings of what goes in."""
    after: tuple[Use, ...] = ()
    """How it is used."""
    lines: tuple[str, ...] = ()
    """Of the operations that force it; empty where the compiler lost them."""
    is_between: bool = False
    """Whether the operation is only known to be between the two lines."""
    inferred: bool = False
    """Whether it was found by source line and size, or by shardings nearby."""
    why_unknown: str = ""
    """Why the rest is unknown, "" where it is known."""

    @property
    def is_known(self) -> bool:
        return self.kind is not CauseKind.UNKNOWN
