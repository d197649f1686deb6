"""How large a program may be that this process compiles.

The memory that XLA's CPU compiler takes grows faster than the program. With jaxlib 0.12.0.1, gradients of layers
without a matrix product took 1.1 GB at 2,100 StableHLO operations, 4.0 GB at 4,000, and over 5 GB after half a minute
and still growing at 6,300; those of attention blocks took 0.9 GB at 5,400 and over 3.7 GB at 10,900; those of a plain
MLP 0.4 GB at 5,700, and 0.4 GB at 13,500.
"""

from __future__ import annotations

USUAL = 4000
"""The most StableHLO operations of a program that this process compiles, unless it is set."""
_most = USUAL


def set_most(operations: int) -> None:
    """Set the most StableHLO operations of a program that this process compiles."""
    global _most
    _most = operations


def most() -> int:
    """The most StableHLO operations of a program that this process compiles."""
    return _most
