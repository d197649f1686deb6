"""The operations of `main` in one order, those in loops and branches after the operation that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

WITH_REGIONS = ("stablehlo.while", "stablehlo.case", "stablehlo.if")
"""Operations whose regions are walked; those of a reduction, a sort or a scatter compute scalars."""
RETURNS = ("func.return", "stablehlo.return", "sdy.return")


def walk(block: Any, holder: Any = None) -> Iterator[tuple[Any, Any]]:
    """(operation, the operation that holds it or None), in the order of the text."""
    for view in block.operations:
        operation = view.operation
        yield operation, holder
        if operation.name in WITH_REGIONS:
            for region in operation.regions:
                yield from walk(region.blocks[0], operation)
