"""How often a `stablehlo.while` runs its body, where it counts from a constant to a constant."""

from __future__ import annotations

from typing import Any


def trips(loop: Any) -> int | None:
    """The trips of a loop that counts up by a constant; None where it does not, or nothing says so."""
    condition, body = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    compared = _owner(list(condition.operations)[-1].operation.operands[0])
    if (
        compared is None
        or compared.name != "stablehlo.compare"
        or "LT" not in str(compared.attributes["comparison_direction"])
    ):
        return None
    counter, end = compared.operands[0], constant(compared.operands[1])
    place = _place(counter, condition)
    if end is None or place is None:
        return None
    start = constant(loop.operands[place])
    step = _step(list(body.operations)[-1].operation.operands[place], body, place)
    if start is None or not step or step < 0:
        return None
    return max(-(-(end - start) // step), 0)


def _step(value: Any, body: Any, place: int) -> int | None:
    added = _owner(value)
    if added is None or added.name != "stablehlo.add":
        return None
    first, second = added.operands
    if _place(first, body) == place:
        return constant(second)
    return constant(first) if _place(second, body) == place else None


def _place(value: Any, block: Any) -> int | None:
    """Which of a block's arguments a value is."""
    from jaxlib.mlir import ir

    if not isinstance(value.owner, ir.Block) or value.owner != block:
        return None
    return int(ir.BlockArgument(value).arg_number)


def _owner(value: Any) -> Any:
    from jaxlib.mlir import ir

    return None if isinstance(value.owner, ir.Block) else value.owner


def constant(value: Any) -> int | None:
    """The integer that a scalar constant is; None of another value."""
    from jaxlib.mlir import ir

    owner = _owner(value)
    if owner is None or owner.name not in ("stablehlo.constant", "sdy.constant"):
        return None
    kept = owner.attributes["value"]
    return int(kept[0]) if isinstance(kept, ir.DenseIntElementsAttr) and len(kept) == 1 else None
