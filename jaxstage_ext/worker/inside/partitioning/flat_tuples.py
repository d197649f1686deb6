"""Custom calls that give a tuple, as HLO has them, made calls of several results, as StableHLO has them."""

from __future__ import annotations

from typing import Any

_CALL, _ELEMENT = "stablehlo.custom_call", "stablehlo.get_tuple_element"


def flatten(module: Any) -> None:
    """Flatten every tuple whose elements alone are read."""
    from jaxlib.mlir import ir

    found: list[Any] = []

    def visit(each: Any) -> Any:
        if each.name == _CALL and len(each.results) == 1 and isinstance(each.results[0].type, ir.TupleType):
            found.append(each)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    with module.context:
        for call in found:
            _flatten(call)


def _flatten(call: Any) -> None:
    from jaxlib.mlir import ir

    readers = [use.owner for use in call.results[0].uses]
    if any(reader.name != _ELEMENT for reader in readers):
        return
    tuple_type: Any = call.results[0].type
    types = [tuple_type.get_type(at) for at in range(tuple_type.num_types)]
    names = [each if isinstance(each, str) else each.name for each in call.attributes]
    with call.location, ir.InsertionPoint(call):
        made = ir.Operation.create(
            _CALL,
            results=types,
            operands=list(call.operands),
            attributes={name: call.attributes[name] for name in names},
        )
    for reader in readers:
        place = int(ir.IntegerAttr(reader.attributes["index"]).value)
        reader.results[0].replace_all_uses_with(made.results[place])
        reader.erase()
    call.erase()
