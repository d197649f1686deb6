"""What is said of the neighbourhood of an instruction."""

from __future__ import annotations

from collections.abc import Sequence

from jaxstage_ext.report.text.shortened import shortened, some
from jaxstage_ext.report.text.units import plural


def no_instruction(name: str, nearest: Sequence[str], count: int) -> str:
    """That there is no such instruction, and what it may have been."""
    near = f"the nearest are {some(nearest, 8)}" if nearest else "no name is near"
    return f"no instruction {shortened(repr(name), 80)} among {count:,} of the optimised HLO; {near}"


def bad_hops(hops: object) -> str:
    """That hops are no number of steps."""
    return f"hops must be a whole number from 0 to 9, not {shortened(repr(hops), 40)}"


def head(name: str, opcode: str, computation: str, users: int) -> str:
    """What the neighbourhood is of."""
    return f"Near {name}: {opcode} in {computation}, {plural(users, 'user')}"


def left_out(count: int, hops: int) -> str:
    """How many instructions within the hops have no row."""
    return f"{plural(count, 'instruction')} within {plural(hops, 'hop')} left out, the farthest: ask with fewer hops"
