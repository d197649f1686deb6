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
    """Why there is a collective.

    Attributes:
      values: what is resharded; the operation that leaves partial sums or is partitioned; the primitive that is called.
      users: operations for which a value is resharded.    is_result: whether it is resharded to leave the program.
      before: shardings of what goes in.    after: how it is used.
      lines: of the operations that force it; empty where the compiler lost them.
      is_between: whether the operation is only known to be between the two lines.
      inferred: whether it was found by source line and size, or by shardings nearby.
      why_unknown: why the rest is unknown, "" where it is known.
    """

    kind: CauseKind = CauseKind.UNKNOWN
    values: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    is_result: bool = False
    before: tuple[str, ...] = ()
    after: tuple[Use, ...] = ()
    lines: tuple[str, ...] = ()
    is_between: bool = False
    inferred: bool = False
    why_unknown: str = ""

    @property
    def is_known(self) -> bool:
        return self.kind is not CauseKind.UNKNOWN
