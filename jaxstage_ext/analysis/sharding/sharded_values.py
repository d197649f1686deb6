"""The arguments, results and intermediates of a program with their shardings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jaxstage_ext.analysis.sharding.propagation import Chooser, Propagated
from jaxstage_ext.analysis.sharding.sharding_map import ShardingMap
from jaxstage_ext.analysis.sharding.sharding_wording import describe
from jaxstage_ext.analysis.sharding.slices import MANUAL


class ValueKind(StrEnum):
    """What an array is to its program."""

    ARGUMENT = "argument"
    RESULT = "result"
    INTERMEDIATE = "intermediate"


ARGUMENT, RESULT, INTERMEDIATE = ValueKind


@dataclass(frozen=True, eq=False)
class ShardedValue:
    """An array of a program and its sharding."""

    name: str
    kind: ValueKind
    map: ShardingMap
    chosen_by: Chooser | None = None
    """None where the sharding is not chosen yet."""
    line: str = ""
    """Source line, "" without one."""
    made_by: str = ""
    """Name of the operation, for intermediates."""
    is_sent: bool = True
    """False for an argument that the program does not use, which JAX sends to no device."""

    def __str__(self) -> str:
        return describe(self.name, self.map)

    __repr__ = __str__


def intermediates(propagated: Propagated) -> tuple[ShardedValue, ...]:
    """The values of a module after propagation, in order."""
    return tuple(
        ShardedValue(
            propagated.ops.names[row].decode("utf-8", "replace"),
            INTERMEDIATE,
            propagated.map(row),
            Chooser.YOU if propagated.sharding(row).shared(MANUAL) > 1 else propagated.chosen_by[row],
            propagated.line(row),
            propagated.names[row] or propagated.ops.opcode[row].decode(),
        )
        for row in propagated.rows.tolist()
    )
